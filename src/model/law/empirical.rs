//! The empirical law: `P(X = v_i) = w_i / sum w`, a discrete law on given values.

use super::bounded;
use super::table::{Table, weighted_mean};
use crate::model::number::{Fault, NonNegative};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of the given values, for example of measured durations, drawn with equal probabilities or by weights.
///
/// With equal probabilities the index is drawn exactly (Lemire 2019), with weights by searching their cumulative sums
/// (inversion; Devroye 1986, III.2). A mean that is not 1 does not do as a law of sizes: divide the values by it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "WrittenEmpirical", into = "WrittenEmpirical")]
pub struct Empirical {
    /// Boxed, since laws stand in many places and most are small.
    written: Box<WrittenEmpirical>,
    /// What the weights make; none if all values are equally likely.
    table: Option<Table>,
    mean: f64,
}

/// The law as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenEmpirical {
    /// The values, in units of time.
    values: Vec<NonNegative>,
    /// How likely each value is, relative to the others; equally, if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<NonNegative>>,
}

impl WrittenEmpirical {
    fn plain_weights(&self) -> Vec<f64> {
        match &self.weights {
            None => vec![1.0; self.values.len()],
            Some(weights) => weights.iter().map(|weight| weight.get()).collect(),
        }
    }
}

impl TryFrom<WrittenEmpirical> for Empirical {
    type Error = Fault;

    fn try_from(written: WrittenEmpirical) -> Result<Self, Fault> {
        Self::new(written.values, written.weights)
    }
}

impl From<Empirical> for WrittenEmpirical {
    fn from(law: Empirical) -> Self {
        *law.written
    }
}

impl Empirical {
    /// The law on `values`, in units of time, equally likely or with probabilities in proportion to `weights`.
    ///
    /// # Errors
    /// If there is no value or one exceeds 1e100, or the weights are all 0 or not as many as the values.
    pub fn new(values: Vec<NonNegative>, weights: Option<Vec<NonNegative>>) -> Result<Self, Fault> {
        if values.is_empty() {
            return Err(Fault::new("values must hold at least one number", "write for example values: [0.5, 1.5]"));
        }
        values.iter().try_for_each(|&value| bounded("each of values", value))?;
        let written = Box::new(WrittenEmpirical { values, weights });
        let (values, w) = (&written.values, written.plain_weights());
        if w.len() != values.len() {
            return Err(Fault::new(
                format!("there must be as many weights as values; there are {} and {}", w.len(), values.len()),
                "write one weight for each value, or drop the key weights for equal ones",
            ));
        }
        let table = Table::new("weights", &w)?;
        let mean = weighted_mean(&w, values.iter().map(|value| value.get()));
        let table = written.weights.is_some().then_some(table);
        Ok(Self { written, table, mean })
    }

    #[inline]
    pub(super) fn sample(&self, stream: &mut Stream) -> f64 {
        let values = &self.written.values;
        let drawn = match &self.table {
            None => stream.below(values.len() as u64) as usize,
            Some(table) => table.at(stream.uniform()),
        };
        values[drawn].get()
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    pub(super) fn variance(&self) -> f64 {
        let values = self.written.values.iter();
        weighted_mean(&self.written.plain_weights(), values.map(|value| (value.get() - self.mean).powi(2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::law::tests::{assert_refused, read};
    use crate::random::Component;

    #[test]
    fn bad_parameters_are_refused() {
        for (keys, rule) in [
            (r#""values": []"#, "values must hold at least one number"),
            (r#""values": [1, -1]"#, "at least 0"),
            (r#""values": [1, 1e101]"#, "each of values must be at most 1e100"),
            (r#""values": [1, 2], "weights": [1]"#, "as many weights as values; there are 1 and 2"),
            (r#""values": [1, 2], "weights": []"#, "as many weights as values; there are 0 and 2"),
            (r#""values": [1, 2], "weights": [0, 0]"#, "weights must not all be 0"),
            (r#""values": [1, 2], "weights": [1, -1]"#, "at least 0"),
            (r#""weights": [1]"#, "missing field `values`"),
            (r#""values": [1], "mean": 1"#, "unknown field `mean`"),
        ] {
            assert_refused(&format!(r#"{{"empirical": {{{keys}}}}}"#), rule);
        }
        assert!(NonNegative::new(f64::NAN).is_err() && NonNegative::new(f64::INFINITY).is_err());
    }

    /// Chi-square with 2 degrees of freedom: 23 is exceeded with probability 1e-5.
    #[test]
    fn values_come_with_their_weights() {
        for (json, shares) in [
            (r#"{"empirical": {"values": [0, 1, 2]}}"#, [1.0 / 3.0; 3]),
            (r#"{"empirical": {"values": [0, 1, 2], "weights": [2, 5, 1]}}"#, [0.25, 0.625, 0.125]),
            (r#"{"empirical": {"values": [0, 7, 1, 2], "weights": [2e307, 0, 5e307, 1e307]}}"#, [0.25, 0.625, 0.125]),
        ] {
            let law = read(json);
            let mut stream = Stream::new(4, 0, Component::Delays);
            let mut counts = [0.0; 3];
            let n = 300_000;
            (0..n).for_each(|_| counts[law.sample(&mut stream) as usize] += 1.0);
            let n = f64::from(n);
            let chi_square: f64 = counts.iter().zip(shares).map(|(c, p)| (c - n * p).powi(2) / (n * p)).sum();
            assert!(chi_square < 23.0, "{json}: {counts:?}");
        }
    }

    #[test]
    fn values_are_written_as_they_were_read() {
        for json in
            [r#"{"empirical":{"values":[0.5,1.5]}}"#, r#"{"empirical":{"values":[0.0,2.0],"weights":[3.0,3.0]}}"#]
        {
            assert_eq!(serde_json::to_string(&read(json)).expect("laws can be written"), json);
            assert_eq!(read(json).mean(), 1.0);
        }
        assert!(read(r#"{"empirical": {"values": [0, 0]}}"#).is_zero());
        assert!(!read(r#"{"empirical": {"values": [0, 1]}}"#).is_zero());
    }
}
