//! The hyperexponential law: density `sum_i p_i exp(-x / m_i) / m_i` for x >= 0, a mixture of exponential laws.

use super::table::{Table, weighted_mean};
use super::{LARGEST_SCV, bounded};
use crate::model::number::{Fault, NonNegative, Probability};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hyperexponential: with probability `p_i` exponential of mean `m_i`, so more variable than exponential.
///
/// Either all `p_i` and `m_i` are given, or the mean and the squared coefficient of variation (variance / mean^2) of
/// the two-phase law with balanced means, `p_1 m_1 = p_2 m_2` (Whitt 1982). Drawn by composition: first the phase,
/// then an exponential number (ziggurat).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "WrittenHyperexponential", into = "Form")]
#[schemars(try_from = "Form")]
pub struct Hyperexponential(Box<Parts>);

/// Boxed, since laws stand in many places and most are small.
#[derive(Clone, Debug, PartialEq)]
struct Parts {
    form: Form,
    phases: Table,
    means: Vec<f64>,
    mean: f64,
}

/// One of the two ways to write the law.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
enum Form {
    /// Two phases with balanced means.
    Balanced {
        /// The mean, in units of time.
        mean: NonNegative,
        /// Variance / mean^2.
        #[schemars(range(min = 1.0, max = 1e9))]
        scv: f64,
    },
    /// Any phases.
    Phases {
        /// The probability of each phase; they sum to 1.
        probabilities: Vec<Probability>,
        /// The mean of each phase, in units of time.
        means: Vec<NonNegative>,
    },
}

/// The keys as written, before they are known to make one form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenHyperexponential {
    mean: Option<NonNegative>,
    scv: Option<f64>,
    probabilities: Option<Vec<Probability>>,
    means: Option<Vec<NonNegative>>,
}

impl TryFrom<WrittenHyperexponential> for Hyperexponential {
    type Error = Fault;

    fn try_from(written: WrittenHyperexponential) -> Result<Self, Fault> {
        match (written.mean, written.scv, written.probabilities, written.means) {
            (Some(mean), Some(scv), None, None) => Self::balanced(mean, scv),
            (None, None, Some(probabilities), Some(means)) => Self::new(probabilities, means),
            _ => Err(Fault::new(
                "must have either the keys mean and scv, or the keys probabilities and means",
                "write for example {mean: 1, scv: 4} or {probabilities: [0.75, 0.25], means: [0.5, 2.5]}",
            )),
        }
    }
}

impl From<Hyperexponential> for Form {
    fn from(law: Hyperexponential) -> Self {
        law.0.form
    }
}

impl Hyperexponential {
    /// The mixture of exponential laws with these probabilities and means, in units of time.
    ///
    /// # Errors
    /// If the lists are empty or differ in length, the probabilities differ from a sum of 1 by more than 1e-9, or a
    /// mean exceeds 1e100.
    pub fn new(probabilities: Vec<Probability>, means: Vec<NonNegative>) -> Result<Self, Fault> {
        if probabilities.is_empty() || probabilities.len() != means.len() {
            return Err(Fault::new(
                format!(
                    "probabilities and means must name the same phases, at least one; there are {} probabilities and \
                     {} means",
                    probabilities.len(),
                    means.len()
                ),
                "write one probability and one mean for each phase",
            ));
        }
        means.iter().try_for_each(|&mean| bounded("each of means", mean))?;
        let p: Vec<f64> = probabilities.iter().map(|p| p.get()).collect();
        let total: f64 = p.iter().sum();
        if (total - 1.0).abs() > 1e-9 {
            return Err(Fault::new(
                format!("probabilities must sum to 1; these sum to {total}"),
                format!("divide each by {total}, if that is not 0"),
            ));
        }
        let m: Vec<f64> = means.iter().map(|mean| mean.get()).collect();
        let mean = weighted_mean(&p, m.iter().copied());
        let phases = Table::new("probabilities", &p)?;
        let form = Form::Phases { probabilities, means };
        Ok(Self(Box::new(Parts { form, phases, means: m, mean })))
    }

    /// The two-phase law with balanced means that has this mean, in units of time, and this squared coefficient of
    /// variation (Whitt 1982); `scv = 1` is exponential.
    ///
    /// # Errors
    /// If `scv` is not a number from 1 to 1e9, or the mean exceeds 1e100.
    pub fn balanced(mean: NonNegative, scv: f64) -> Result<Self, Fault> {
        bounded("mean", mean)?;
        if !(1.0..=LARGEST_SCV).contains(&scv) {
            return Err(Fault::new(
                "scv (variance / mean^2) must be a number from 1 to 1e9",
                "write for example scv: 4; below 1 use erlang or lognormal",
            ));
        }
        let often = (1.0 + ((scv - 1.0) / (scv + 1.0)).sqrt()) / 2.0;
        // The same as 1 - often, of which a large scv would leave few digits.
        let rarely = 0.5 / ((scv + 1.0) * often);
        let m = mean.get();
        Ok(Self(Box::new(Parts {
            form: Form::Balanced { mean, scv },
            phases: Table::new("probabilities", &[often, rarely])?,
            means: vec![m / (2.0 * often), m / (2.0 * rarely)],
            mean: m,
        })))
    }

    #[inline]
    pub(super) fn sample(&self, stream: &mut Stream) -> f64 {
        let phase = self.0.phases.at(stream.uniform());
        self.0.means[phase] * stream.exponential()
    }

    pub(super) fn mean(&self) -> f64 {
        self.0.mean
    }

    pub(super) fn variance(&self) -> f64 {
        match &self.0.form {
            Form::Balanced { scv, .. } => scv * self.0.mean * self.0.mean,
            Form::Phases { probabilities, .. } => {
                let p: Vec<f64> = probabilities.iter().map(|p| p.get()).collect();
                2.0 * weighted_mean(&p, self.0.means.iter().map(|m| m * m)) - self.0.mean * self.0.mean
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::law::tests::{assert_refused, read};

    #[test]
    fn exactly_one_form_is_accepted() {
        for keys in [
            "",
            r#""mean": 1"#,
            r#""scv": 4"#,
            r#""probabilities": [1]"#,
            r#""means": [1]"#,
            r#""mean": 1, "means": [1]"#,
            r#""mean": 1, "scv": 4, "means": [1]"#,
            r#""mean": 1, "scv": 4, "probabilities": [1], "means": [1]"#,
        ] {
            assert_refused(&format!(r#"{{"hyperexponential": {{{keys}}}}}"#), "either the keys mean and scv");
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        for (keys, rule) in [
            (r#""mean": 1, "scv": 0.99"#, "scv (variance / mean^2) must be a number from 1 to 1e9"),
            (r#""mean": 1, "scv": 1e10"#, "scv (variance / mean^2) must be a number from 1 to 1e9"),
            (r#""mean": -1, "scv": 4"#, "at least 0"),
            (r#""mean": 1e101, "scv": 4"#, "mean must be at most 1e100"),
            (r#""probabilities": [], "means": []"#, "must name the same phases"),
            (r#""probabilities": [0.5, 0.5], "means": [1]"#, "there are 2 probabilities and 1 means"),
            (r#""probabilities": [0.5, 0.4], "means": [1, 2]"#, "must sum to 1"),
            (r#""probabilities": [0, 0], "means": [1, 2]"#, "must sum to 1"),
            (r#""probabilities": [1.5, -0.5], "means": [1, 2]"#, "a number from 0 to 1"),
            (r#""probabilities": [0.5, 0.5], "means": [1, -2]"#, "at least 0"),
            (r#""probabilities": [0.5, 0.5], "means": [1, 1e101]"#, "each of means must be at most 1e100"),
            (r#""mean": 1, "scv": 4, "rate": 1"#, "unknown field `rate`"),
        ] {
            assert_refused(&format!(r#"{{"hyperexponential": {{{keys}}}}}"#), rule);
        }
        let mean = NonNegative::new(1.0).expect("not negative");
        assert!(Hyperexponential::balanced(mean, f64::NAN).is_err());
    }

    /// The mixture of the balanced phases has the mean and the scv that were asked for, also where digits could cancel.
    #[test]
    fn balanced_phases_have_the_moments_asked_for() {
        for scv in [1.0, 1.5, 4.0, 1e3, 1e9] {
            let law = Hyperexponential::balanced(NonNegative::new(3.0).expect("positive"), scv).expect("in range");
            let often = law.0.phases.at(0.0);
            assert_eq!(often, 0);
            let p = [1.5 / law.0.means[0], 1.5 / law.0.means[1]];
            assert!((p[0] + p[1] - 1.0).abs() < 1e-15, "scv {scv}: {p:?}");
            let second = 2.0 * (p[0] * law.0.means[0].powi(2) + p[1] * law.0.means[1].powi(2));
            assert!((second / 9.0 - 1.0 - scv).abs() < 1e-13 * scv, "scv {scv}");
        }
    }

    #[test]
    fn both_forms_are_written_as_they_were_read() {
        for json in [
            r#"{"hyperexponential":{"mean":1.0,"scv":4.0}}"#,
            r#"{"hyperexponential":{"probabilities":[0.75,0.25],"means":[0.5,2.5]}}"#,
        ] {
            assert_eq!(serde_json::to_string(&read(json)).expect("laws can be written"), json);
        }
        assert_eq!(read(r#"{"hyperexponential": {"probabilities": [0.75, 0.25], "means": [0.5, 2.5]}}"#).mean(), 1.0);
        assert!(read(r#"{"hyperexponential": {"mean": 0, "scv": 4}}"#).is_zero());
        assert!(read(r#"{"hyperexponential": {"probabilities": [0.5, 0.5], "means": [0, 0]}}"#).is_zero());
    }
}
