//! Words that differ by a slip or two.

/// The longest names, in octets, that are compared: the time is the product of two lengths.
const MAX_COMPARED: usize = 64;

/// The number of slips by which a name may differ from `key` to count as similar: one in three letters.
pub(crate) fn slips(key: &str) -> usize {
    key.len() / 3
}

/// The one of `words` that is most similar to `word`, if one is similar enough.
pub(crate) fn nearest<'a>(word: &str, words: &[&'a str]) -> Option<&'a str> {
    let key = word.to_lowercase();
    let near = words.iter().filter_map(|&candidate| {
        let distance = distance(&key, &candidate.to_lowercase(), slips(&key))?;
        Some((distance, candidate))
    });
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// The edit distance of two words, if it is at most `most`: the number of letters to insert, delete, replace, or swap with
/// their neighbour.
pub(crate) fn distance(left: &str, right: &str, most: usize) -> Option<usize> {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len().abs_diff(right.len()) > most || left.len().max(right.len()) > MAX_COMPARED {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let mut least = (row[j] + usize::from(a != b))
                .min(row[j + 1] + 1)
                .min(next[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().filter(|&distance| distance <= most)
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances_count_slips() {
        for (left, right, most, found) in [
            ("amount", "amount", 2, Some(0)),
            ("amuont", "amount", 2, Some(1)),
            ("amont", "amount", 2, Some(1)),
            ("account", "acount", 2, Some(1)),
            ("name", "nose", 1, None),
            ("", "a", 1, Some(1)),
            ("abc", "abcdef", 2, None),
        ] {
            assert_eq!(distance(left, right, most), found, "{left} {right}");
            assert_eq!(distance(right, left, most), found, "{right} {left}");
        }
    }
}
