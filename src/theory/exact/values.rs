//! The exact values of metrics.

use super::delays::Mixture;
use super::{ClassLaw, DelayLaw, Exact, slot_delays};
use crate::measure::Metric;

impl Exact {
    /// The exact value of a metric, where it is known; keys are those of results.
    pub fn value(&self, metric: Metric, key: &str) -> Option<f64> {
        let number = || key.parse::<usize>().ok();
        match metric {
            Metric::TailFraction => number().map(|k| self.tail(k)),
            Metric::TailFractionVariance => number().map(|k| self.tail_variance(k)),
            Metric::MeanJobs => Some(self.joint.mean / self.servers()),
            Metric::JobsVariance => Some(self.joint.variance),
            Metric::EmptyProbability => Some(self.joint.empty),
            Metric::ResponseTimeMean => self.response_mean(),
            Metric::ResponseTimeVariance => self.response_variance(),
            Metric::ResponseTimeQuantile => self.response_quantile(key.parse().ok()?),
            Metric::WaitingTimeMean => self.waiting_mean(),
            Metric::WaitingTimeQuantile => self.waiting_quantile(key.parse().ok()?),
            Metric::WaitingProbability => self.found(0).map(|idle| 1.0 - idle),
            Metric::JoinPosition => self.found(number()?),
            Metric::MessagesPerJob if key.is_empty() => Some(self.joint.messages),
            Metric::BlockedFraction => Some(self.joint.blocked),
            Metric::Utilization => self.utilization(key),
            Metric::Throughput => Some(self.throughput()),
            Metric::UnusedService if self.slotted => Some(self.capacity() - self.throughput()),
            Metric::ClassTailFraction => {
                let (class, k) = key.rsplit_once('/')?;
                let k = k.parse().ok()?;
                self.class(class).map(|law| law.tail(k))
            }
            Metric::ClassMeanJobs => self.class(key).map(ClassLaw::mean),
            Metric::ClassShare => self.class(key).map(|law| law.share() / (1.0 - self.joint.blocked)),
            Metric::ClassResponseTimeMean => self.class_response(key),
            Metric::EstimateError => self.joint.estimates.map(|(error, _)| error),
            Metric::EstimateBias => self.joint.estimates.map(|(_, bias)| bias),
            Metric::RegretMean => self.joint.regret,
            Metric::ChosenShortestProbability => self.joint.shortest,
            Metric::Imbalance => Some(self.joint.imbalance),
            Metric::QueueRangeMean => self.joint.range,
            _ => None,
        }
    }

    fn servers(&self) -> f64 {
        self.classes.iter().map(|law| law.class.count as f64).sum()
    }

    fn capacity(&self) -> f64 {
        self.classes.iter().map(|law| law.class.count as f64 * law.class.rate).sum()
    }

    fn throughput(&self) -> f64 {
        self.arrival_rate * (1.0 - self.joint.blocked)
    }

    /// `s_k`, the mean fraction of servers with at least k jobs.
    pub fn tail(&self, k: usize) -> f64 {
        self.classes.iter().map(|law| law.class.count as f64 * law.tail(k)).sum::<f64>() / self.servers()
    }

    fn tail_variance(&self, k: usize) -> f64 {
        let square = match k.checked_sub(1) {
            None => return 0.0,
            Some(level) => self.joint.longer.get(level).copied().unwrap_or(0.0),
        };
        (square / self.servers().powi(2) - self.tail(k).powi(2)).max(0.0)
    }

    /// The fraction of the jobs that join which find k jobs.
    fn found(&self, k: usize) -> Option<f64> {
        let of_class = |law: &ClassLaw| law.found.as_ref().map(|found| found.get(k).copied().unwrap_or(0.0));
        let sum: Option<f64> = self.classes.iter().map(of_class).sum();
        sum.map(|sum| sum / (1.0 - self.joint.blocked))
    }

    fn class(&self, name: &str) -> Option<&ClassLaw> {
        self.classes.iter().find(|law| law.class.name == name)
    }

    fn utilization(&self, key: &str) -> Option<f64> {
        if !key.is_empty() {
            return self.class(key).map(|law| law.tail(1));
        }
        let busy = |law: &ClassLaw| law.class.count as f64 * law.class.rate * law.tail(1);
        Some(self.classes.iter().map(busy).sum::<f64>() / self.capacity())
    }

    fn class_response(&self, name: &str) -> Option<f64> {
        let law = self.class(name)?;
        let jobs = self.arrival_rate * law.share();
        // Little's law; in slots, a job is there at the starts of the slots after that of its arrival.
        let inside = law.class.count as f64 * law.mean() / jobs;
        (jobs > 0.0).then_some(if self.slotted { inside + 1.0 } else { inside })
    }

    fn response_mean(&self) -> Option<f64> {
        match &self.delays {
            DelayLaw::Mixture(parts) => Some(Mixture { parts, extra: 1 }.mean()),
            DelayLaw::Slots(survival) => survival.as_deref().map(slot_delays::mean),
        }
    }

    fn response_variance(&self) -> Option<f64> {
        match &self.delays {
            DelayLaw::Mixture(parts) => Some(Mixture { parts, extra: 1 }.variance()),
            DelayLaw::Slots(survival) => survival.as_deref().map(slot_delays::variance),
        }
    }

    fn response_quantile(&self, q: f64) -> Option<f64> {
        match &self.delays {
            DelayLaw::Mixture(parts) => Mixture { parts, extra: 1 }.quantile(q),
            DelayLaw::Slots(survival) => slot_delays::quantile(survival.as_deref()?, q),
        }
    }

    /// In slots, a job waits for one slot less than it stays.
    fn waiting_mean(&self) -> Option<f64> {
        match &self.delays {
            DelayLaw::Mixture(parts) => Some(Mixture { parts, extra: 0 }.mean()),
            DelayLaw::Slots(_) => self.response_mean().map(|mean| mean - 1.0),
        }
    }

    fn waiting_quantile(&self, q: f64) -> Option<f64> {
        match &self.delays {
            DelayLaw::Mixture(parts) => Mixture { parts, extra: 0 }.quantile(q),
            DelayLaw::Slots(_) => self.response_quantile(q).map(|slots| slots - 1.0),
        }
    }
}

impl ClassLaw {
    /// Probability that a server holds at least k jobs.
    fn tail(&self, k: usize) -> f64 {
        self.lengths.iter().skip(k).rev().sum()
    }

    fn mean(&self) -> f64 {
        self.lengths.iter().enumerate().map(|(k, p)| k as f64 * p).sum()
    }

    /// Fraction of all arriving jobs that join the class.
    fn share(&self) -> f64 {
        self.ahead.iter().sum()
    }
}
