//! Statistics of rounds.

/// The middle of the values, or the mean of the two in the middle; `None` for none and for what is not a number.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = values.get(middle).copied()?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    values.get(middle - 1).map(|lower| (lower + upper) / 2.0)
}

/// The value that a part of all (0 to 1) are not above, between two of them if it falls there; `None` for none and for
/// what is not a number.
pub(crate) fn quantile(values: &[f64], part: f64) -> Option<f64> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let place = part.clamp(0.0, 1.0) * (values.len().checked_sub(1)?) as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place between 0 and their number"
    )]
    let below = place as usize;
    let low = values.get(below).copied()?;
    let high = values.get(below + 1).copied().unwrap_or(low);
    Some(low + (high - low) * place.fract())
}

/// The median of what one was of the other in the same round, since a machine drifts from round to round. Rounds that
/// only one of them has do not count.
pub(crate) fn median_ratio(of: &[Option<f64>], to: &[Option<f64>]) -> Option<f64> {
    let pairs = of.iter().zip(to);
    median(pairs.filter_map(|(of, to)| Some((*of)? / (*to)?)))
}

/// How far two runs of the same thing are seen apart: the distance of the median of their ratios from one, or, if that
/// is larger, the half-width of its confidence interval of 95 %, 1.57 times the interquartile range over the square
/// root of their number (McGill, Tukey and Larsen, Variations of Box Plots, 1978).
pub(crate) fn resolution(ratios: &[f64]) -> Option<f64> {
    let middle = median(ratios.iter().copied())?;
    let range = quantile(ratios, 0.75)? - quantile(ratios, 0.25)?;
    let half = 1.57 * range / (ratios.len() as f64).sqrt();
    Some((middle - 1.0).abs().max(half))
}

/// The geometric mean; `None` for none.
pub(crate) fn geometric_mean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).exp())
}

/// A number with three significant digits.
pub(crate) fn three_digits(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.1 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([7.0]), Some(7.0));
        assert_eq!(median([]), None);
        assert_eq!(median([1.0, f64::NAN, 2.0]), None);
    }

    #[test]
    fn what_runs_of_the_same_thing_differ_by_is_the_resolution() {
        let close = |a: Option<f64>, b: f64| assert!((a.unwrap() - b).abs() < 1e-9, "{a:?}");
        close(resolution(&[1.0; 5]), 0.0);
        // All are above one by as much.
        close(resolution(&[1.1; 5]), 0.1);
        // The middle says nothing, the spread does: 1.57 × 0.2 / √4.
        close(
            resolution(&[0.8, 0.8 + 0.8 / 3.0, 1.2 - 0.8 / 3.0, 1.2]),
            0.157,
        );
        assert_eq!(resolution(&[]), None);
    }

    #[test]
    fn the_geometric_mean_of_a_half_and_two_is_one() {
        assert!((geometric_mean(&[0.5, 2.0]).unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn quartiles_are_between_values_where_they_fall_there() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&values, 0.25), Some(1.75));
        assert_eq!(quantile(&values, 0.5), Some(2.5));
        assert_eq!(quantile(&values, 1.0), Some(4.0));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[1.0, f64::NAN], 0.5), None);
    }

    #[test]
    fn an_outlier_does_not_move_it() {
        assert_eq!(median([1.0, 1.0, 1.0, 1.0, 1000.0]), Some(1.0));
    }

    #[test]
    fn ratios_are_of_the_same_round() {
        // The machine was ten times as slow in the second round.
        let (of, to) = ([Some(1.0), Some(10.0)], [Some(2.0), Some(20.0)]);
        assert_eq!(median_ratio(&of, &to), Some(0.5));
        assert_eq!(median_ratio(&[None, Some(10.0)], &to), Some(0.5));
        assert_eq!(median_ratio(&[None, Some(10.0)], &[Some(1.0), None]), None);
    }

    #[test]
    fn numbers_are_written_as_people_read_them() {
        for (value, text) in [
            (1234.5, "1234"),
            (99.44, "99.4"),
            (1.234, "1.23"),
            (0.5, "0.50"),
            (0.012_34, "0.0123"),
            (0.0, "0.00"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(three_digits(value), text);
        }
    }
}
