//! `cargo xtask claims speed`: what we say of our speed, a row a claim.

mod allocations;
mod alone;
mod claim;
mod counts;
mod crowd;
mod ratios;
pub(crate) mod recorded;
mod speed_session;

use crate::compare::CompareOptions;
use crate::measure::programs;
use crate::row::Row;
use claim::Claim;
use speed_session::SpeedSession;
use xtask::step::Done;

/// Every claim.
fn all() -> Vec<Claim> {
    let families = [
        ratios::claims(),
        counts::claims(),
        allocations::claims(),
        alone::claims(),
        crowd::claims(),
    ];
    families.into_iter().flatten().collect()
}

/// Measures the claims whose names contain one of the words, or all, and says each as soon as it is known.
///
/// # Errors
/// Nothing could be built, no claim is called so, or a comparison as a whole failed. What fails of a single claim is
/// shown in its row, which is short then.
pub(crate) fn rows(options: &CompareOptions, words: &[String]) -> Result<Vec<Row>, String> {
    each(options, words, |row| println!("{}", row.line()))
}

/// Measures the claims of [`rows`], without output meanwhile.
///
/// # Errors
/// Returns the errors of [`rows`].
pub(crate) fn measured(options: &CompareOptions, words: &[String]) -> Result<Vec<Row>, String> {
    each(options, words, |_| {})
}

fn each(
    options: &CompareOptions,
    words: &[String],
    mut see: impl FnMut(&Row),
) -> Result<Vec<Row>, String> {
    let claims = choose(all(), words)?;
    programs::ready()?;
    let mut session = SpeedSession::new(options)?;
    session.compare(&claims)?;
    let mut rows = Vec::new();
    for claim in &claims {
        let row = claim.row(&mut session);
        see(&row);
        rows.push(row);
    }
    Ok(rows)
}

/// Prints the names of all claims.
pub(crate) fn list() -> Done {
    for claim in all() {
        println!("{}", claim.name);
    }
    Ok(())
}

fn choose(claims: Vec<Claim>, words: &[String]) -> Result<Vec<Claim>, String> {
    let chosen = |claim: &Claim| {
        words.is_empty() || words.iter().any(|word| claim.name.contains(word.as_str()))
    };
    let claims: Vec<_> = claims.into_iter().filter(chosen).collect();
    if claims.is_empty() {
        let why = "no row is called so; `cargo xtask claims speed --list` names them";
        return Err(why.to_owned());
    }
    Ok(claims)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_claims_share_a_name_and_none_has_spaces() {
        let all = all();
        let names: BTreeSet<_> = all.iter().map(|claim| &claim.name).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.iter().all(|claim| !claim.name.contains(' ')));
    }

    #[test]
    fn claims_are_chosen_by_words_of_their_names() {
        let words = |words: &[&str]| words.iter().map(|&w| w.to_owned()).collect::<Vec<_>>();
        let chosen = choose(all(), &words(&["cdr/", "collocated"])).unwrap();
        assert_eq!(chosen.len(), 5);
        assert_eq!(choose(all(), &[]).unwrap().len(), all().len());
        assert!(choose(all(), &words(&["nothing of ours"])).is_err());
    }
}
