//! The syntax tree: declarations as written, with names not yet looked up.

use std::rc::Rc;

use crate::lexer::{IdPragma, Prefix};
use crate::source::Span;

/// A name, where it is declared or used.
#[derive(Debug, Clone)]
pub(crate) struct Ident {
    /// The name without the escaping underscore.
    pub(crate) text: Rc<str>,
    pub(crate) span: Span,
}

/// A scoped name, `A::B` or `::A::B`. Empty in `typeprefix ::` only.
#[derive(Debug, Clone)]
pub(crate) struct ScopedName {
    pub(crate) global: bool,
    pub(crate) parts: Vec<Ident>,
}

impl ScopedName {
    pub(crate) fn span(&self) -> Span {
        let first = self
            .parts
            .first()
            .map_or_else(Span::default, |part| part.span);
        self.parts.last().map_or(first, |last| first.to(last.span))
    }
}

impl Annotation {
    /// Whether a flag is set: `@name` alone, or with any value but `FALSE`.
    pub(crate) fn is_set(&self) -> bool {
        let value = self.values.first().map(|(_, value)| &value.kind);
        !matches!(value, Some(ExprKind::Boolean(false)))
    }
}

/// The common part of named declarations.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) name: Ident,
    pub(crate) doc: Option<Rc<str>>,
    pub(crate) prefix: Rc<Prefix>,
    /// The annotations before its declaration.
    pub(crate) annotations: Vec<Rc<Annotation>>,
}

impl Head {
    /// The annotation with this unscoped name.
    pub(crate) fn annotation(&self, name: &str) -> Option<&Annotation> {
        let found = self
            .annotations
            .iter()
            .find(|found| match &found.name.parts[..] {
                [one] => *one.text == *name,
                _ => false,
            });
        found.map(|found| &**found)
    }
}

/// An annotation: `@name`, `@name(value)` or `@name(a = value, b = value)`. The resolver knows those with a meaning; others
/// are parsed and ignored.
#[derive(Debug, Clone)]
pub(crate) struct Annotation {
    pub(crate) name: ScopedName,
    /// The values, each with the parameter's name, where one was written.
    pub(crate) values: Vec<(Option<Ident>, Expr)>,
}

#[derive(Debug, Clone)]
pub(crate) struct Definition {
    pub(crate) head: Head,
    pub(crate) kind: DefinitionKind,
}

#[derive(Debug, Clone)]
pub(crate) enum DefinitionKind {
    Module(Vec<Definition>),
    InterfaceForward(InterfaceKind),
    Interface {
        kind: InterfaceKind,
        bases: Vec<ScopedName>,
        body: Vec<Definition>,
    },
    ValueForward(ValueKind),
    Value(ValueDef),
    /// `valuetype Name type;`
    ValueBox(TypeSpec),
    StructForward,
    Struct {
        base: Option<ScopedName>,
        members: Vec<MemberDcl>,
    },
    UnionForward,
    Union(UnionDef),
    Exception(Vec<MemberDcl>),
    Enum(Vec<Head>),
    Bitset {
        base: Option<ScopedName>,
        fields: Vec<BitfieldDcl>,
    },
    Bitmask(Vec<Head>),
    /// A typedef. A statement that names several types becomes several definitions, which share the type; types defined
    /// inline in it belong to the first.
    Typedef {
        ty: Rc<TypeSpec>,
        dimensions: Vec<Expr>,
        first: bool,
    },
    Native,
    Const {
        ty: TypeSpec,
        value: Expr,
    },
    Operation(OpDcl),
    Attribute(Attribute),
    /// A state member, in a value type only.
    State {
        public: bool,
        member: MemberDcl,
    },
    /// A factory, in a value type only.
    Factory(Factory),
    /// A pragma that sets a repository id; the name of the definition itself is empty.
    Pragma {
        pragma: Rc<IdPragma>,
        /// The type in whose braces the pragma stands, if that has members instead of definitions.
        within: Option<Ident>,
    },
    /// `typeid name "id"`; the name of the definition itself is empty.
    TypeId {
        of: ScopedName,
        id: StringLiteral,
    },
    /// `typeprefix name "prefix"`; the name of the definition itself is empty.
    TypePrefix {
        of: ScopedName,
        prefix: StringLiteral,
    },
    /// `import name`; the name of the definition itself is empty.
    Import(ScopedName),
    /// A declaration that is not supported, and was reported. Its name stays known, so that uses cause no further errors.
    Unsupported,
}

/// A string literal and its place.
#[derive(Debug, Clone)]
pub(crate) struct StringLiteral {
    pub(crate) text: Rc<str>,
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InterfaceKind {
    /// An unconstrained interface, which remote clients call.
    Plain,
    /// An abstract interface: at run time an object reference or a value.
    Abstract,
    /// A local interface, whose references never leave the process.
    Local,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Stateful,
    /// Stateful, and marshalled by code of the application.
    Custom,
    Abstract,
}

/// A value type other than a value box.
#[derive(Debug, Clone)]
pub(crate) struct ValueDef {
    pub(crate) kind: ValueKind,
    pub(crate) truncatable: Option<Span>,
    pub(crate) bases: Vec<ScopedName>,
    pub(crate) supports: Vec<ScopedName>,
    pub(crate) body: Vec<Definition>,
}

/// A factory (initializer) of a value type.
#[derive(Debug, Clone)]
pub(crate) struct Factory {
    pub(crate) parameters: Vec<ParamDcl>,
    pub(crate) raises: Vec<ScopedName>,
}

#[derive(Debug, Clone)]
pub(crate) struct UnionDef {
    pub(crate) discriminator: TypeSpec,
    pub(crate) cases: Vec<SwitchCase>,
}

/// One member of a union.
#[derive(Debug, Clone)]
pub(crate) struct SwitchCase {
    /// The labels, at least one.
    pub(crate) labels: Vec<CaseLabel>,
    pub(crate) member: MemberDcl,
}

#[derive(Debug, Clone)]
pub(crate) enum CaseLabel {
    Default(Span),
    Value(Expr),
}

/// One field of a bitset: `bitfield<width, type> name, …;`
#[derive(Debug, Clone)]
pub(crate) struct BitfieldDcl {
    /// The name; `None` for padding.
    pub(crate) head: Option<Head>,
    pub(crate) width: Rc<Expr>,
    pub(crate) ty: Option<Rc<TypeSpec>>,
}

/// One declarator of a struct, union, exception or value type; a list of them repeats the type.
#[derive(Debug, Clone)]
pub(crate) struct MemberDcl {
    pub(crate) head: Head,
    pub(crate) ty: Rc<TypeSpec>,
    pub(crate) dimensions: Vec<Expr>,
    /// Whether it is the first declarator of its declaration.
    pub(crate) first: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct OpDcl {
    pub(crate) oneway: Option<Span>,
    /// The result type; `None` for `void`.
    pub(crate) result: Option<TypeSpec>,
    pub(crate) parameters: Vec<ParamDcl>,
    pub(crate) raises: Vec<ScopedName>,
    pub(crate) context: Vec<StringLiteral>,
}

#[derive(Debug, Clone)]
pub(crate) struct ParamDcl {
    pub(crate) head: Head,
    pub(crate) direction: Direction,
    pub(crate) ty: TypeSpec,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
    InOut,
}

#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    pub(crate) readonly: bool,
    pub(crate) ty: Rc<TypeSpec>,
    pub(crate) get_raises: Vec<ScopedName>,
    pub(crate) set_raises: Vec<ScopedName>,
}

#[derive(Debug, Clone)]
pub(crate) struct TypeSpec {
    pub(crate) span: Span,
    pub(crate) kind: TypeKind,
}

#[derive(Debug, Clone)]
pub(crate) enum TypeKind {
    Basic(Basic),
    Str {
        wide: bool,
        bound: Option<Box<Expr>>,
    },
    Sequence {
        element: Box<TypeSpec>,
        bound: Option<Box<Expr>>,
    },
    Map {
        key: Box<TypeSpec>,
        value: Box<TypeSpec>,
        bound: Option<Box<Expr>>,
    },
    /// Digits and scale; `None` for the type of constants.
    Fixed(Option<Box<(Expr, Expr)>>),
    Any,
    Object,
    ValueBase,
    Named(ScopedName),
    /// A struct, union or enum defined where it is used.
    Inline(Box<Definition>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Basic {
    Boolean,
    Char,
    WideChar,
    Octet,
    /// `int8`: a signed octet, in IDL 4 only. `uint8` is [`Octet`](Self::Octet).
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
}

/// A constant expression. A chain of operators of one precedence is flat, so that a long sum does not nest.
#[derive(Debug, Clone)]
pub(crate) struct Expr {
    pub(crate) span: Span,
    pub(crate) kind: ExprKind,
}

#[derive(Debug, Clone)]
pub(crate) enum ExprKind {
    Integer(u64),
    Float(Rc<str>),
    /// A fixed-point literal as written, without its suffix.
    Fixed(Rc<str>),
    Boolean(bool),
    Char(char),
    WideChar(u32),
    Str(Rc<str>),
    WideStr(Rc<str>),
    Named(ScopedName),
    Unary(char, Box<Expr>),
    /// Operators of one precedence, evaluated from left to right.
    Chain(Box<Expr>, Vec<(BinaryOp, Expr)>),
    /// An expression that was reported already.
    Unsupported,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Or,
    Xor,
    And,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}
