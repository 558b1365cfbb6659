//! The probability that distinct servers drawn from N all belong to a group.

/// Factors up to which a product is taken as it stands.
const FEW: f64 = 256.0;

/// `C(g, d) / C(N, d)`, the product of `(g - i) / (N - i)` over `i < d`: the probability that `d` distinct servers of
/// `servers` all belong to a group of `group`. All are whole numbers; the cost does not grow with them.
///
/// The product has as many factors as d, or by symmetry as N - g; when both are many, the logarithm is summed by the
/// Euler-Maclaurin formula about midpoints, with an error of the logarithm below 1e-8.
pub fn falling_ratio(group: f64, servers: f64, d: f64) -> f64 {
    let others = servers - group;
    if d > group {
        return 0.0;
    }
    if others <= 0.0 {
        return 1.0;
    }
    if d <= FEW {
        return (0..d as u32).map(|i| (group - f64::from(i)) / (servers - f64::from(i))).product();
    }
    if others <= FEW {
        return (0..others as u32).map(|i| (servers - d - f64::from(i)) / (servers - f64::from(i))).product();
    }
    // Integral of ln((g - x) / (N - x)) over -1/2 .. d - 1/2, arranged so that large terms do not cancel.
    let (a, b) = (group + 0.5, group - d + 0.5);
    let (all, rest) = (servers + 0.5, servers - d + 0.5);
    let integral = a * (-others / all).ln_1p() - b * (b / rest).ln() + others * (-d / all).ln_1p();
    // The midpoint rule differs from it by -1/24 of the change of the slope, to leading order.
    let slope = |g: f64, n: f64| 1.0 / n - 1.0 / g;
    let correction = -(slope(b, rest) - slope(a, all)) / 24.0;
    (integral + correction).exp()
}

#[cfg(test)]
mod tests {
    use super::falling_ratio;

    #[test]
    fn agrees_with_the_product() {
        for (group, servers, d) in [
            (5_u32, 10_u32, 3_u32),
            (900, 1000, 300),
            (99_000, 100_000, 700),
            (700, 1000, 299),
            (999_000, 1_000_000, 5000),
        ] {
            let product: f64 =
                (0..d).map(|i| (f64::from(group) - f64::from(i)) / (f64::from(servers) - f64::from(i))).product();
            let found = falling_ratio(f64::from(group), f64::from(servers), f64::from(d));
            assert!((found / product - 1.0).abs() < 1e-8, "{group} {servers} {d}: {found} for {product}");
        }
        assert_eq!(falling_ratio(3.0, 10.0, 4.0), 0.0);
        assert_eq!(falling_ratio(10.0, 10.0, 4.0), 1.0);
    }
}
