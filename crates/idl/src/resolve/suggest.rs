//! Names that were not found: reported when everything is known, so that what is meant can be suggested.

use std::collections::HashMap;

use super::Resolver;
use crate::ast::Ident;
use crate::diagnostic::Report;
use crate::limits::MAX_DIAGNOSTICS;
use crate::model::{DefId, DefKind, ScopeId};
use crate::parser::keyword_meant;

/// How many names are compared with one that was not found. Nobody waits for a suggestion.
const MAX_CANDIDATES: usize = 10_000;

/// Names longer than this are not compared: the work is the product of two lengths.
const MAX_COMPARED: usize = 64;

/// What other languages call the types of IDL.
const FOREIGN: [(&str, &str); 23] = [
    ("int", "long"),
    ("integer", "long"),
    ("bool", "boolean"),
    ("byte", "octet"),
    ("uchar", "octet"),
    ("uint", "unsigned long"),
    ("ulong", "unsigned long"),
    ("ushort", "unsigned short"),
    ("longlong", "long long"),
    ("ulonglong", "unsigned long long"),
    ("int8_t", "int8"),
    ("uint8_t", "octet"),
    ("int16_t", "short"),
    ("uint16_t", "unsigned short"),
    ("int32_t", "long"),
    ("uint32_t", "unsigned long"),
    ("int64_t", "long long"),
    ("uint64_t", "unsigned long long"),
    ("wchar_t", "wchar"),
    ("real", "double"),
    ("str", "string"),
    ("vector", "sequence"),
    ("list", "sequence"),
];

/// The types that a name which was not found may have meant.
const BASIC: [&str; 14] = [
    "boolean", "char", "double", "fixed", "float", "long", "octet", "sequence", "short", "string",
    "unsigned", "wchar", "wstring", "Object",
];

/// A name that was not found.
pub(super) struct Unknown {
    /// Where it was looked for, and outwards from there.
    scope: ScopeId,
    /// What the part before it names: there and nowhere else it was looked for.
    within: Option<DefId>,
    name: Ident,
}

impl Resolver<'_> {
    /// Notes that `name` was not found in `scope`, or in `within` if a part before it says so. Once per scope, and a list
    /// of parameters is none of its own here.
    pub(super) fn unknown(&mut self, scope: ScopeId, within: Option<DefId>, name: &Ident) {
        let here = self.model.scope(scope);
        let operation = here
            .owner
            .is_some_and(|owner| matches!(self.model.def(owner).kind, DefKind::Operation));
        let told = here.parent.filter(|_| operation).unwrap_or(scope);
        if self.unknown.insert((told, within, name.text.clone())) {
            let name = name.clone();
            self.unknowns.push(Unknown {
                scope,
                within,
                name,
            });
        }
    }

    /// Reports what [`Self::unknown`] has noted.
    pub(super) fn report_unknown(&mut self) {
        let unknowns = std::mem::take(&mut self.unknowns);
        let mut everywhere = None;
        for (index, unknown) in unknowns.iter().enumerate() {
            let (name, span) = (&unknown.name.text, unknown.name.span);
            let message = match unknown.within {
                None => format!("cannot find `{name}` in this scope"),
                Some(within) => {
                    format!(
                        "cannot find `{name}` in `{}`",
                        self.model.scoped_name(within)
                    )
                }
            };
            let report = Report::new(span, message);
            // More are not shown.
            if index >= MAX_DIAGNOSTICS {
                self.report(report);
                continue;
            }
            let everywhere = everywhere.get_or_insert_with(|| self.everywhere());
            let report = self.suggest(unknown, report, everywhere);
            self.report(report);
        }
    }

    /// Where names that may be meant are declared first, by lower-case name.
    fn everywhere(&self) -> HashMap<String, DefId> {
        let mut everywhere = HashMap::new();
        for index in 0..self.model.defs.len() {
            let id = DefId(index);
            if self.may_be_meant(id) {
                let key = self.model.def(id).name.to_lowercase();
                everywhere.entry(key).or_insert(id);
            }
        }
        everywhere
    }

    fn may_be_meant(&self, id: DefId) -> bool {
        let kind = &self.model.def(id).kind;
        !matches!(kind, DefKind::Member | DefKind::Operation)
    }

    fn suggest(
        &self,
        unknown: &Unknown,
        report: Report,
        everywhere: &HashMap<String, DefId>,
    ) -> Report {
        let name = &unknown.name.text;
        let key = name.to_lowercase();
        let within = unknown
            .within
            .and_then(|within| self.model.own_scope(within));
        let scopes = match within {
            Some(scope) => vec![scope],
            None => self.outwards(unknown.scope),
        };
        let later = scopes
            .iter()
            .filter_map(|&scope| self.model.scope(scope).names.get(&key).copied())
            .find(|&id| self.may_be_meant(id));
        if let Some(later) = later {
            let def = self.model.def(later);
            let hint = match def.kind {
                DefKind::Interface(_) => format!(
                    "move its definition up, or declare `interface {};` here first",
                    def.name
                ),
                _ => "move its definition up: a name is declared before it is used".to_owned(),
            };
            return report.label(def.span, "declared only here").hint(hint);
        }
        if unknown.within.is_none()
            && let Some(keyword) = keyword_meant(name)
        {
            return report.hint(format!("the keyword is `{keyword}`"));
        }
        if unknown.within.is_none()
            && let Some((_, idl)) = FOREIGN.iter().find(|(foreign, _)| **foreign == *key)
        {
            return report.hint(format!("IDL has `{idl}`"));
        }
        if unknown.within.is_none()
            && let Some(&elsewhere) = everywhere.get(&key)
        {
            let def = self.model.def(elsewhere);
            let scoped = self.model.scoped_name(elsewhere);
            return report
                .label(def.span, "there is one here")
                .hint(format!("write `{scoped}`"));
        }
        if unknown.within.is_none() && key == "corba" {
            return report.hint("it is declared by `#include <orb.idl>`");
        }
        match self.similar(&key, &scopes) {
            Some(similar) => {
                let def = self.model.def(similar);
                let what = self.model.noun(similar);
                report
                    .label(def.span, "declared here")
                    .hint(format!("there is {what} of a similar name: `{}`", def.name))
            }
            None => match similar_type(&key).filter(|_| unknown.within.is_none()) {
                Some(basic) => report.hint(format!("there is a type of a similar name: `{basic}`")),
                None => report,
            },
        }
    }

    /// `scope`, what it inherits from, and the same of those around it.
    fn outwards(&self, scope: ScopeId) -> Vec<ScopeId> {
        let mut scopes = Vec::new();
        let mut at = Some(scope);
        while let Some(scope) = at {
            scopes.push(scope);
            scopes.extend(self.inherited_scopes(scope));
            at = self.model.scope(scope).parent;
        }
        scopes
    }

    fn inherited_scopes(&self, scope: ScopeId) -> Vec<ScopeId> {
        let owner = self.model.scope(scope).owner;
        let ancestors = owner.and_then(|owner| self.model.interface(owner));
        ancestors
            .into_iter()
            .flat_map(|interface| &interface.ancestors)
            .filter_map(|&base| self.model.own_scope(base))
            .collect()
    }

    /// The name in `scopes` that is nearest to `key`, if any is near.
    fn similar(&self, key: &str, scopes: &[ScopeId]) -> Option<DefId> {
        let most = slips(key);
        let names = scopes
            .iter()
            .flat_map(|&scope| &self.model.scope(scope).order);
        names
            .copied()
            .filter(|&id| self.may_be_meant(id))
            .take(MAX_CANDIDATES)
            .filter_map(|id| {
                let distance = distance(key, &self.model.def(id).name.to_lowercase(), most)?;
                Some((distance, id))
            })
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, id)| id)
    }
}

/// How many slips a name that is like `key` may have: one in three letters.
fn slips(key: &str) -> usize {
    key.len() / 3
}

/// The type of IDL's own whose name is `key` but for one slip: names of two are rather names of the file.
fn similar_type(key: &str) -> Option<&'static str> {
    BASIC
        .iter()
        .filter_map(|&basic| {
            Some((
                distance(key, &basic.to_lowercase(), slips(key).min(1))?,
                basic,
            ))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, basic)| basic)
}

/// How many letters have to be put in, left out, changed or swapped with their neighbour to make `right` of `left`, if
/// that is at most `most`.
fn distance(left: &str, right: &str, most: usize) -> Option<usize> {
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
