//! Collects what figures need, point by point, so that histograms need not be kept.

use super::metric::Estimates;
use super::response_time::Law;
use super::{Content, Figure, Kind, Panel, Series, labels};
use super::{metric, response_time, snapshots, tail_fraction, tail_histogram, trajectory};
use crate::measure::Metric;
use crate::output::{Estimate, Results};
use crate::scenario::{FigureName, Study, Wanted};

/// Points of a sweep that figures of a single point are made for, spread evenly over the grid.
const POINTS: usize = 8;

/// Pictures beside each other.
const PANELS: usize = 4;

/// Metrics whose figures suit a sweep.
const METRICS: [Metric; 7] = [
    Metric::ResponseTimeMean,
    Metric::WaitingProbability,
    Metric::EstimateError,
    Metric::RegretMean,
    Metric::Imbalance,
    Metric::MessagesPerJob,
    Metric::CoincidenceRatio,
];

/// The figures of a study, while its results come in.
pub struct Figures<'a> {
    study: &'a Study,
    wanted: Vec<Wanted>,
    /// Whether figures without anything in them are left out.
    only_full: bool,
    /// Estimates of the metrics that are drawn, of each point.
    estimates: Vec<Estimates>,
    points: Vec<OfPoint>,
    replications: u64,
}

/// What figures of single points need.
struct OfPoint {
    point: usize,
    tail: Vec<Estimate>,
    histogram: Vec<Series>,
    law: Option<Law>,
    course: Vec<Series>,
    panel: Option<Panel>,
}

impl<'a> Figures<'a> {
    /// The figures that the scenario wants, or those that suit.
    pub fn new(study: &'a Study) -> Self {
        match &study.points[0].plan.scenario.plot {
            Some(wanted) => Self::of(study, wanted.clone()),
            None => Self::suitable(study),
        }
    }

    /// These figures.
    pub fn of(study: &'a Study, wanted: Vec<Wanted>) -> Self {
        Self { study, wanted, only_full: false, estimates: Vec::new(), points: Vec::new(), replications: 0 }
    }

    /// The figures that suit: of a sweep through numbers metrics against the key, else the laws of the points.
    pub fn suitable(study: &'a Study) -> Self {
        let mut wanted = Vec::new();
        if metric::default_axis(study).is_some() {
            wanted.extend(METRICS.map(Wanted::metric));
            wanted.push(Wanted::Named(FigureName::Snapshots));
        } else {
            wanted.extend(FigureName::ALL.map(Wanted::Named));
        }
        Self { only_full: true, ..Self::of(study, wanted) }
    }

    /// All figures that there can be: those that the scenario names, those that suit, and the laws of the points.
    pub fn all(study: &'a Study) -> Self {
        let mut all = Self::suitable(study);
        let named: Vec<Wanted> = study.points[0].plan.scenario.plot.iter().flatten().cloned().collect();
        // A metric that the scenario has a figure of is not shown a second time in the way that suits.
        let metric = |wanted: &Wanted| match wanted {
            Wanted::Metric(asked) => Some(asked.metric),
            Wanted::Named(_) => None,
        };
        let again = |wanted: &Wanted| {
            named.contains(wanted) || metric(wanted).is_some_and(|one| named.iter().any(|n| metric(n) == Some(one)))
        };
        let others: Vec<Wanted> = all.wanted.drain(..).chain(FigureName::ALL.map(Wanted::Named)).collect();
        all.wanted = named.clone();
        for wanted in others {
            if !again(&wanted) && !all.wanted.contains(&wanted) {
                all.wanted.push(wanted);
            }
        }
        all
    }

    /// Adds the results of a point. Points come in the order of the grid.
    pub fn add(&mut self, results: &Results) {
        let metrics: Vec<Metric> = self
            .wanted
            .iter()
            .filter_map(|wanted| match wanted {
                Wanted::Metric(asked) => Some(asked.metric),
                Wanted::Named(_) => None,
            })
            .collect();
        self.replications = self.replications.max(results.manifest.replications);
        let drawn = |estimate: &&Estimate| metrics.contains(&estimate.metric);
        self.estimates.push(Estimates {
            point: results.point as usize,
            labels: results.labels.clone(),
            estimates: results.estimates.iter().filter(drawn).cloned().collect(),
        });
        let point = results.point as usize;
        if !self.is_shown(point) {
            return;
        }
        let Some(plan) = self.study.points.get(point).map(|point| &point.plan) else { return };
        let wants = |name| self.wanted.contains(&Wanted::Named(name));
        let of_point = OfPoint {
            point,
            tail: if wants(FigureName::TailFraction) { tail_fraction::kept(results) } else { Vec::new() },
            histogram: if wants(FigureName::TailHistogram) { tail_histogram::kept(results) } else { Vec::new() },
            law: wants(FigureName::ResponseTime).then(|| response_time::kept(results, plan)),
            course: if wants(FigureName::Trajectory) { trajectory::kept(results, plan) } else { Vec::new() },
            panel: snapshots::kept(results).filter(|_| wants(FigureName::Snapshots)),
        };
        self.points.push(of_point);
    }

    /// Whether a point is among those that are spread evenly over the grid.
    fn is_shown(&self, point: usize) -> bool {
        let all = self.study.points.len();
        all <= POINTS || (0..POINTS).any(|i| i * (all - 1) / (POINTS - 1) == point)
    }

    /// The figures.
    pub fn finish(mut self) -> Vec<Figure> {
        let wanted = std::mem::take(&mut self.wanted);
        let mut figures = Vec::new();
        for wanted in &wanted {
            match wanted {
                Wanted::Named(name) => figures.extend(self.named(*name)),
                Wanted::Metric(asked) => {
                    let mut figure = metric::figure(self.study, &self.estimates, wanted, asked);
                    figure.caption = format!("{}{}{}", self.setting(), self.intervals(&figure), figure.caption);
                    figures.push(figure);
                }
            }
        }
        if self.only_full {
            figures.retain(|figure| !figure.is_empty() && !is_zero(figure));
        }
        figures
    }

    fn named(&self, name: FigureName) -> Vec<Figure> {
        let plan = &self.study.points[0].plan;
        let label = |of: &OfPoint| self.place(of.point);
        let of_points = if self.points.len() < self.study.points.len() {
            format!("; {} of {} points", self.points.len(), self.study.points.len())
        } else {
            String::new()
        };
        let setting = self.setting();
        match name {
            FigureName::TailFraction => {
                let points: Vec<_> = self.points.iter().map(|of| (label(of), &of.tail[..])).collect();
                let mut figure = tail_fraction::figure(&points, String::new());
                figure.caption = format!("{setting}{}{of_points}", self.intervals(&figure));
                vec![figure]
            }
            FigureName::ResponseTime => {
                let points: Vec<_> = self.points.iter().filter_map(|of| Some((label(of), of.law.as_ref()?))).collect();
                vec![response_time::figure(&points, plan, format!("{setting}{of_points}"))]
            }
            FigureName::TailHistogram => {
                let one = |of: &OfPoint| {
                    let name = self.numbered(name, of.point);
                    tail_histogram::figure(name, &label(of), of.histogram.clone(), setting.clone())
                };
                self.points.iter().map(one).collect()
            }
            FigureName::Trajectory => {
                let one = |of: &OfPoint| {
                    let plan = &self.study.points[of.point].plan;
                    let caption = format!("{setting}; means over the replications");
                    trajectory::figure(self.numbered(name, of.point), &label(of), of.course.clone(), plan, caption)
                };
                self.points.iter().map(one).collect()
            }
            FigureName::Snapshots => {
                let panel = |of: &OfPoint| Some(Panel { label: label(of), ..of.panel.clone()? });
                let panels = self.points.iter().filter_map(panel).take(PANELS).collect();
                vec![snapshots::figure(panels, plan, format!("{}; one run", self.setting_of(1)))]
            }
        }
    }

    /// The name of a figure of one point.
    fn numbered(&self, name: FigureName, point: usize) -> String {
        if self.study.axes.is_empty() { name.name().to_owned() } else { format!("{}_{point}", name.name()) }
    }

    fn place(&self, point: usize) -> String {
        labels::place(&self.study.axes, &self.study.points[point].labels, |_| true)
    }

    fn setting(&self) -> String {
        self.setting_of(self.replications)
    }

    fn setting_of(&self, replications: u64) -> String {
        labels::setting(&self.study.points[0].plan, &self.study.axes, replications)
    }

    /// What the bars of a figure are, if it has some.
    fn intervals(&self, figure: &Figure) -> String {
        let Content::Lines(lines) = &figure.content else { return String::new() };
        let estimates = lines.series.iter().filter(|series| series.kind == Kind::Estimates);
        let any = estimates.flat_map(|series| &series.points).any(|point| point.interval.is_some());
        if any { format!("; {}", labels::intervals(&self.study.points[0].plan)) } else { String::new() }
    }
}

/// Whether all that is drawn is 0, as the errors of exact information are.
fn is_zero(figure: &Figure) -> bool {
    match &figure.content {
        Content::Lines(lines) => lines.series.iter().flat_map(|series| &series.points).all(|point| point.y == 0.0),
        Content::Maps(_) => false,
    }
}
