//! From a located tree to typed values, with errors that say where.

use super::error::{Mark, ScenarioError};
use super::tree::{Entry, Node, Value};
use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};
use std::fmt::{self, Display};
use std::sync::LazyLock;

/// Reads a typed value from a tree.
///
/// # Errors
/// The first value that breaks a rule.
pub(super) fn decode<'a, T: de::Deserialize<'a>>(node: &'a Node) -> Result<T, ScenarioError> {
    T::deserialize(Decoder { node, path: String::new() }).map_err(|error| error.into_located(&node.mark))
}

/// A broken rule, with its place as soon as that is known.
#[derive(Debug)]
struct DecodeError {
    place: Option<Place>,
    rule: String,
    remedy: String,
}

#[derive(Debug)]
struct Place {
    mark: Mark,
    path: String,
    value: Option<String>,
}

impl DecodeError {
    fn new(rule: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { place: None, rule: rule.into(), remedy: remedy.into() }
    }

    /// The error at a place, unless it has one that is more exact.
    fn at(self, place: Place) -> Self {
        Self { place: Some(self.place.unwrap_or(place)), ..self }
    }

    fn into_located(self, mark: &Mark) -> ScenarioError {
        let place = self.place.unwrap_or_else(|| Place { mark: mark.clone(), path: String::new(), value: None });
        ScenarioError { mark: place.mark, path: place.path, value: place.value, rule: self.rule, remedy: self.remedy }
    }
}

impl Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rule)
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    /// A message may carry a remedy after a line feed.
    fn custom<T: Display>(message: T) -> Self {
        let message = message.to_string();
        let (rule, remedy) = message.split_once('\n').unwrap_or((&message, ""));
        Self::new(rule, remedy)
    }

    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::invalid_value(found, expected)
    }

    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        // Types of Rust say nothing to the writer of a scenario.
        let expected = match expected.to_string().as_str() {
            "u32" => format!("a whole number of at least 0 and at most {}", u32::MAX),
            "u64" => "a whole number of at least 0".to_owned(),
            other => other.to_owned(),
        };
        Self::new(format!("must be {expected}, but is {}", describe(found)), "")
    }

    fn unknown_variant(found: &str, known: &'static [&'static str]) -> Self {
        Self::new(format!("`{}` is unknown here", shortened(found)), suggestion(found, known))
    }

    fn unknown_field(found: &str, known: &'static [&'static str]) -> Self {
        Self::new(format!("`{}` is not a known key here", shortened(found)), suggestion(found, known))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("the key `{field}` is missing"), format!("add `{field}: ...`"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(format!("the key `{field}` stands twice"), "keep one of them")
    }
}

fn describe(found: de::Unexpected<'_>) -> String {
    match found {
        de::Unexpected::Map => "a map".into(),
        de::Unexpected::Seq => "a list".into(),
        de::Unexpected::Unit => "empty".into(),
        de::Unexpected::Str(text) => format!("the text `{}`", shortened(text)),
        de::Unexpected::Unsigned(n) => format!("the number {n}"),
        de::Unexpected::Signed(n) => format!("the number {n}"),
        de::Unexpected::Float(x) => format!("the number {x}"),
        de::Unexpected::Bool(truth) => format!("{truth}"),
        other => other.to_string(),
    }
}

/// What may have been meant, or all that is known.
pub(super) fn suggestion(found: &str, known: &[&str]) -> String {
    // The distance takes time and memory in proportion to the length, and no key is as long as this.
    let short = found.len() <= 100;
    let nearest = known.iter().filter(|_| short).map(|&name| (strsim::damerau_levenshtein(found, name), name)).min();
    match nearest {
        Some((distance, name)) if distance <= 1 + found.chars().count() / 4 => format!("did you mean `{name}`?"),
        _ if known.is_empty() => "nothing may stand here".into(),
        _ => format!("known are: {}", known.join(", ")),
    }
}

/// A number as written, if it is written as a plain decimal one.
///
/// Digits may be grouped by single underscores; a leading zero, a base prefix or a lone point is not accepted, since
/// readers disagree about what they mean. `.inf` and `.nan` are numbers, which every rule then refuses.
pub(super) fn number(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Some(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    if matches!(unsigned, ".nan" | ".NaN" | ".NAN") {
        return Some(f64::NAN);
    }
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let grouped = whole.split('_').all(digits);
    let leading_zero = whole.len() > 1 && whole.starts_with('0');
    let exponent_reads = exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)));
    if !grouped || leading_zero || !fraction.is_none_or(digits) || !exponent_reads {
        return None;
    }
    text.replace('_', "").parse().ok()
}

/// A whole number as written: digits, or any decimal number whose value is whole and held exactly, such as `1e6`.
pub(super) fn whole_number(text: &str) -> Option<i128> {
    let x = number(text)?;
    if let Ok(n) = text.replace('_', "").parse() {
        return Some(n);
    }
    (x.fract() == 0.0 && x.abs() <= EXACT).then_some(x as i128)
}

/// Up to here every whole number is held exactly by a floating-point one.
const EXACT: f64 = (1_u64 << 53) as f64;

struct Decoder<'a> {
    node: &'a Node,
    path: String,
}

impl<'a> Decoder<'a> {
    fn located<T>(&self, result: Result<T, DecodeError>) -> Result<T, DecodeError> {
        result.map_err(|error| match error.place {
            Some(_) => error,
            None => DecodeError { place: Some(self.place()), ..error },
        })
    }

    fn place(&self) -> Place {
        let value = match &self.node.value {
            Value::Scalar { text, .. } => Some(shortened(text)),
            _ => None,
        };
        Place { mark: self.node.mark.clone(), path: self.path.clone(), value }
    }

    fn plain(&self) -> Option<&'a str> {
        match &self.node.value {
            Value::Scalar { text, plain: true } => Some(text),
            _ => None,
        }
    }

    /// What stands here, for a message that something else was expected.
    fn unexpected(&self) -> de::Unexpected<'a> {
        match &self.node.value {
            Value::Null => de::Unexpected::Unit,
            Value::Scalar { text, plain } => match number(text) {
                Some(x) if *plain => de::Unexpected::Float(x),
                _ => de::Unexpected::Str(text),
            },
            Value::List(_) => de::Unexpected::Seq,
            Value::Map(_) => de::Unexpected::Map,
        }
    }

    fn wrong<T>(&self, expected: &str, remedy: &str) -> Result<T, DecodeError> {
        let rule = format!("must be {expected}, but is {}", describe(self.unexpected()));
        self.located(Err(DecodeError::new(rule, remedy)))
    }

    fn whole<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let Some(n) = self.plain().and_then(whole_number) else {
            if self.plain().and_then(number).is_some_and(|x| x.fract() == 0.0 && x.abs() > EXACT) {
                let rule = "is too large to be a whole number in this notation, which holds 16 digits";
                return self.located(Err(DecodeError::new(rule, "write all its digits, or a smaller number")));
            }
            return self.wrong("a whole number", "write digits without quotes or leading zeros, such as 1000");
        };
        let visited = match (u64::try_from(n), i64::try_from(n)) {
            (Ok(n), _) => visitor.visit_u64(n),
            (_, Ok(n)) => visitor.visit_i64(n),
            _ => Err(DecodeError::new("is beyond what a 64-bit number holds", "write a smaller number")),
        };
        self.located(visited)
    }
}

/// A value short enough for a message.
fn shortened(text: &str) -> String {
    const LIMIT: usize = 60;
    if text.chars().count() <= LIMIT {
        return text.replace(['\n', '\r'], " ");
    }
    text.chars().take(LIMIT).collect::<String>().replace(['\n', '\r'], " ") + "..."
}

macro_rules! whole_numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            self.whole(visitor)
        })*
    };
}

impl<'de> de::Deserializer<'de> for Decoder<'de> {
    type Error = DecodeError;

    whole_numbers! { deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16
    deserialize_u32 deserialize_u64 }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let visited = match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Scalar { text, plain } => match (text.as_str(), number(text)) {
                ("true", _) if *plain => visitor.visit_bool(true),
                ("false", _) if *plain => visitor.visit_bool(false),
                (_, Some(x)) if *plain => match whole_number(text).and_then(|n| u64::try_from(n).ok()) {
                    Some(n) => visitor.visit_u64(n),
                    None => visitor.visit_f64(x),
                },
                _ => visitor.visit_str(text),
            },
            Value::List(list) => visitor.visit_seq(Items { list, next: 0, path: &self.path }),
            Value::Map(entries) => visitor.visit_map(Entries { entries, next: 0, path: &self.path }),
        };
        self.located(visited)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.plain().and_then(number) {
            Some(x) if x.is_finite() => self.located(visitor.visit_f64(x)),
            Some(_) => self.located(Err(DecodeError::new("must be a finite number", "write for example 1.5"))),
            None => self.wrong("a number", "write a plain decimal number without quotes, such as 1.5"),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.plain() {
            Some("true") => self.located(visitor.visit_bool(true)),
            Some("false") => self.located(visitor.visit_bool(false)),
            _ => self.wrong("true or false", "write true or false without quotes"),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::Scalar { text, .. } => self.located(visitor.visit_str(text)),
            _ => self.wrong("text", "write a word, or any text in quotes"),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.node.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::List(list) => self.located(visitor.visit_seq(Items { list, next: 0, path: &self.path })),
            _ => self.wrong("a list", "write for example [1, 2]"),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let entries: &[Entry] = match &self.node.value {
            Value::Map(entries) => entries,
            // A key with nothing behind it is a map without entries.
            Value::Null => &[],
            _ if fields.is_empty() => return self.wrong("a map without keys", "write the word alone"),
            _ => return self.wrong("a map", &format!("its keys are: {}", fields.join(", "))),
        };
        self.located(visitor.visit_map(Entries { entries, next: 0, path: &self.path }))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let known = format!("known are: {}", variants.join(", "));
        let chosen = match &self.node.value {
            Value::Scalar { text, .. } => Variant { name: text, at: &self, mark: &self.node.mark, content: None },
            Value::Map(entries) => match &entries[..] {
                [entry] => {
                    let place = Decoder { node: &entry.node, path: join(&self.path, &entry.key) };
                    let name = &entry.key;
                    let visited =
                        visitor.visit_enum(Variant { name, at: &place, mark: &entry.mark, content: Some(&entry.node) });
                    return self.located(visited);
                }
                _ => {
                    let rule = format!("must have exactly one key, but has {}", entries.len());
                    return self.located(Err(DecodeError::new(rule, known)));
                }
            },
            _ => return self.wrong("one of the known words, or a map with one of them as its key", &known),
        };
        let visited = visitor.visit_enum(chosen);
        self.located(visited)
    }

    serde::forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple tuple_struct map identifier ignored_any
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

struct Items<'a, 'p> {
    list: &'a [Node],
    next: usize,
    path: &'p str,
}

impl<'a> de::SeqAccess<'a> for Items<'a, '_> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>, DecodeError> {
        let Some(node) = self.list.get(self.next) else { return Ok(None) };
        let decoder = Decoder { node, path: format!("{}[{}]", self.path, self.next) };
        self.next += 1;
        let place = decoder.place();
        seed.deserialize(decoder).map(Some).map_err(|error| error.at(place))
    }
}

struct Entries<'a, 'p> {
    entries: &'a [Entry],
    next: usize,
    path: &'p str,
}

impl<'a> de::MapAccess<'a> for Entries<'a, '_> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        let Some(entry) = self.entries.get(self.next) else { return Ok(None) };
        let deserializer: de::value::StrDeserializer<'_, DecodeError> = entry.key.as_str().into_deserializer();
        seed.deserialize(deserializer).map(Some).map_err(|error| DecodeError {
            place: Some(Place { mark: entry.mark.clone(), path: join(self.path, &entry.key), value: None }),
            ..error
        })
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        let Some(entry) = self.entries.get(self.next) else {
            return Err(DecodeError::new("a value was asked for without its key", ""));
        };
        self.next += 1;
        let decoder = Decoder { node: &entry.node, path: join(self.path, &entry.key) };
        // A rule that is checked after the value was read knows no place of its own.
        let place = decoder.place();
        seed.deserialize(decoder).map_err(|error| error.at(place))
    }
}

struct Variant<'a, 'd> {
    name: &'a str,
    at: &'d Decoder<'a>,
    /// Where the name stands.
    mark: &'d Mark,
    content: Option<&'a Node>,
}

impl<'a> de::EnumAccess<'a> for Variant<'a, '_> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'a>>(self, seed: V) -> Result<(V::Value, Self), DecodeError> {
        let deserializer: de::value::StrDeserializer<'_, DecodeError> = self.name.into_deserializer();
        let place = Place { mark: self.mark.clone(), ..self.at.place() };
        let value = seed.deserialize(deserializer).map_err(|error| error.at(place))?;
        Ok((value, self))
    }
}

/// A map without entries, for a word that stands for a map of defaults.
static NOTHING: LazyLock<Node> =
    LazyLock::new(|| Node { value: Value::Map(Vec::new()), mark: Mark { origin: "".into(), line: 0, column: 0 } });

impl<'a> de::VariantAccess<'a> for Variant<'a, '_> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        match self.content.map(|node| &node.value) {
            None | Some(Value::Null) => Ok(()),
            Some(Value::Map(entries)) if entries.is_empty() => Ok(()),
            Some(_) => {
                let rule = format!("`{}` takes no value", self.name);
                self.at.located(Err(DecodeError::new(rule, format!("write {} alone", self.name))))
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'a>>(self, seed: T) -> Result<T::Value, DecodeError> {
        let path = if self.content.is_some() { self.at.path.clone() } else { join(&self.at.path, self.name) };
        let node = self.content.unwrap_or_else(|| &NOTHING);
        let decoder = Decoder { node, path };
        let place = decoder.place();
        seed.deserialize(decoder).map_err(|error| error.at(place)).map_err(|mut error| {
            if self.content.is_none()
                && let Some(place) = &mut error.place
            {
                place.mark = self.at.node.mark.clone();
            }
            error
        })
    }

    fn tuple_variant<V: Visitor<'a>>(self, _: usize, _: V) -> Result<V::Value, DecodeError> {
        Err(DecodeError::new("a list cannot stand here", ""))
    }

    fn struct_variant<V: Visitor<'a>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, DecodeError> {
        Err(DecodeError::new("a map cannot stand here", ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pitfall Y01: each spelling is the plainly right number or refused, never another number.
    #[test]
    fn whole_numbers_are_right_or_refused() {
        for (text, value) in [("1e3", 1000), ("1_000", 1000), ("10.0", 10), ("0", 0), ("1E6", 1_000_000), ("-3", -3)] {
            assert_eq!(whole_number(text), Some(value), "{text}");
        }
        for text in ["010", "0x10", "0o10", "10.5", "1e400", "1__0", "_1", "1_", ".5", "5.", "1e", "ten", ".inf", ""] {
            assert_eq!(whole_number(text), None, "{text}");
        }
        assert_eq!(whole_number("18446744073709551615"), Some(i128::from(u64::MAX)));
    }

    #[test]
    fn numbers_are_decimal() {
        assert_eq!(number("0.5"), Some(0.5));
        assert_eq!(number("-2.5e-3"), Some(-0.0025));
        assert_eq!(number(".inf"), Some(f64::INFINITY));
        assert!(number(".nan").is_some_and(f64::is_nan));
        for text in ["0,5", "1.2.3", "00.5", "1e5.0", "+", "-", "infinity", "nan"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
