//! Any text is a scenario or is refused with a place and a rule; what is accepted reads back as itself.

#![no_main]

mod check;

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    // The command line refuses what is not UTF-8; half of the mutants would be lost to that.
    if check::check(&String::from_utf8_lossy(bytes)) { Corpus::Keep } else { Corpus::Reject }
});
