//! A scenario with its sweep: the points of a grid, each a plan of its own.

use super::error::{Mark, ScenarioError};
use super::plan::{Plan, locate};
use super::quick;
use super::sweep::{Axis, Label, MOST_POINTS, Sweep, describe, to_json};
use super::tree::{Entry, Node, Value};
use std::collections::BTreeSet;

/// An experiment: the points of a sweep, or a single one.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// The name in results.
    pub name: String,
    /// The swept keys.
    pub axes: Vec<Axis>,
    /// The points, in grid order: the last key changes fastest.
    pub points: Vec<Point>,
    /// How many policies are compared; they are the values of the last axis, the first the baseline. 1 without a comparison.
    pub policies: usize,
}

/// A point of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The values of the swept keys.
    pub labels: Vec<Label>,
    /// What is run.
    pub plan: Plan,
}

/// Changes to a scenario from the command line, each as text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes<'a> {
    /// `path=value`.
    pub set: &'a [String],
    /// `path=values`, crossed with what is swept already.
    pub sweep: &'a [String],
    /// `path=values`, side by side.
    pub zip: &'a [String],
    /// Policies to compare: `name={dispatch: ...}`, or `{dispatch: ...}`.
    pub policies: &'a [String],
    /// Makes the scenario short first: by the changes under its `quick`, or by a rule.
    pub quick: bool,
    /// The scenario is not to be run, and may need more memory than there is.
    pub theory_only: bool,
}

impl Study {
    /// Reads a scenario with the changes asked for, and resolves every point of its sweep. `origin` and `fallback_name`
    /// are as for [`Plan::read`].
    ///
    /// # Errors
    /// All rules that are broken at any point, each once; at least one.
    pub fn read(
        text: &str,
        origin: &str,
        fallback_name: &str,
        changes: Changes<'_>,
    ) -> Result<Self, Vec<ScenarioError>> {
        let mut root = Node::parse(text, origin).map_err(|error| vec![error])?;
        let quick = Changes { quick: true, ..changes };
        // What `quick` says is looked at before it is needed: at one of its points.
        let promised = root.get("quick").filter(|_| !changes.quick).map(|_| root.clone());
        let set = changed(&mut root, changes, fallback_name).map_err(|error| vec![error])?;
        let study = Self::of_tree(root, origin, fallback_name, changes, &set, usize::MAX)?;
        if let Some(mut promised) = promised {
            let set = changed(&mut promised, quick, fallback_name).map_err(|error| vec![error])?;
            Self::of_tree(promised, origin, fallback_name, quick, &set, 1)?;
        }
        Ok(study)
    }

    /// Resolves the first points, at most so many, of a scenario in which all changes are made; `set` are those of keys.
    fn of_tree(
        mut root: Node,
        origin: &str,
        fallback_name: &str,
        changes: Changes<'_>,
        set: &[(String, Node)],
        most: usize,
    ) -> Result<Self, Vec<ScenarioError>> {
        let one = |error| vec![error];
        let mut taken = |key| root.take(key).filter(|node| node.value != Value::Null);
        let (sweep, compare) = (taken("sweep"), taken("compare"));
        let mut sweep = match &sweep {
            None => Sweep::default(),
            Some(node) => Sweep::read(node).map_err(one)?,
        };
        let policies = match &compare {
            None => 1,
            Some(node) => {
                let values = compared(node).map_err(one)?;
                let count = values.len();
                let of_policy = |axis: &Axis| axis.key == "policy" || axis.key.starts_with("policy.");
                if let Some(axis) = sweep.axes().into_iter().find(of_policy) {
                    let rule = format!("compares whole policies, and the sweep changes `{}` too", axis.key);
                    return Err(one(fault(node, "compare", rule, "take it out of the sweep")));
                }
                if sweep.points().saturating_mul(count) > MOST_POINTS {
                    let rule = format!("makes more than {MOST_POINTS} points of the sweep");
                    return Err(one(fault(node, "compare", rule, "sweep fewer values")));
                }
                sweep.push("policy", values);
                count
            }
        };
        for (path, here) in set {
            if let Some(swept) = sweep.replaces(path) {
                let rule = format!("would have no effect, since `{swept}` is swept or compared");
                let remedy = format!("use --sweep {swept}=..., or take the sweep out with --set sweep= (or compare=)");
                return Err(one(fault(here, path, rule, &remedy)));
            }
        }
        let mut points = Vec::new();
        let mut errors: Vec<ScenarioError> = Vec::new();
        let mut told = BTreeSet::new();
        for index in 0..sweep.points().min(most) {
            match point(&root, &sweep, index, origin, fallback_name, changes.theory_only) {
                Ok(point) => points.push(point),
                // Points that break one rule with different values are told of once.
                Err(error) if told.insert(error.to_string()) => errors.push(error),
                Err(_) => {}
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        points.chunks_mut(policies).for_each(meet_on_one_engine);
        let axes = sweep.axes();
        for (i, wanted) in points[0].plan.scenario.plot.iter().flatten().enumerate() {
            let checked = wanted.check(&axes, &points);
            checked.map_err(|fault| one(locate(&root, &format!("plot[{i}]"), fault)))?;
        }
        // The scenario that is kept beside the results has the values of the first point, and the sweep over them.
        let scenario = &mut points[0].plan.scenario;
        scenario.sweep = sweep.to_spec(compare.is_some());
        scenario.compare = compare.as_ref().map(to_json);
        Ok(Self { name: points[0].plan.name.clone(), axes, points, policies })
    }

    /// The study of a single point.
    pub fn single(plan: Plan) -> Self {
        let name = plan.name.clone();
        Self { name, axes: Vec::new(), points: vec![Point { labels: Vec::new(), plan }], policies: 1 }
    }

    /// The values of the swept keys at a point, as `key=value`.
    pub fn place(&self, point: usize) -> String {
        let pair = |(axis, label): (&Axis, &Label)| format!("{}={label}", axis.key);
        self.axes.iter().zip(&self.points[point].labels).map(pair).collect::<Vec<_>>().join(", ")
    }

    /// The resolved scenario as YAML, sweep included, which reads back as the same study.
    pub fn to_yaml(&self) -> String {
        self.points[0].plan.to_yaml()
    }
}

fn fault(node: &Node, path: &str, rule: String, remedy: &str) -> ScenarioError {
    ScenarioError { mark: node.mark.clone(), path: path.to_owned(), value: None, rule, remedy: remedy.to_owned() }
}

/// Policies that are compared run on one engine, or they would not meet the same random numbers: those that have the
/// cheaper one take that of the others, if they fit into memory there.
fn meet_on_one_engine(group: &mut [Point]) {
    let Some(most_general) = group.iter().map(|point| point.plan.engine.kind).min() else { return };
    for plan in group.iter_mut().map(|point| &mut point.plan) {
        if plan.engine.kind != most_general {
            plan.take_engine(most_general, "policies are compared on one engine");
        }
    }
}

/// The policies to compare.
fn compared(node: &Node) -> Result<Vec<Node>, ScenarioError> {
    let Value::List(values) = &node.value else {
        let remedy =
            "write for example compare: [{dispatch: shortest}, {name: two choices, dispatch: {power_of_d: {d: 2}}}]";
        return Err(fault(node, "compare", "must be a list of policies".into(), remedy));
    };
    if values.len() < 2 {
        return Err(fault(node, "compare", "needs at least two policies".into(), "add the policy to compare with"));
    }
    let names: Vec<String> = values.iter().map(describe).collect();
    if let Some(i) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
        let rule = format!("the policy `{}` stands twice", names[i]);
        return Err(fault(&values[i], &format!("compare[{i}]"), rule, "give each a name of its own"));
    }
    Ok(values.clone())
}

fn point(
    root: &Node,
    sweep: &Sweep,
    index: usize,
    origin: &str,
    name: &str,
    theory_only: bool,
) -> Result<Point, ScenarioError> {
    let mut tree = root.clone();
    let chosen = sweep.point(index);
    for (path, node, _) in &chosen {
        tree.place(path, (*node).clone(), &node.mark)?;
    }
    let plan = Plan::resolve_tree(&tree, origin, name)?;
    if !theory_only {
        plan.check_memory(&tree)?;
    }
    Ok(Point { labels: chosen.into_iter().map(|(_, _, label)| label).collect(), plan })
}

/// Applies changes from the command line, after those of a quick run. Returns the keys that were set.
fn changed(root: &mut Node, changes: Changes<'_>, fallback_name: &str) -> Result<Vec<(String, Node)>, ScenarioError> {
    let mut set = if changes.quick { quick::shorten(root, fallback_name)? } else { Vec::new() };
    for assignment in changes.set {
        root.set(assignment)?;
        let path = assignment.split_once('=').map_or("", |(path, _)| path.trim());
        let mark = Mark { origin: format!("--set '{assignment}'").into(), line: 0, column: 0 };
        set.push((path.to_owned(), Node { value: Value::Null, mark }));
    }
    for (option, list, path) in [("--sweep", changes.sweep, &["sweep"][..]), ("--zip", changes.zip, &["sweep", "zip"])]
    {
        let mut known: Vec<String> = Vec::new();
        for text in list {
            let (key, node) = swept(option, text)?;
            if known.contains(&key) {
                return Err(fault(&node, &key, format!("is given to {option} twice"), "write all its values at once"));
            }
            known.push(key.clone());
            let mut above = &mut *root;
            for step in path {
                above = child(above, step, &node.mark)?;
            }
            let mark = node.mark.clone();
            *child(above, &key, &mark)? = node;
        }
    }
    if !changes.policies.is_empty() {
        let policies = changes.policies.iter().map(|text| policy(text)).collect::<Result<_, _>>()?;
        let mark = Mark { origin: "--policy".into(), line: 0, column: 0 };
        let compare = child(root, "compare", &mark)?;
        *compare = Node { value: Value::List(policies), mark };
    }
    Ok(set)
}

/// The value of a key of a map, made if it is not there; dots in the key are no steps.
fn child<'a>(node: &'a mut Node, key: &str, mark: &Mark) -> Result<&'a mut Node, ScenarioError> {
    if node.value == Value::Null {
        node.value = Value::Map(Vec::new());
    }
    let rule = || "must be a map from keys to their values".to_owned();
    let misfit = fault(node, "sweep", rule(), "write for example {load: [0.5, 0.9]}");
    let Value::Map(entries) = &mut node.value else { return Err(misfit) };
    let found = entries.iter().position(|entry| entry.key == key).unwrap_or_else(|| {
        let node = Node { value: Value::Null, mark: mark.clone() };
        entries.push(Entry { key: key.to_owned(), mark: mark.clone(), node });
        entries.len() - 1
    });
    Ok(&mut entries[found].node)
}

/// A key and its values from `path=0.5,0.9`, `path=[0.5, 0.9]` or `path=0.1..0.9:linear:9`.
fn swept(option: &str, text: &str) -> Result<(String, Node), ScenarioError> {
    let origin = format!("{option} '{text}'");
    let mark = Mark { origin: origin.as_str().into(), line: 0, column: 0 };
    let Some((path, values)) = text.split_once('=').filter(|(_, values)| !values.trim().is_empty()) else {
        let here = Node { value: Value::Null, mark };
        let remedy = format!("write for example {option} load=0.5,0.9 or {option} servers=10..1000:log:3");
        return Err(fault(&here, "", "must have the form path=values".into(), &remedy));
    };
    let values = values.trim();
    let is_range = values.contains("..") && !values.contains([',', '[', '{']);
    let yaml = if is_range || values.starts_with('[') { values.to_owned() } else { format!("[{values}]") };
    Ok((path.trim().to_owned(), Node::parse_option(&yaml, &mark)?))
}

/// A policy from `name={dispatch: ...}` or `{dispatch: ...}`.
fn policy(text: &str) -> Result<Node, ScenarioError> {
    let mark = Mark { origin: format!("--policy '{text}'").into(), line: 0, column: 0 };
    let (name, yaml) = match text.split_once('=') {
        Some((name, yaml)) if !text.trim_start().starts_with('{') => (Some(name.trim()), yaml),
        _ => (None, text),
    };
    let mut node = Node::parse_option(yaml, &mark)?;
    if !matches!(node.value, Value::Map(_)) {
        let rule = "must be a map with a dispatch".into();
        return Err(fault(&node, "", rule, "write for example --policy 'JSQ={dispatch: shortest}'"));
    }
    if name == Some("") {
        let rule = "has an empty name".into();
        return Err(fault(&node, "", rule, "write for example --policy 'JSQ={dispatch: shortest}'"));
    }
    if let Some(name) = name {
        let named = child(&mut node, "name", &mark)?;
        *named = Node { value: Value::Scalar { text: name.to_owned(), plain: false }, mark };
    }
    Ok(node)
}
