//! Rust names for all declarations, and the check that no two of them share one.

mod case;
mod clashes;

use case::{camel, shouty, snake};
use clashes::Clashes;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Report, Sink};
use crate::model::{DefId, DefKind, Model, Operation, Role, ScopeId, ValueType};
use crate::options::{Options, Setting, Settings};

/// The Rust names of declarations, and of items generated for them.
#[derive(Debug)]
pub(crate) struct Names {
    names: HashMap<DefId, String>,
    /// Renamed parameters; the others follow the rule.
    parameters: HashMap<(DefId, String), String>,
    /// The Rust paths of native types that have one.
    natives: HashMap<DefId, String>,
    /// Attributes whose setter makes way for an operation or attribute that is declared beside it.
    setters: HashSet<DefId>,
    /// Operations (`false`), and setters of attributes (`true`), whose error enum makes way for a type that is declared beside it.
    errors: HashSet<(DefId, bool)>,
    /// The type parameter of skeletons: `T`, unless the IDL has a type of that name.
    pub(crate) servant: &'static str,
}

/// The keywords of Rust in edition 2024, reserved ones included.
static KEYWORDS: phf::Set<&'static str> = phf::phf_set! {
    "as", "break", "const", "continue", "crate", "else", "enum", "extern", "false", "fn", "for",
    "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return",
    "self", "Self", "static", "struct", "super", "trait", "true", "type", "unsafe", "use", "where",
    "while", "async", "await", "dyn", "abstract", "become", "box", "do", "final", "macro",
    "override", "priv", "typeof", "unsized", "virtual", "yield", "try", "gen",
};

/// The primitive types of Rust. A module of such a name would hide the type in the module around it.
static PRIMITIVES: phf::Set<&'static str> = phf::phf_set! {
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "str", "u8", "u16",
    "u32", "u64", "u128", "usize",
};

fn escape(name: String) -> String {
    if KEYWORDS.contains(name.as_str()) {
        name + "_"
    } else {
        name
    }
}

/// The name of a module.
pub(crate) fn module_name(idl: &str) -> String {
    let name = escape(snake(idl));
    if PRIMITIVES.contains(name.as_str()) {
        name + "_"
    } else {
        name
    }
}

/// The name of a type: unchanged if it is a valid Rust type name in camel case.
pub(crate) fn type_name(idl: &str) -> String {
    let kept = idl.starts_with(|c: char| c.is_ascii_uppercase()) && !idl.contains('_');
    escape(if kept { idl.to_owned() } else { camel(idl) })
}

fn value_name(idl: &str) -> String {
    escape(snake(idl))
}

fn method_name(idl: &str) -> String {
    // References are `Clone`, and an inherent method would hide that.
    match value_name(idl) {
        name if name == "clone" => "clone_".to_owned(),
        name => name,
    }
}

/// The name of the member of a struct that holds its base.
pub(crate) const BASE: &str = "base";

/// The name of the variant of a union without a member.
pub(crate) const UNSET: &str = "Unset";

fn by_rule(model: &Model, id: DefId) -> String {
    let idl = &*model.def(id).name;
    let in_union = || {
        let owner = model.scope(model.def(id).scope).owner;
        owner.is_some_and(|owner| matches!(model.def(owner).kind, DefKind::Union(_)))
    };
    match model.def(id).kind {
        DefKind::Module(_) => module_name(idl),
        DefKind::Enumerator(_) => escape(camel(idl)),
        DefKind::Const(..) | DefKind::Bit(_) => escape(shouty(idl)),
        // A member of a union is a variant.
        DefKind::Member if in_union() => escape(camel(idl)),
        DefKind::Member => value_name(idl),
        DefKind::Operation | DefKind::Factory => method_name(idl),
        _ => type_name(idl),
    }
}

/// Whether `name` is a valid Rust identifier and not a keyword.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name != "_"
        && !KEYWORDS.contains(name)
}

/// Names all declarations of `model`, and reports clashes and invalid renames to `sink`.
pub(crate) fn assign(model: &Model, options: &Options, settings: Settings, sink: &Sink) -> Names {
    let (renames, natives) = (&options.renames, &options.natives);
    let ids = (0..model.defs.len()).map(DefId);
    let mut names: HashMap<DefId, String> = ids.map(|id| (id, by_rule(model, id))).collect();
    let mut parameters = HashMap::new();
    for (index, (idl, rust)) in renames.iter().enumerate() {
        let option = format!("the option rename(\"{idl}\" = \"{rust}\")");
        if !is_identifier(rust) {
            sink.report(Report::new(
                settings.span(Setting::RustName, index),
                format!("{option} does not give a Rust name"),
            ));
            continue;
        }
        match find(model, idl.trim_start_matches("::")) {
            Some((id, None)) => {
                names.insert(id, rust.clone());
            }
            Some((id, Some(parameter))) => {
                parameters.insert((id, parameter), rust.clone());
            }
            None => sink.report(Report::new(
                settings.span(Setting::Rename, index),
                format!("{option} names nothing in this IDL"),
            )),
        }
    }
    let natives = natives
        .iter()
        .enumerate()
        .filter_map(
            |(index, (idl, path))| match find(model, idl.trim_start_matches("::")) {
                Some((id, None)) if matches!(model.def(id).kind, DefKind::Native) => {
                    Some((id, path.clone()))
                }
                _ => {
                    let message = format!(
                        "the option native(\"{idl}\" = …) names no native type of this IDL"
                    );
                    let place = settings.span(Setting::Native, index);
                    sink.report(Report::new(place, message));
                    None
                }
            },
        );
    let natives = natives.collect();
    let servant = if names.values().any(|name| name == "T") {
        "T_"
    } else {
        "T"
    };
    let mut names = Names {
        names,
        parameters,
        natives,
        setters: HashSet::new(),
        errors: HashSet::new(),
        servant,
    };
    names.make_way(model);
    Clashes {
        model,
        names: &names,
        sink,
        delegates: options.delegates,
        reported: RefCell::default(),
        offered: RefCell::default(),
    }
    .check();
    names
}

/// The definition that a scoped name of an option names, or a parameter of an operation.
fn find(model: &Model, path: &str) -> Option<(DefId, Option<String>)> {
    let mut scope = ScopeId::ROOT;
    let mut found: Option<DefId> = None;
    let mut parts = path.split("::").peekable();
    while let Some(part) = parts.next() {
        if let Some(id) = found {
            match model.own_scope(id) {
                Some(inner) => scope = inner,
                // Only an operation has names inside without being a scope of definitions.
                None => {
                    let last = parts.peek().is_none();
                    return (last && has_parameter(model, id, part))
                        .then(|| (id, Some(part.to_owned())));
                }
            }
        }
        let id = *model.scope(scope).names.get(&model.key(part))?;
        found = (*model.def(id).name == *part).then_some(id);
        found?;
    }
    found.map(|id| (id, None))
}

/// The definition with this scoped name.
pub(crate) fn find_definition(model: &Model, path: &str) -> Option<DefId> {
    match find(model, path) {
        Some((id, None)) => Some(id),
        _ => None,
    }
}

fn has_parameter(model: &Model, operation: DefId, name: &str) -> bool {
    let Some(owner) = model.scope(model.def(operation).scope).owner else {
        return false;
    };
    let value = model.value_type(owner);
    let factories = value.map_or(&[][..], |value| &value.factories);
    let all = model.operations(owner).iter().chain(factories);
    let mut operations = all.filter(|candidate| candidate.def == operation);
    operations.any(|operation| {
        operation
            .parameters
            .iter()
            .any(|parameter| *parameter.name == *name)
    })
}

impl Names {
    /// The name of a type, module, constant, member, enumerator or method.
    pub(crate) fn of(&self, id: DefId) -> &str {
        self.names.get(&id).map_or("", String::as_str)
    }

    /// The Rust path of native type `id`, as the option gave it.
    pub(crate) fn native(&self, id: DefId) -> Option<&str> {
        self.natives.get(&id).map(String::as_str)
    }

    pub(crate) fn parameter(&self, operation: DefId, idl: &str) -> String {
        let renamed = self.parameters.get(&(operation, idl.to_owned()));
        renamed.cloned().unwrap_or_else(|| value_name(idl))
    }

    /// Finds the setters and error enums whose names are declared in their interface or value type, which alone decides: it
    /// is in one piece, so that every compilation of it finds the same.
    fn make_way(&mut self, model: &Model) {
        for owner in (0..model.defs.len()).map(DefId) {
            let Some(scope) = model.own_scope(owner) else {
                continue;
            };
            let factories = model.value_type(owner).map(|value| &value.factories[..]);
            let factories = factories.unwrap_or_default();
            if model.operations(owner).is_empty() && factories.is_empty() {
                continue;
            }
            let (mut methods, mut types) = (HashSet::new(), HashSet::new());
            for &id in &model.scope(scope).order {
                match &model.def(id).kind {
                    DefKind::Operation | DefKind::Factory => methods.insert(self.of(id).to_owned()),
                    DefKind::Typedef(ty) if model.is_reference(ty) => {
                        types.insert(self.reference(id))
                    }
                    DefKind::Const(..) | DefKind::Member => false,
                    _ => types.insert(self.of(id).to_owned()),
                };
            }
            for operation in model.operations(owner).iter().chain(factories) {
                let sets = operation.role == Role::Set;
                if sets && methods.contains(&self.method(operation)) {
                    self.setters.insert(operation.def);
                }
                if !operation.raises.is_empty() && types.contains(&self.error_enum(operation)) {
                    self.errors.insert((operation.def, sets));
                }
            }
        }
    }

    /// The name of the method of an operation, or of one side of an attribute.
    pub(crate) fn method(&self, operation: &Operation) -> String {
        let name = self.of(operation.def);
        let stem = name.strip_suffix('_').unwrap_or(name);
        match operation.role {
            Role::Set if self.setters.contains(&operation.def) => format!("set_{stem}_attribute"),
            Role::Set => format!("set_{stem}"),
            _ => name.to_owned(),
        }
    }

    /// The name of the error enum of `operation`.
    pub(crate) fn error_enum(&self, operation: &Operation) -> String {
        let key = (operation.def, operation.role == Role::Set);
        let suffix = match self.errors.contains(&key) {
            true => "CallError",
            false => "Error",
        };
        camel(&self.method(operation)) + suffix
    }

    /// The Rust name of a definition without the underscore that keeps it from being a keyword, for use with a suffix.
    fn stem(&self, id: DefId) -> &str {
        let name = self.of(id);
        name.strip_suffix('_').unwrap_or(name)
    }

    /// The name of the module of declarations inside an interface or struct.
    pub(crate) fn inner_module(&self, id: DefId) -> String {
        module_name(self.stem(id))
    }

    /// The name of the typed reference of an interface, or of a typedef of one.
    pub(crate) fn reference(&self, id: DefId) -> String {
        format!("{}Ref", self.stem(id))
    }

    /// The name of the trait of the operations of a value type.
    pub(crate) fn value_operations(&self, id: DefId) -> String {
        format!("{}Operations", self.stem(id))
    }

    /// The name of the trait of the factories of a value type. It is not `…Factory`, as many IDL interfaces have such names.
    pub(crate) fn value_factories(&self, id: DefId) -> String {
        format!("{}Factories", self.stem(id))
    }

    /// The name of the member of a value type's state that holds the state of its base.
    pub(crate) fn base_member(&self, value: &ValueType) -> &'static str {
        let mut members = value.members.iter();
        match members.any(|member| self.of(member.def) == "base") {
            true => "base_",
            false => "base",
        }
    }

    /// The name of the static that holds the TypeCode of a type.
    pub(crate) fn type_code_static(&self, id: DefId) -> String {
        format!("__TC_{}", shouty(self.of(id)))
    }

    /// The name of the constant for the TypeCode of a typedef.
    pub(crate) fn type_code(&self, id: DefId) -> String {
        format!("{}_TYPE_CODE", shouty(self.stem(id)))
    }

    /// The name of the trait by which servants of an interface delegate its operations to another servant.
    pub(crate) fn delegate(&self, id: DefId) -> String {
        format!("{}Delegate", self.stem(id))
    }

    /// The name of the skeleton of an interface.
    pub(crate) fn skeleton(&self, id: DefId) -> String {
        format!("{}Servant", self.stem(id))
    }
}

#[cfg(test)]
mod tests {
    use super::case::tests::identifier;
    use super::*;
    use crate::compile::check_str;
    use proptest::prelude::*;

    #[test]
    fn names_follow_the_rules_of_the_mapping() {
        assert_eq!(type_name("BinStruct"), "BinStruct");
        assert_eq!(type_name("IOR"), "IOR");
        assert_eq!(type_name("url_t"), "UrlT");
        assert_eq!(type_name("account"), "Account");
        assert_eq!(type_name("Self"), "Self_");
        assert_eq!(module_name("BankApp"), "bank_app");
        assert_eq!(module_name("Bool"), "bool_");
        assert_eq!(method_name("sendOctetSeq_2way"), "send_octet_seq_2way");
        assert_eq!(method_name("clone"), "clone_");
        // Digits after an underscore.
        assert_eq!(type_name("Device_4"), "Device4");
        assert_eq!(module_name(&type_name("Device_4")), "device4");
        assert_eq!(module_name("Tango_3"), "tango_3");
        assert_eq!(method_name("command_inout_4"), "command_inout_4");
        assert_eq!(value_name("type"), "type_");
    }

    proptest! {
        #[test]
        fn two_names_that_become_one_are_reported(a in identifier(), b in identifier()) {
            let same_idl = a.eq_ignore_ascii_case(&b);
            for (text, rust) in [
                (format!("interface ScopeOfNames {{ void {a}(); void {b}(); }};"), value_name as fn(&str) -> String),
                (format!("interface Outside {{ void scope_of_names(in long {a}, in long {b}); }};"), value_name),
                (format!("struct ScopeOfNames {{ long {a}; long {b}; }};"), value_name),
                (format!("enum ScopeOfNames {{ {a}, {b} }};"), camel),
                (format!("module ScopeOfNames {{ const long {a} = 1; const long {b} = 1; }};"), shouty),
                (format!("module ScopeOfNames {{ struct {a} {{ long x; }}; struct {b} {{ long x; }}; }};"), type_name),
            ] {
                let reported = match check_str("two.idl", &text, &Options::default()) {
                    Ok(()) => false,
                    // Names that are keywords, but for their case, or those of their scope.
                    Err(found) if found.iter().any(|it| it.message.contains(" keyword")) => continue,
                    Err(found) if found.iter().all(|it| !it.message.contains(" become ") && !it.message.contains(" case")) => continue,
                    Err(_) => true,
                };
                prop_assert!(reported || !(same_idl || rust(&a) == rust(&b)), "{}", text);
                // Names of IDL that differ in more than case and underscores are never refused for their names in Rust.
                let apart = a.replace('_', "").to_lowercase() != b.replace('_', "").to_lowercase();
                prop_assert!(!(reported && apart), "{}", text);
            }
        }
    }

    #[test]
    fn the_keyword_list_is_what_syn_and_rustc_refuse_as_a_plain_identifier() {
        assert!(is_identifier("union") && is_identifier("x_1"));
        assert!(
            ["match", "", "1x", "a-b", "_", "gen"]
                .iter()
                .all(|name| !is_identifier(name))
        );
    }
}
