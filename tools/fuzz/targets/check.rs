//! What must hold for any text; the tests of the library hold it against its scenarios, too.

use herdsim::scenario::{Changes, Study};

/// What theory is asked of: the cost of exact solutions grows with the system.
const MOST_SERVERS: u64 = 4;

/// Reads a text as a scenario; false if it was not tried.
pub(crate) fn check(text: &str) -> bool {
    // Traces are files, and none but the text is to be read.
    if text.contains("trace") {
        return false;
    }
    let study = match Study::read(text, "case.yaml", "case", Changes::default()) {
        Ok(study) => study,
        Err(errors) => {
            assert!(!errors.is_empty(), "refused without a reason");
            for error in errors {
                assert!(!error.rule.is_empty() && error.to_string().starts_with("case.yaml"), "{error:?}");
                assert!(error.to_string().len() < 4000, "a long message: {error}");
            }
            return true;
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
        if plan.system.servers.len() <= MOST_SERVERS && u64::from(plan.system.dispatchers.len()) <= MOST_SERVERS {
            let _ = plan.theorems();
            let _ = plan.overload();
            let _ = plan.theory(200);
        }
    }
    true
}
