//! Sweeps: the values that keys take in turn, crossed or side by side.

use super::decode::{number, whole_number};
use super::error::{Mark, ScenarioError};
use super::tree::{Entry, Node, Value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The most points of a sweep.
pub(super) const MOST_POINTS: usize = 1_000_000;

/// The key below `sweep` whose keys go side by side.
const ZIP: &str = "zip";

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers of 64 bits with a sign.
    Integer,
    /// Double precision numbers.
    Real,
    /// Text in UTF-8.
    Text,
}

/// A swept key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Its path in the scenario, such as `policy.dispatch`.
    pub key: String,
    /// What its values are: text unless all are numbers.
    pub kind: Kind,
}

/// The value of a swept key at a point.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// Text: that of a word, the `name` of a map that has one, or the value as it would be written on one line.
    Text(String),
}

impl Label {
    /// What it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Integer(_) => Kind::Integer,
            Self::Real(_) => Kind::Real,
            Self::Text(_) => Kind::Text,
        }
    }
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(n) => write!(f, "{n}"),
            Self::Real(x) => write!(f, "{x}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Swept keys and their values: `{path: [values] or range, zip: {path: ..., path: ...}}`.
///
/// A range is text: `0.1..0.9:linear:9`, `10..10000:log:7`, or `1..5:integer` for every whole number. Both ends belong
/// to it. A logarithmic range between whole numbers is rounded to whole numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SweepSpec(serde_json::Map<String, serde_json::Value>);

impl JsonSchema for SweepSpec {
    fn schema_name() -> Cow<'static, str> {
        "Sweep".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let values = serde_json::json!({
            "anyOf": [
                { "type": "array", "minItems": 1 },
                { "type": "string", "pattern": r"^[^.]+(\.[^.]+)?\.\.[^:]+:(linear|log|integer)(:[0-9]+)?$" }
            ]
        });
        json_schema!({
            "type": "object",
            "description": "Keys, by their path, and the values they take: a list, or a range such as 10..1000:log:5.",
            "properties": { ZIP: { "type": "object", "additionalProperties": values } },
            "additionalProperties": values
        })
    }
}

/// A key and its values.
#[derive(Clone, Debug)]
struct Swept {
    path: String,
    values: Vec<Node>,
    /// What the values are together, found once: it takes a look at each.
    kind: Kind,
}

/// What values are together.
fn kind_of(values: &[Node]) -> Kind {
    let all = |test: fn(&str) -> bool| {
        values.iter().all(|node| matches!(&node.value, Value::Scalar { text, plain: true } if test(text)))
    };
    if all(|text| integer(text).is_some()) {
        Kind::Integer
    } else if all(|text| number(text).is_some_and(f64::is_finite)) {
        Kind::Real
    } else {
        Kind::Text
    }
}

/// Keys that change together, each with the same number of values.
type Group = Vec<Swept>;

/// The sweep of a scenario.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    /// Crossed, the last changing fastest.
    groups: Vec<Group>,
}

impl Sweep {
    /// Reads the value of `sweep`.
    ///
    /// # Errors
    /// If it is no map of lists or ranges, or keys side by side have lists of different lengths.
    pub(super) fn read(node: &Node) -> Result<Self, ScenarioError> {
        let error = |node: &Node, path: &str, rule: String, remedy: &str| fault(&node.mark, path, rule, remedy);
        let mut groups = Vec::new();
        for entry in entries(node, "sweep")? {
            if entry.key != ZIP {
                groups.push(vec![Swept::read(entry, "sweep")?]);
                continue;
            }
            let path = "sweep.zip";
            let group: Group =
                entries(&entry.node, path)?.iter().map(|entry| Swept::read(entry, path)).collect::<Result<_, _>>()?;
            if let Some(odd) = group.iter().find(|swept| swept.values.len() != group[0].values.len()) {
                let (first, count) = (&group[0], odd.values.len());
                let rule = format!(
                    "keys side by side need as many values each: `{}` has {}, `{}` has {count}",
                    first.path,
                    first.values.len(),
                    odd.path
                );
                return Err(error(&entry.node, path, rule, "write lists of one length, or cross them outside zip"));
            }
            groups.extend((!group.is_empty()).then_some(group));
        }
        let sweep = Self { groups };
        sweep.check_paths(node)?;
        sweep.check_values(node)?;
        let points = sweep.groups.iter().try_fold(1_usize, |points, group| points.checked_mul(group[0].values.len()));
        if points.is_none_or(|points| points > MOST_POINTS) {
            let rule = format!("has more than {MOST_POINTS} points");
            return Err(error(
                node,
                "sweep",
                rule,
                "write fewer values, or put keys that belong together side by side",
            ));
        }
        Ok(sweep)
    }

    /// A key may not be swept along with one below it, nor what makes the points.
    fn check_paths(&self, node: &Node) -> Result<(), ScenarioError> {
        let paths: Vec<&str> = self.paths().collect();
        for (i, path) in paths.iter().enumerate() {
            if covers("sweep", path) || covers("compare", path) {
                let rule = format!("`{path}` makes the points, and is no key of one");
                return Err(fault(&node.mark, "sweep", rule, "sweep keys of the scenario, such as load"));
            }
            if let Some(other) = paths[..i].iter().find(|other| covers(other, path) || covers(path, other)) {
                let rule = format!("`{other}` and `{path}` set the same value");
                return Err(fault(&node.mark, "sweep", rule, "keep one of them"));
            }
        }
        Ok(())
    }

    /// Two points may not have the same labels.
    fn check_values(&self, node: &Node) -> Result<(), ScenarioError> {
        for group in &self.groups {
            let labels = |at: usize| group.iter().map(|swept| swept.label(at).to_string()).collect::<Vec<_>>();
            let mut seen = std::collections::BTreeSet::new();
            let twice = (0..group[0].values.len()).map(labels).find(|labels| !seen.insert(labels.clone()));
            if let Some(labels) = twice {
                let rule = format!("`{}` has {} twice", group[0].path, labels.join(", "));
                return Err(fault(&node.mark, "sweep", rule, "keep one of them, or give maps a name of their own"));
            }
        }
        Ok(())
    }

    /// The swept key by which a value at this path would be replaced.
    pub(super) fn replaces(&self, path: &str) -> Option<&str> {
        self.paths().find(|swept| covers(swept, path))
    }

    /// Adds a key that changes fastest.
    pub(super) fn push(&mut self, path: &str, values: Vec<Node>) {
        self.groups.push(vec![Swept::new(path, values)]);
    }

    fn paths(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().flatten().map(|swept| swept.path.as_str())
    }

    /// The swept keys, in the order of their columns.
    pub(super) fn axes(&self) -> Vec<Axis> {
        self.groups.iter().flatten().map(|swept| Axis { key: swept.path.clone(), kind: swept.kind }).collect()
    }

    /// How many points there are; 1 without a sweep.
    pub(super) fn points(&self) -> usize {
        self.groups.iter().map(|group| group[0].values.len()).product()
    }

    /// The keys and values of a point, in the order of the axes.
    pub(super) fn point(&self, index: usize) -> Vec<(&str, &Node, Label)> {
        let mut rest = index;
        let mut chosen: Vec<Vec<_>> = self
            .groups
            .iter()
            .rev()
            .map(|group| {
                let at = rest % group[0].values.len();
                rest /= group[0].values.len();
                group.iter().map(|swept| (swept.path.as_str(), &swept.values[at], swept.label(at))).collect()
            })
            .collect();
        chosen.reverse();
        chosen.into_iter().flatten().collect()
    }

    /// The sweep with every range written out; `None` if nothing is swept. `skip_last` leaves the last key out.
    pub(super) fn to_spec(&self, skip_last: bool) -> Option<SweepSpec> {
        let mut map = serde_json::Map::new();
        let list = |swept: &Swept| serde_json::Value::Array(swept.values.iter().map(to_json).collect());
        for group in &self.groups[..self.groups.len() - usize::from(skip_last)] {
            match &group[..] {
                [swept] => drop(map.insert(swept.path.clone(), list(swept))),
                group => {
                    let inner = group.iter().map(|swept| (swept.path.clone(), list(swept))).collect();
                    map.insert(ZIP.to_owned(), serde_json::Value::Object(inner));
                }
            }
        }
        (!map.is_empty()).then_some(SweepSpec(map))
    }
}

impl Swept {
    fn new(path: &str, values: Vec<Node>) -> Self {
        Self { path: path.to_owned(), kind: kind_of(&values), values }
    }

    fn read(entry: &Entry, above: &str) -> Result<Self, ScenarioError> {
        let path = format!("{above}.{}", entry.key);
        let values = match &entry.node.value {
            Value::List(values) if !values.is_empty() => values.clone(),
            Value::Scalar { text, plain: true } if text.contains("..") => range(text)
                .map_err(|(rule, remedy)| ScenarioError {
                    value: Some(text.clone()),
                    ..fault(&entry.node.mark, &path, rule, &remedy)
                })?
                .into_iter()
                .map(|text| Node { value: Value::Scalar { text, plain: true }, mark: entry.node.mark.clone() })
                .collect(),
            _ => {
                let rule = "must be a list of values, not empty, or a range";
                let remedy = "write for example [0.5, 0.9], 0.1..0.9:linear:9, 10..1000:log:5 or 1..5:integer";
                return Err(fault(&entry.node.mark, &path, rule.into(), remedy));
            }
        };
        if entry.key.split('.').any(str::is_empty) {
            let rule = format!("`{}` names no key, or an empty one", entry.key);
            return Err(fault(&entry.mark, above, rule, "write for example load: [0.5, 0.9]"));
        }
        Ok(Self::new(&entry.key, values))
    }

    fn label(&self, at: usize) -> Label {
        let node = &self.values[at];
        match (&node.value, self.kind) {
            (Value::Scalar { text, .. }, Kind::Integer) => integer(text).map(Label::Integer),
            (Value::Scalar { text, .. }, Kind::Real) => number(text).map(Label::Real),
            _ => None,
        }
        .unwrap_or_else(|| Label::Text(describe(node)))
    }
}

/// Whether a path is that of a key, or of one below it.
fn covers(key: &str, path: &str) -> bool {
    path.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn integer(text: &str) -> Option<i64> {
    whole_number(text).and_then(|n| i64::try_from(n).ok())
}

fn fault(mark: &Mark, path: &str, rule: String, remedy: &str) -> ScenarioError {
    ScenarioError { mark: mark.clone(), path: path.to_owned(), value: None, rule, remedy: remedy.to_owned() }
}

fn entries<'a>(node: &'a Node, path: &str) -> Result<&'a [Entry], ScenarioError> {
    match &node.value {
        Value::Map(entries) => Ok(entries),
        _ => Err(fault(
            &node.mark,
            path,
            "must be a map from keys to their values".into(),
            "write for example {load: [0.5, 0.9], servers: 10..1000:log:3}",
        )),
    }
}

/// The name of a map that has one, or the value on one line.
pub(super) fn describe(node: &Node) -> String {
    if let Value::Map(entries) = &node.value
        && let Some(Value::Scalar { text, .. }) =
            entries.iter().find(|entry| entry.key == "name").map(|entry| &entry.node.value)
    {
        return text.clone();
    }
    flow(node)
}

fn flow(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".into(),
        Value::Scalar { text, .. } => text.clone(),
        Value::List(list) => format!("[{}]", list.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let pair = |entry: &Entry| format!("{}: {}", entry.key, flow(&entry.node));
            format!("{{{}}}", entries.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
    }
}

/// The value as it is read back from the resolved scenario.
pub(super) fn to_json(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Scalar { text, plain: true } => match (text.as_str(), integer(text), number(text)) {
            ("true", ..) => true.into(),
            ("false", ..) => false.into(),
            (_, Some(n), _) => n.into(),
            (_, _, Some(x)) if x.is_finite() => x.into(),
            _ => text.clone().into(),
        },
        Value::Scalar { text, .. } => text.clone().into(),
        Value::List(list) => list.iter().map(to_json).collect(),
        Value::Map(entries) => {
            serde_json::Value::Object(entries.iter().map(|entry| (entry.key.clone(), to_json(&entry.node))).collect())
        }
    }
}

/// The values of a range, as they would be written.
fn range(text: &str) -> Result<Vec<String>, (String, String)> {
    let told = |rule: &str| {
        let remedy = "write for example 0.1..0.9:linear:9, 10..1000:log:5 or 1..5:integer";
        (rule.to_owned(), remedy.to_owned())
    };
    let (from, rest) = text.split_once("..").ok_or_else(|| told("must be a range"))?;
    let mut parts = rest.split(':').map(str::trim);
    let to = parts.next().unwrap_or_default();
    let (scale, count, more) = (parts.next().unwrap_or("integer"), parts.next(), parts.next());
    let (from, to) = (from.trim(), to);
    let ends = number(from).zip(number(to)).filter(|(a, b)| a.is_finite() && b.is_finite());
    let Some((low, high)) = ends else { return Err(told("its ends must be finite numbers")) };
    if more.is_some() {
        return Err(told("has too many parts"));
    }
    // 1.0 is a whole number too, but whoever writes it so means a real one.
    let whole = |text: &str| integer(text).filter(|_| !text.contains('.'));
    let whole_ends = whole(from).zip(whole(to));
    let count = match (count, scale, whole_ends) {
        (Some(count), ..) => count.parse::<usize>().ok().filter(|&count| (2..=MOST_POINTS).contains(&count)),
        (None, "integer", Some((a, b))) => a.abs_diff(b).try_into().ok().map(|n: usize| n.saturating_add(1)),
        (None, ..) => return Err(told("needs a number of values; only whole numbers can all be taken")),
    };
    let count = count.filter(|&count| count <= MOST_POINTS);
    let Some(count) = count else { return Err(told("must have at least 2 and at most a million values")) };
    if low == high {
        return Err(told("its ends must differ"));
    }
    let share = |i: usize| i as f64 / (count - 1).max(1) as f64;
    let (between, rounded): (Box<dyn Fn(usize) -> f64>, bool) = match scale {
        "linear" => (Box::new(move |i| low + (high - low) * share(i)), false),
        "log" if low > 0.0 && high > 0.0 => {
            (Box::new(move |i| (low.ln() + (high.ln() - low.ln()) * share(i)).exp()), whole_ends.is_some())
        }
        "log" => return Err(told("a logarithmic range needs ends above 0")),
        "integer" if whole_ends.is_some() => (Box::new(move |i| low + (high - low) * share(i)), true),
        "integer" => return Err(told("a range of whole numbers needs whole ends")),
        _ => return Err(told("must be linear, log or integer")),
    };
    let values: Vec<String> = (0..count)
        .map(|i| match i {
            0 => from.to_owned(),
            i if i == count - 1 => to.to_owned(),
            i if rounded => format!("{}", between(i).round()),
            // Twelve digits: 0.6 and not 0.6000000000000001.
            i => format!("{}", format!("{:.11e}", between(i)).parse().unwrap_or(between(i))),
        })
        .collect();
    if let Some(twice) = values.windows(2).find(|pair| number(&pair[0]) == number(&pair[1])) {
        return Err((format!("gives {} twice", twice[0]), "ask for fewer values".into()));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        range(text).unwrap_or_else(|(rule, _)| panic!("{text}: {rule}"))
    }

    #[test]
    fn ranges_have_both_ends_exactly() {
        assert_eq!(values("0.5..0.9:linear:5"), ["0.5", "0.6", "0.7", "0.8", "0.9"]);
        assert_eq!(values("10..10000:log:7"), ["10", "32", "100", "316", "1000", "3162", "10000"]);
        assert_eq!(values("1.0..100.0:log:5"), ["1.0", "3.16227766017", "10", "31.6227766017", "100.0"]);
        assert_eq!(values("1..4"), ["1", "2", "3", "4"]);
        assert_eq!(values("3..1:integer"), ["3", "2", "1"]);
        assert_eq!(values("0..10:integer:3"), ["0", "5", "10"]);
        assert_eq!(values("-1..1:linear:3"), ["-1", "0", "1"]);
        assert_eq!(values("0..20:linear:5"), ["0", "5", "10", "15", "20"]);
    }

    #[test]
    fn bad_ranges_say_what_is_wrong() {
        for (text, rule) in [
            ("1..:log:3", "ends must be finite"),
            ("a..b:log:3", "ends must be finite"),
            ("0..1:log:3", "above 0"),
            ("0..1:linear", "number of values"),
            ("0..1:linear:1", "at least 2"),
            ("0..1:cubic:3", "linear, log or integer"),
            ("0.5..1.5:integer", "number of values"),
            ("0.5..1.5:integer:2", "whole ends"),
            ("1..3:log:7", "twice"),
            ("1..1:linear:2", "must differ"),
            (".nan..1:linear:2", "finite"),
            ("0..1e9:integer", "a million"),
            ("1..2:log:3:4", "too many parts"),
        ] {
            let (told, _) = range(text).expect_err(text);
            assert!(told.contains(rule), "{text}: {told}");
        }
    }

    #[test]
    fn points_go_through_the_grid_with_the_last_key_fastest() {
        let node = Node::parse("{a: [1, 2], zip: {b: [x, y], c: [0.5, 1]}}", "text").expect("valid");
        let sweep = Sweep::read(&node).expect("a sweep");
        let labels: Vec<String> = (0..sweep.points())
            .map(|i| sweep.point(i).iter().map(|(path, _, label)| format!("{path}={label} ")).collect())
            .collect();
        assert_eq!(labels, ["a=1 b=x c=0.5 ", "a=1 b=y c=1 ", "a=2 b=x c=0.5 ", "a=2 b=y c=1 "]);
        let kinds: Vec<Kind> = sweep.axes().iter().map(|axis| axis.kind).collect();
        assert_eq!(kinds, [Kind::Integer, Kind::Text, Kind::Real]);
    }
}
