//! Any text is a scenario or is refused with a place and a rule; what is accepted reads back as itself.

#![no_main]

use herdsim::scenario::{Changes, Study};
use libfuzzer_sys::{Corpus, fuzz_target};

/// What theory is asked of: the cost of exact solutions grows with the system.
const MOST_SERVERS: u32 = 4;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    // The command line refuses what is not UTF-8; half of the mutants would be lost to that.
    let text = String::from_utf8_lossy(bytes);
    // Traces are files, and the target reads none but its own.
    if text.contains("trace") {
        return Corpus::Reject;
    }
    let study = match Study::read(&text, "case.yaml", "case", Changes::default()) {
        Ok(study) => study,
        Err(errors) => {
            assert!(!errors.is_empty(), "refused without a reason");
            for error in errors {
                assert!(!error.rule.is_empty() && error.to_string().starts_with("case.yaml"), "{error:?}");
                assert!(error.to_string().len() < 4000, "a long message: {error}");
            }
            return Corpus::Keep;
        }
    };
    let written = study.to_yaml();
    let again = Study::read(&written, "case.yaml", "case", Changes::default());
    let again = again.unwrap_or_else(|errors| panic!("its own text is refused: {}\n{written}", errors[0]));
    assert!(again == study, "read back as another scenario:\n{written}\n{}", again.to_yaml());
    for point in study.points.iter().take(2) {
        let plan = &point.plan;
        assert!(plan.memory().is_finite() && plan.memory() >= 0.0, "memory of {}", plan.memory());
        for warning in plan.warnings() {
            assert!(!warning.message.is_empty());
        }
        if plan.system.servers.len() <= MOST_SERVERS.into() && plan.system.dispatchers.len() <= MOST_SERVERS {
            let _ = plan.theorems();
            let _ = plan.overload();
            let _ = plan.theory(200);
        }
    }
    Corpus::Keep
});
