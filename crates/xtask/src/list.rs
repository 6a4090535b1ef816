//! The list of expected interop cells, written in short: `tests/interop/cells.txt`.
//!
//! ```text
//! # A comment. A line that begins with a space continues the one before it.
//! @data = basic strings arrays
//! zorb-omniorb/giop{1.0,1.1}/le-le/tcp: @data forward     (8 cells)
//! catior/{tcp,unix}                                       (2 cells)
//! ```

use std::collections::{BTreeMap, BTreeSet};

/// Every cell that the list stands for.
///
/// # Errors
/// A cell is listed twice, a set is unknown, unused or defined twice, a brace has no partner, or
/// there is no cell at all.
pub(crate) fn parse(text: &str) -> Result<BTreeSet<String>, String> {
    let mut cells = BTreeSet::new();
    let mut sets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut used = BTreeSet::new();
    for line in logical_lines(text) {
        let line = line.as_slice();
        let (first, rest) = line.split_first().ok_or("a line without words")?;
        if let Some(set) = first.strip_prefix('@') {
            let members = rest
                .strip_prefix(&["="])
                .ok_or_else(|| format!("@{set}: expected `= MEMBERS` behind it"))?;
            let members = features(members, &sets, &mut used)?;
            if sets.insert(set, members).is_some() {
                return Err(format!("the set @{set} is made twice"));
            }
            continue;
        }
        let names = match first.strip_suffix(':') {
            None if rest.is_empty() => expand(first)?,
            None => {
                return Err(format!(
                    "{first}: expected a colon before {}",
                    rest.join(" ")
                ));
            }
            Some(prefix) => {
                let features = features(rest, &sets, &mut used)?;
                let prefixes = expand(prefix)?;
                let join = |p: &String| {
                    features
                        .iter()
                        .map(|f| format!("{p}/{f}"))
                        .collect::<Vec<_>>()
                };
                prefixes.iter().flat_map(join).collect()
            }
        };
        for name in names {
            if cells.contains(&name) {
                return Err(format!("{name} is listed twice"));
            }
            cells.insert(name);
        }
    }
    if let Some(set) = sets.keys().find(|set| !used.contains(*set)) {
        return Err(format!("the set @{set} is unused"));
    }
    if cells.is_empty() {
        return Err("no cell is listed".to_owned());
    }
    Ok(cells)
}

/// Words, and what the sets among them stand for.
fn features<'a>(
    words: &[&'a str],
    sets: &BTreeMap<&'a str, Vec<&'a str>>,
    used: &mut BTreeSet<&'a str>,
) -> Result<Vec<&'a str>, String> {
    let mut features = Vec::new();
    for word in words {
        let Some(set) = word.strip_prefix('@') else {
            features.push(*word);
            continue;
        };
        let members = sets
            .get(set)
            .ok_or_else(|| format!("no set is called @{set}"))?;
        used.insert(set);
        features.extend(members);
    }
    Ok(features)
}

/// The words of each line, together with those of the lines that continue it.
fn logical_lines(text: &str) -> Vec<Vec<&str>> {
    let mut lines: Vec<Vec<&str>> = Vec::new();
    for line in text.lines() {
        let words = line.split('#').next().unwrap_or_default();
        let continues = words.starts_with(' ');
        let words = words.split_whitespace();
        match lines.last_mut() {
            Some(last) if continues => last.extend(words),
            _ => lines.push(words.collect()),
        }
    }
    lines.retain(|words| !words.is_empty());
    lines
}

/// `a{b,c}d` is `abd` and `acd`, as in a shell; several braces are all combinations.
fn expand(pattern: &str) -> Result<Vec<String>, String> {
    let Some((before, rest)) = pattern.split_once('{') else {
        return match pattern.contains('}') {
            true => Err(format!("{pattern}: a brace is closed that was not opened")),
            false => Ok(vec![pattern.to_owned()]),
        };
    };
    let (choices, after) = rest
        .split_once('}')
        .ok_or_else(|| format!("{pattern}: a brace is not closed"))?;
    let after = expand(after)?;
    let all = choices
        .split(',')
        .flat_map(|choice| after.iter().map(move |a| format!("{before}{choice}{a}")));
    Ok(all.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(list: &str, expected: &[&str]) {
        let expected: BTreeSet<_> = expected.iter().map(|&c| c.to_owned()).collect();
        assert_eq!(parse(list), Ok(expected));
    }

    #[test]
    fn a_line_is_a_cell() {
        check("# two\na/x\n\nb/y # why\n", &["a/x", "b/y"]);
    }

    #[test]
    fn braces_are_all_combinations() {
        check("a{1,2}/{x,y}z", &["a1/xz", "a1/yz", "a2/xz", "a2/yz"]);
    }

    #[test]
    fn sets_and_features_stand_behind_a_colon() {
        check(
            "@s = x y\na/{b,c}: @s z\n",
            &["a/b/x", "a/b/y", "a/b/z", "a/c/x", "a/c/y", "a/c/z"],
        );
    }

    #[test]
    fn sets_may_be_made_of_sets() {
        check("@s = x y\n@t = @s z\na: @t\n", &["a/x", "a/y", "a/z"]);
    }

    #[test]
    fn an_indented_line_continues() {
        check("@s = x\n  y\na: @s\n z\n", &["a/x", "a/y", "a/z"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (list, expected) in [
            ("# nothing\n", "no cell is listed"),
            ("a\nb\na\n", "a is listed twice"),
            ("a: x\na/{x,y}\n", "a/x is listed twice"),
            ("a: @s\n", "no set is called @s"),
            ("@s = @s\na: @s\n", "no set is called @s"),
            ("@s = x\na\n", "the set @s is unused"),
            ("@s = x\n@s = y\na: @s\n", "the set @s is made twice"),
            ("@s x\n", "@s: expected `= MEMBERS` behind it"),
            ("a{b\n", "a{b: a brace is not closed"),
            ("a}b\n", "a}b: a brace is closed that was not opened"),
            ("a b\n", "a: expected a colon before b"),
        ] {
            assert_eq!(parse(list).unwrap_err(), expected);
        }
    }
}
