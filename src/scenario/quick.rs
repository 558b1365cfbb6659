//! `--quick`: a scenario made short, by the changes that it names under `quick`, or by a rule.

use super::decode::number;
use super::error::{Mark, ScenarioError};
use super::tree::{Entry, Node, Value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What the name of a quick run ends with, so that its results have a directory of their own.
const SUFFIX: &str = "-quick";

/// Without changes of its own a quick run has the measuring window divided by this.
const SHORTER: f64 = 10.0;

/// Without changes of its own a quick run has at most so many replications.
const REPLICATIONS: u64 = 3;

/// Changes that make a quick run of a scenario: keys, by their path, and their values, as for `--set`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuickSpec(serde_json::Map<String, serde_json::Value>);

impl JsonSchema for QuickSpec {
    fn schema_name() -> Cow<'static, str> {
        "Quick".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "Changes that --quick makes: keys, by their path, and their values.",
            "additionalProperties": true
        })
    }
}

/// Makes a scenario quick: the result has another name, and `quick` no more. Returns the keys that were changed by name.
///
/// # Errors
/// If `quick` is no map, or a path leads through a value that is no map or list.
pub(super) fn shorten(root: &mut Node, fallback_name: &str) -> Result<Vec<(String, Node)>, ScenarioError> {
    let mut changed = Vec::new();
    match root.take("quick").filter(|node| node.value != Value::Null) {
        None => by_rule(root)?,
        Some(quick) => {
            for entry in entries(&quick)? {
                root.place(&entry.key, entry.node.clone(), &entry.mark)?;
                changed.push((entry.key.clone(), entry.node.clone()));
            }
        }
    }
    let name = match root.get("name").map(|node| &node.value) {
        None | Some(Value::Null) => fallback_name,
        Some(Value::Scalar { text, .. }) => text,
        // Whatever it is, it will be refused as it stands.
        Some(_) => return Ok(changed),
    };
    let name = Value::Scalar { text: format!("{name}{SUFFIX}"), plain: false };
    let mark = root.nearest("name").mark.clone();
    root.place("name", Node { value: name, mark: mark.clone() }, &mark)?;
    Ok(changed)
}

fn entries(quick: &Node) -> Result<&[Entry], ScenarioError> {
    let fault = |mark: &Mark, path: &str, rule: &str, remedy: &str| ScenarioError {
        mark: mark.clone(),
        path: path.to_owned(),
        value: None,
        rule: rule.to_owned(),
        remedy: remedy.to_owned(),
    };
    let Value::Map(entries) = &quick.value else {
        let rule = "must be a map from keys, by their path, to their values";
        return Err(fault(&quick.mark, "quick", rule, "write for example quick: {run.time: 100, run.replications: 2}"));
    };
    for entry in entries {
        if entry.key.split('.').any(str::is_empty) {
            let rule = format!("`{}` names no key, or an empty one", entry.key);
            return Err(fault(&entry.mark, "quick", &rule, "write for example quick: {run.time: 100}"));
        }
        if entry.key == "name" || entry.key == "quick" || entry.key.starts_with("quick.") {
            let rule = format!("`{}` is no key that a quick run can change", entry.key);
            return Err(fault(&entry.mark, "quick", &rule, "change what takes time, such as run.time"));
        }
    }
    Ok(entries)
}

/// A tenth of the measuring window, wherever it is set, at most three replications, and no precision to reach. The
/// warm-up stays: a short run may be noisy, but not biased.
fn by_rule(root: &mut Node) -> Result<(), ScenarioError> {
    let slotted =
        matches!(root.get("clock"), Some(Node { value: Value::Scalar { text, .. }, .. }) if text == "slotted");
    let shorter = |node: &mut Node| {
        if let Value::Scalar { text, plain: true } = &mut node.value
            && let Some(time) = number(text).filter(|time| time.is_finite())
        {
            let time = time / SHORTER;
            *text = if slotted { time.ceil() } else { time }.to_string();
        }
    };
    for path in [&["run", "time"][..], &["sweep", "run.time"], &["sweep", "zip", "run.time"]] {
        match root.below(path) {
            Some(Node { value: Value::List(list), .. }) => list.iter_mut().for_each(shorter),
            Some(node) => shorter(node),
            None => {}
        }
    }
    let mark = root.nearest("run").mark.clone();
    if let Some(run) = root.below(&["run"]) {
        for key in ["precision", "precision_of", "max_replications"] {
            run.take(key);
        }
    }
    let few = match root.get("run.replications").map(|node| &node.value) {
        None | Some(Value::Null) => true,
        Some(Value::Scalar { text, .. }) => number(text).is_some_and(|count| count > REPLICATIONS as f64),
        Some(_) => false,
    };
    // A `run` that is no map will be refused as it stands.
    let is_map = root.get("run").is_none_or(|run| matches!(run.value, Value::Map(_) | Value::Null));
    if few && is_map {
        let value = Value::Scalar { text: REPLICATIONS.to_string(), plain: true };
        root.place("run.replications", Node { value, mark: mark.clone() }, &mark)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(text: &str) -> Node {
        let mut root = Node::parse(text, "text").expect("valid");
        shorten(&mut root, "file").expect("it can be shortened");
        root
    }

    fn text(root: &Node, path: &str) -> Option<String> {
        match &root.get(path)?.value {
            Value::Scalar { text, .. } => Some(text.clone()),
            other => Some(format!("{other:?}")),
        }
    }

    #[test]
    fn its_own_changes_are_all_that_is_changed() {
        let root =
            shortened("{name: long, load: 0.5, run: {time: 100, replications: 10}, quick: {run.time: 7, load: 0.6}}");
        let found = ["name", "load", "run.time", "run.replications"].map(|path| text(&root, path).expect("set"));
        assert_eq!(found, ["long-quick", "0.6", "7", "10"]);
        assert!(root.get("quick").is_none());
    }

    #[test]
    fn without_changes_of_its_own_it_takes_a_tenth() {
        let root = shortened(
            "{run: {warmup: 50, time: 100, precision: 1%, max_replications: 40}, sweep: {zip: {run.time: [5, auto]}}}",
        );
        assert_eq!(text(&root, "name").as_deref(), Some("file-quick"));
        assert_eq!(text(&root, "run.time").as_deref(), Some("10"));
        assert_eq!(text(&root, "run.warmup").as_deref(), Some("50"));
        assert_eq!(text(&root, "run.replications").as_deref(), Some("3"));
        assert!(root.get("run.precision").is_none() && root.get("run.max_replications").is_none());
        let swept = format!("{:?}", root.get("sweep.zip"));
        assert!(swept.contains("\"0.5\"") && swept.contains("\"auto\""), "{swept}");
    }

    #[test]
    fn slots_stay_whole_and_few_replications_few() {
        let root = shortened("{clock: slotted, run: {time: 25, replications: 2}}");
        assert_eq!(text(&root, "run.time").as_deref(), Some("3"));
        assert_eq!(text(&root, "run.replications").as_deref(), Some("2"));
    }

    #[test]
    fn what_cannot_be_a_change_is_refused() {
        for (yaml, rule) in [
            ("{quick: 3}", "must be a map"),
            ("{quick: {run..time: 3}}", "names no key"),
            ("{quick: {name: x}}", "no key that a quick run can change"),
            ("{load: 0.5, quick: {load.x: 3}}", "has no keys"),
        ] {
            let error = shorten(&mut Node::parse(yaml, "text").expect("valid"), "file").expect_err(yaml);
            assert!(error.rule.contains(rule), "{yaml}: {}", error.rule);
        }
    }
}
