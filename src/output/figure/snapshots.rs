//! `snapshots`: servers over time, coloured by queue length.

use super::{Axis, Content, Figure, Maps, Panel, labels};
use crate::output::Results;
use crate::scenario::Plan;

/// The picture of a point, without a label yet.
pub(super) fn kept(results: &Results) -> Option<Panel> {
    let lengths = results.snapshots.as_ref()?;
    let times = &lengths.times;
    // The last column is as wide as the one before it.
    let step = match times[..] {
        [.., before, last] => last - before,
        _ => 1.0,
    };
    let edges = times.iter().copied().chain(times.last().map(|last| last + step)).collect();
    let row = |server: usize| lengths.jobs.iter().map(|jobs| f64::from(jobs[server])).collect();
    Some(Panel { label: String::new(), edges, rows: (0..lengths.servers.len()).map(row).collect() })
}

/// The pictures of some points beside each other.
pub(super) fn figure(panels: Vec<Panel>, plan: &Plan, caption: String) -> Figure {
    Figure {
        name: "snapshots".to_owned(),
        title: "Queue lengths of servers over time".to_owned(),
        caption,
        content: Content::Maps(Maps {
            x: Axis::linear(format!("time ({})", labels::unit_of_time(plan))),
            y: Axis::linear("server"),
            colour: Axis::linear("jobs at the server"),
            panels,
        }),
    }
}
