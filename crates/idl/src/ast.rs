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

/// What every named thing has in common.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) name: Ident,
    pub(crate) doc: Option<Rc<str>>,
    pub(crate) prefix: Rc<Prefix>,
}

#[derive(Debug, Clone)]
pub(crate) struct Definition {
    pub(crate) head: Head,
    pub(crate) kind: DefinitionKind,
}

#[derive(Debug, Clone)]
pub(crate) enum DefinitionKind {
    Module(Vec<Definition>),
    InterfaceForward,
    Interface {
        bases: Vec<ScopedName>,
        body: Vec<Definition>,
    },
    StructForward,
    Struct(Vec<Member>),
    Exception(Vec<Member>),
    Enum(Vec<Head>),
    /// One typedef statement can name several types; each becomes a definition. The type is shared, and what it
    /// defines inline belongs to the first.
    Typedef {
        ty: Rc<TypeSpec>,
        dimensions: Vec<Expr>,
        first: bool,
    },
    Const {
        ty: TypeSpec,
        value: Expr,
    },
    Operation(Operation),
    Attribute(Attribute),
    Pragma(Rc<IdPragma>),
    /// Not supported yet, and already reported: the name is known, so that its uses are no further errors.
    Unsupported,
}

/// One declarator of a struct or exception; a list of them repeats the type.
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
    Object,
    Named(ScopedName),
    /// A struct or enum defined where it is used.
    Inline(Box<Definition>),
    /// Already reported.
    Unsupported,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Basic {
    Boolean,
    Char,
    WideChar,
    Octet,
    Short,
    UShort,
    Long,
    ULong,
    LongLong,
    ULongLong,
    Float,
    Double,
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
    Float(f64),
    Boolean(bool),
    Char(char),
    WideChar(char),
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
