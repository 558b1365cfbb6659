//! Numbers as people read them.

/// A number to five significant digits; `-` where there is none.
pub fn number(value: Option<f64>) -> String {
    match value.filter(|x| x.is_finite()) {
        None => "-".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(x) => {
            let magnitude = x.abs().log10().floor();
            if !(-4.0..9.0).contains(&magnitude) {
                return format!("{x:.4e}");
            }
            let decimals = (4.0 - magnitude).max(0.0) as usize;
            format!("{x:.decimals$}")
        }
    }
}

/// An interval; `-` where an end is missing.
pub fn interval(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(_), Some(_)) => format!("{} .. {}", number(low), number(high)),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_five_digits() {
        for (x, text) in
            [(2.614_057, "2.6141"), (0.9, "0.90000"), (1234.56, "1234.6"), (1e-7, "1.0000e-7"), (123_456.7, "123457")]
        {
            assert_eq!(number(Some(x)), text);
        }
    }

    #[test]
    fn what_is_missing_is_a_dash() {
        assert_eq!(number(None), "-");
        assert_eq!(number(Some(f64::NAN)), "-");
        assert_eq!(interval(Some(1.0), None), "-");
        assert_eq!(interval(Some(0.0), Some(1.5)), "0 .. 1.5000");
    }
}
