//! Names that were not found. They are reported when all names are known, so that a similar one can be suggested.

use std::collections::HashMap;

use super::Resolver;
use crate::ast::Ident;
use crate::diagnostic::Report;
use crate::limits::MAX_DIAGNOSTICS;
use crate::model::{DefId, DefKind, ScopeId, Type};
use crate::parser::keyword_meant;
use crate::similar::{distance, slips};

/// The number of names that are compared with one that was not found, so that suggestions take little time.
const MAX_CANDIDATES: usize = 10_000;

/// Names of types in other languages, with the IDL types.
static FOREIGN: phf::Map<&'static str, &'static str> = phf::phf_map! {
    "int" => "long",
    "integer" => "long",
    "bool" => "boolean",
    "byte" => "octet",
    "uchar" => "octet",
    "uint" => "unsigned long",
    "ulong" => "unsigned long",
    "ushort" => "unsigned short",
    "longlong" => "long long",
    "ulonglong" => "unsigned long long",
    "int8_t" => "int8",
    "uint8_t" => "octet",
    "int16_t" => "short",
    "uint16_t" => "unsigned short",
    "int32_t" => "long",
    "uint32_t" => "unsigned long",
    "int64_t" => "long long",
    "uint64_t" => "unsigned long long",
    "wchar_t" => "wchar",
    "real" => "double",
    "str" => "string",
    "vector" => "sequence",
    "list" => "sequence",
    "vec" => "sequence",
    "i8" => "int8",
    "u8" => "octet",
    "i16" => "short",
    "u16" => "unsigned short",
    "i32" => "long",
    "u32" => "unsigned long",
    "i64" => "long long",
    "u64" => "unsigned long long",
    "f32" => "float",
    "f64" => "double",
};

/// The names of types that may be suggested for a name that was not found.
const BASIC: [&str; 14] = [
    "boolean", "char", "double", "fixed", "float", "long", "octet", "sequence", "short", "string",
    "unsigned", "wchar", "wstring", "Object",
];

/// A name that was not found.
pub(super) struct Unknown {
    /// The scope from which the look-up started outwards.
    scope: ScopeId,
    /// The definition that the part before it names, if that is the only place of the look-up.
    within: Option<DefId>,
    name: Ident,
}

impl Resolver<'_> {
    /// Notes that `name` was not found in `scope`, or in `within` if the part before it names that. It is noted once per scope;
    /// a list of parameters does not count as a scope here.
    pub(super) fn unknown(&mut self, scope: ScopeId, within: Option<DefId>, name: &Ident) {
        let here = self.model.scope(scope);
        let operation = here
            .owner
            .is_some_and(|owner| matches!(self.model.def(owner).kind, DefKind::Operation));
        let reported_in = here.parent.filter(|_| operation).unwrap_or(scope);
        if self
            .unknown
            .insert((reported_in, within, name.text.clone()))
        {
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
            // Further errors are not shown.
            if index >= MAX_DIAGNOSTICS {
                self.report(report);
                continue;
            }
            let everywhere = everywhere.get_or_insert_with(|| self.everywhere());
            let report = self.suggest(unknown, report, everywhere);
            self.report(report);
        }
    }

    /// The first declarations of names that may be suggested, by lower-case name.
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
            .filter_map(|&scope| {
                self.model
                    .scope(scope)
                    .names
                    .get(&self.model.key(name))
                    .copied()
            })
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
            && let Some(idl) = FOREIGN.get(key.as_str())
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

    /// `scope` and the scopes around it, each followed by its bases.
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

    /// Whether `id` names a type or constant with an error inside, which may be the very name that was not found.
    fn is_made_of_errors(&self, id: DefId) -> bool {
        match &self.model.def(id).kind {
            DefKind::Typedef(ty) | DefKind::ValueBox(ty) | DefKind::Const(ty, _) => has_error(ty),
            _ => false,
        }
    }

    /// The name in `scopes` that is most similar to `key`, if one is similar enough.
    fn similar(&self, key: &str, scopes: &[ScopeId]) -> Option<DefId> {
        let most = slips(key);
        let names = scopes
            .iter()
            .flat_map(|&scope| &self.model.scope(scope).order);
        names
            .copied()
            .filter(|&id| self.may_be_meant(id) && !self.is_made_of_errors(id))
            .take(MAX_CANDIDATES)
            .filter_map(|id| {
                let distance = distance(key, &self.model.def(id).name.to_lowercase(), most)?;
                Some((distance, id))
            })
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, id)| id)
    }
}

/// Whether `ty` is an error, or has an element type that is one.
fn has_error(ty: &Type) -> bool {
    match ty {
        Type::Error => true,
        Type::Sequence(inner, _) | Type::Array(inner, _) => has_error(inner),
        Type::Map(key, value, _) => has_error(key) || has_error(value),
        _ => false,
    }
}

/// The IDL type whose name differs from `key` by one slip. With two slips, a name of the file is more likely.
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
