//! The resolver: from the syntax tree to the [`Model`]. It declares, looks up, checks and evaluates in one pass over the
//! text, as IDL requires every name to be declared before its use.

mod arithmetic;
mod bits;
mod constants;
mod decimal;
mod ids;
mod interfaces;
mod local;
mod scopes;
mod suggest;
mod types;
mod unions;
mod values;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::ast::{
    Definition, DefinitionKind, Expr, Head, MemberDcl, ScopedName, StringLiteral, TypeKind,
    TypeSpec,
};
use crate::diagnostic::{Report, Sink};
use crate::limits::MAX_BASES;
use crate::model::{
    Def, DefId, DefKind, Member, Model, ORB_PATH, Scope, ScopeId, Struct, Type, Union, Value,
};
use crate::options::{Options, Setting, Settings};
use crate::parser::Tree;
use crate::source::{BUILTIN_NAME, SourceMap, Span};
use ids::SetId;

/// Resolves `tree`, and reports errors to `sink`; the model remains sound enough for further checks. For an incomplete
/// tree only the errors are of use: names that its missing parts may have declared are not reported.
pub(crate) fn resolve(
    tree: Tree,
    options: &Options,
    sources: &SourceMap,
    settings: Settings,
    sink: &Sink,
) -> Model {
    let root = Scope {
        owner: None,
        parent: None,
        names: HashMap::new(),
        order: Vec::new(),
        introduced: HashMap::new(),
    };
    let model = Model {
        defs: Vec::new(),
        scopes: vec![root],
        externs: HashMap::new(),
        forward_uses: HashMap::new(),
        chains: HashMap::new(),
        implied: HashMap::new(),
        reply_handler: None,
        lenient: options.lenient,
    };
    let mut resolver = Resolver {
        model,
        sink,
        forward_uses: HashMap::new(),
        depths: HashMap::new(),
        ids: HashMap::new(),
        prefixes: HashMap::new(),
        put_off: Vec::new(),
        missed: tree.lost.unwrap_or_default(),
        broken: HashSet::new(),
        contested: HashSet::new(),
        unknown: HashSet::new(),
        unknowns: Vec::new(),
    };
    resolver.definitions(ScopeId::ROOT, &tree.definitions);
    resolver.apply_prefixes();
    if tree.whole {
        resolver.externs(&options.externs, sources, settings);
    }
    resolver.unfinished();
    resolver.check_local();
    resolver.report_unknown();
    resolver.model
}

struct Resolver<'a> {
    model: Model,
    sink: &'a Sink,
    /// Definitions used while only declared, each with its first use.
    forward_uses: HashMap<DefId, Span>,
    /// The depths of the types of typedefs.
    depths: HashMap<DefId, usize>,
    /// Definitions whose repository id a pragma or `typeid` has set.
    ids: HashMap<DefId, SetId>,
    /// The `typeprefix` of a scope.
    prefixes: HashMap<ScopeId, (Rc<str>, Span)>,
    /// `typeprefix` declarations, which are applied when all names are declared.
    put_off: Vec<(ScopeId, ScopedName, StringLiteral)>,
    /// Names of failed imports and of parts that are not IDL, in lower case: they are not reported a second time.
    missed: HashSet<String>,
    /// Scopes that inherit from a faulty definition: their names are unknown.
    broken: HashSet<ScopeId>,
    /// Definitions whose names were declared a second time, which was reported.
    contested: HashSet<DefId>,
    /// Names that were not found, each with its scope: they are reported once per scope, at the end.
    unknown: HashSet<(ScopeId, Option<DefId>, Rc<str>)>,
    unknowns: Vec<suggest::Unknown>,
}

impl Resolver<'_> {
    fn report(&self, report: Report) {
        self.sink.report(report);
    }

    fn definitions(&mut self, scope: ScopeId, definitions: &[Definition]) {
        for definition in definitions {
            self.definition(scope, definition);
        }
    }

    fn definition(&mut self, scope: ScopeId, definition: &Definition) {
        let head = &definition.head;
        match &definition.kind {
            DefinitionKind::Module(body) => self.module(scope, head, body),
            // The definition may be in an invalid part of the text.
            DefinitionKind::InterfaceForward(_)
            | DefinitionKind::ValueForward(_)
            | DefinitionKind::StructForward
            | DefinitionKind::UnionForward
                if self.missed.contains(&head.name.text.to_lowercase()) =>
            {
                self.unsupported(scope, head);
            }
            DefinitionKind::InterfaceForward(kind) => {
                self.interface_entry(scope, head, *kind, false);
            }
            DefinitionKind::Interface { kind, bases, body } => {
                self.interface(scope, head, *kind, bases, body);
            }
            DefinitionKind::ValueForward(kind) => {
                self.value_entry(scope, head, *kind, false);
            }
            DefinitionKind::Value(value) => self.value(scope, head, value),
            DefinitionKind::ValueBox(spec) => self.value_box(scope, head, spec),
            DefinitionKind::State { public, member } => self.state(scope, *public, member),
            DefinitionKind::Factory(factory) => self.factory(scope, head, factory),
            DefinitionKind::StructForward => {
                self.struct_entry(scope, head, false);
            }
            DefinitionKind::Struct { base, members } => {
                self.structure(scope, head, base.as_ref(), members);
            }
            DefinitionKind::UnionForward => {
                self.union_entry(scope, head, false);
            }
            DefinitionKind::Union(union) => self.union(scope, head, union),
            DefinitionKind::Exception(members) => {
                let inner = self.new_scope(scope);
                let body = Struct {
                    scope: inner,
                    complete: true,
                    base: None,
                    members: Vec::new(),
                };
                let id = self.declare(scope, head, DefKind::Exception(body));
                self.model.scopes[inner.0].owner = Some(id);
                self.members(id, members);
            }
            DefinitionKind::Bitset { base, fields } => {
                self.bitset(scope, head, base.as_ref(), fields);
            }
            DefinitionKind::Bitmask(names) => self.bitmask(scope, head, names),
            DefinitionKind::Native => {
                self.declare(scope, head, DefKind::Native);
            }
            DefinitionKind::Enum(names) => self.enumeration(scope, head, names),
            DefinitionKind::Typedef {
                ty,
                dimensions,
                first,
            } => {
                let base = self.type_spec(scope, ty, *first);
                if *first {
                    self.check_complete(&base, ty.span, None);
                }
                let ty = self.array(scope, base, dimensions);
                let ty = self.bounded(ty, head.name.span);
                self.typedef(scope, head, ty);
            }
            DefinitionKind::Const { ty, value } => {
                let (ty, value) = self.typed_constant(scope, ty, value);
                self.declare(scope, head, DefKind::Const(ty, value));
            }
            DefinitionKind::Operation(operation) => self.operation(scope, head, operation),
            DefinitionKind::Attribute(attribute) => self.attribute(scope, head, attribute),
            DefinitionKind::Pragma { pragma, within } => {
                self.pragma(scope, head.name.span, pragma, within.as_ref());
            }
            DefinitionKind::TypeId { of, id } => self.type_id(scope, of, id),
            DefinitionKind::TypePrefix { of, prefix } => self.type_prefix(scope, of, prefix),
            DefinitionKind::Import(name) => self.import(scope, name),
            DefinitionKind::Unsupported => self.unsupported(scope, head),
        }
    }

    /// Declares the name of an unsupported declaration.
    fn unsupported(&mut self, scope: ScopeId, head: &Head) {
        let known = self.existing(scope, head);
        // The declaration may turn out to be a component or an event type.
        let fits = |id| {
            matches!(self.model.def(id).kind, DefKind::Unsupported) || self.is_only_forward(id)
        };
        if !known.is_some_and(fits) {
            self.declare(scope, head, DefKind::Unsupported);
        }
    }

    fn typedef(&mut self, scope: ScopeId, head: &Head, ty: Type) {
        let depth = self.depth(&ty, 0);
        let end = match &ty {
            Type::Named(next) => match self.model.def(*next).kind {
                DefKind::Typedef(_) => Some(self.model.end_of_chain(*next)),
                _ => None,
            },
            _ => None,
        };
        let id = self.declare(scope, head, DefKind::Typedef(ty));
        self.depths.insert(id, depth);
        if let Some(end) = end {
            self.model.chains.insert(id, end);
        }
    }

    /// The type and the value of a constant.
    fn typed_constant(&mut self, scope: ScopeId, spec: &TypeSpec, expr: &Expr) -> (Type, Value) {
        match &spec.kind {
            TypeKind::Fixed(None) => match self.fixed_constant(scope, spec.span, expr) {
                value @ Value::Fixed { unscaled, scale } => (fixed_type(unscaled, scale), value),
                value => (Type::Error, value),
            },
            TypeKind::Fixed(Some(_)) => {
                let message = "the digits of a fixed constant follow from its value";
                self.report(Report::new(spec.span, message).hint("write `fixed` alone"));
                (Type::Error, Value::Error)
            }
            _ => {
                let ty = self.type_spec(scope, spec, true);
                let value = self.constant(scope, &ty, Some(spec.span), expr);
                (ty, value)
            }
        }
    }

    fn module(&mut self, scope: ScopeId, head: &Head, body: &[Definition]) {
        let inner = match self.existing(scope, head) {
            Some(id) if let DefKind::Module(inner) = self.model.def(id).kind => {
                self.check_spelling(id, head);
                // Names used in an earlier opening of the module may be declared again.
                self.model.scopes[inner.0].introduced.clear();
                inner
            }
            _ => {
                let inner = self.new_scope(scope);
                let id = self.declare(scope, head, DefKind::Module(inner));
                self.model.scopes[inner.0].owner = Some(id);
                inner
            }
        };
        self.definitions(inner, body);
    }

    /// The struct that `head` names, a new or an existing one; `None` if it cannot be defined here.
    fn struct_entry(&mut self, scope: ScopeId, head: &Head, define: bool) -> Option<DefId> {
        if let Some(id) = self.existing(scope, head)
            && let DefKind::Struct(Struct { complete, .. }) = self.model.def(id).kind
            && !(complete && define)
        {
            self.redeclared(id, head, define);
            return define.then_some(id);
        }
        let inner = self.new_scope(scope);
        let body = Struct {
            scope: inner,
            complete: false,
            base: None,
            members: Vec::new(),
        };
        let id = self.declare(scope, head, DefKind::Struct(body));
        self.model.scopes[inner.0].owner = Some(id);
        define.then_some(id)
    }

    /// Checks that a further declaration agrees with the first one in spelling and repository id.
    fn redeclared(&mut self, id: DefId, head: &Head, define: bool) {
        // Another spelling makes another id, which is no second error.
        if self.check_spelling(id, head) {
            self.check_same_id(id, head);
        }
        if define {
            let def = &mut self.model.defs[id.0];
            def.doc = head.doc.clone().or_else(|| def.doc.take());
        }
    }

    fn structure(
        &mut self,
        scope: ScopeId,
        head: &Head,
        base: Option<&ScopedName>,
        members: &[MemberDcl],
    ) {
        let Some(id) = self.struct_entry(scope, head, true) else {
            return;
        };
        let base = base.and_then(|name| self.struct_base(scope, id, name));
        if let DefKind::Struct(body) = &mut self.model.defs[id.0].kind {
            body.base = base;
        }
        self.members(id, members);
    }

    fn struct_base(&mut self, scope: ScopeId, derived: DefId, name: &ScopedName) -> Option<DefId> {
        let id = self.lookup_base(scope, name)?;
        let def = self.model.def(id);
        let message = match &def.kind {
            DefKind::Struct(Struct { complete: true, .. }) => {
                return self.check_chain(id, name).then_some(id);
            }
            DefKind::Struct(_) if id == derived => format!("`{}` inherits from itself", def.name),
            DefKind::Struct(_) => format!("`{}` is not complete here", def.name),
            DefKind::Unsupported => return None,
            _ => format!("`{}` is {}, not a struct", def.name, self.model.noun(id)),
        };
        self.report(Report::new(name.span(), message).label(def.span, "declared here"));
        None
    }

    /// Whether a struct or bitset may inherit from `base` under the limit on bases.
    fn check_chain(&self, base: DefId, name: &ScopedName) -> bool {
        let mut length = 0;
        let mut at = Some(base);
        while let Some(id) = at {
            length += 1;
            if length > MAX_BASES {
                let message = format!("more than {MAX_BASES} types inherit from each other");
                self.report(Report::new(name.span(), message));
                return false;
            }
            at = match &self.model.def(id).kind {
                DefKind::Struct(body) => body.base,
                DefKind::Bitset(bitset) => bitset.base,
                _ => None,
            };
        }
        true
    }

    fn members(&mut self, owner: DefId, members: &[MemberDcl]) {
        let Some(scope) = self.model.own_scope(owner) else {
            return;
        };
        let inherited = match &self.model.def(owner).kind {
            DefKind::Struct(Struct { base, .. }) => self.inherited_names(*base),
            _ => HashMap::new(),
        };
        let mut resolved = Vec::new();
        for member in members {
            self.check_inherited(&inherited, &member.head);
            let (def, ty) = self.declare_member(owner, scope, member);
            resolved.push(Member { def, ty });
        }
        if let DefKind::Struct(body) | DefKind::Exception(body) = &mut self.model.defs[owner.0].kind
        {
            body.members = resolved;
            body.complete = true;
        }
    }

    /// The members of the struct or bitset `base`, inherited ones included, by [key](Model::key).
    fn inherited_names(&self, base: Option<DefId>) -> HashMap<String, DefId> {
        let mut names = HashMap::new();
        let mut at = base;
        while let Some(id) = at {
            let (members, base): (Vec<DefId>, _) = match &self.model.def(id).kind {
                DefKind::Struct(body) => {
                    let members = body.members.iter().map(|member| member.def);
                    (members.collect(), body.base)
                }
                DefKind::Bitset(bitset) => {
                    let fields = bitset.fields.iter().filter_map(|field| field.def);
                    (fields.collect(), bitset.base)
                }
                _ => break,
            };
            for member in members {
                names.insert(self.model.key(&self.model.def(member).name), member);
            }
            at = base;
        }
        names
    }

    fn check_inherited(&self, inherited: &HashMap<String, DefId>, head: &Head) {
        if let Some(&id) = inherited.get(&self.model.key(&head.name.text)) {
            let name = &head.name.text;
            let message = format!("`{name}` is inherited already and cannot be declared again");
            let first = self.model.def(id).span;
            self.report(Report::new(head.name.span, message).label(first, "declared here"));
        }
    }

    /// Declares a member of `owner` in its scope.
    fn declare_member(
        &mut self,
        owner: DefId,
        scope: ScopeId,
        member: &MemberDcl,
    ) -> (DefId, Type) {
        let base = self.type_spec(scope, &member.ty, member.first);
        self.check_complete(&base, member.ty.span, Some(owner));
        let ty = self.array(scope, base, &member.dimensions);
        let ty = self.bounded(ty, member.head.name.span);
        let def = self.declare(scope, &member.head, DefKind::Member);
        (def, ty)
    }

    fn enumeration(&mut self, scope: ScopeId, head: &Head, names: &[Head]) {
        let id = self.declare(scope, head, DefKind::Enum(Vec::new()));
        let enumerators: Vec<DefId> = names
            .iter()
            .map(|name| self.declare(scope, name, DefKind::Enumerator(id)))
            .collect();
        self.model.defs[id.0].kind = DefKind::Enum(enumerators);
    }

    fn new_scope(&mut self, parent: ScopeId) -> ScopeId {
        self.model.scopes.push(Scope {
            owner: None,
            parent: Some(parent),
            names: HashMap::new(),
            order: Vec::new(),
            introduced: HashMap::new(),
        });
        ScopeId(self.model.scopes.len() - 1)
    }

    fn new_def(&mut self, scope: ScopeId, head: &Head, kind: DefKind) -> DefId {
        let repository_id = self.repository_id(scope, head);
        self.model.defs.push(Def {
            name: Rc::clone(&head.name.text),
            span: head.name.span,
            scope,
            doc: head.doc.clone(),
            repository_id,
            kind,
        });
        DefId(self.model.defs.len() - 1)
    }

    /// Binds the modules that `extern` options name.
    fn externs(&mut self, externs: &[(String, String)], sources: &SourceMap, settings: Settings) {
        self.builtin_corba(sources);
        for (index, (name, path)) in externs.iter().enumerate() {
            let mut scope = ScopeId::ROOT;
            for part in name.trim_start_matches("::").split("::") {
                let found = self
                    .model
                    .scope(scope)
                    .names
                    .get(&self.model.key(part))
                    .copied();
                match found.map(|id| (&self.model.def(id).kind, &*self.model.def(id).name)) {
                    Some((DefKind::Module(inner), spelled)) if spelled == part => scope = *inner,
                    _ => {
                        let message = format!(
                            "the option extern(\"{name}\" = …) names no module of this IDL"
                        );
                        let place = settings.span(Setting::Extern, index);
                        self.report(Report::new(place, message));
                        scope = ScopeId::ROOT;
                        break;
                    }
                }
            }
            if scope != ScopeId::ROOT {
                self.model.externs.insert(scope, path.clone());
            }
        }
        for def in &self.model.defs {
            let silent = matches!(
                def.kind,
                DefKind::Module(_) | DefKind::Member | DefKind::Enumerator(_)
            );
            if !silent && sources.file(def.span.file).main && self.model.is_extern(def.scope) {
                let message = format!(
                    "`{}` lies in a module that an extern option maps, and would get no code",
                    def.name
                );
                let hint = "put it into a file that is included, or take the option away";
                self.report(Report::new(def.span, message).hint(hint));
            }
        }
    }

    /// Maps module `CORBA` to the ORB, which has the built-in `orb.idl` compiled in. IDL that adds to the module gets code for
    /// all of it.
    fn builtin_corba(&mut self, sources: &SourceMap) {
        let corba = self.model.scope(ScopeId::ROOT).names.get("corba");
        let Some(scope) = corba.and_then(|&id| self.model.own_scope(id)) else {
            return;
        };
        let mut declared = self.model.scope(scope).order.iter();
        let builtin = |&id: &DefId| sources.file(self.model.def(id).span.file).name == BUILTIN_NAME;
        if declared.len() > 0 && declared.all(builtin) {
            self.model.externs.insert(scope, format!("{ORB_PATH}corba"));
        }
    }

    /// Reports structs and unions that were declared forward and never defined. An interface or value type need not be
    /// defined, as it is only referred to.
    fn unfinished(&mut self) {
        for (index, def) in self.model.defs.iter().enumerate() {
            let noun = match &def.kind {
                DefKind::Struct(Struct {
                    complete: false, ..
                }) => "struct",
                DefKind::Union(Union {
                    complete: false, ..
                }) => "union",
                _ => continue,
            };
            if self.model.is_extern(def.scope) || self.contested.contains(&DefId(index)) {
                continue;
            }
            let message = format!("{noun} `{}` is declared but never defined", def.name);
            let report = Report::new(def.span, message);
            self.report(match self.forward_uses.get(&DefId(index)) {
                Some(&used) => report.label(used, "used here"),
                None => report,
            });
        }
        let uses = std::mem::take(&mut self.forward_uses);
        self.model.forward_uses = uses;
    }

    /// Whether `ty` is the error type, which stands for a reported error.
    fn is_error(&self, ty: &Type) -> bool {
        matches!(self.model.unaliased(ty), Type::Error)
    }
}

/// The type of a constant of type `fixed` without digits: as many digits as its value has.
fn fixed_type(unscaled: i128, scale: u8) -> Type {
    let digits = unscaled
        .unsigned_abs()
        .checked_ilog10()
        .map_or(1, |log| log + 1);
    let digits = u8::try_from(digits).unwrap_or(u8::MAX).max(scale);
    Type::Fixed { digits, scale }
}
