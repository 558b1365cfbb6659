//! Arrivals from a CSV file: a column `time` and, if wanted, `size` and `dispatcher`.
//!
//! The file is read twice, each time line by line: once in full when the scenario is resolved, so that a bad line is
//! known before anything runs, and then by each replication as far as it gets. At any moment there is one line of it
//! in memory, and lines are of limited length, so the memory needed does not depend on the file.

use super::{Next, Reaches};
use crate::model::sum::Sum;
use std::fmt;
use std::fs::File;
use std::io::{self, Chain, Read};
use std::path::{Path, PathBuf};

/// The longest line that is read, in bytes; three numbers need about sixty.
const LONGEST_LINE: usize = 4096;

/// Values are shown up to this length.
const SHOWN: usize = 60;

/// The columns, by name.
const COLUMNS: [&str; 3] = ["time", "size", "dispatcher"];

/// Arrivals from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    path: PathBuf,
    bounds: Bounds,
    /// Length of the file in bytes.
    bytes: u64,
    /// Time of the last arrival in the file.
    last: Option<f64>,
    /// Jobs that arrive before the end of a run.
    jobs: u64,
    /// The sum of their sizes, a size that is drawn counted as 1.
    work: f64,
}

/// What the values in a file may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The number of dispatchers.
    pub dispatchers: u32,
    /// The largest size.
    pub largest_size: f64,
}

/// A file that cannot be used: where, which value, which rule, how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1, if it is about a line.
    pub line: Option<u64>,
    /// The column, if it is about one.
    pub column: Option<&'static str>,
    /// The value as written, if it is about one.
    pub value: Option<String>,
    /// The rule that was broken.
    pub rule: String,
    /// How to mend it.
    pub remedy: String,
}

impl TraceError {
    /// Everything but the file and the remedy: line, column, value and rule.
    pub fn what(&self) -> String {
        let line = self.line.map(|line| format!("line {line}"));
        let column = self.column.map(|column| format!("column {column}"));
        let place: Vec<String> = line.into_iter().chain(column).collect();
        let place = if place.is_empty() { String::new() } else { format!("{}: ", place.join(", ")) };
        let value = self.value.as_ref().map_or(String::new(), |value| format!("`{value}`: "));
        format!("{place}{value}{}", self.rule)
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n  help: {}", self.file.display(), self.what(), self.remedy)
    }
}

impl std::error::Error for TraceError {}

impl Trace {
    /// Reads a file from end to end, for runs that last until `end`.
    ///
    /// # Errors
    /// If the file cannot be read, or for its first line that breaks a rule.
    pub fn scan(path: &Path, bounds: Bounds, end: f64) -> Result<Self, Box<TraceError>> {
        let mut lines = Lines::open(path, bounds)?;
        let mut trace = Self { path: path.to_owned(), bounds, bytes: lines.bytes, last: None, jobs: 0, work: 0.0 };
        let mut work = Sum::default();
        while let Some(line) = lines.next_line()? {
            trace.last = Some(line.time);
            if line.time < end {
                trace.jobs += 1;
                work.add(line.size.unwrap_or(1.0));
            }
        }
        trace.work = work.value();
        Ok(trace)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Jobs that arrive before the end of a run.
    pub fn jobs(&self) -> u64 {
        self.jobs
    }

    /// Their mean size, a size that is drawn counted as 1.
    pub fn mean_size(&self) -> f64 {
        if self.jobs == 0 { 1.0 } else { self.work / self.jobs as f64 }
    }

    /// Time of the last arrival in the file.
    pub fn last(&self) -> Option<f64> {
        self.last
    }

    /// The file once more, from its start.
    pub(super) fn read(&self) -> Result<Lines, Box<TraceError>> {
        let lines = Lines::open(&self.path, self.bounds)?;
        if lines.bytes != self.bytes {
            let remedy = "start again, and leave the file alone while the run lasts";
            return Err(lines.about_file("has changed since the scenario was read", remedy));
        }
        Ok(lines)
    }
}

/// A line as read.
struct Line {
    time: f64,
    size: Option<f64>,
    dispatcher: Option<u32>,
}

/// The lines of a file, one after the other.
pub(super) struct Lines {
    path: PathBuf,
    bounds: Bounds,
    bytes: u64,
    reader: csv::Reader<ShortLines<Chain<File, &'static [u8]>>>,
    /// The present line; its memory is used again for the next.
    record: csv::ByteRecord,
    /// How many fields each line has, and which of them holds each of [`COLUMNS`].
    fields: usize,
    columns: [Option<usize>; COLUMNS.len()],
    /// The time in the line before.
    before: f64,
}

impl Lines {
    fn open(path: &Path, bounds: Bounds) -> Result<Self, Box<TraceError>> {
        let failed = |error: io::Error| unreadable(path, &error.to_string());
        // Looked at first: opening a pipe would wait for somebody to write into it.
        let metadata = std::fs::metadata(path).map_err(failed)?;
        if !metadata.is_file() {
            return Err(unreadable(path, "is not a file"));
        }
        let file = File::open(path).map_err(failed)?;
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            // Were quotes heeded, one that is never closed would swallow the rest of the file.
            .quoting(false)
            // Only so does a line begin right behind the one before, and lines can be counted.
            .terminator(csv::Terminator::Any(b'\n'))
            .buffer_capacity(1 << 16)
            .from_reader(ShortLines { inner: file.chain(&b"\n"[..]), line: 1, length: 0 });
        let mut lines = Self {
            path: path.to_owned(),
            bounds,
            bytes: metadata.len(),
            reader,
            record: csv::ByteRecord::new(),
            fields: 0,
            columns: [None; COLUMNS.len()],
            before: 0.0,
        };
        lines.read_header()?;
        Ok(lines)
    }

    /// Reads the next line that is not blank; false at the end.
    fn advance(&mut self) -> Result<bool, Box<TraceError>> {
        loop {
            match self.reader.read_byte_record(&mut self.record) {
                Ok(true) if self.record.len() == 1 && trimmed(&self.record[0]).is_empty() => {}
                Ok(more) => return Ok(more),
                Err(error) => {
                    let reason = match error.kind() {
                        csv::ErrorKind::Io(error) => error.to_string(),
                        _ => error.to_string(),
                    };
                    return Err(unreadable(&self.path, &reason));
                }
            }
        }
    }

    fn read_header(&mut self) -> Result<(), Box<TraceError>> {
        let remedy = "let the first line name the columns: time and, if wanted, size and dispatcher, with commas";
        if !self.advance()? {
            return Err(self.about_file("is empty", remedy));
        }
        self.fields = self.record.len();
        for (field, name) in self.record.iter().enumerate() {
            let name = trimmed(name);
            let Some(column) = COLUMNS.iter().position(|known| known.as_bytes() == name) else {
                return Err(self.wrong(None, Some(name), "is not a known column".into(), remedy));
            };
            if self.columns[column].replace(field).is_some() {
                return Err(self.wrong(None, Some(name), "the column stands twice".into(), "keep one of them"));
            }
        }
        if self.columns[0].is_none() {
            return Err(self.wrong(None, None, "there is no column `time`".into(), remedy));
        }
        Ok(())
    }

    fn next_line(&mut self) -> Result<Option<Line>, Box<TraceError>> {
        if !self.advance()? {
            return Ok(None);
        }
        if self.record.len() != self.fields {
            let rule = format!("must have {} fields like the first line, but has {}", self.fields, self.record.len());
            return Err(self.wrong(
                None,
                None,
                rule,
                "separate fields by commas; leave a field empty to have it drawn",
            ));
        }
        let Some(time) = self.number(0)? else {
            return Err(self.wrong(Some(0), Some(b""), "must not be empty".into(), "write the time of the arrival"));
        };
        if time < self.before {
            let rule = format!("must not be before the time of the line above, {}", self.before);
            return Err(self.wrong(Some(0), self.field(0), rule, "sort the lines by time"));
        }
        self.before = time;
        let size = self.number(1)?;
        if size.is_some_and(|size| size > self.bounds.largest_size) {
            let rule = format!("must be at most {:e}", self.bounds.largest_size);
            return Err(self.wrong(Some(1), self.field(1), rule, "use another unit of time"));
        }
        Ok(Some(Line { time, size, dispatcher: self.dispatcher()? }))
    }

    fn field(&self, column: usize) -> Option<&[u8]> {
        self.columns[column].and_then(|field| self.record.get(field)).map(trimmed)
    }

    /// The number in a column; `None` if there is no such column, or nothing in it.
    fn number(&self, column: usize) -> Result<Option<f64>, Box<TraceError>> {
        let Some(written) = self.field(column).filter(|written| !written.is_empty()) else { return Ok(None) };
        let number = std::str::from_utf8(written).ok().and_then(|text| text.parse::<f64>().ok());
        match number {
            // Adding 0 turns -0 into 0, whose bits sort before those of larger times.
            Some(number) if number.is_finite() && number >= 0.0 => Ok(Some(number + 0.0)),
            _ => {
                let rule = "must be a finite number of at least 0".into();
                Err(self.wrong(Some(column), Some(written), rule, "write for example 1.5"))
            }
        }
    }

    fn dispatcher(&self) -> Result<Option<u32>, Box<TraceError>> {
        let Some(written) = self.field(2).filter(|written| !written.is_empty()) else { return Ok(None) };
        let index = std::str::from_utf8(written).ok().and_then(|text| text.parse::<u32>().ok());
        match index.filter(|&index| index < self.bounds.dispatchers) {
            Some(index) => Ok(Some(index)),
            None => {
                let last = self.bounds.dispatchers - 1;
                let rule = format!("must be the index of a dispatcher, a whole number from 0 to {last}");
                Err(self.wrong(Some(2), Some(written), rule, "write for example 0, or have more dispatchers"))
            }
        }
    }

    #[cold]
    fn wrong(&self, column: Option<usize>, value: Option<&[u8]>, rule: String, remedy: &str) -> Box<TraceError> {
        Box::new(TraceError {
            file: self.path.clone(),
            // The reader stands behind the line feed.
            line: Some(self.reader.position().line() - 1),
            column: column.map(|column| COLUMNS[column]),
            value: value.map(shown),
            rule,
            remedy: remedy.to_owned(),
        })
    }

    fn about_file(&self, rule: &str, remedy: &str) -> Box<TraceError> {
        about_file(&self.path, rule, remedy)
    }

    pub(super) fn next_arrival(&mut self) -> Result<Next, Box<TraceError>> {
        Ok(self.next_line()?.map_or(Next::NEVER, |Line { time, size, dispatcher }| Next {
            time,
            reaches: dispatcher.map_or(Reaches::Drawn, Reaches::Dispatcher),
            size,
        }))
    }
}

fn about_file(path: &Path, rule: &str, remedy: &str) -> Box<TraceError> {
    let (rule, remedy) = (rule.to_owned(), remedy.to_owned());
    Box::new(TraceError { file: path.to_owned(), line: None, column: None, value: None, rule, remedy })
}

fn unreadable(path: &Path, reason: &str) -> Box<TraceError> {
    about_file(path, &format!("cannot be read: {reason}"), "name a CSV file, by its path from the scenario's folder")
}

/// A field without blanks and quotes around it.
fn trimmed(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    match field {
        [b'"', inner @ .., b'"'] => inner.trim_ascii(),
        _ => field,
    }
}

/// A value short enough for a message, on one line.
fn shown(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    let short: String = text.chars().take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(SHOWN).is_some() { short + "..." } else { short }
}

/// A reader that gives up when a line gets too long, as all of a file without line feeds would be.
struct ShortLines<R> {
    inner: R,
    line: u64,
    /// Bytes of the present line so far.
    length: usize,
}

impl<R: Read> Read for ShortLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let mut pieces = buffer[..count].split(|&byte| byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            self.length += piece.len();
            if self.length > LONGEST_LINE {
                return Err(io::Error::other(format!("line {} has more than {LONGEST_LINE} bytes", self.line)));
            }
            if pieces.peek().is_some() {
                (self.line, self.length) = (self.line + 1, 0);
            }
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const BOUNDS: Bounds = Bounds { dispatchers: 2, largest_size: 1e150 };

    fn file(text: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(text).expect("it can be written");
        file
    }

    fn refusal(text: &[u8]) -> Box<TraceError> {
        let file = file(text);
        match Trace::scan(file.path(), BOUNDS, 1e9) {
            Ok(_) => panic!("accepted: {}", String::from_utf8_lossy(text)),
            Err(error) => error,
        }
    }

    fn arrivals(text: &[u8]) -> Vec<Next> {
        let file = file(text);
        let mut lines = Trace::scan(file.path(), BOUNDS, 1e9).and_then(|trace| trace.read()).expect("a good file");
        std::iter::from_fn(|| lines.next_arrival().ok().filter(|next| next.time < f64::INFINITY)).collect()
    }

    fn next(time: f64, reaches: Reaches, size: Option<f64>) -> Next {
        Next { time, reaches, size }
    }

    #[test]
    fn files_are_read_as_people_and_programs_write_them() {
        let expected = [next(0.0, Reaches::Drawn, Some(2.0)), next(1.5, Reaches::Dispatcher(1), None)];
        for text in [
            "time,size,dispatcher\n0,2,\n1.5,,1\n",
            "time,size,dispatcher\n0,2,\n1.5,,1",
            "dispatcher,time,size\r\n,0,2\r\n\r\n1,1.5,\r\n",
            "\u{feff}time, size, dispatcher\n\n-0.0, 2.0 ,\n \n15e-1,,1\n\n",
            "\"time\",\"size\",\"dispatcher\"\n\"0\",2,\n1.5,,\"1\"\n",
        ] {
            assert_eq!(arrivals(text.as_bytes()), expected, "{text:?}");
        }
        assert!(arrivals(b"time,size,dispatcher\n0,2,\n")[0].time.is_sign_positive());
        assert!(arrivals(b"time\n-0\n")[0].time.is_sign_positive());
        assert_eq!(arrivals(b"time\n"), []);
    }

    #[test]
    fn a_summary_counts_what_arrives_before_the_end() {
        let file = file(b"time,size\n1,2\n2,\n3,6\n4,1e9\n");
        let trace = Trace::scan(file.path(), BOUNDS, 4.0).expect("a good file");
        assert_eq!((trace.jobs(), trace.mean_size(), trace.last()), (3, 3.0, Some(4.0)));
        let nothing = Trace::scan(file.path(), BOUNDS, 1.0).expect("a good file");
        assert_eq!((nothing.jobs(), nothing.mean_size()), (0, 1.0));
    }

    #[test]
    fn bad_lines_are_named() {
        type Case = (&'static [u8], Option<u64>, Option<&'static str>, Option<&'static str>, &'static str);
        let cases: [Case; 24] = [
            (b"", None, None, None, "is empty"),
            (b"\n\n", None, None, None, "is empty"),
            (b"size\n1\n", Some(1), None, None, "no column `time`"),
            (b"time,weight\n", Some(1), None, Some("weight"), "not a known column"),
            (b"0.5\n1.5\n", Some(1), None, Some("0.5"), "not a known column"),
            (b"time;size\n", Some(1), None, Some("time;size"), "not a known column"),
            (b"\ntime,size,time\n", Some(2), None, Some("time"), "twice"),
            (b"time\n1\n0.5\n", Some(3), Some("time"), Some("0.5"), "line above, 1"),
            (b"time\n1\n\n\nx\n", Some(5), Some("time"), Some("x"), "finite number"),
            (b"time\r\n1\r\n\r\n-1", Some(4), Some("time"), Some("-1"), "finite number"),
            (b"time\n1\nNaN", Some(3), Some("time"), Some("NaN"), "finite number"),
            (b"time\ninf\n", Some(2), Some("time"), Some("inf"), "finite number"),
            (b"time\n1e400\n", Some(2), Some("time"), Some("1e400"), "finite number"),
            (b"time\n0x10\n", Some(2), Some("time"), Some("0x10"), "finite number"),
            (b"time\n\xff\n", Some(2), Some("time"), Some("\u{fffd}"), "finite number"),
            (b"time,size\n,1\n", Some(2), Some("time"), Some(""), "empty"),
            (b"time,size\n1\n", Some(2), None, None, "must have 2 fields"),
            (b"time,size\n1,2\n1,2,3\n", Some(3), None, None, "but has 3"),
            (b"time,size\n1,-2\n", Some(2), Some("size"), Some("-2"), "finite number"),
            (b"time,size\n1,1e200\n", Some(2), Some("size"), Some("1e200"), "at most 1e150"),
            (b"time,dispatcher\n1,0\n2,2\n", Some(3), Some("dispatcher"), Some("2"), "from 0 to 1"),
            (b"time,dispatcher\n1,-1\n", Some(2), Some("dispatcher"), Some("-1"), "from 0 to 1"),
            (b"time,dispatcher\n1,0.5\n", Some(2), Some("dispatcher"), Some("0.5"), "from 0 to 1"),
            (b"time,size\n1,\"2\n3,4\n", Some(2), Some("size"), Some("\"2"), "finite number"),
        ];
        for (text, line, column, value, rule) in cases {
            let error = refusal(text);
            let text = String::from_utf8_lossy(text);
            assert_eq!((error.line, error.column, error.value.as_deref()), (line, column, value), "{text:?}: {error}");
            assert!(error.rule.contains(rule) && !error.remedy.is_empty(), "{text:?}: {error}");
            let message = error.to_string();
            assert!(line.is_none_or(|line| message.contains(&format!("line {line}"))), "{message}");
            assert!(column.is_none_or(|column| message.contains(&format!("column {column}"))), "{message}");
        }
    }

    /// Whatever the file, what is held of it is one line of limited length.
    #[test]
    fn lines_without_end_are_refused() {
        let mut text = b"time\n1\n".to_vec();
        text.extend(std::iter::repeat_n(b'1', 1 << 20));
        let message = refusal(&text).to_string();
        assert!(message.contains("line 3 has more than 4096 bytes"), "{message}");
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, reason) in [(folder.path().to_owned(), "is not a file"), (folder.path().join("none"), "cannot be")] {
            let error = Trace::scan(&path, BOUNDS, 1.0).expect_err("there is no file");
            assert!(error.to_string().contains(reason), "{error}");
        }
    }

    #[test]
    fn a_file_that_changes_between_its_readings_is_refused() {
        let file = file(b"time\n1\n2\n");
        let trace = Trace::scan(file.path(), BOUNDS, 4.0).expect("a good file");
        std::fs::write(file.path(), "time\n1\n").expect("it can be written");
        assert!(trace.read().is_err_and(|error| error.rule.contains("changed")));
        // A change that keeps the length is found when its line is read.
        std::fs::write(file.path(), "time\n1\nx\n").expect("it can be written");
        let mut lines = trace.read().expect("of the same length");
        assert_eq!(lines.next_arrival().map(|next| next.time), Ok(1.0));
        assert_eq!(lines.next_arrival().expect_err("a bad line").line, Some(3));
    }
}
