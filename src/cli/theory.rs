//! `herdsim theory`: all that is known of a scenario without simulating it.

use super::load::Source;
use super::{Failure, print};
use crate::scenario::{Plan, Point};
use crate::theory::{Level, QUICK, Report};
use clap::Args;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Arguments of `herdsim theory`.
#[derive(Debug, Args)]
pub(super) struct Theory {
    #[command(flatten)]
    source: Source,
    /// Print everything as JSON.
    #[arg(long, conflicts_with = "trajectory")]
    json: bool,
    /// Print the mean-field equation in the course of time as CSV, from the initial state of the scenario: the fraction
    /// s_k of servers with at least k jobs.
    #[arg(long)]
    trajectory: bool,
    /// Time between the rows of the trajectory.
    #[arg(long, value_name = "TIME", default_value_t = 1.0, requires = "trajectory")]
    step: f64,
    /// Time at which the trajectory ends.
    #[arg(long, value_name = "TIME", default_value_t = 50.0, requires = "trajectory")]
    until: f64,
    /// Relative and absolute error of a step of the solver; levels are kept until the fraction beyond is below it.
    #[arg(long, value_name = "ERROR", default_value_t = 1e-9, requires = "trajectory")]
    tolerance: f64,
    /// States that the exact solution of a small system may follow; 400000 may take half a minute.
    #[arg(long, value_name = "COUNT", default_value_t = QUICK)]
    states: usize,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::Outside(error.to_string()))?;
    Ok(format!("{text}\n"))
}

/// The most rows of a trajectory.
const MOST_ROWS: f64 = 1e6;

impl Theory {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let study = self.source.study_for_theory()?;
        let text = match &study.points[..] {
            [only] if self.trajectory => self.course(&only.plan)?,
            _ if self.trajectory => {
                let message = format!("{}: a trajectory is that of one point; there are several", study.name);
                return Err(Failure::Input(format!("{message}\n  help: take the sweep out with --set sweep=")));
            }
            [only] if self.json => json(&only.plan.theory(self.states))?,
            [only] => words(&only.plan, &only.plan.theory(self.states)),
            points if self.json => {
                let of = |(i, point): (usize, &Point)| {
                    let labels: Vec<String> = point.labels.iter().map(ToString::to_string).collect();
                    serde_json::json!({ "point": i, "labels": labels, "theory": point.plan.theory(self.states) })
                };
                json(&points.iter().enumerate().map(of).collect::<Vec<_>>())?
            }
            points => {
                let of = |(i, point): (usize, &Point)| {
                    let place = study.place(i);
                    format!("Point {i}: {place}\n{}", words(&point.plan, &point.plan.theory(self.states)))
                };
                points.iter().enumerate().map(of).collect::<Vec<_>>().join("\n")
            }
        };
        match &self.output {
            None => print(&text),
            Some(path) => write(path, &text),
        }
    }

    /// The trajectory as CSV: a column for the time, the mean number of jobs, and each level.
    fn course(&self, plan: &Plan) -> Result<String, Failure> {
        let told = |why: String| Failure::Input(format!("{}: {why}", plan.name));
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if !(positive(self.step) && positive(self.until) && self.until / self.step <= MOST_ROWS) {
            let rule = format!("--step and --until must be above 0, and give at most {MOST_ROWS} rows");
            return Err(Failure::Input(format!("{rule}\n  help: write for example --step 0.5 --until 20")));
        }
        if !(positive(self.tolerance) && self.tolerance <= 1e-2) {
            return Err(Failure::Input("--tolerance must be above 0 and at most 0.01\n  help: write 1e-9".into()));
        }
        let rows = (self.until / self.step * (1.0 + 1e-12)).floor() as u32;
        let times: Vec<f64> = (0..=rows).map(|row| f64::from(row) * self.step).collect();
        let course = plan.mean_field_course(&times, self.tolerance).map_err(told)?;
        let used = |tail: &Vec<f64>| tail.iter().rposition(|&s| s > self.tolerance).map_or(0, |last| last + 1);
        let levels = course.tails.iter().map(used).max().unwrap_or(0).max(1);
        let mut text = "time,mean_jobs".to_owned();
        (1..=levels).for_each(|k| text.push_str(&format!(",s_{k}")));
        text.push('\n');
        for (time, tail) in course.times.iter().zip(&course.tails) {
            let _ = write!(text, "{time},{}", tail.iter().sum::<f64>());
            (0..levels).for_each(|k| text.push_str(&format!(",{}", tail.get(k).copied().unwrap_or(0.0))));
            text.push('\n');
        }
        Ok(text)
    }
}

/// Appears under its name only when it is complete.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::Outside(format!("{}: {error}", path.display())))
}

fn words(plan: &Plan, report: &Report) -> String {
    let name: String = plan.name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    // A string takes every line.
    let mut text = format!("{name}: {} servers at load {}, without simulating\n", report.servers, short(report.load));
    if !report.predictions.is_empty() {
        text.push_str("\nPredictions:\n");
    }
    for known in &report.predictions {
        let (metric, kind) = (known.metric.name(), known.kind.to_string());
        let value = short(known.value);
        let _ = writeln!(text, "  {metric:<24} {:<8} {value:>12}  {kind}: {}", known.key, known.source);
    }
    levels(&report.levels, &mut text);
    if !report.statements.is_empty() {
        text.push_str("\nMore:\n");
    }
    for statement in &report.statements {
        let value = statement.value.map_or(String::new(), |value| format!(" = {}", short(value)));
        let _ = writeln!(text, "  {}{value} ({}: {})", statement.name, spaced(statement.kind), statement.source);
    }
    text.push_str("\nTheorems of the LED paper:\n");
    report.theorems.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    if !report.unknown.is_empty() {
        text.push_str("\nNot known:\n");
    }
    for unknown in &report.unknown {
        let _ = writeln!(text, "  {}: {}", unknown.what, unknown.why);
    }
    text
}

fn levels(levels: &[Level], text: &mut String) {
    if levels.is_empty() {
        return;
    }
    text.push_str("\nLevels: E s_k = s*_k + V_k / N + A_k / N^2 + ..., N Var s_k -> W_kk, E s_k <= bound\n");
    let _ = writeln!(text, "  {:>3} {:>12} {:>12} {:>12} {:>12} {:>12}", "k", "s*_k", "V_k", "A_k", "W_kk", "bound");
    for level in levels {
        let word = |value: Option<f64>| value.map_or("-".to_owned(), short);
        let [first, second] = [level.first, level.second].map(word);
        let [variance, bound] = [level.variance, level.upper_bound].map(word);
        let fixed = short(level.fixed_point);
        let _ = writeln!(text, "  {:>3} {fixed:>12} {first:>12} {second:>12} {variance:>12} {bound:>12}", level.k);
    }
}

fn spaced(kind: &str) -> String {
    kind.replace('_', " ")
}

/// Six significant digits.
fn short(x: f64) -> String {
    let magnitude = x.abs().log10().floor();
    if x == 0.0 {
        "0".to_owned()
    } else if !(-5.0..9.0).contains(&magnitude) {
        format!("{x:.4e}")
    } else {
        let decimals = (5.0 - magnitude).max(0.0) as usize;
        format!("{x:.decimals$}")
    }
}
