//! `trajectory.csv`: the time course, one row per metric, key and moment.

use super::results::Results;
use super::{row, table};
use std::io::{self, Write};

/// `estimate` is the mean over the replications that have a value at this moment.
pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let mut table = table(out, &["time", "metric", "key", "estimate", "std_error", "replications"])?;
    if let Some(course) = &results.time_course {
        for curve in &course.curves {
            for (time, mean) in course.times.iter().zip(&curve.means) {
                let (name, key) = (curve.metric.name(), &curve.key);
                row(&mut table, &(time, name, key, mean.estimate, mean.std_error, mean.replications))?;
            }
        }
    }
    table.flush()
}
