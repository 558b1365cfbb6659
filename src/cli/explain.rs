//! `herdsim explain`: what the words in results mean.

use super::{Failure, print};
use crate::measure::SYMBOLS;
use crate::output::{Sort, Term, terms};
use clap::Args;
use std::fmt::Write;

/// Arguments of `herdsim explain`.
#[derive(Debug, Args)]
pub(super) struct Explain {
    /// A metric such as response_time_mean, a column of a table, a kind of theory or the code of a warning; without one,
    /// a table of all.
    #[arg(value_name = "WORD")]
    words: Vec<String>,
}

impl Explain {
    pub(super) fn execute(self) -> Result<(), Failure> {
        if self.words.is_empty() {
            return print(&all());
        }
        let found: Vec<String> = self.words.iter().map(|word| find(word).map(explained)).collect::<Result<_, _>>()?;
        print(&found.join("\n"))
    }
}

/// The term that a word names, however it is written: `Response time mean`, `response-time-mean`.
fn find(word: &str) -> Result<Term, Failure> {
    let plain: String = word.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let name = plain.to_lowercase().replace([' ', '-'], "_");
    if let Some(term) = terms().find(|term| term.name == name) {
        return Ok(term);
    }
    let mut near: Vec<_> = terms().map(|term| (strsim::jaro_winkler(&name, term.name), term.name)).collect();
    near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let within = terms().filter(|term| !name.is_empty() && term.name.contains(&name)).map(|term| term.name);
    let mut meant: Vec<&str> = within.take(6).collect();
    if meant.is_empty() {
        meant.extend(near.first().filter(|(likeness, _)| *likeness > 0.8).map(|(_, name)| *name));
    }
    let remedy = match &meant[..] {
        [] => "`herdsim explain` lists all words".to_owned(),
        some => format!("did you mean {}? `herdsim explain` lists all words", some.join(" or ")),
    };
    let shown: String = plain.chars().take(80).collect();
    Err(Failure::Input(format!("`{shown}` is no metric, column, kind of theory or warning\n  help: {remedy}")))
}

/// A term, line by line.
fn explained(term: Term) -> String {
    let mut text = format!("{}\n  {}\n", term.name, term.meaning);
    // A string takes every line.
    if let Some(metric) = term.metric {
        if !metric.key().is_empty() {
            let _ = writeln!(text, "  key       {}", metric.key());
        }
        let _ =
            writeln!(text, "  unit      {}\n  equation  {}\n  where     {SYMBOLS}", metric.unit(), metric.equation());
    }
    text
}

/// A table of all terms.
fn all() -> String {
    let mut text = String::new();
    for (sort, title) in Sort::ALL {
        let _ = writeln!(text, "{title}:");
        for term in terms().filter(|term| term.sort == sort) {
            match term.metric {
                None => drop(writeln!(text, "  {:<26} {}", term.name, term.meaning)),
                Some(metric) => {
                    let key = if metric.key().is_empty() { String::new() } else { format!(" by {}", metric.key()) };
                    let _ = writeln!(text, "  {:<26} [{}{key}] {}", term.name, metric.unit(), term.meaning);
                }
            }
        }
        let _ = writeln!(text);
    }
    let _ = writeln!(text, "`herdsim explain WORD` has the equations.");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_however_they_are_written() {
        for word in ["response_time_mean", "Response-Time mean", " RESPONSE_TIME_MEAN "] {
            assert_eq!(find(word).expect("known").name, "response_time_mean");
        }
    }

    #[test]
    fn a_wrong_word_gets_the_nearest() {
        let told = |word: &str| find(word).expect_err("unknown").to_string();
        assert!(told("respons_time_mean").contains("did you mean response_time_mean?"));
        assert!(told("regret").contains("did you mean regret_mean?"));
        assert!(told("xyzzy").ends_with("help: `herdsim explain` lists all words"));
        assert!(!told("a\u{1b}[31mb").contains('\u{1b}'));
    }
}
