//! The resolved model: every name bound, every constant evaluated, every repository id known.

use std::collections::HashMap;
use std::rc::Rc;

pub(crate) use crate::ast::{Basic, Direction};
use crate::source::Span;

/// Index of a definition in its [`Model`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DefId(pub(crate) usize);

/// Index of a scope in its [`Model`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ScopeId(pub(crate) usize);

impl ScopeId {
    /// The scope around everything.
    pub(crate) const ROOT: Self = Self(0);
}

/// Everything that was declared.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) defs: Vec<Def>,
    pub(crate) scopes: Vec<Scope>,
    /// Module scopes that another expansion has compiled, and the Rust path to each.
    pub(crate) externs: HashMap<ScopeId, String>,
}

#[derive(Debug)]
pub(crate) struct Scope {
    /// What opens it; `None` for the root.
    pub(crate) owner: Option<DefId>,
    pub(crate) parent: Option<ScopeId>,
    /// By lower-case name: names that differ in case only collide.
    pub(crate) names: HashMap<String, DefId>,
    /// What is declared here, in the order of the text.
    pub(crate) order: Vec<DefId>,
    /// Outer names that were used here, which pins their meaning.
    pub(crate) introduced: HashMap<String, (Span, DefId)>,
}

#[derive(Debug)]
pub(crate) struct Def {
    pub(crate) name: Rc<str>,
    pub(crate) span: Span,
    /// Where it is declared.
    pub(crate) scope: ScopeId,
    pub(crate) doc: Option<Rc<str>>,
    pub(crate) repository_id: String,
    pub(crate) kind: DefKind,
}

#[derive(Debug)]
pub(crate) enum DefKind {
    Module(ScopeId),
    Interface(Interface),
    Struct(Struct),
    Exception(Struct),
    Enum(Vec<DefId>),
    /// Of this enum.
    Enumerator(DefId),
    Typedef(Type),
    Const(Type, Value),
    /// Of a struct or exception.
    Member,
    /// An operation or attribute; what it is stands in its interface.
    Operation,
    /// Reported already; uses of it are no further errors.
    Unsupported,
}

#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) scope: ScopeId,
    /// `false` as long as there is a forward declaration only.
    pub(crate) defined: bool,
    /// Direct bases.
    pub(crate) bases: Vec<DefId>,
    /// Direct and indirect bases, each once, nearer ones first.
    pub(crate) ancestors: Vec<DefId>,
    /// Its own operations, attributes taken apart into theirs.
    pub(crate) operations: Vec<Operation>,
}

#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) scope: ScopeId,
    pub(crate) complete: bool,
    pub(crate) members: Vec<Member>,
}

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) def: DefId,
    pub(crate) ty: Type,
}

/// What can be called.
#[derive(Debug)]
pub(crate) struct Operation {
    /// The operation or attribute.
    pub(crate) def: DefId,
    pub(crate) role: Role,
    pub(crate) oneway: bool,
    pub(crate) result: Option<Type>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) raises: Vec<DefId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Operation,
    Get,
    Set,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: Rc<str>,
    pub(crate) span: Span,
    pub(crate) direction: Direction,
    pub(crate) ty: Type,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    Basic(Basic),
    Str {
        wide: bool,
        bound: Option<u32>,
    },
    Sequence(Box<Self>, Option<u32>),
    Array(Box<Self>, u32),
    Object,
    /// A struct, enum, interface or typedef.
    Named(DefId),
    /// Reported already.
    Error,
}

/// What a constant is worth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Integer(i128),
    Float(f64),
    Boolean(bool),
    Char(char),
    WideChar(char),
    Str(Rc<str>),
    WideStr(Rc<str>),
    Enumerator(DefId),
    /// Reported already.
    Error,
}

impl Model {
    pub(crate) fn def(&self, id: DefId) -> &Def {
        &self.defs[id.0]
    }

    pub(crate) fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0]
    }

    /// The names of the scopes around `scope` and its own, outermost first.
    pub(crate) fn path(&self, scope: ScopeId) -> Vec<Rc<str>> {
        let mut path = Vec::new();
        let mut at = Some(scope);
        while let Some(scope) = at {
            path.extend(
                self.scope(scope)
                    .owner
                    .map(|owner| Rc::clone(&self.def(owner).name)),
            );
            at = self.scope(scope).parent;
        }
        path.reverse();
        path
    }

    /// `A::B::name` as people write it.
    pub(crate) fn scoped_name(&self, id: DefId) -> String {
        let def = self.def(id);
        let mut path = self.path(def.scope);
        path.push(Rc::clone(&def.name));
        path.join("::")
    }

    /// The scope that `id` opens.
    pub(crate) fn own_scope(&self, id: DefId) -> Option<ScopeId> {
        match &self.def(id).kind {
            DefKind::Module(scope) => Some(*scope),
            DefKind::Interface(interface) => Some(interface.scope),
            DefKind::Struct(body) | DefKind::Exception(body) => Some(body.scope),
            _ => None,
        }
    }

    pub(crate) fn interface(&self, id: DefId) -> Option<&Interface> {
        match &self.def(id).kind {
            DefKind::Interface(interface) => Some(interface),
            _ => None,
        }
    }

    /// `ty` with every typedef looked through, at the top only. Ends, as a typedef names earlier types only.
    pub(crate) fn unaliased<'a>(&'a self, mut ty: &'a Type) -> &'a Type {
        while let Type::Named(id) = ty
            && let DefKind::Typedef(inner) = &self.def(*id).kind
        {
            ty = inner;
        }
        ty
    }

    /// Whether `ty` is an object reference, under whatever name.
    pub(crate) fn is_reference(&self, ty: &Type) -> bool {
        match self.unaliased(ty) {
            Type::Object => true,
            Type::Named(id) => self.interface(*id).is_some(),
            _ => false,
        }
    }

    /// Whether `scope` lies in a module that another expansion has compiled.
    pub(crate) fn is_extern(&self, scope: ScopeId) -> bool {
        let mut at = Some(scope);
        while let Some(scope) = at {
            if self.externs.contains_key(&scope) {
                return true;
            }
            at = self.scope(scope).parent;
        }
        false
    }

    /// What kind of thing `id` is, with its article.
    pub(crate) fn noun(&self, id: DefId) -> &'static str {
        match self.def(id).kind {
            DefKind::Module(_) => "a module",
            DefKind::Interface(_) => "an interface",
            DefKind::Struct(_) => "a struct",
            DefKind::Exception(_) => "an exception",
            DefKind::Enum(_) => "an enum",
            DefKind::Enumerator(_) => "an enumerator",
            DefKind::Typedef(_) => "a typedef",
            DefKind::Const(..) => "a constant",
            DefKind::Member => "a member",
            DefKind::Operation => "an operation or attribute",
            DefKind::Unsupported => "not supported yet",
        }
    }
}
