//! Time courses of replications, gathered moment by moment.

use crate::measure::{Metric, Series};
use crate::output::{Curve, Mean, TimeCourse};

/// Means so far of every metric at every moment, so that memory does not grow with the number of replications.
#[derive(Debug, Default)]
pub(super) struct Courses {
    replications: u64,
    courses: Vec<Course>,
}

#[derive(Debug)]
struct Course {
    metric: Metric,
    key: String,
    moments: Vec<Running>,
}

/// A running mean and sum of squared differences from it (Welford 1962).
#[derive(Clone, Copy, Debug, Default)]
struct Running {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Courses {
    /// Adds the series of a replication.
    pub(super) fn add(&mut self, replication: &[Series]) {
        for series in replication {
            let course = self.course(series);
            for (running, value) in course.moments.iter_mut().zip(&series.values) {
                value.iter().for_each(|&value| running.add(value));
            }
        }
        for course in &mut self.courses {
            // A level that this replication never reached was empty all the time.
            if !replication.iter().any(|series| series.metric == course.metric && series.key == course.key) {
                course.moments.iter_mut().for_each(|running| running.add(0.0));
            }
        }
        self.replications += 1;
    }

    /// The course of a series; levels come in their order, so a new one has its place after those known.
    fn course(&mut self, series: &Series) -> &mut Course {
        let known = |course: &Course| course.metric == series.metric && course.key == series.key;
        let place = self.courses.iter().position(known).unwrap_or_else(|| {
            // Earlier replications never got here.
            let count = if series.metric.absent_is_zero() { self.replications } else { 0 };
            let fresh = Running { count, ..Running::default() };
            let moments = vec![fresh; series.values.len()];
            let place = self.courses.partition_point(|course| course.metric <= series.metric);
            self.courses.insert(place, Course { metric: series.metric, key: series.key.clone(), moments });
            place
        });
        &mut self.courses[place]
    }

    pub(super) fn finish(self, times: Vec<f64>) -> TimeCourse {
        let curve = |course: Course| Curve {
            metric: course.metric,
            key: course.key,
            means: course.moments.iter().map(Running::mean).collect(),
        };
        TimeCourse { times, curves: self.courses.into_iter().map(curve).collect() }
    }
}

impl Running {
    fn add(&mut self, value: f64) {
        self.count += 1;
        let difference = value - self.mean;
        self.mean += difference / self.count as f64;
        self.squares += difference * (value - self.mean);
    }

    fn mean(&self) -> Mean {
        let n = self.count as f64;
        Mean {
            estimate: (self.count > 0).then_some(self.mean),
            std_error: (self.count > 1).then(|| (self.squares / (n - 1.0) / n).sqrt()),
            replications: self.count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(key: &str, values: &[f64]) -> Series {
        Series { metric: Metric::TailFraction, key: key.to_owned(), values: values.iter().copied().map(Some).collect() }
    }

    #[test]
    fn levels_that_a_replication_missed_were_empty() {
        let regret = |first| Series { metric: Metric::RegretMean, key: String::new(), values: vec![first, Some(2.0)] };
        let mut courses = Courses::default();
        courses.add(&[level("1", &[0.5, 1.0]), regret(None)]);
        courses.add(&[level("1", &[0.25, 1.0]), level("2", &[0.25, 0.5]), regret(Some(1.0))]);
        courses.add(&[level("1", &[0.0, 1.0]), regret(None)]);
        let TimeCourse { times, curves } = courses.finish(vec![0.0, 1.0]);
        assert_eq!(times, [0.0, 1.0]);
        assert_eq!(curves.iter().map(|curve| curve.key.as_str()).collect::<Vec<_>>(), ["1", "2", ""]);
        let estimates = |i: usize| curves[i].means.iter().map(|mean| mean.estimate).collect::<Vec<_>>();
        assert_eq!(estimates(0), [Some(0.25), Some(1.0)]);
        assert_eq!(estimates(2), [Some(1.0), Some(2.0)]);
        assert_eq!(curves[0].means[1], Mean { estimate: Some(1.0), std_error: Some(0.0), replications: 3 });
        assert_eq!(curves[2].means[0], Mean { estimate: Some(1.0), std_error: None, replications: 1 });
        // 0, 1/4, 0: mean 1/12, variance 1/48.
        let Mean { estimate, std_error, replications } = curves[1].means[0];
        assert!(estimate.is_some_and(|mean| (mean - 1.0 / 12.0).abs() < 1e-15), "{estimate:?}");
        assert!(std_error.is_some_and(|error| (error - 1.0 / 12.0).abs() < 1e-15), "{std_error:?}");
        assert_eq!(replications, 3);
    }
}
