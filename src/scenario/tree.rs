//! A YAML document as a tree in which every value knows where it was written.

use super::error::{Mark, ScenarioError};
use serde::de::{self, Deserialize, Deserializer};
use serde_yaml::{DuplicateKeyPolicy, NonFiniteFloatPolicy, Options, Spanned};
use std::fmt;
use std::sync::Arc;

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it was written.
    pub mark: Mark,
}

/// A YAML value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing, `~` or `null`.
    Null,
    /// A scalar.
    Scalar {
        /// The text: as written, or the content of the quotes.
        text: String,
        /// Whether it was written without quotes, so that it can be a number or a truth value.
        plain: bool,
    },
    /// A list.
    List(Vec<Node>),
    /// A map; keys are unique.
    Map(Vec<Entry>),
}

/// A key of a map and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key was written.
    pub mark: Mark,
    /// The value.
    pub node: Node,
}

/// A tree as the YAML reader delivers it, before the source text is looked at.
struct Raw(Spanned<RawValue>);

enum RawValue {
    Null,
    /// A scalar, with its text where the reader took it for a string.
    Scalar(Option<String>),
    List(Vec<Raw>),
    Map(Vec<(Spanned<String>, Raw)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = RawValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a YAML value")
            }
            fn visit_unit<E>(self) -> Result<RawValue, E> {
                Ok(RawValue::Null)
            }
            fn visit_bool<E>(self, _: bool) -> Result<RawValue, E> {
                Ok(RawValue::Scalar(None))
            }
            fn visit_i64<E>(self, _: i64) -> Result<RawValue, E> {
                Ok(RawValue::Scalar(None))
            }
            fn visit_u64<E>(self, _: u64) -> Result<RawValue, E> {
                Ok(RawValue::Scalar(None))
            }
            fn visit_i128<E>(self, _: i128) -> Result<RawValue, E> {
                Ok(RawValue::Scalar(None))
            }
            fn visit_u128<E>(self, _: u128) -> Result<RawValue, E> {
                Ok(RawValue::Scalar(None))
            }
            fn visit_f64<E>(self, _: f64) -> Result<RawValue, E> {
                Ok(RawValue::Scalar(None))
            }
            fn visit_str<E>(self, text: &str) -> Result<RawValue, E> {
                Ok(RawValue::Scalar(Some(text.to_owned())))
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<RawValue, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = seq.next_element()? {
                    list.push(item);
                }
                Ok(RawValue::List(list))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<RawValue, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(RawValue::Map(entries))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Line and column; files have fewer than 2^32 of them.
fn place_of(location: serde_yaml::Location) -> (u32, u32) {
    let clamped = |n| u32::try_from(n).unwrap_or(u32::MAX);
    (clamped(location.line()), clamped(location.column()))
}

/// What the reader complains about, without its advice to programmers and without the place, which the mark tells.
fn plain_message(yaml: &serde_yaml::Error) -> String {
    if matches!(yaml.without_snippet(), serde_yaml::Error::MultipleDocuments { .. }) {
        return "it holds more than one document".into();
    }
    let message = yaml.render_with_formatter(&serde_yaml::UserMessageFormatter);
    if message.contains("limits breached") {
        return "it is too large, or too large once its aliases are replaced".into();
    }
    message.split(" at line ").next().unwrap_or_default().to_owned()
}

/// How YAML is read: only `true` and `false` are truth values, keys are unique, and whatever could be read as
/// another number than the one meant stays text.
fn options() -> Options {
    serde_yaml::options! {
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        with_snippet: false,
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
    }
}

impl Node {
    /// Reads a YAML document; `origin` names it in errors.
    ///
    /// # Errors
    /// If the text is not one YAML document, or a key stands twice in a map.
    pub fn parse(text: &str, origin: &str) -> Result<Self, ScenarioError> {
        let origin: Arc<str> = origin.into();
        let at = |line, column| Mark { origin: Arc::clone(&origin), line, column };
        let error = |mark, rule: String, remedy: &str| ScenarioError {
            mark,
            path: String::new(),
            value: None,
            rule,
            remedy: remedy.to_owned(),
        };
        // A byte order mark is no part of the first key.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            return Err(error(at(0, 0), "is empty".into(), "write at least servers, load and policy"));
        }
        let raw: Raw = serde_yaml::from_str_with_options(text, options()).map_err(|yaml| {
            let (line, column) = yaml.location().map_or((0, 0), place_of);
            let message = plain_message(&yaml);
            // The reader puts the place in front or behind; the mark already tells it.
            let message = message.lines().next().unwrap_or("is not YAML").to_owned();
            error(at(line, column), format!("is not a valid YAML document: {message}"), "")
        })?;
        let root = Self::from_raw(raw, text, &origin);
        if root.value == Value::Null {
            return Err(error(at(0, 0), "is empty".into(), "write at least servers, load and policy"));
        }
        root.refuse_duplicates("")?;
        Ok(root)
    }

    /// Reads a value given on the command line, which has no lines.
    pub(super) fn parse_option(text: &str, mark: &Mark) -> Result<Self, ScenarioError> {
        let mut node =
            Self::parse(text, &mark.origin).map_err(|fault| ScenarioError { mark: mark.clone(), ..fault })?;
        node.forget_lines();
        Ok(node)
    }

    fn from_raw(raw: Raw, text: &str, origin: &Arc<str>) -> Self {
        let Raw(spanned) = raw;
        let mark = |location| {
            let (line, column) = place_of(location);
            Mark { origin: Arc::clone(origin), line, column }
        };
        let source = {
            let span = spanned.defined.span();
            let start = span.byte_offset().and_then(|offset| usize::try_from(offset).ok());
            let length = span.byte_len().and_then(|length| usize::try_from(length).ok());
            start.zip(length).and_then(|(start, length)| text.get(start..start + length)).unwrap_or("").trim()
        };
        let value = match spanned.value {
            RawValue::Null => Value::Null,
            RawValue::Scalar(None) => Value::Scalar { text: source.to_owned(), plain: true },
            RawValue::Scalar(Some(content)) => {
                let plain = content == source;
                Value::Scalar { text: content, plain }
            }
            RawValue::List(list) => {
                Value::List(list.into_iter().map(|item| Self::from_raw(item, text, origin)).collect())
            }
            RawValue::Map(entries) => Value::Map(
                entries
                    .into_iter()
                    .map(|(key, node)| Entry {
                        mark: mark(key.referenced),
                        key: key.value,
                        node: Self::from_raw(node, text, origin),
                    })
                    .collect(),
            ),
        };
        Self { value, mark: mark(spanned.referenced) }
    }

    /// Keys are unique; the reader leaves that to us, since only the tree knows the path.
    fn refuse_duplicates(&self, path: &str) -> Result<(), ScenarioError> {
        match &self.value {
            Value::Map(entries) => {
                let mut seen = std::collections::BTreeSet::new();
                entries.iter().try_for_each(|entry| {
                    let dot = if path.is_empty() { "" } else { "." };
                    let below = format!("{path}{dot}{}", entry.key);
                    if !seen.insert(entry.key.as_str()) {
                        return Err(ScenarioError {
                            mark: entry.mark.clone(),
                            path: below,
                            value: None,
                            rule: format!("the key `{}` stands twice", entry.key),
                            remedy: "keep one of them".to_owned(),
                        });
                    }
                    entry.node.refuse_duplicates(&below)
                })
            }
            Value::List(list) => {
                list.iter().enumerate().try_for_each(|(i, node)| node.refuse_duplicates(&format!("{path}[{i}]")))
            }
            Value::Null | Value::Scalar { .. } => Ok(()),
        }
    }

    /// The node at a path such as `servers[0].rate`.
    pub fn get(&self, path: &str) -> Option<&Self> {
        let mut node = self;
        for step in steps(path) {
            node = match (&node.value, step) {
                (Value::Map(entries), Step::Key(key)) => &entries.iter().find(|entry| entry.key == key)?.node,
                (Value::List(list), Step::Index(i)) => list.get(i)?,
                _ => return None,
            };
        }
        Some(node)
    }

    /// The node nearest to a path: itself, or the deepest of its ancestors that exists.
    pub fn nearest(&self, path: &str) -> &Self {
        let mut path = path;
        loop {
            if let Some(node) = self.get(path) {
                return node;
            }
            path = &path[..path.rfind(['.', '[']).unwrap_or(0)];
        }
    }

    /// Applies an override `path=value`; maps on the way are made where nothing stands.
    ///
    /// # Errors
    /// If the text has no `=`, the value is not YAML, or the path leads through a value that is no map or list.
    pub fn set(&mut self, assignment: &str) -> Result<(), ScenarioError> {
        let mark = Mark { origin: format!("--set '{assignment}'").into(), line: 0, column: 0 };
        let error = |path: &str, rule: String, remedy: &str| ScenarioError {
            mark: mark.clone(),
            path: path.to_owned(),
            value: None,
            rule,
            remedy: remedy.to_owned(),
        };
        let Some((path, text)) = assignment.split_once('=') else {
            return Err(error("", "must have the form path=value".into(), "write for example --set load=0.95"));
        };
        let path = path.trim();
        if path.split('.').any(str::is_empty) {
            return Err(error("", "names no key, or an empty one".into(), "write for example --set load=0.95"));
        }
        if text.trim().is_empty() {
            let (above, key) = path.rsplit_once('.').unwrap_or(("", path));
            if self.find(above).and_then(|node| node.take(key)).is_some() {
                return Ok(());
            }
            return self.place(path, Self { value: Value::Null, mark: mark.clone() }, &mark);
        }
        self.place(path, Self::parse_option(text, &mark)?, &mark)
    }

    /// The node at a path, if there is one; that at an empty path is this one.
    fn find(&mut self, path: &str) -> Option<&mut Self> {
        if path.is_empty() {
            return Some(self);
        }
        steps(path).try_fold(self, |node, step| match (&mut node.value, step) {
            (Value::Map(entries), Step::Key(key)) => {
                entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node)
            }
            (Value::List(list), Step::Index(i)) => list.get_mut(i),
            _ => None,
        })
    }

    /// Puts a value at a path; maps on the way are made where nothing stands.
    ///
    /// # Errors
    /// If the path leads through a value that is no map or list.
    pub(super) fn place(&mut self, path: &str, value: Self, mark: &Mark) -> Result<(), ScenarioError> {
        let error = |path: &str, rule: String, remedy: &str| ScenarioError {
            mark: mark.clone(),
            path: path.to_owned(),
            value: None,
            rule,
            remedy: remedy.to_owned(),
        };
        let mut node = self;
        for step in steps(path) {
            if node.value == Value::Null {
                node.value = Value::Map(Vec::new());
            }
            node = match (&mut node.value, step) {
                (Value::Map(entries), Step::Key(key)) => {
                    let found = entries.iter().position(|entry| entry.key == key).unwrap_or_else(|| {
                        entries.push(Entry {
                            key: key.to_owned(),
                            mark: mark.clone(),
                            node: Self { value: Value::Null, mark: mark.clone() },
                        });
                        entries.len() - 1
                    });
                    &mut entries[found].node
                }
                (Value::List(list), Step::Index(i)) => {
                    let length = list.len();
                    list.get_mut(i).ok_or_else(|| {
                        error(path, format!("the list has no item {i}: it has {length}"), "count items from 0")
                    })?
                }
                (_, Step::Key(key)) => {
                    let rule = format!("`{key}` is looked for in a value that has no keys");
                    return Err(error(path, rule, "set the value above it as a whole, for example {key: value}"));
                }
                (_, Step::Index(i)) => {
                    let rule = format!("item {i} is looked for in a value that is no list");
                    return Err(error(path, rule, "set the value above it as a whole, for example [1, 2]"));
                }
            };
        }
        *node = value;
        Ok(())
    }

    /// The node below some keys, to be changed; dots in a key are no steps.
    pub(super) fn below(&mut self, keys: &[&str]) -> Option<&mut Self> {
        keys.iter().try_fold(self, |node, key| match &mut node.value {
            Value::Map(entries) => entries.iter_mut().find(|entry| entry.key == *key).map(|entry| &mut entry.node),
            _ => None,
        })
    }

    /// Takes a key out of a map, with its value.
    pub(super) fn take(&mut self, key: &str) -> Option<Self> {
        let Value::Map(entries) = &mut self.value else { return None };
        let found = entries.iter().position(|entry| entry.key == key)?;
        Some(entries.remove(found).node)
    }

    /// A value on the command line has no line or column.
    fn forget_lines(&mut self) {
        self.mark.line = 0;
        match &mut self.value {
            Value::List(list) => list.iter_mut().for_each(Self::forget_lines),
            Value::Map(entries) => entries.iter_mut().for_each(|entry| {
                entry.mark.line = 0;
                entry.node.forget_lines();
            }),
            Value::Null | Value::Scalar { .. } => {}
        }
    }
}

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

fn steps(path: &str) -> impl Iterator<Item = Step<'_>> {
    path.split(['.', '[']).filter(|step| !step.is_empty()).map(|step| {
        // One way to write a number: `01` is no item.
        let index =
            step.strip_suffix(']').and_then(|digits| digits.parse().ok().filter(|i: &usize| i.to_string() == digits));
        index.map_or(Step::Key(step), Step::Index)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_at(node: &Node, path: &str) -> (String, bool, u32, u32) {
        let node = node.get(path).expect("path exists");
        match &node.value {
            Value::Scalar { text, plain } => (text.clone(), *plain, node.mark.line, node.mark.column),
            other => panic!("{path} is {other:?}"),
        }
    }

    #[test]
    fn scalars_keep_their_text_and_place() {
        let yaml = "a: 1.10\nb: \"10\"\nc:\n  - {d: 010}\n  - no\n  - 1_000\n  - 1e400\n  - true\n  - 'x y'\n";
        let node = Node::parse(yaml, "file").expect("valid");
        assert_eq!(text_at(&node, "a"), ("1.10".into(), true, 1, 4));
        assert_eq!(text_at(&node, "b"), ("10".into(), false, 2, 4));
        assert_eq!(text_at(&node, "c[0].d"), ("010".into(), true, 4, 9));
        assert_eq!(text_at(&node, "c[1]").0, "no");
        assert_eq!(text_at(&node, "c[2]"), ("1_000".into(), true, 6, 5));
        assert_eq!(text_at(&node, "c[3]").0, "1e400");
        assert_eq!(text_at(&node, "c[4]"), ("true".into(), true, 8, 5));
        assert_eq!(text_at(&node, "c[5]"), ("x y".into(), false, 9, 5));
    }

    #[test]
    fn aliases_and_merge_keys_carry_their_values() {
        let yaml = "base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\nalso: *b\n";
        let node = Node::parse(yaml, "file").expect("valid");
        assert_eq!(text_at(&node, "use.x").0, "1");
        assert_eq!(text_at(&node, "use.y").0, "3");
        assert_eq!(text_at(&node, "also.x").0, "1");
    }

    #[test]
    fn duplicates_and_broken_documents_are_refused_with_their_line() {
        for (yaml, line) in [("a: 1\na: 2\n", 2), ("a:\n  b: 1\n  b: 2\n", 3), ("a: [1, 2\nb: 3\n", 2)] {
            let error = Node::parse(yaml, "file").expect_err("must be refused");
            assert_eq!(error.mark.line, line, "{yaml}: {error}");
        }
        assert!(Node::parse("a: 1\n---\nb: 2\n", "file").is_err());
        assert!(Node::parse(" \n", "file").is_err());
    }

    #[test]
    fn byte_order_marks_carriage_returns_and_tabs_at_the_end_do_no_harm() {
        let plain = Node::parse("a: 1\nb: x\n", "file").expect("valid");
        let odd = Node::parse("\u{feff}a: 1\r\nb: x\t", "file").expect("valid");
        assert_eq!(plain, odd);
    }

    #[test]
    fn overrides_replace_extend_and_explain() {
        let mut node = Node::parse("a: {b: 1}\nl: [1, 2]\n", "file").expect("valid");
        node.set("a.b=2").expect("replace");
        node.set("a.c.d={e: 5}").expect("extend");
        node.set("l[1]=7").expect("item");
        assert_eq!(text_at(&node, "a.b").0, "2");
        assert_eq!(text_at(&node, "a.c.d.e").0, "5");
        assert_eq!(text_at(&node, "l[1]").0, "7");
        for bad in ["a", "=1", "l[5]=1", "a.b.c=1", "a.b=[1"] {
            let error = node.clone().set(bad).expect_err(bad);
            assert!(error.to_string().contains("--set"), "{error}");
        }
    }
}
