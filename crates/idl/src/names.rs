//! The Rust name of everything, and the proof that no two things share one.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use heck::{ToShoutySnakeCase, ToSnakeCase, ToUpperCamelCase};

use crate::diagnostic::{Report, Sink};
use crate::limits::MAX_DIAGNOSTICS;
use crate::model::{
    Bitset, DefId, DefKind, InterfaceKind, Model, Operation, Role, ScopeId, Struct, Union,
    ValueType,
};
use crate::options::{Options, Setting, Settings};
use crate::selection::Selection;

/// Rust names, and the names of what is generated beside them.
#[derive(Debug)]
pub(crate) struct Names {
    names: HashMap<DefId, String>,
    /// Renamed parameters; the others follow the rule.
    parameters: HashMap<(DefId, String), String>,
    /// The Rust paths of native types that have one.
    natives: HashMap<DefId, String>,
    /// The type parameter of skeletons: `T`, unless the IDL has a type of that name.
    pub(crate) servant: &'static str,
}

/// Words that Rust keeps for itself in edition 2024.
static KEYWORDS: phf::Set<&'static str> = phf::phf_set! {
    "as", "break", "const", "continue", "crate", "else", "enum", "extern", "false", "fn", "for",
    "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return",
    "self", "Self", "static", "struct", "super", "trait", "true", "type", "unsafe", "use", "where",
    "while", "async", "await", "dyn", "abstract", "become", "box", "do", "final", "macro",
    "override", "priv", "typeof", "unsized", "virtual", "yield", "try", "gen",
};

/// A module of such a name would hide the type in everything around it.
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
    let name = escape(idl.to_snake_case());
    if PRIMITIVES.contains(name.as_str()) {
        name + "_"
    } else {
        name
    }
}

/// The name of a type: as it is, when it looks like one of Rust's.
pub(crate) fn type_name(idl: &str) -> String {
    let kept = idl.starts_with(|c: char| c.is_ascii_uppercase()) && !idl.contains('_');
    escape(if kept {
        idl.to_owned()
    } else {
        idl.to_upper_camel_case()
    })
}

fn value_name(idl: &str) -> String {
    escape(idl.to_snake_case())
}

fn method_name(idl: &str) -> String {
    // References are `Clone`, and an inherent method would hide that.
    match value_name(idl) {
        name if name == "clone" => "clone_".to_owned(),
        name => name,
    }
}

/// The member of a struct that holds what it inherits.
pub(crate) const BASE: &str = "base";

/// The variant of a union in which no member is.
pub(crate) const UNSET: &str = "Unset";

fn by_rule(model: &Model, id: DefId) -> String {
    let idl = &*model.def(id).name;
    let in_union = || {
        let owner = model.scope(model.def(id).scope).owner;
        owner.is_some_and(|owner| matches!(model.def(owner).kind, DefKind::Union(_)))
    };
    match model.def(id).kind {
        DefKind::Module(_) => module_name(idl),
        DefKind::Enumerator(_) => escape(idl.to_upper_camel_case()),
        DefKind::Const(..) | DefKind::Bit(_) => escape(idl.to_shouty_snake_case()),
        // A variant.
        DefKind::Member if in_union() => escape(idl.to_upper_camel_case()),
        DefKind::Member => value_name(idl),
        DefKind::Operation | DefKind::Factory => method_name(idl),
        _ => type_name(idl),
    }
}

/// Whether rustc would take `name` as a name of its own.
fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name != "_"
        && !KEYWORDS.contains(name)
}

/// Names everything in `model`; clashes and senseless renames go to `sink`.
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
    let names = Names {
        names,
        parameters,
        natives,
        servant,
    };
    Clashes {
        model,
        names: &names,
        sink,
        delegates: options.delegates,
        told: RefCell::default(),
        offered: RefCell::default(),
    }
    .check();
    names
}

/// What a scoped name means from the outside: a definition, or a parameter of an operation.
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
        let id = *model.scope(scope).names.get(&part.to_lowercase())?;
        found = (*model.def(id).name == *part).then_some(id);
        found?;
    }
    found.map(|id| (id, None))
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

    /// The method of an operation, or of one side of an attribute.
    pub(crate) fn method(&self, operation: &Operation) -> String {
        let name = self.of(operation.def);
        match operation.role {
            Role::Set => format!("set_{}", name.strip_suffix('_').unwrap_or(name)),
            _ => name.to_owned(),
        }
    }

    /// The enum of what `operation` raises.
    pub(crate) fn error_enum(&self, operation: &Operation) -> String {
        format!("{}Error", self.method(operation).to_upper_camel_case())
    }

    /// The name without the underscore that keeps it from being a keyword: what is added to it does so as well.
    fn stem(&self, id: DefId) -> &str {
        let name = self.of(id);
        name.strip_suffix('_').unwrap_or(name)
    }

    /// The module of what is declared inside an interface or struct.
    pub(crate) fn inner_module(&self, id: DefId) -> String {
        module_name(self.stem(id))
    }

    /// The typed reference of an interface, or of a typedef of one.
    pub(crate) fn reference(&self, id: DefId) -> String {
        format!("{}Ref", self.stem(id))
    }

    /// The trait of the operations of a value type.
    pub(crate) fn value_operations(&self, id: DefId) -> String {
        format!("{}Operations", self.stem(id))
    }

    /// The trait of the factories of a value type. Not called `…Factory`: IDL is full of interfaces of that name.
    pub(crate) fn value_factories(&self, id: DefId) -> String {
        format!("{}Factories", self.stem(id))
    }

    /// The member of a value type's state that is the state of its base.
    pub(crate) fn base_member(&self, value: &ValueType) -> &'static str {
        let mut members = value.members.iter();
        match members.any(|member| self.of(member.def) == "base") {
            true => "base_",
            false => "base",
        }
    }

    /// The TypeCode of a typedef.
    pub(crate) fn type_code(&self, id: DefId) -> String {
        format!("{}_TYPE_CODE", self.stem(id).to_shouty_snake_case())
    }

    /// The trait by which servants of an interface hand its operations to others.
    pub(crate) fn delegate(&self, id: DefId) -> String {
        format!("{}Delegate", self.stem(id))
    }

    /// The skeleton of an interface.
    pub(crate) fn skeleton(&self, id: DefId) -> String {
        format!("{}Servant", self.stem(id))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Space {
    /// Types, traits and modules.
    Type,
    /// Constants, functions and unit structs.
    Value,
}

struct Clashes<'a> {
    model: &'a Model,
    names: &'a Names,
    sink: &'a Sink,
    /// [`Options::delegates`].
    delegates: bool,
    /// Of whom it has been said that their names clash: once is enough, though what is generated for both does so too.
    told: RefCell<HashSet<(DefId, DefId)>>,
    /// The names that hints have offered, as [`folded`] has them.
    offered: RefCell<Vec<String>>,
}

/// A name without case and underscores: names that differ there may meet again in what is generated.
fn folded(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

/// The names of one Rust scope: for each, who has it, and what it is when it is not that thing itself.
type Taken = HashMap<(Space, String), (DefId, Option<String>)>;

impl Clashes<'_> {
    fn check(&self) {
        for index in 0..self.model.scopes.len() {
            let scope = ScopeId(index);
            if !self.model.is_extern(scope) {
                self.scope(scope);
            }
        }
    }

    fn scope(&self, scope: ScopeId) {
        let mut taken = Taken::new();
        let owner = self.model.scope(scope).owner;
        for &id in &self.model.scope(scope).order {
            self.definition(&mut taken, id);
        }
        let Some(owner) = owner else {
            return;
        };
        if let Some(value) = self.model.value_type(owner) {
            let mut fields = Taken::new();
            for member in &value.members {
                let name = self.names.of(member.def).to_owned();
                self.take(&mut fields, Space::Value, name, member.def, None);
            }
        }
        let value = self.model.value_type(owner);
        let factories = value.map_or(&[][..], |value| &value.factories);
        let operations = self.model.operations(owner).iter().chain(factories);
        for operation in operations.filter(|operation| !operation.raises.is_empty()) {
            let what = format!("the error type of `{}`", self.model.def(operation.def).name);
            self.take(
                &mut taken,
                Space::Type,
                self.names.error_enum(operation),
                operation.def,
                Some(what),
            );
        }
        if let Some(interface) = self.model.interface(owner) {
            let bases = interface.ancestors.iter().rev();
            let bases = bases.filter_map(|&base| self.model.interface(base));
            let all = bases.chain([interface]).flat_map(|it| &it.operations);
            self.methods(owner, all);
        }
        if let Some(value) = self.model.value_type(owner) {
            self.methods(owner, value.operations.iter());
            self.methods(owner, value.factories.iter());
        }
    }

    fn definition(&self, taken: &mut Taken, id: DefId) {
        let (name, idl) = (self.names.of(id).to_owned(), &self.model.def(id).name);
        match &self.model.def(id).kind {
            DefKind::Module(_) | DefKind::Enum(_) => {
                self.take(taken, Space::Type, name, id, None);
                self.enumerators(id);
            }
            DefKind::Struct(Struct { scope, .. })
            | DefKind::Exception(Struct { scope, .. })
            | DefKind::Union(Union { scope, .. }) => {
                self.take(taken, Space::Type, name, id, None);
                self.composite(taken, id, *scope);
            }
            DefKind::Interface(interface) => {
                let mut generated = vec![
                    (
                        self.names.reference(id),
                        format!("the reference of interface `{idl}`"),
                    ),
                    (
                        self.names.skeleton(id),
                        format!("the skeleton of interface `{idl}`"),
                    ),
                    (
                        self.names.inner_module(id),
                        format!("the module of interface `{idl}`"),
                    ),
                ];
                // A local interface has no reference and no skeleton.
                if interface.kind == InterfaceKind::Local {
                    generated.drain(..2);
                } else if self.delegates {
                    let what = format!("the trait for delegation of interface `{idl}`");
                    generated.push((self.names.delegate(id), what));
                }
                self.take(taken, Space::Type, name, id, None);
                for (name, what) in generated {
                    self.take(taken, Space::Type, name, id, Some(what));
                }
            }
            DefKind::Typedef(ty) => {
                let name = if self.model.is_reference(ty) {
                    self.names.reference(id)
                } else {
                    name
                };
                self.take(taken, Space::Type, name, id, None);
                let what = format!("the TypeCode of typedef `{idl}`");
                self.take(
                    taken,
                    Space::Value,
                    self.names.type_code(id),
                    id,
                    Some(what),
                );
            }
            DefKind::Const(..) => self.take(taken, Space::Value, name, id, None),
            DefKind::Value(value) => {
                let mut generated = vec![
                    (
                        self.names.value_operations(id),
                        format!("the operations of value type `{idl}`"),
                    ),
                    (
                        self.names.inner_module(id),
                        format!("the module of value type `{idl}`"),
                    ),
                ];
                if !value.factories.is_empty() {
                    let what = format!("the factories of value type `{idl}`");
                    generated.push((self.names.value_factories(id), what));
                }
                self.take(taken, Space::Type, name, id, None);
                for (name, what) in generated {
                    self.take(taken, Space::Type, name, id, Some(what));
                }
            }
            DefKind::Bitset(Bitset { scope, .. }) => {
                self.take(taken, Space::Type, name, id, None);
                self.composite(taken, id, *scope);
            }
            DefKind::Bitmask(bitmask) => {
                self.take(taken, Space::Type, name, id, None);
                let mut flags = Taken::new();
                for &(bit, _) in &bitmask.bits {
                    self.take(
                        &mut flags,
                        Space::Value,
                        self.names.of(bit).to_owned(),
                        bit,
                        None,
                    );
                }
            }
            DefKind::ValueBox(_) | DefKind::Native => self.take(taken, Space::Type, name, id, None),
            // Enumerators live in their enum, members in their struct, operations in their trait.
            DefKind::Enumerator(_)
            | DefKind::Member
            | DefKind::Operation
            | DefKind::Factory
            | DefKind::Bit(_)
            | DefKind::Unsupported => {}
        }
    }

    /// What has members: their names, and that of the module of what is declared inside.
    fn composite(&self, taken: &mut Taken, id: DefId, scope: ScopeId) {
        let is_member = |&&inner: &&DefId| matches!(self.model.def(inner).kind, DefKind::Member);
        let inner = self.model.scope(scope).order.iter();
        if !inner.clone().all(|inner| is_member(&inner)) {
            let what = format!(
                "the module of what is declared inside `{}`",
                self.model.def(id).name
            );
            let module = self.names.inner_module(id);
            self.take(taken, Space::Type, module, id, Some(what));
        }
        let mut fields = Taken::new();
        for &member in inner.filter(is_member) {
            let name = self.names.of(member).to_owned();
            self.take(&mut fields, Space::Value, name, member, None);
        }
        if let DefKind::Struct(Struct { base: Some(_), .. }) = &self.model.def(id).kind {
            let what = "the member for what is inherited".to_owned();
            self.take(&mut fields, Space::Value, BASE.to_owned(), id, Some(what));
        }
        if let DefKind::Union(union) = &self.model.def(id).kind
            && Selection::of(self.model, union).unset.is_some()
        {
            let what = "the variant for no member".to_owned();
            self.take(&mut fields, Space::Value, UNSET.to_owned(), id, Some(what));
        }
    }

    fn enumerators(&self, id: DefId) {
        let DefKind::Enum(enumerators) = &self.model.def(id).kind else {
            return;
        };
        let mut taken = Taken::new();
        for &enumerator in enumerators {
            self.take(
                &mut taken,
                Space::Value,
                self.names.of(enumerator).to_owned(),
                enumerator,
                None,
            );
        }
    }

    /// The functions of one trait or reference of `owner`, which has inherited ones too.
    fn methods<'b>(&self, owner: DefId, operations: impl Iterator<Item = &'b Operation>) {
        let mut taken = Taken::new();
        for operation in operations {
            let what = (operation.role == Role::Set).then(|| {
                format!(
                    "the setter of attribute `{}`",
                    self.model.def(operation.def).name
                )
            });
            self.take_in(
                Some(owner),
                &mut taken,
                Space::Value,
                self.names.method(operation),
                operation.def,
                what,
            );
            let mut parameters: HashMap<String, &crate::model::Parameter> = HashMap::new();
            for parameter in &operation.parameters {
                let name = self.names.parameter(operation.def, &parameter.name);
                if let Some(other) = parameters.insert(name.clone(), parameter) {
                    let message = format!(
                        "`{}` and `{}` both become `{name}` in Rust",
                        other.name, parameter.name
                    );
                    let of = format!(
                        "{}::{}",
                        self.model.scoped_name(operation.def),
                        parameter.name
                    );
                    let taken = operation.parameters.iter().map(|it| &*it.name);
                    let hint = self.rename(&of, &name, taken);
                    let report =
                        Report::new(parameter.span, message).label(other.span, "the first is here");
                    self.sink.report(report.hint(hint));
                }
            }
        }
    }

    fn take(&self, taken: &mut Taken, space: Space, name: String, id: DefId, what: Option<String>) {
        self.take_in(None, taken, space, name, id, what);
    }

    /// Takes `name` for `id`; `heir` is the interface whose reference it is a name in, inherited or not.
    fn take_in(
        &self,
        heir: Option<DefId>,
        taken: &mut Taken,
        space: Space,
        name: String,
        id: DefId,
        what: Option<String>,
    ) {
        let Some((other, was)) = taken.insert((space, name.clone()), (id, what.clone())) else {
            return;
        };
        if !self.told.borrow_mut().insert((other, id)) {
            return;
        }
        let (here, first) = (self.model.def(id), self.model.def(other));
        let describe = |def: &crate::model::Def, what: Option<String>| {
            what.unwrap_or_else(|| format!("`{}`", def.name))
        };
        // What is generated has the name it has.
        let renamed = if what.is_some() && was.is_none() {
            other
        } else {
            id
        };
        let (here_is, first_is) = (describe(here, what), describe(first, was));
        let message = format!("{first_is} and {here_is} both become `{name}` in Rust");
        let names = self.names.names.values().map(String::as_str);
        let of = self.model.scoped_name(renamed);
        let hint = self.rename(&of, self.names.of(renamed), names);
        let report = Report::new(here.span, message).label(first.span, "the first is here");
        let report = match heir {
            Some(heir)
                if ![here.scope, first.scope]
                    .map(Some)
                    .contains(&self.model.own_scope(heir))
                    && here.scope != first.scope =>
            {
                report.label(self.model.def(heir).span, "this inherits from both")
            }
            _ => report,
        };
        self.sink.report(report.hint(hint));
    }

    /// The option that ends a clash: `name` with a number behind it that none of `taken` has.
    fn rename<'b>(
        &self,
        of: &str,
        name: &str,
        taken: impl Iterator<Item = &'b str> + Clone,
    ) -> String {
        let mut offered = self.offered.borrow_mut();
        // Further reports are not shown.
        if offered.len() >= MAX_DIAGNOSTICS {
            return String::new();
        }
        let stem = name.trim_end_matches('_');
        let between = match stem.contains('_') || stem.starts_with(|c: char| c.is_lowercase()) {
            true => "_",
            false => "",
        };
        let mut numbered = (2..).map(|number: usize| format!("{stem}{between}{number}"));
        // A longer name may be a prefix or suffix away from what is generated for this one.
        let free = numbered.find(|name| {
            let folded_name = folded(name);
            !offered.contains(&folded_name)
                && !taken
                    .clone()
                    .any(|taken| folded(taken).contains(&folded_name))
        });
        let free = free.unwrap_or_else(|| stem.to_owned());
        offered.push(folded(&free));
        format!("give one another name: rename(\"{of}\" = \"{free}\")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // Digits behind an underscore.
        assert_eq!(type_name("Device_4"), "Device4");
        assert_eq!(module_name(&type_name("Device_4")), "device4");
        assert_eq!(module_name("Tango_3"), "tango_3");
        assert_eq!(method_name("command_inout_4"), "command_inout_4");
        assert_eq!(value_name("type"), "type_");
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
