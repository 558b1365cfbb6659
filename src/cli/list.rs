//! `herdsim list`: everything that can stand in a scenario, with a line each.

use super::{Failure, plot, print};
use crate::measure::Metric;
use crate::model::{Arrivals, CountLaw, Law};
use crate::policy::{Dispatch, Information};
use std::fmt::Write;

pub(super) fn execute() -> Result<(), Failure> {
    let metrics: Vec<_> = Metric::ALL.iter().map(|metric| (metric.name(), metric.meaning())).collect();
    let sections = [
        ("Strategies (policy.dispatch)", Dispatch::CATALOGUE),
        ("Information (policy.information)", Information::CATALOGUE),
        ("Arrivals (arrivals)", Arrivals::CATALOGUE),
        ("Laws (service, arrivals.renewal, delay)", Law::CATALOGUE),
        ("Laws of a slot (slots.arrivals, slots.service)", CountLaw::CATALOGUE),
        ("Metrics (estimates.csv)", &metrics),
    ];
    let mut text = String::new();
    for (title, entries) in sections {
        let _ = writeln!(text, "{title}:");
        for (name, line) in entries {
            let _ = writeln!(text, "  {name:<26} {line}");
        }
        let _ = writeln!(text);
    }
    print(&format!("{text}Figures (plot, herdsim plot --figure):\n{}", plot::list()))
}
