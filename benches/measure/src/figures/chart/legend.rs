//! The places of a legend's entries: below the panels, in rows, so that they cover nothing.

/// An entry's row and where in it it begins, in pixels.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct LegendPlace {
    pub(crate) row: usize,
    pub(crate) left: u32,
}

/// Places entries of these widths in rows of a width, each row in the middle.
pub(crate) fn places(widths: &[u32], gap: u32, room: u32) -> Vec<LegendPlace> {
    let mut rows: Vec<(Vec<u32>, u32)> = Vec::new();
    for &width in widths {
        match rows.last_mut() {
            Some((row, used)) if *used + gap + width <= room => {
                row.push(width);
                *used += gap + width;
            }
            _ => rows.push((vec![width], width)),
        }
    }
    let mut places = Vec::with_capacity(widths.len());
    for (row, (widths, used)) in rows.into_iter().enumerate() {
        let mut left = room.saturating_sub(used) / 2;
        for width in widths {
            places.push(LegendPlace { row, left });
            left += width + gap;
        }
    }
    places
}

/// Breaks a text into lines of at most so many characters, between words.
pub(crate) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_follow_each_other_and_begin_a_row_when_one_is_full() {
        let places = places(&[40, 40, 40], 10, 100);
        let rows: Vec<_> = places.iter().map(|place| place.row).collect();
        assert_eq!(rows, [0, 0, 1]);
        assert_eq!(
            (places[0].left, places[1].left, places[2].left),
            (5, 55, 30)
        );
    }

    #[test]
    fn no_two_entries_overlap_and_none_leaves_the_picture() {
        let widths = [70, 20, 90, 35, 60, 10];
        let places = places(&widths, 8, 120);
        for (n, (place, width)) in places.iter().zip(widths).enumerate() {
            assert!(place.left + width <= 120);
            for (other, other_width) in places.iter().zip(widths).skip(n + 1) {
                let apart = place.row != other.row
                    || place.left + width <= other.left
                    || other.left + other_width <= place.left;
                assert!(apart, "{place:?} {other:?}");
            }
        }
    }

    #[test]
    fn texts_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensible", 7), ["incomprehensible"]);
        assert!(wrapped("", 7).is_empty());
    }
}
