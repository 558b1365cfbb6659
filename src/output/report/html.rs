//! Text within HTML, and no more of it than there is room for.

/// Text as it may stand in an element or an attribute in quotes.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(c),
            // Control codes have no place in HTML, and marks of direction could turn the text around them.
            c if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => {
                safe.push('\u{fffd}');
            }
            c => safe.push(c),
        }
    }
    safe
}

/// The first `most` characters of a text, with a sign that there are more.
pub(super) fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}\u{2026}", &text[..at]),
    }
}

/// JSON as it may stand in a script element: nothing in it ends the element.
pub(super) fn embed(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// A template with each `{{name}}` replaced once; what is put in is not looked at again.
pub(super) fn fill(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, behind)) = after.split_once("}}") else { break };
        page.push_str(before);
        page.push_str(&value(name));
        rest = behind;
    }
    page + rest
}

/// Pieces of HTML, as many as there is room for.
#[derive(Clone, Debug)]
pub(super) struct Room {
    text: String,
    bytes: usize,
    taken: u64,
    offered: u64,
}

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        Self { text: String::new(), bytes, taken: 0, offered: 0 }
    }

    /// Adds a piece, if it and all before it have room.
    pub(super) fn add(&mut self, piece: impl FnOnce() -> String) {
        self.offered += 1;
        if self.taken + 1 < self.offered {
            return;
        }
        let piece = piece();
        if self.text.len() + piece.len() <= self.bytes {
            self.text.push_str(&piece);
            self.taken += 1;
        }
    }

    /// Counts pieces that are left out from the start.
    pub(super) fn omit(&mut self, pieces: u64) {
        self.offered += pieces;
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.offered == 0
    }

    /// What is said when not all had room: `200 of 1000 rows are shown; estimates.csv has all.`
    pub(super) fn left_out(&self, what: &str, elsewhere: &str) -> String {
        if self.taken == self.offered {
            return String::new();
        }
        let (taken, offered) = (self.taken, self.offered);
        format!("<p class=note>{taken} of {offered} {what} are shown; {elsewhere}.</p>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_escapes() {
        assert_eq!(
            escape("</script><b a=\"x\" c='y'>&"),
            "&lt;/script&gt;&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;"
        );
        assert_eq!(escape("a\u{0}\u{202e}b\n\u{e9}"), "a\u{fffd}\u{fffd}b\n\u{e9}");
        assert_eq!(embed("{\"a\":\"</script><!--&\"}"), "{\"a\":\"\\u003c/script\\u003e\\u003c!--\\u0026\"}");
    }

    #[test]
    fn what_is_filled_in_is_not_filled_again() {
        let value = |name: &str| if name == "a" { "{{b}}".to_owned() } else { "!".to_owned() };
        assert_eq!(fill("<{{a}}|{{b}}>{{", value), "<{{b}}|!>{{");
    }

    #[test]
    fn only_what_comes_first_has_room() {
        let mut room = Room::new(5);
        for piece in ["abc", "defg", "h"] {
            room.add(|| piece.to_owned());
        }
        assert_eq!(room.text(), "abc");
        assert!(room.left_out("rows", "the rest is elsewhere").contains("1 of 3 rows"));
        assert_eq!(shorten("\u{e9}\u{e9}\u{e9}", 2), "\u{e9}\u{e9}\u{2026}");
        assert_eq!(shorten("ab", 2), "ab");
    }
}
