//! The resolved model: every name bound, every constant evaluated, every repository id known.

use std::collections::HashMap;
use std::rc::Rc;

pub(crate) use crate::ast::{Basic, Direction, InterfaceKind, ValueKind};
use crate::real::Real;
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

/// The prefix of an extern path into the ORB, whose own path is known as tokens only.
pub(crate) const ORB_PATH: &str = "<orb>::";

/// All declarations of a compilation.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) defs: Vec<Def>,
    pub(crate) scopes: Vec<Scope>,
    /// Module scopes that another expansion has compiled, and the Rust path to each.
    pub(crate) externs: HashMap<ScopeId, String>,
    /// Definitions used while only declared, each with its first use.
    pub(crate) forward_uses: HashMap<DefId, Span>,
    /// The last typedef of the chain that begins with a typedef of a typedef. It is looked up instead of followed, since
    /// the length of a chain has no limit.
    pub(crate) chains: HashMap<DefId, DefId>,
    /// What [`Options::ami`](crate::Options::ami) adds to interfaces; empty without it.
    pub(crate) implied: HashMap<DefId, Implied>,
    /// `Messaging::ReplyHandler`, if there is implied IDL.
    pub(crate) reply_handler: Option<DefId>,
    /// [`Options::lenient`](crate::Options::lenient).
    pub(crate) lenient: bool,
}

/// The implied IDL of an interface (CORBA 3.3 Part 1, CORBA Messaging).
#[derive(Debug)]
pub(crate) struct Implied {
    /// The reply handler. Each operation of the interface that is not one-way has two operations of it, in the same order: for
    /// its results, and for its exceptions.
    pub(crate) handler: DefId,
    /// The name of the poller in IDL.
    pub(crate) poller: String,
}

#[derive(Debug)]
pub(crate) struct Scope {
    /// The definition that opens the scope; `None` for the root.
    pub(crate) owner: Option<DefId>,
    pub(crate) parent: Option<ScopeId>,
    /// The definitions by [key](Model::key).
    pub(crate) names: HashMap<String, DefId>,
    /// The declarations of the scope, in the order of the text.
    pub(crate) order: Vec<DefId>,
    /// Outer names that were used in the scope, which fixes their meaning there.
    pub(crate) introduced: HashMap<String, (Span, DefId)>,
}

#[derive(Debug)]
pub(crate) struct Def {
    pub(crate) name: Rc<str>,
    pub(crate) span: Span,
    /// The scope in which it is declared.
    pub(crate) scope: ScopeId,
    pub(crate) doc: Option<Rc<str>>,
    pub(crate) repository_id: String,
    pub(crate) kind: DefKind,
}

#[derive(Debug)]
pub(crate) enum DefKind {
    Module(ScopeId),
    Interface(Interface),
    Value(ValueType),
    /// A value box, with the type of its member.
    ValueBox(Type),
    Struct(Struct),
    Union(Union),
    Exception(Struct),
    Enum(Vec<DefId>),
    /// An enumerator, of this enum.
    Enumerator(DefId),
    Bitset(Bitset),
    Bitmask(Bitmask),
    /// A flag, of this bitmask.
    Bit(DefId),
    Typedef(Type),
    Native,
    Const(Type, Value),
    /// A member of a struct, union, exception, value type or bitset.
    Member,
    /// An operation or attribute; its interface or value type has the details.
    Operation,
    /// A factory of a value type.
    Factory,
    /// A declaration that was reported already; uses of it cause no further errors.
    Unsupported,
}

#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) scope: ScopeId,
    pub(crate) kind: InterfaceKind,
    /// `false` as long as there is a forward declaration only.
    pub(crate) defined: bool,
    /// Direct bases.
    pub(crate) bases: Vec<DefId>,
    /// Direct and indirect bases, each once, nearer ones first.
    pub(crate) ancestors: Vec<DefId>,
    /// Its own operations; an attribute counts as one or two of them.
    pub(crate) operations: Vec<Operation>,
}

/// A value type other than a value box.
#[derive(Debug)]
pub(crate) struct ValueType {
    pub(crate) scope: ScopeId,
    pub(crate) kind: ValueKind,
    /// `false` as long as there is a forward declaration only.
    pub(crate) defined: bool,
    /// Whether a receiver that does not know the type may keep the state of its stateful base alone.
    pub(crate) truncatable: bool,
    /// Direct bases; the one that has state, if any, comes first.
    pub(crate) bases: Vec<DefId>,
    /// The interfaces of its `supports` clause; one that is not abstract comes first.
    pub(crate) supports: Vec<DefId>,
    /// Direct and indirect bases, each once, nearer ones first: value types, followed by the interfaces that it and they
    /// support, with the ancestors of those interfaces.
    pub(crate) ancestors: Vec<DefId>,
    /// Its own state members, in the order of the text, in which they are marshalled.
    pub(crate) members: Vec<StateMember>,
    /// Its factories, which have `in` parameters only, and no result.
    pub(crate) factories: Vec<Operation>,
    /// Its own operations; an attribute counts as one or two of them.
    pub(crate) operations: Vec<Operation>,
}

#[derive(Debug)]
pub(crate) struct StateMember {
    pub(crate) def: DefId,
    pub(crate) public: bool,
    pub(crate) ty: Type,
}

#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) scope: ScopeId,
    pub(crate) complete: bool,
    /// IDL 4: the struct whose members come first.
    pub(crate) base: Option<DefId>,
    /// Its own members.
    pub(crate) members: Vec<Member>,
}

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) def: DefId,
    pub(crate) ty: Type,
}

#[derive(Debug)]
pub(crate) struct Union {
    pub(crate) scope: ScopeId,
    pub(crate) complete: bool,
    pub(crate) discriminator: Type,
    pub(crate) cases: Vec<Case>,
}

/// One member of a union.
#[derive(Debug)]
pub(crate) struct Case {
    /// The labels of the member, in the order of the text.
    pub(crate) labels: Vec<Value>,
    /// Whether it is the default member, which every value without a label selects.
    pub(crate) default: bool,
    pub(crate) member: Member,
}

/// A bitset (IDL 4): fields of bits in one integer.
#[derive(Debug)]
pub(crate) struct Bitset {
    pub(crate) scope: ScopeId,
    /// The bitset whose fields come first.
    pub(crate) base: Option<DefId>,
    /// Its own fields, the least significant first.
    pub(crate) fields: Vec<Bitfield>,
}

#[derive(Debug)]
pub(crate) struct Bitfield {
    /// The field; `None` for padding.
    pub(crate) def: Option<DefId>,
    /// The width in bits.
    pub(crate) width: u32,
    pub(crate) ty: Basic,
}

/// A bitmask (IDL 4): named flags in one integer.
#[derive(Debug)]
pub(crate) struct Bitmask {
    /// The width in bits, 1 to 64.
    pub(crate) width: u32,
    /// The flags, each with its position, from 0.
    pub(crate) bits: Vec<(DefId, u32)>,
}

/// An operation, one side of an attribute, or a factory.
#[derive(Debug)]
pub(crate) struct Operation {
    /// The definition of the operation, attribute or factory.
    pub(crate) def: DefId,
    pub(crate) role: Role,
    pub(crate) oneway: bool,
    pub(crate) result: Option<Type>,
    pub(crate) parameters: Vec<Parameter>,
    /// The exceptions of its `raises` clause, or native types in their place.
    pub(crate) raises: Vec<DefId>,
    /// Names, or prefixes of names with a `*`, of properties in the caller's context that the request carries.
    pub(crate) context: Vec<Rc<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Operation,
    Get,
    Set,
    /// A factory of a value type.
    Factory,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: Rc<str>,
    pub(crate) span: Span,
    pub(crate) direction: Direction,
    pub(crate) ty: Type,
    /// The documentation comment of the parameter.
    pub(crate) doc: Option<Rc<str>>,
}

#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::enum_variant_names,
    reason = "`TypeCode` is the name of that type"
)]
pub(crate) enum Type {
    Basic(Basic),
    Str {
        wide: bool,
        bound: Option<u32>,
    },
    Sequence(Box<Self>, Option<u32>),
    Array(Box<Self>, u32),
    /// Key, value, bound.
    Map(Box<Self>, Box<Self>, Option<u32>),
    /// A fixed-point number of at most 31 digits, `scale` of them after the point.
    Fixed {
        digits: u8,
        scale: u8,
    },
    Any,
    TypeCode,
    Principal,
    Object,
    ValueBase,
    /// The exceptions of an operation, or of one side of an attribute, as a reply handler gets them: a
    /// `Messaging::ExceptionHolder`.
    Exceptions(DefId, Role),
    /// A named type: a struct, union, enum, bitset, bitmask, interface, value type, value box, native
    /// type or typedef.
    Named(DefId),
    /// An error that was reported already.
    Error,
}

/// The value of a constant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Integer(i128),
    Float(Real),
    /// A fixed-point number: its digits as an integer, and the number of digits after the point.
    Fixed {
        unscaled: i128,
        scale: u8,
    },
    Boolean(bool),
    Char(char),
    WideChar(u32),
    Str(Rc<str>),
    WideStr(Rc<str>),
    Enumerator(DefId),
    /// An error that was reported already.
    Error,
}

/// A wide character as a literal, without the `L`.
pub(crate) fn show_wide(code: u32) -> String {
    let half = || format!("'\\u{code:04x}'");
    char::from_u32(code).map_or_else(half, |c| format!("{c:?}"))
}

impl Model {
    /// The key of a name in scopes: names that differ in case only collide, unless the compilation is lenient.
    pub(crate) fn key(&self, name: &str) -> String {
        match self.lenient {
            true => name.to_owned(),
            false => name.to_lowercase(),
        }
    }

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

    /// The scoped name of a definition, as in `A::B::name`.
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
            DefKind::Value(value) => Some(value.scope),
            DefKind::Union(union) => Some(union.scope),
            DefKind::Bitset(bitset) => Some(bitset.scope),
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

    pub(crate) fn value_type(&self, id: DefId) -> Option<&ValueType> {
        match &self.def(id).kind {
            DefKind::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The bases of an interface or value type, nearer ones first; `None` for anything else.
    pub(crate) fn ancestors(&self, id: DefId) -> Option<&[DefId]> {
        match &self.def(id).kind {
            DefKind::Interface(interface) => Some(&interface.ancestors),
            DefKind::Value(value) => Some(&value.ancestors),
            _ => None,
        }
    }

    /// The operations that an interface or value type declares itself.
    pub(crate) fn operations(&self, id: DefId) -> &[Operation] {
        match &self.def(id).kind {
            DefKind::Interface(interface) => &interface.operations,
            DefKind::Value(value) => &value.operations,
            _ => &[],
        }
    }

    /// `ty` with every typedef looked through, at the top only.
    pub(crate) fn unaliased<'a>(&'a self, ty: &'a Type) -> &'a Type {
        let named = |ty: &'a Type| match ty {
            Type::Named(id) => match &self.def(*id).kind {
                DefKind::Typedef(inner) => Some((*id, inner)),
                _ => None,
            },
            _ => None,
        };
        // Few typedefs name another one, so the look-up is rare.
        let Some((id, inner)) = named(ty) else {
            return ty;
        };
        match named(inner) {
            None => inner,
            Some(_) => match &self.def(self.end_of_chain(id)).kind {
                DefKind::Typedef(last) => last,
                _ => inner,
            },
        }
    }

    /// The last of the typedefs that begin with `id`, if it is one; else `id`.
    pub(crate) fn end_of_chain(&self, id: DefId) -> DefId {
        self.chains.get(&id).copied().unwrap_or(id)
    }

    /// Whether `ty` is an object reference, through typedefs.
    pub(crate) fn is_reference(&self, ty: &Type) -> bool {
        match self.unaliased(ty) {
            Type::Object => true,
            Type::Named(id) => self.interface(*id).is_some(),
            _ => false,
        }
    }

    /// Whether `ty` is a value type or a value box, through typedefs.
    pub(crate) fn is_value(&self, ty: &Type) -> bool {
        match self.unaliased(ty) {
            Type::ValueBase => true,
            Type::Named(id) => {
                matches!(self.def(*id).kind, DefKind::Value(_) | DefKind::ValueBox(_))
            }
            _ => false,
        }
    }

    /// Whether `ty` is an abstract interface, through typedefs.
    pub(crate) fn is_abstract(&self, ty: &Type) -> bool {
        match self.unaliased(ty) {
            Type::Named(id) => self
                .interface(*id)
                .is_some_and(|interface| interface.kind == InterfaceKind::Abstract),
            _ => false,
        }
    }

    /// A label as a number.
    pub(crate) fn ordinal(&self, label: &Value) -> i128 {
        match label {
            Value::Integer(number) => *number,
            Value::Boolean(value) => i128::from(*value),
            Value::Char(c) => i128::from(u32::from(*c)),
            Value::WideChar(c) => i128::from(*c),
            Value::Enumerator(enumerator) => match self.def(*enumerator).kind {
                DefKind::Enumerator(owner) => match &self.def(owner).kind {
                    DefKind::Enum(all) => {
                        let place = all.iter().position(|id| id == enumerator);
                        place
                            .and_then(|place| i128::try_from(place).ok())
                            .unwrap_or(0)
                    }
                    _ => 0,
                },
                _ => 0,
            },
            // Nothing is generated from a model with errors, and nothing else is a label.
            _ => 0,
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

    /// The kind of definition `id`, with its article.
    pub(crate) fn noun(&self, id: DefId) -> &'static str {
        match self.def(id).kind {
            DefKind::Module(_) => "a module",
            DefKind::Interface(_) => "an interface",
            DefKind::Value(_) => "a value type",
            DefKind::ValueBox(_) => "a value box",
            DefKind::Struct(_) => "a struct",
            DefKind::Union(_) => "a union",
            DefKind::Exception(_) => "an exception",
            DefKind::Enum(_) => "an enum",
            DefKind::Enumerator(_) => "an enumerator",
            DefKind::Bitset(_) => "a bitset",
            DefKind::Bitmask(_) => "a bitmask",
            DefKind::Bit(_) => "a flag of a bitmask",
            DefKind::Typedef(_) => "a typedef",
            DefKind::Native => "a native type",
            DefKind::Const(..) => "a constant",
            DefKind::Member => "a member",
            DefKind::Operation => "an operation or attribute",
            DefKind::Factory => "a factory",
            DefKind::Unsupported => "not supported yet",
        }
    }
}
