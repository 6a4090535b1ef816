//! The syntax tree: what was written, names not yet looked up.

use std::rc::Rc;

use crate::lexer::{IdPragma, Prefix};
use crate::source::Span;

/// A name at the place it is given or used.
#[derive(Debug, Clone)]
pub(crate) struct Ident {
    /// Without the escaping underscore.
    pub(crate) text: Rc<str>,
    pub(crate) span: Span,
}

/// `A::B` or `::A::B`; never empty.
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
    /// Whether a flag is raised: `@name` alone, or with `TRUE`.
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
    /// Those in front of its declaration.
    pub(crate) annotations: Vec<Rc<Annotation>>,
}

impl Head {
    /// The annotation of that name, which has no scope.
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

/// `@name`, `@name(value)` or `@name(a = value, b = value)`. Which ones mean something is the resolver's knowledge; the
/// rest is read and left alone.
#[derive(Debug, Clone)]
pub(crate) struct Annotation {
    pub(crate) name: ScopedName,
    /// With the parameter's name, where it was written.
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
    Value(ValueType),
    /// `valuetype Name type;`
    ValueBox(TypeSpec),
    StructForward,
    Struct {
        base: Option<ScopedName>,
        members: Vec<Member>,
    },
    UnionForward,
    Union(Union),
    Exception(Vec<Member>),
    Enum(Vec<Head>),
    Bitset {
        base: Option<ScopedName>,
        fields: Vec<Bitfield>,
    },
    Bitmask(Vec<Head>),
    /// One typedef statement can name several types; each becomes a definition. The type is shared, and what it
    /// defines inline belongs to the first.
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
    Operation(Operation),
    Attribute(Attribute),
    /// In a value type only.
    State {
        public: bool,
        member: Member,
    },
    /// In a value type only.
    Factory(Factory),
    /// The name of the definition itself is empty.
    Pragma {
        pragma: Rc<IdPragma>,
        /// The type in whose braces it stands, which has members and not definitions there.
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
    /// Not supported, and already reported: the name is known, so that its uses are no further errors.
    Unsupported,
}

/// A string literal and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct StringLiteral {
    pub(crate) text: Rc<str>,
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InterfaceKind {
    /// Unconstrained: what is called from elsewhere.
    Plain,
    /// An object reference or a value, whichever comes.
    Abstract,
    /// Never leaves its process.
    Local,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Stateful,
    /// Stateful, and marshalled by its user.
    Custom,
    Abstract,
}

/// A value type that is no box.
#[derive(Debug, Clone)]
pub(crate) struct ValueType {
    pub(crate) kind: ValueKind,
    pub(crate) truncatable: Option<Span>,
    pub(crate) bases: Vec<ScopedName>,
    pub(crate) supports: Vec<ScopedName>,
    pub(crate) body: Vec<Definition>,
}

/// How a value type is made.
#[derive(Debug, Clone)]
pub(crate) struct Factory {
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) raises: Vec<ScopedName>,
}

#[derive(Debug, Clone)]
pub(crate) struct Union {
    pub(crate) discriminator: TypeSpec,
    pub(crate) cases: Vec<Case>,
}

/// One member of a union.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// At least one.
    pub(crate) labels: Vec<Label>,
    pub(crate) member: Member,
}

#[derive(Debug, Clone)]
pub(crate) enum Label {
    Default(Span),
    Value(Expr),
}

/// `bitfield<width, type> name, …;`
#[derive(Debug, Clone)]
pub(crate) struct Bitfield {
    /// `None` is padding.
    pub(crate) head: Option<Head>,
    pub(crate) width: Rc<Expr>,
    pub(crate) ty: Option<Rc<TypeSpec>>,
}

/// One declarator of a struct, union, exception or value type; a list of them repeats the type.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) head: Head,
    pub(crate) ty: Rc<TypeSpec>,
    pub(crate) dimensions: Vec<Expr>,
    /// The first declarator of its declaration.
    pub(crate) first: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) oneway: Option<Span>,
    /// `None` is `void`.
    pub(crate) result: Option<TypeSpec>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) raises: Vec<ScopedName>,
    pub(crate) context: Vec<StringLiteral>,
}

#[derive(Debug, Clone)]
pub(crate) struct Parameter {
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
    /// Digits and scale; without them it is the type of constants.
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
    /// One octet with a sign; IDL 4 only. Its unsigned twin is the octet.
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

/// A constant expression. Chains of one precedence are flat, so that a long sum is no deep tree.
#[derive(Debug, Clone)]
pub(crate) struct Expr {
    pub(crate) span: Span,
    pub(crate) kind: ExprKind,
}

#[derive(Debug, Clone)]
pub(crate) enum ExprKind {
    Integer(u64),
    Float(Rc<str>),
    /// As written, without its suffix.
    Fixed(Rc<str>),
    Boolean(bool),
    Char(char),
    WideChar(u32),
    Str(Rc<str>),
    WideStr(Rc<str>),
    Named(ScopedName),
    Unary(char, Box<Expr>),
    /// Left to right; operators of one precedence.
    Chain(Box<Expr>, Vec<(BinaryOp, Expr)>),
    /// Already reported.
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
