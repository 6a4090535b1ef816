//! The traits that generated types derive on request, beside those that they always have.

use std::collections::{HashMap, HashSet};

use proc_macro2::TokenStream;
use quote::quote;

use crate::diagnostic::{Report, Sink};
use crate::model::{Basic, DefId, DefKind, InterfaceKind, Model, Type, ValueKind};
use crate::names::find_definition;
use crate::options::{Options, Setting, Settings};
use crate::source::Span;

/// The longest array that `Default`, `Serialize` and `Deserialize` are implemented for.
const MAX_ARRAY: u32 = 32;

/// A trait whose rules are known: a type may have it if all of its members do.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Known {
    /// A trait that all types have.
    Always,
    Copy,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Default,
    /// `Serialize` or `Deserialize` of serde.
    Serde,
}

impl Known {
    /// The trait at the end of a path.
    fn of(path: &str) -> Option<Self> {
        let last = path.rsplit("::").next().unwrap_or_default().trim();
        Some(match last {
            "Debug" | "Clone" | "PartialEq" => Self::Always,
            "Copy" => Self::Copy,
            "Eq" => Self::Eq,
            "Hash" => Self::Hash,
            "PartialOrd" => Self::PartialOrd,
            "Ord" => Self::Ord,
            "Default" => Self::Default,
            "Serialize" | "Deserialize" => Self::Serde,
            _ => return None,
        })
    }

    /// Why values of `ty` do not have the trait; `None` if they have, or if only rustc knows. Named types other than aliases
    /// are looked at by the caller.
    fn refuses(self, model: &Model, ty: &Type) -> Option<&'static str> {
        use Known::{Copy, Default, Eq, Hash, Ord, PartialOrd, Serde};
        match model.unaliased(ty) {
            Type::Basic(Basic::Float | Basic::Double | Basic::LongDouble) => {
                let lacks = matches!(self, Eq | Hash | Ord);
                lacks.then_some("a floating-point number")
            }
            Type::Basic(_) | Type::Fixed { .. } | Type::Error => None,
            Type::Str { .. } => (self == Copy).then_some("text"),
            Type::Principal => (self == Copy).then_some("a `Principal`"),
            Type::Any => matches!(self, Copy | PartialOrd | Ord).then_some("an `any`"),
            Type::TypeCode => matches!(self, Copy | PartialOrd | Ord).then_some("a `TypeCode`"),
            // A parameter of reply handlers alone.
            Type::Exceptions(..) => (self == Copy).then_some("exceptions"),
            Type::Object => matches!(self, Copy | PartialOrd | Ord).then_some("a reference"),
            Type::ValueBase => matches!(self, Copy | PartialOrd | Ord | Serde).then_some("a value"),
            Type::Sequence(..) if self == Copy => Some("a sequence"),
            Type::Map(..) if self == Copy => Some("a map"),
            Type::Array(_, length) if matches!(self, Default | Serde) && *length > MAX_ARRAY => {
                Some("an array of more than 32 elements")
            }
            Type::Sequence(element, _) | Type::Array(element, _) => self.refuses(model, element),
            Type::Map(key, value, _) => {
                (self.refuses(model, key)).or_else(|| self.refuses(model, value))
            }
            Type::Named(id) => match &model.def(*id).kind {
                DefKind::Interface(_) if model.is_abstract(ty) => {
                    let lacks = matches!(self, Copy | PartialOrd | Ord | Serde);
                    lacks.then_some("an object or a value")
                }
                DefKind::Interface(interface) if interface.kind == InterfaceKind::Local => {
                    (self != Default).then_some("a reference to a local object")
                }
                DefKind::Interface(_) => {
                    matches!(self, Copy | PartialOrd | Ord).then_some("a reference")
                }
                DefKind::Value(_) | DefKind::ValueBox(_) => {
                    matches!(self, Copy | PartialOrd | Ord).then_some("a value")
                }
                _ => None,
            },
        }
    }
}

/// The traits that each type derives on request, as tokens behind `Debug, Clone, PartialEq`.
#[derive(Debug, Default)]
pub(crate) struct Derives {
    of: HashMap<DefId, Vec<String>>,
}

/// One option `derive`, with the types that it is about.
struct Request<'a> {
    path: &'a str,
    known: Option<Known>,
    types: HashSet<DefId>,
}

impl Derives {
    /// Reads [`Options::derives`]. A name that names no type, and a member that does not allow a trait, are reported.
    pub(crate) fn of(model: &Model, options: &Options, settings: Settings, sink: &Sink) -> Self {
        let mut requests: Vec<Request<'_>> = Vec::new();
        for (index, (of, path)) in options.derives.iter().enumerate() {
            let types = match of.trim_start_matches("::") {
                "" => derivable(model, None),
                name => match find_definition(model, name) {
                    Some(id) => derivable(model, Some(id)),
                    None => Vec::new(),
                },
            };
            if types.is_empty() && !of.is_empty() {
                let place = settings.span(Setting::DeriveOf, index);
                let message = format!(
                    "the option derive(\"{of}\" = {path}) names no struct, union, enum, exception or value type with state"
                );
                sink.report(Report::new(place, message));
            }
            // Two entries for one trait are one request, so that a type may contain one that another entry names.
            match requests.iter_mut().find(|request| request.path == path) {
                Some(request) => request.types.extend(types),
                None => requests.push(Request {
                    path,
                    known: Known::of(path),
                    types: types.into_iter().collect(),
                }),
            }
        }
        let mut derives = Self::default();
        for request in &requests {
            let mut types: Vec<DefId> = request.types.iter().copied().collect();
            types.sort_unstable();
            for id in types {
                if let Some(known) = request.known {
                    if has(model, id, known) {
                        continue;
                    }
                    request.check(model, id, known, sink);
                }
                let path = request.path.to_owned();
                derives.of.entry(id).or_default().push(path);
            }
        }
        derives
    }

    /// The paths of the traits of one type.
    pub(crate) fn paths(&self, id: DefId) -> &[String] {
        self.of.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The paths as they follow others in `#[derive(…)]`.
    pub(crate) fn tokens(&self, id: DefId) -> TokenStream {
        let paths = self.paths(id).iter();
        let paths = paths.filter_map(|path| path.parse::<TokenStream>().ok());
        paths.map(|path| quote!(, #path)).collect()
    }

    /// [`tokens`](Self::tokens) but `Default`, which no union can derive.
    pub(crate) fn without_default(&self, id: DefId) -> TokenStream {
        let paths = self.paths(id).iter();
        let paths = paths.filter(|path| Known::of(path) != Some(Known::Default));
        let paths = paths.filter_map(|path| path.parse::<TokenStream>().ok());
        paths.map(|path| quote!(, #path)).collect()
    }

    /// Whether the type derives `Copy` on request.
    pub(crate) fn has_copy(&self, id: DefId) -> bool {
        let mut paths = self.paths(id).iter();
        paths.any(|path| Known::of(path) == Some(Known::Copy))
    }

    /// Whether the type derives `Default`.
    pub(crate) fn has_default(&self, id: DefId) -> bool {
        let mut paths = self.paths(id).iter();
        paths.any(|path| Known::of(path) == Some(Known::Default))
    }
}

impl Request<'_> {
    /// Reports the first member of a type that does not allow the trait.
    fn check(&self, model: &Model, id: DefId, known: Known, sink: &Sink) {
        for (name, span, ty) in members(model, id) {
            // A named type may have an implementation of the program's, so rustc looks at it.
            let Some(what) = known.refuses(model, ty) else {
                continue;
            };
            let message = format!(
                "`{}` cannot derive `{}`: its {name} holds {what}",
                model.scoped_name(id),
                self.path
            );
            let report = Report::new(model.def(id).span, message).label(span, "declared here");
            sink.report(report.hint("name the types that can: derive(\"A::B\" = …)"));
            return;
        }
    }
}

/// Whether a type has the trait without a request.
fn has(model: &Model, id: DefId, known: Known) -> bool {
    use Known::{Always, Copy, Default, Eq, Hash, Ord, PartialOrd};
    match model.def(id).kind {
        _ if known == Always => true,
        DefKind::Enum(_) => matches!(known, Copy | Eq | Hash | PartialOrd | Ord),
        DefKind::Bitset(_) => matches!(known, Copy | Eq | Hash | Default),
        DefKind::Bitmask(_) => matches!(known, Copy | Eq | Hash | PartialOrd | Ord | Default),
        _ => false,
    }
}

/// The types that become structs and enums with data in Rust: all of them, or those that are declared in `of`, itself included.
fn derivable(model: &Model, of: Option<DefId>) -> Vec<DefId> {
    let within = |id: DefId| {
        let mut at = Some(id);
        while let Some(id) = at {
            if Some(id) == of {
                return true;
            }
            at = owner(model, id);
        }
        of.is_none()
    };
    let is_data = |id: &DefId| match &model.def(*id).kind {
        DefKind::Struct(body) | DefKind::Exception(body) => body.complete,
        DefKind::Union(union) => union.complete,
        DefKind::Value(value) => value.defined && value.kind != ValueKind::Abstract,
        DefKind::Enum(_) | DefKind::Bitset(_) | DefKind::Bitmask(_) | DefKind::ValueBox(_) => true,
        _ => false,
    };
    let ids = (0..model.defs.len()).map(DefId).filter(is_data);
    ids.filter(|&id| !model.is_extern(model.def(id).scope) && within(id))
        .collect()
}

/// The definition in whose scope `id` is declared.
fn owner(model: &Model, id: DefId) -> Option<DefId> {
    model.scope(model.def(id).scope).owner
}

/// The members of a type: each with its description, its place and its type.
fn members(model: &Model, id: DefId) -> Vec<(String, Span, &Type)> {
    let member = |def: DefId, ty| {
        let def = model.def(def);
        (format!("member `{}`", def.name), def.span, ty)
    };
    match &model.def(id).kind {
        DefKind::Struct(body) | DefKind::Exception(body) => {
            let members = body.members.iter();
            members.map(|it| member(it.def, &it.ty)).collect()
        }
        DefKind::Union(union) => {
            let cases = union.cases.iter();
            cases
                .map(|it| member(it.member.def, &it.member.ty))
                .collect()
        }
        DefKind::Value(value) => {
            let members = value.members.iter();
            members.map(|it| member(it.def, &it.ty)).collect()
        }
        DefKind::ValueBox(ty) => vec![("content".to_owned(), model.def(id).span, ty)],
        _ => Vec::new(),
    }
}
