//! The definitions of IDL as plain data, for programs that use types and operations which they were not compiled with.

use std::path::PathBuf;

use crate::ast;
use crate::compile::{Resolved, inputs, resolved};
use crate::diagnostic::Diagnostics;
use crate::model::{self, DefId, DefKind, Model, ScopeId};
use crate::options::Options;
use crate::preprocess::Input;

/// Describes the definitions of the IDL `text`; `name` is its file name in diagnostics. Of the options those of the
/// preprocessor matter, and [`Options::lenient`].
///
/// ```
/// use zorb_idl::description::{DefinitionKind, describe_str};
///
/// let idl = "module Bank { struct Money { long cents; }; };";
/// let described = describe_str("bank.idl", idl, &zorb_idl::Options::default())?;
/// let money = described.by_id("IDL:Bank/Money:1.0").unwrap();
/// assert_eq!(money.scoped_name, "Bank::Money");
/// assert!(matches!(&money.kind, DefinitionKind::Struct(members) if members[0].name == "cents"));
/// # Ok::<(), zorb_idl::Diagnostics>(())
/// ```
///
/// # Errors
/// All errors of the text that can be found in one compilation.
pub fn describe_str(name: &str, text: &str, options: &Options) -> Result<Description, Diagnostics> {
    resolved(&[Input::Text { name, text }], options).map(|resolved| Description::of(&resolved))
}

/// Describes the definitions of IDL files, which are compiled as one: those of included files, too.
///
/// # Errors
/// All errors of the files that can be found in one compilation, and files that cannot be read.
pub fn describe_files(files: &[PathBuf], options: &Options) -> Result<Description, Diagnostics> {
    resolved(&inputs(files), options).map(|resolved| Description::of(&resolved))
}

/// All definitions of a compilation.
#[derive(Debug, Clone)]
pub struct Description {
    definitions: Vec<Definition>,
    dependencies: Vec<PathBuf>,
}

/// A definition of IDL.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Definition {
    /// The name without its scopes.
    pub name: String,
    /// The name with its scopes, as in `Bank::Account`.
    pub scoped_name: String,
    /// The repository id.
    pub repository_id: String,
    /// The definition in which it is declared; `None` at the outermost level.
    pub within: Option<DefinitionIndex>,
    /// The comment in front of it.
    pub comment: Option<String>,
    /// What it is.
    pub kind: DefinitionKind,
}

/// The place of a definition among the [definitions](Description::definitions) of its description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DefinitionIndex(pub usize);

/// The kinds of definitions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum DefinitionKind {
    /// A module.
    Module,
    /// An interface.
    Interface(InterfaceDescription),
    /// A value type other than a value box.
    Value(ValueDescription),
    /// A value box, with the type of its content.
    ValueBox(IdlType),
    /// A struct, with its members; those that it inherits come first.
    Struct(Vec<Member>),
    /// An exception, with its members.
    Exception(Vec<Member>),
    /// A union.
    Union(UnionDescription),
    /// An enum, with its enumerators.
    Enum(Vec<String>),
    /// A typedef, with the type that it stands for.
    Alias(IdlType),
    /// A native type.
    Native,
    /// A constant.
    Constant(IdlType, ConstantValue),
    /// A bitset or bitmask, of which CORBA has no TypeCode.
    Bits,
}

/// The kinds of interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "IDL has these three")]
pub enum InterfaceKind {
    /// An interface of objects.
    Plain,
    /// An abstract interface, of objects and values.
    Abstract,
    /// A local interface.
    Local,
}

/// What an interface has.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InterfaceDescription {
    /// Its kind.
    pub kind: InterfaceKind,
    /// `false` for an interface that is declared and not defined.
    pub is_defined: bool,
    /// The direct bases.
    pub bases: Vec<DefinitionIndex>,
    /// Direct and indirect bases, each once.
    pub ancestors: Vec<DefinitionIndex>,
    /// Its own operations. An attribute counts as one or two of them.
    pub operations: Vec<Operation>,
}

/// What a value type has.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ValueDescription {
    /// Whether the program marshals the state.
    pub is_custom: bool,
    /// Whether it has no state.
    pub is_abstract: bool,
    /// Whether a receiver that does not know it may keep the state of its base alone.
    pub is_truncatable: bool,
    /// `false` for a value type that is declared and not defined.
    pub is_defined: bool,
    /// The value type whose state it inherits.
    pub concrete_base: Option<DefinitionIndex>,
    /// The direct bases, the one with state among them.
    pub bases: Vec<DefinitionIndex>,
    /// The interfaces that it supports.
    pub supports: Vec<DefinitionIndex>,
    /// Its own members.
    pub members: Vec<StateMember>,
    /// Its own operations. An attribute counts as one or two of them.
    pub operations: Vec<Operation>,
    /// Its factories.
    pub factories: Vec<Operation>,
}

/// What a union has.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UnionDescription {
    /// The type of the discriminator.
    pub discriminator: IdlType,
    /// The members.
    pub cases: Vec<UnionCase>,
}

/// A member of a union.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UnionCase {
    /// The labels: numbers, ordinals of enumerators, codes of characters, 0 or 1 for booleans.
    pub labels: Vec<i128>,
    /// Whether it is the default member.
    pub is_default: bool,
    /// The member.
    pub member: Member,
}

/// A member of a struct, exception or union.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Member {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: IdlType,
}

/// A member of the state of a value type.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StateMember {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: IdlType,
    /// Whether it is public.
    pub is_public: bool,
}

/// An operation, one side of an attribute, or a factory.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Operation {
    /// The name in IDL.
    pub name: String,
    /// The name in requests: `_get_x` for an attribute `x`.
    pub wire_name: String,
    /// Whether it is one-way.
    pub is_oneway: bool,
    /// Whether it is a side of an attribute.
    pub is_attribute: bool,
    /// The type of the result; `None` for `void`.
    pub result: Option<IdlType>,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The exceptions that it raises.
    pub raises: Vec<DefinitionIndex>,
    /// The names of properties, or beginnings of them with a `*`, that travel from the caller's context.
    pub contexts: Vec<String>,
}

/// The direction of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "IDL has these three")]
pub enum Direction {
    /// From the client to the server.
    In,
    /// From the server to the client.
    Out,
    /// Both ways.
    InOut,
}

/// A parameter of an operation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// The direction.
    pub direction: Direction,
    /// The type.
    pub ty: IdlType,
}

/// A type where it is used.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the basic types of IDL")]
pub enum IdlType {
    Boolean,
    Char,
    WChar,
    Octet,
    Int8,
    Short,
    UShort,
    Long,
    ULong,
    LongLong,
    ULongLong,
    Float,
    Double,
    LongDouble,
    /// `string`, with its bound.
    String(Option<u32>),
    /// `wstring`, with its bound.
    WString(Option<u32>),
    /// A sequence of elements of a type, with its bound.
    Sequence(Box<Self>, Option<u32>),
    /// An array of elements of a type, with its length.
    Array(Box<Self>, u32),
    /// A map (IDL 4): keys, values, bound.
    Map(Box<Self>, Box<Self>, Option<u32>),
    /// A fixed-point number: its digits, and how many of them are behind the point.
    Fixed(u8, u8),
    Any,
    TypeCode,
    Principal,
    Object,
    ValueBase,
    /// A type with a name.
    Named(DefinitionIndex),
}

/// The value of a constant.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ConstantValue {
    /// A whole number.
    Integer(i128),
    /// A floating-point number, rounded to a double.
    Float(f64),
    /// A fixed-point number: its digits as a number, and how many of them are behind the point.
    Fixed(i128, u8),
    /// A boolean.
    Boolean(bool),
    /// A character, by its code.
    Char(u32),
    /// Text, wide or not.
    String(String),
    /// The ordinal of an enumerator.
    Enumerator(u32),
}

impl Description {
    fn of(resolved: &Resolved) -> Self {
        Self {
            definitions: Describer::new(&resolved.model).definitions(),
            dependencies: resolved.sources.paths(),
        }
    }

    /// All definitions, in the order of the text.
    #[must_use]
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The definition at a place.
    #[must_use]
    pub fn get(&self, index: DefinitionIndex) -> Option<&Definition> {
        self.definitions.get(index.0)
    }

    /// The definition with this repository id. Costs a look at each.
    #[must_use]
    pub fn by_id(&self, repository_id: &str) -> Option<&Definition> {
        let mut definitions = self.definitions.iter();
        definitions.find(|it| it.repository_id == repository_id)
    }

    /// The definition with this name, as in `Bank::Account`. Costs a look at each.
    #[must_use]
    pub fn by_name(&self, scoped_name: &str) -> Option<&Definition> {
        let name = scoped_name.trim_start_matches("::");
        self.definitions.iter().find(|it| it.scoped_name == name)
    }

    /// The canonical path of every file that was read, each once.
    #[must_use]
    pub fn dependencies(&self) -> &[PathBuf] {
        &self.dependencies
    }
}

/// Turns a model into definitions. Members, enumerators and operations are parts of others.
struct Describer<'a> {
    model: &'a Model,
    /// The index of each definition that is described.
    indexes: Vec<Option<usize>>,
}

impl<'a> Describer<'a> {
    fn new(model: &'a Model) -> Self {
        let mut next = 0;
        let indexes = model.defs.iter().map(|def| {
            let is_described = !matches!(
                def.kind,
                DefKind::Enumerator(_)
                    | DefKind::Bit(_)
                    | DefKind::Member
                    | DefKind::Operation
                    | DefKind::Factory
                    | DefKind::Unsupported
            );
            is_described.then(|| {
                next += 1;
                next - 1
            })
        });
        Self {
            indexes: indexes.collect(),
            model,
        }
    }

    fn definitions(&self) -> Vec<Definition> {
        let ids = (0..self.model.defs.len()).map(DefId);
        let described = ids.filter(|id| self.indexes.get(id.0).is_some_and(Option::is_some));
        described
            .map(|id| {
                let def = self.model.def(id);
                Definition {
                    name: def.name.to_string(),
                    scoped_name: self.model.scoped_name(id),
                    repository_id: def.repository_id.clone(),
                    within: self.owner(def.scope),
                    comment: def.doc.as_deref().map(str::to_owned),
                    kind: self.kind(id),
                }
            })
            .collect()
    }

    fn owner(&self, scope: ScopeId) -> Option<DefinitionIndex> {
        self.model.scope(scope).owner.map(|id| self.index(id))
    }

    /// The index of a definition that is described, as all are that others name.
    fn index(&self, id: DefId) -> DefinitionIndex {
        let index = self.indexes.get(id.0).copied().flatten();
        DefinitionIndex(index.unwrap_or(usize::MAX))
    }

    fn all(&self, ids: &[DefId]) -> Vec<DefinitionIndex> {
        ids.iter().map(|&id| self.index(id)).collect()
    }

    fn kind(&self, id: DefId) -> DefinitionKind {
        match &self.model.def(id).kind {
            DefKind::Module(_) => DefinitionKind::Module,
            DefKind::Interface(interface) => DefinitionKind::Interface(InterfaceDescription {
                kind: match interface.kind {
                    ast::InterfaceKind::Plain => InterfaceKind::Plain,
                    ast::InterfaceKind::Abstract => InterfaceKind::Abstract,
                    ast::InterfaceKind::Local => InterfaceKind::Local,
                },
                is_defined: interface.defined,
                bases: self.all(&interface.bases),
                ancestors: self.all(&interface.ancestors),
                operations: self.operations(&interface.operations),
            }),
            DefKind::Value(value) => DefinitionKind::Value(self.value(value)),
            DefKind::ValueBox(ty) => DefinitionKind::ValueBox(self.ty(ty)),
            DefKind::Struct(body) => DefinitionKind::Struct(self.members(body)),
            DefKind::Exception(body) => DefinitionKind::Exception(self.members(body)),
            DefKind::Union(union) => DefinitionKind::Union(UnionDescription {
                discriminator: self.ty(&union.discriminator),
                cases: (union.cases.iter())
                    .map(|case| UnionCase {
                        labels: case.labels.iter().map(|it| self.ordinal(it)).collect(),
                        is_default: case.default,
                        member: self.member(&case.member),
                    })
                    .collect(),
            }),
            DefKind::Enum(enumerators) => {
                let names = enumerators.iter().map(|&id| self.name(id));
                DefinitionKind::Enum(names.collect())
            }
            DefKind::Typedef(ty) => DefinitionKind::Alias(self.ty(ty)),
            DefKind::Const(ty, value) => {
                DefinitionKind::Constant(self.ty(ty), self.constant(value))
            }
            DefKind::Bitset(_) | DefKind::Bitmask(_) => DefinitionKind::Bits,
            _ => DefinitionKind::Native,
        }
    }

    fn value(&self, value: &model::ValueType) -> ValueDescription {
        let has_state = |id: &&DefId| {
            let base = self.model.value_type(**id);
            base.is_some_and(|base| base.kind != ast::ValueKind::Abstract)
        };
        let concrete = value.bases.iter().find(has_state);
        ValueDescription {
            is_custom: value.kind == ast::ValueKind::Custom,
            is_abstract: value.kind == ast::ValueKind::Abstract,
            is_truncatable: value.truncatable,
            is_defined: value.defined,
            concrete_base: concrete.map(|&id| self.index(id)),
            bases: self.all(&value.bases),
            supports: self.all(&value.supports),
            members: (value.members.iter())
                .map(|member| StateMember {
                    name: self.name(member.def),
                    ty: self.ty(&member.ty),
                    is_public: member.public,
                })
                .collect(),
            operations: self.operations(&value.operations),
            factories: self.operations(&value.factories),
        }
    }

    fn name(&self, id: DefId) -> String {
        self.model.def(id).name.to_string()
    }

    fn members(&self, body: &model::Struct) -> Vec<Member> {
        let inherited = body.base.map(|base| match &self.model.def(base).kind {
            DefKind::Struct(base) => self.members(base),
            _ => Vec::new(),
        });
        let own = body.members.iter().map(|member| self.member(member));
        inherited.into_iter().flatten().chain(own).collect()
    }

    fn member(&self, member: &model::Member) -> Member {
        Member {
            name: self.name(member.def),
            ty: self.ty(&member.ty),
        }
    }

    fn operations(&self, operations: &[model::Operation]) -> Vec<Operation> {
        let described = operations.iter().map(|operation| {
            let name = self.name(operation.def);
            let wire_name = match operation.role {
                model::Role::Operation | model::Role::Factory => name.clone(),
                model::Role::Get => format!("_get_{name}"),
                model::Role::Set => format!("_set_{name}"),
            };
            let parameters = operation.parameters.iter().map(|parameter| Parameter {
                name: parameter.name.to_string(),
                direction: match parameter.direction {
                    ast::Direction::In => Direction::In,
                    ast::Direction::Out => Direction::Out,
                    ast::Direction::InOut => Direction::InOut,
                },
                ty: self.ty(&parameter.ty),
            });
            Operation {
                name,
                wire_name,
                is_oneway: operation.oneway,
                is_attribute: matches!(operation.role, model::Role::Get | model::Role::Set),
                result: operation.result.as_ref().map(|ty| self.ty(ty)),
                parameters: parameters.collect(),
                raises: self.all(&operation.raises),
                contexts: operation.context.iter().map(|it| it.to_string()).collect(),
            }
        });
        described.collect()
    }

    /// [`MAX_TYPE_DEPTH`](crate::limits::MAX_TYPE_DEPTH) bounds the recursion.
    fn ty(&self, ty: &model::Type) -> IdlType {
        use ast::Basic as B;
        use model::Type as T;
        match ty {
            T::Basic(basic) => match basic {
                B::Boolean => IdlType::Boolean,
                B::Char => IdlType::Char,
                B::WideChar => IdlType::WChar,
                B::Octet => IdlType::Octet,
                B::Int8 => IdlType::Int8,
                B::Short => IdlType::Short,
                B::UShort => IdlType::UShort,
                B::Long => IdlType::Long,
                B::ULong => IdlType::ULong,
                B::LongLong => IdlType::LongLong,
                B::ULongLong => IdlType::ULongLong,
                B::Float => IdlType::Float,
                B::Double => IdlType::Double,
                B::LongDouble => IdlType::LongDouble,
            },
            T::Str { wide: false, bound } => IdlType::String(*bound),
            T::Str { wide: true, bound } => IdlType::WString(*bound),
            T::Sequence(element, bound) => IdlType::Sequence(Box::new(self.ty(element)), *bound),
            T::Array(element, length) => IdlType::Array(Box::new(self.ty(element)), *length),
            T::Map(key, value, bound) => {
                IdlType::Map(Box::new(self.ty(key)), Box::new(self.ty(value)), *bound)
            }
            T::Fixed { digits, scale } => IdlType::Fixed(*digits, *scale),
            T::TypeCode => IdlType::TypeCode,
            T::Principal => IdlType::Principal,
            T::Object => IdlType::Object,
            // Implied IDL is not described.
            T::ValueBase | T::Exceptions(..) => IdlType::ValueBase,
            T::Named(id) => IdlType::Named(self.index(*id)),
            // There are no errors in a model that is described.
            T::Any | T::Error => IdlType::Any,
        }
    }

    fn constant(&self, value: &model::Value) -> ConstantValue {
        use model::Value as V;
        match value {
            V::Integer(number) => ConstantValue::Integer(*number),
            V::Float(number) => ConstantValue::Float(number.to_f64()),
            V::Fixed { unscaled, scale } => ConstantValue::Fixed(*unscaled, *scale),
            V::Boolean(value) => ConstantValue::Boolean(*value),
            V::Char(c) => ConstantValue::Char(u32::from(*c)),
            V::WideChar(c) => ConstantValue::Char(*c),
            V::Str(text) | V::WideStr(text) => ConstantValue::String(text.to_string()),
            V::Enumerator(_) => {
                ConstantValue::Enumerator(u32::try_from(self.ordinal(value)).unwrap_or(0))
            }
            V::Error => ConstantValue::Integer(0),
        }
    }

    fn ordinal(&self, label: &model::Value) -> i128 {
        self.model.ordinal(label)
    }
}
