//! Implied IDL: the reply handlers and pollers of interfaces, under [`Options::ami`](crate::Options::ami).
//!
//! Source: CORBA 3.3 Part 1, CORBA Messaging (asynchronous method invocation).

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::model::{
    Def, DefId, DefKind, Direction, Implied, Interface, InterfaceKind, Model, ORB_PATH, Operation,
    Parameter, Role, Scope, ScopeId, Type,
};

/// The name of the parameter for the result of an operation.
const RESULT: &str = "ami_return_val";
/// The name of the parameter for the exceptions of an operation.
const EXCEPTIONS: &str = "excep_holder";

/// Adds the implied IDL of all interfaces that have one.
pub(crate) fn imply(model: &mut Model) {
    let ids = (0..model.defs.len()).map(DefId);
    let interfaces: Vec<DefId> = ids.filter(|&id| has_implied(model, id)).collect();
    if interfaces.is_empty() {
        return;
    }
    let root = reply_handler(model);
    model.reply_handler = Some(root);
    // All handlers exist before their bases are looked up, since a derived interface may be declared first.
    for &id in &interfaces {
        let implied = declare(model, id);
        model.implied.insert(id, implied);
    }
    for id in interfaces {
        define(model, id, root);
    }
}

/// Local and abstract interfaces have no asynchronous calls, and those of module CORBA are compiled without.
fn has_implied(model: &Model, id: DefId) -> bool {
    let is_of_orb = || {
        let mut at = Some(model.def(id).scope);
        while let Some(scope) = at {
            let path = model.externs.get(&scope);
            if path.is_some_and(|path| path.starts_with(ORB_PATH)) {
                return true;
            }
            at = model.scope(scope).parent;
        }
        false
    };
    let interface = model.interface(id);
    interface.is_some_and(|it| it.defined && it.kind == InterfaceKind::Plain) && !is_of_orb()
}

/// Declares `Messaging::ReplyHandler`, which the ORB has compiled in. Its module is in no scope, so that IDL may declare one.
fn reply_handler(model: &mut Model) -> DefId {
    let module = new_scope(model, ScopeId::ROOT);
    let span = model.def(DefId(0)).span;
    model.defs.push(Def {
        name: "Messaging".into(),
        span,
        scope: ScopeId::ROOT,
        doc: None,
        repository_id: "IDL:omg.org/Messaging:1.0".to_owned(),
        kind: DefKind::Module(module),
    });
    model.scopes[module.0].owner = Some(DefId(model.defs.len() - 1));
    model.externs.insert(module, format!("{ORB_PATH}messaging"));
    let inner = new_scope(model, module);
    let handler = Def {
        name: "ReplyHandler".into(),
        span,
        scope: module,
        doc: None,
        repository_id: "IDL:omg.org/Messaging/ReplyHandler:1.0".to_owned(),
        kind: DefKind::Interface(interface(inner)),
    };
    model.defs.push(handler);
    let id = DefId(model.defs.len() - 1);
    model.scopes[inner.0].owner = Some(id);
    id
}

fn interface(scope: ScopeId) -> Interface {
    Interface {
        scope,
        kind: InterfaceKind::Plain,
        defined: true,
        bases: Vec::new(),
        ancestors: Vec::new(),
        operations: Vec::new(),
    }
}

fn new_scope(model: &mut Model, parent: ScopeId) -> ScopeId {
    model.scopes.push(Scope {
        owner: None,
        parent: Some(parent),
        names: HashMap::new(),
        order: Vec::new(),
        introduced: HashMap::new(),
    });
    ScopeId(model.scopes.len() - 1)
}

/// Declares the reply handler of interface `of`, and names its poller.
fn declare(model: &mut Model, of: DefId) -> Implied {
    let scope = model.def(of).scope;
    let poller = free_name(model, scope, &format!("AMI_{}Poller", model.def(of).name));
    let name = free_name(model, scope, &format!("AMI_{}Handler", model.def(of).name));
    let inner = new_scope(model, scope);
    let (span, repository_id) = (model.def(of).span, sibling_id(model, of, &name));
    model.defs.push(Def {
        name: Rc::from(&*name),
        span,
        scope,
        doc: None,
        repository_id,
        kind: DefKind::Interface(interface(inner)),
    });
    let handler = DefId(model.defs.len() - 1);
    model.scopes[inner.0].owner = Some(handler);
    let key = model.key(&name);
    let around = &mut model.scopes[scope.0];
    around.names.insert(key, handler);
    let behind = around.order.iter().position(|&id| id == of);
    let at = behind.map_or(around.order.len(), |at| at + 1);
    around.order.insert(at, handler);
    Implied { handler, poller }
}

/// `name`, behind as many `AMI_` as it takes to be free in `scope`.
fn free_name(model: &Model, scope: ScopeId, name: &str) -> String {
    let mut name = name.to_owned();
    while model.scope(scope).names.contains_key(&model.key(&name)) {
        name.insert_str(0, "AMI_");
    }
    name
}

/// The repository id of a definition beside `of` that is called `name`.
fn sibling_id(model: &Model, of: DefId, name: &str) -> String {
    let def = model.def(of);
    let by_path = || {
        let mut path = model.path(def.scope);
        path.push(name.into());
        format!("IDL:{}:1.0", path.join("/"))
    };
    let beside = def
        .repository_id
        .rsplit_once(':')
        .and_then(|(path, version)| {
            let around = path.strip_suffix(&*def.name)?;
            let is_whole =
                around == "IDL:" || (around.starts_with("IDL:") && around.ends_with('/'));
            is_whole.then(|| format!("{around}{name}:{version}"))
        });
    beside.unwrap_or_else(by_path)
}

/// The names of the operations of a handler.
struct ReplyNames<'a> {
    model: &'a Model,
    taken: HashSet<String>,
}

impl ReplyNames<'_> {
    /// The first of these names that is free.
    fn take(&mut self, mut names: impl Iterator<Item = String>) -> Option<String> {
        let model = self.model;
        names.find(|name| self.taken.insert(model.key(name)))
    }
}

/// Adds bases and operations to the handler of interface `of`.
fn define(model: &mut Model, of: DefId, root: DefId) {
    let (Some(interface), Some(implied)) = (model.interface(of), model.implied.get(&of)) else {
        return;
    };
    let handler = implied.handler;
    let handlers = |ids: &[DefId]| -> Vec<DefId> {
        let implied = ids.iter().filter_map(|id| model.implied.get(id));
        implied.map(|implied| implied.handler).collect()
    };
    let mut bases = handlers(&interface.bases);
    if bases.is_empty() {
        bases.push(root);
    }
    let mut ancestors = handlers(&interface.ancestors);
    ancestors.push(root);
    let operations = interface.operations.iter().filter(|it| !it.oneway);
    let operations: Vec<&Operation> = operations.collect();
    let mut names = ReplyNames {
        model,
        taken: HashSet::new(),
    };
    let stem = |operation: &Operation| {
        let name = &model.def(operation.def).name;
        match operation.role {
            Role::Get => format!("get_{name}"),
            Role::Set => format!("set_{name}"),
            Role::Operation | Role::Factory => name.to_string(),
        }
    };
    // Operations keep their names; those of attributes give way.
    let mut replies: Vec<Option<String>> = vec![None; operations.len()];
    for is_attribute in [false, true] {
        for (operation, reply) in operations.iter().zip(&mut replies) {
            if is_attribute == (operation.role != Role::Operation) {
                let stem = stem(operation);
                let repeated = (0..).map(|times| format!("{}{stem}", "ami_".repeat(times)));
                *reply = names.take(repeated);
            }
        }
    }
    let mut described = Vec::new();
    for (operation, reply) in operations.iter().zip(replies) {
        let Some(reply) = reply else {
            continue;
        };
        let repeated = (0..).map(|times| format!("{reply}{}_excep", "_ami".repeat(times)));
        let Some(exceptions) = names.take(repeated) else {
            continue;
        };
        let def = model.def(operation.def);
        let parameter = |name: &str, ty: &Type| Parameter {
            name: name.into(),
            span: def.span,
            direction: Direction::In,
            ty: ty.clone(),
            doc: None,
        };
        let result = operation.result.iter().map(|ty| parameter(RESULT, ty));
        let outputs = operation.parameters.iter();
        let outputs = outputs.filter(|it| it.direction != Direction::In);
        let outputs = outputs.map(|it| parameter(&it.name, &it.ty));
        let holder = Type::Exceptions(operation.def, operation.role);
        let exceptions_of = vec![parameter(EXCEPTIONS, &holder)];
        described.push((def.span, reply, result.chain(outputs).collect()));
        described.push((def.span, exceptions, exceptions_of));
    }
    let Some(scope) = model.own_scope(handler) else {
        return;
    };
    let mut operations = Vec::new();
    for (span, name, parameters) in described {
        let key = model.key(&name);
        model.defs.push(Def {
            repository_id: format!("IDL:{}/{name}:1.0", model.scoped_name(handler)),
            name: name.into(),
            span,
            scope,
            doc: None,
            kind: DefKind::Operation,
        });
        let def = DefId(model.defs.len() - 1);
        let around = &mut model.scopes[scope.0];
        around.names.insert(key, def);
        around.order.push(def);
        operations.push(Operation {
            def,
            role: Role::Operation,
            oneway: false,
            result: None,
            parameters,
            raises: Vec::new(),
            context: Vec::new(),
        });
    }
    if let DefKind::Interface(handler) = &mut model.defs[handler.0].kind {
        handler.bases = bases;
        handler.ancestors = ancestors;
        handler.operations = operations;
    }
}
