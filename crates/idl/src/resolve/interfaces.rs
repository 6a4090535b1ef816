//! Interfaces: inheritance, operations, attributes.

use std::collections::{HashMap, HashSet};

use super::Resolver;
use crate::ast::{
    Attribute as AstAttribute, Definition, Direction, Head, InterfaceKind, OpDcl, ParamDcl,
    ScopedName, StringLiteral,
};
use crate::diagnostic::Report;
use crate::limits::{MAX_BASES, MAX_PARAMETERS, MAX_RAISES};
use crate::model::{DefId, DefKind, Interface, Operation, Parameter, Role, ScopeId, Type};
use crate::source::Span;

impl Resolver<'_> {
    /// The interface that `head` names, a new or an existing one; `None` if it cannot be defined here.
    pub(super) fn interface_entry(
        &mut self,
        scope: ScopeId,
        head: &Head,
        kind: InterfaceKind,
        define: bool,
    ) -> Option<DefId> {
        if let Some(id) = self.existing(scope, head)
            && let Some(&Interface {
                defined,
                kind: before,
                ..
            }) = self.model.interface(id)
            && !(defined && define)
        {
            self.redeclared(id, head, define);
            for (of, word) in [
                (InterfaceKind::Abstract, "abstract"),
                (InterfaceKind::Local, "local"),
            ] {
                if (before == of) != (kind == of) {
                    self.kind_differs(id, head, before == of, word);
                    break;
                }
            }
            return define.then_some(id);
        }
        let inner = self.new_scope(scope);
        let interface = Interface {
            scope: inner,
            kind,
            defined: false,
            bases: Vec::new(),
            ancestors: Vec::new(),
            operations: Vec::new(),
        };
        let id = self.declare(scope, head, DefKind::Interface(interface));
        self.model.scopes[inner.0].owner = Some(id);
        define.then_some(id)
    }

    /// Reports a forward declaration and a definition of which only one has the keyword `word`.
    pub(super) fn kind_differs(&self, id: DefId, head: &Head, before: bool, word: &str) {
        let name = &head.name.text;
        let message = match before {
            true => format!("`{name}` was declared as {word} before"),
            false => format!("`{name}` was declared before, and not as {word}"),
        };
        let first = self.model.def(id).span;
        self.report(Report::new(head.name.span, message).label(first, "first declared here"));
    }

    pub(super) fn interface(
        &mut self,
        scope: ScopeId,
        head: &Head,
        kind: InterfaceKind,
        bases: &[ScopedName],
        body: &[Definition],
    ) {
        let Some(id) = self.interface_entry(scope, head, kind, true) else {
            return;
        };
        let written = bases.len();
        let bases = self.bases(scope, id, kind, bases);
        self.note_broken(id, bases.len() < written, &bases);
        let kind = match bases.iter().any(|&base| self.is_local(base)) {
            true => InterfaceKind::Local,
            false => kind,
        };
        let mut ancestors = self.with_ancestors(&bases);
        self.check_ancestors(id, head, &bases, &mut ancestors);
        let Some(inner) = self.model.own_scope(id) else {
            return;
        };
        if let DefKind::Interface(interface) = &mut self.model.defs[id.0].kind {
            interface.kind = kind;
            interface.defined = true;
            interface.bases = bases;
            interface.ancestors = ancestors;
        }
        self.definitions(inner, body);
    }

    /// Notes that a base of `id` is unknown, or that a base has an unknown base.
    pub(super) fn note_broken(&mut self, id: DefId, missing: bool, bases: &[DefId]) {
        if (missing || self.any_broken(bases))
            && let Some(scope) = self.model.own_scope(id)
        {
            self.broken.insert(scope);
        }
    }

    /// Whether one of `bases` has an unknown base.
    fn any_broken(&self, bases: &[DefId]) -> bool {
        let mut scopes = bases.iter().filter_map(|&base| self.model.own_scope(base));
        scopes.any(|scope| self.broken.contains(&scope))
    }

    /// `bases` and their direct and indirect bases, each once, nearer ones first.
    pub(super) fn with_ancestors(&self, bases: &[DefId]) -> Vec<DefId> {
        let further = bases
            .iter()
            .flat_map(|&base| self.model.ancestors(base).unwrap_or_default());
        let mut seen = HashSet::new();
        let all = bases.iter().chain(further).copied();
        all.filter(|&base| seen.insert(base)).collect()
    }

    /// Limits the number of ancestors, and checks that their operations do not clash.
    pub(super) fn check_ancestors(
        &mut self,
        id: DefId,
        head: &Head,
        bases: &[DefId],
        ancestors: &mut Vec<DefId>,
    ) {
        if ancestors.len() > MAX_BASES {
            // A type that inherits from a refused one exceeds the limit as a consequence, which is not reported.
            if !self.any_broken(bases) {
                let message = format!(
                    "`{}` inherits from more than {MAX_BASES} interfaces",
                    head.name.text
                );
                self.report(Report::new(head.name.span, message));
            }
            self.note_broken(id, true, &[]);
            ancestors.clear();
        }
        self.check_bases_agree(head, ancestors);
    }

    fn bases(
        &mut self,
        scope: ScopeId,
        derived: DefId,
        kind: InterfaceKind,
        names: &[ScopedName],
    ) -> Vec<DefId> {
        let mut bases = Vec::new();
        // One more than the limit, for the check of the limit.
        for name in names.iter().take(MAX_BASES + 1) {
            let Some(id) = self.lookup_base(scope, name) else {
                continue;
            };
            let def = self.model.def(id);
            let message = match &def.kind {
                DefKind::Unsupported => continue,
                DefKind::Interface(_) if id == derived => {
                    format!("`{}` inherits from itself", def.name)
                }
                DefKind::Interface(Interface { defined: false, .. }) => {
                    format!(
                        "`{}` is not defined yet and cannot be inherited from",
                        def.name
                    )
                }
                DefKind::Interface(_) if bases.contains(&id) => {
                    format!("`{}` is named twice as a base", def.name)
                }
                DefKind::Interface(base) => match (kind, base.kind) {
                    // `CORBA::Current` and `CORBA::Policy` became local when existing IDL inherited from them. Interfaces
                    // that inherit from them are local, too.
                    (InterfaceKind::Plain, InterfaceKind::Local) if !self.is_of_corba(id) => {
                        format!(
                            "`{}` is local, and only a local interface can inherit from it",
                            def.name
                        )
                    }
                    (InterfaceKind::Abstract, InterfaceKind::Plain | InterfaceKind::Local) => {
                        format!(
                            "`{}` is not abstract, and an abstract interface cannot inherit from it",
                            def.name
                        )
                    }
                    _ => {
                        bases.push(id);
                        continue;
                    }
                },
                _ => format!(
                    "`{}` is {}, not an interface",
                    def.name,
                    self.model.noun(id)
                ),
            };
            self.report(Report::new(name.span(), message).label(def.span, "declared here"));
        }
        bases
    }

    fn is_local(&self, id: DefId) -> bool {
        let interface = self.model.interface(id);
        interface.is_some_and(|interface| interface.kind == InterfaceKind::Local)
    }

    /// Whether `id` is a local interface of module `CORBA`, or inherits from one.
    fn is_of_corba(&self, id: DefId) -> bool {
        let ancestors = self.model.ancestors(id).unwrap_or_default();
        std::iter::once(&id).chain(ancestors).any(|&id| {
            let around = self.model.scope(self.model.def(id).scope);
            let module = around.owner.map(|owner| &*self.model.def(owner).name);
            self.is_local(id) && around.parent == Some(ScopeId::ROOT) && module == Some("CORBA")
        })
    }

    /// Checks that two bases do not declare operations of one name.
    fn check_bases_agree(&self, head: &Head, ancestors: &[DefId]) {
        let mut seen: HashMap<String, DefId> = HashMap::new();
        for scope in ancestors
            .iter()
            .filter_map(|&base| self.model.own_scope(base))
        {
            for &id in &self.model.scope(scope).order {
                let def = self.model.def(id);
                if !matches!(def.kind, DefKind::Operation) {
                    continue;
                }
                if let Some(other) = seen.insert(self.model.key(&def.name), id) {
                    let (first, second) = (self.model.def(other), self.model.def(id));
                    let message = format!(
                        "`{}` inherits `{}` from two bases",
                        head.name.text, first.name
                    );
                    let report = Report::new(head.name.span, message)
                        .label(first.span, "one is declared here")
                        .label(second.span, "the other here");
                    self.report(report);
                }
            }
        }
    }

    pub(super) fn operation(&mut self, scope: ScopeId, head: &Head, operation: &OpDcl) {
        let result = operation.result.as_ref().map(|spec| {
            self.check_named(spec);
            let ty = self.type_spec(scope, spec, true);
            self.check_signature_type(&ty, spec.span);
            ty
        });
        let def = self.declare(scope, head, DefKind::Operation);
        let parameters = self.parameters(scope, def, &operation.parameters);
        let raises = self.raises(scope, &operation.raises);
        let given_back = parameters
            .iter()
            .filter(|parameter| parameter.direction != Direction::In)
            .count();
        // The context counts as a parameter.
        if parameters.len() + usize::from(!operation.context.is_empty()) > MAX_PARAMETERS
            || given_back + usize::from(result.is_some()) > MAX_PARAMETERS
        {
            let message = format!(
                "`{}` has more than {MAX_PARAMETERS} parameters or results",
                head.name.text
            );
            self.report(Report::new(head.name.span, message));
        }
        let annotated = head.annotation("oneway").filter(|found| found.is_set());
        let oneway = operation
            .oneway
            .or_else(|| annotated.map(|found| found.name.span()));
        if let Some(oneway) = oneway {
            self.check_oneway(oneway, operation);
        }
        for pattern in &operation.context {
            self.check_pattern(pattern);
        }
        let context = operation.context.iter().map(|name| name.text.clone());
        let context = context.collect();
        let oneway = oneway.is_some();
        self.add(
            scope,
            Operation {
                def,
                role: Role::Operation,
                oneway,
                result,
                parameters,
                raises,
                context,
            },
        );
    }

    /// Checks a name of a `context` clause: a letter, then letters, digits, dots and underscores, and optionally a `*`.
    fn check_pattern(&self, pattern: &StringLiteral) {
        let name = pattern.text.strip_suffix('*').unwrap_or(&pattern.text);
        let mut chars = name.chars();
        let well_formed = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
        if !well_formed {
            let report = Report::new(pattern.span, "this is no name of a context value");
            self.report(report.hint("write `\"user\"`, `\"sys.printer\"` or `\"sys.*\"`"));
        }
    }

    /// The parameters of `owner`. Their list is a scope of its own for the use of names.
    pub(super) fn parameters(
        &mut self,
        scope: ScopeId,
        owner: DefId,
        written: &[ParamDcl],
    ) -> Vec<Parameter> {
        let scope = self.new_scope(scope);
        self.model.scopes[scope.0].owner = Some(owner);
        let mut parameters: Vec<Parameter> = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        // One more than the limit, for the check of the limit.
        for parameter in written.iter().take(MAX_PARAMETERS + 1) {
            self.check_named(&parameter.ty);
            let ty = self.type_spec(scope, &parameter.ty, true);
            self.check_signature_type(&ty, parameter.ty.span);
            let (name, span) = (&parameter.head.name.text, parameter.head.name.span);
            let first = seen.entry(self.model.key(name)).or_insert(parameters.len());
            if let Some(other) = parameters.get(*first) {
                let message = match other.name == *name {
                    true => format!("two parameters are called `{name}`"),
                    false => format!("`{name}` and `{}` differ only in case", other.name),
                };
                self.report(Report::new(span, message).label(other.span, "the first is here"));
                continue;
            }
            let used = &self.model.scope(scope).introduced;
            if let Some(&(used, meaning)) = used.get(&self.model.key(name))
                && !self.model.lenient
            {
                self.report(self.used_before(&parameter.head, used, meaning));
            }
            parameters.push(Parameter {
                name: name.clone(),
                span,
                direction: parameter.direction,
                ty,
                doc: parameter.head.doc.clone(),
            });
        }
        parameters
    }

    fn check_oneway(&self, oneway: Span, operation: &OpDcl) {
        let given_back = operation
            .parameters
            .iter()
            .find(|parameter| parameter.direction != Direction::In);
        let (what, culprit) = if let Some(result) = &operation.result {
            ("have a result", result.span)
        } else if let Some(parameter) = given_back {
            ("have `out` or `inout` parameters", parameter.head.name.span)
        } else if let Some(raised) = operation.raises.first() {
            ("raise exceptions", raised.span())
        } else {
            return;
        };
        let message = format!("a oneway operation cannot {what}: nothing comes back from it");
        self.report(Report::new(culprit, message).label(oneway, "declared oneway here"));
    }

    pub(super) fn attribute(&mut self, scope: ScopeId, head: &Head, attribute: &AstAttribute) {
        self.check_named(&attribute.ty);
        let ty = self.type_spec(scope, &attribute.ty, true);
        self.check_signature_type(&ty, attribute.ty.span);
        let def = self.declare(scope, head, DefKind::Operation);
        let raises = self.raises(scope, &attribute.get_raises);
        let result = Some(ty.clone());
        let parameters = Vec::new();
        self.add(
            scope,
            Operation {
                def,
                role: Role::Get,
                oneway: false,
                result,
                parameters,
                raises,
                context: Vec::new(),
            },
        );
        if !attribute.readonly {
            let raises = self.raises(scope, &attribute.set_raises);
            let value = Parameter {
                name: "value".into(),
                span: head.name.span,
                direction: Direction::In,
                ty,
                doc: None,
            };
            let parameters = vec![value];
            self.add(
                scope,
                Operation {
                    def,
                    role: Role::Set,
                    oneway: false,
                    result: None,
                    parameters,
                    raises,
                    context: Vec::new(),
                },
            );
        }
    }

    pub(super) fn raises(&mut self, scope: ScopeId, names: &[ScopedName]) -> Vec<DefId> {
        let mut raises = Vec::new();
        let mut seen = HashSet::new();
        if let Some(name) = names.get(MAX_RAISES) {
            let message = format!("more than {MAX_RAISES} exceptions are raised");
            self.report(Report::new(name.span(), message));
        }
        for name in names.iter().take(MAX_RAISES) {
            if let [module, exception] = &name.parts[..]
                && *module.text == *"CORBA"
                && is_system_exception(&exception.text)
            {
                let message = format!("`{}` is a system exception", exception.text);
                let report = Report::new(name.span(), message);
                self.report(report.hint("every operation can raise it: leave it out"));
                continue;
            }
            let Some(id) = self.lookup(scope, name) else {
                continue;
            };
            let def = self.model.def(id);
            match &def.kind {
                // A native type may stand for an exception of the language; in Rust an error may be of any type.
                // Nothing is wrong with one that is named twice, as other compilers find.
                DefKind::Exception(_) | DefKind::Native => {
                    if seen.insert(id) {
                        raises.push(id);
                    }
                }
                DefKind::Unsupported => {}
                _ => {
                    let message = format!(
                        "`{}` is {}, not an exception",
                        def.name,
                        self.model.noun(id)
                    );
                    self.report(Report::new(name.span(), message).label(def.span, "declared here"));
                }
            }
        }
        raises
    }

    fn add(&mut self, scope: ScopeId, operation: Operation) {
        let types = operation
            .parameters
            .iter()
            .map(|parameter| &parameter.ty)
            .chain(&operation.result);
        let sound = types.into_iter().all(|ty: &Type| !self.is_error(ty));
        let Some(owner) = self.model.scope(scope).owner else {
            return;
        };
        let operations = match &mut self.model.defs[owner.0].kind {
            DefKind::Interface(interface) => &mut interface.operations,
            DefKind::Value(value) => &mut value.operations,
            _ => return,
        };
        if sound {
            operations.push(operation);
        }
    }
}

/// The names of the system exceptions of CORBA 3, which a `raises` clause must not list.
static SYSTEM_EXCEPTIONS: phf::Set<&'static str> = phf::phf_set! {
    "ACTIVITY_COMPLETED",
    "ACTIVITY_REQUIRED",
    "BAD_CONTEXT",
    "BAD_INV_ORDER",
    "BAD_OPERATION",
    "BAD_PARAM",
    "BAD_QOS",
    "BAD_TYPECODE",
    "CODESET_INCOMPATIBLE",
    "COMM_FAILURE",
    "DATA_CONVERSION",
    "FREE_MEM",
    "IMP_LIMIT",
    "INITIALIZE",
    "INTERNAL",
    "INTF_REPOS",
    "INVALID_ACTIVITY",
    "INVALID_TRANSACTION",
    "INV_FLAG",
    "INV_IDENT",
    "INV_OBJREF",
    "INV_POLICY",
    "MARSHAL",
    "NO_IMPLEMENT",
    "NO_MEMORY",
    "NO_PERMISSION",
    "NO_RESOURCES",
    "NO_RESPONSE",
    "OBJECT_NOT_EXIST",
    "OBJ_ADAPTER",
    "PERSIST_STORE",
    "REBIND",
    "TIMEOUT",
    "TRANSACTION_MODE",
    "TRANSACTION_REQUIRED",
    "TRANSACTION_ROLLEDBACK",
    "TRANSACTION_UNAVAILABLE",
    "TRANSIENT",
    "UNKNOWN",
};

fn is_system_exception(name: &str) -> bool {
    SYSTEM_EXCEPTIONS.contains(name)
}
