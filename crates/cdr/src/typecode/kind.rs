//! The kinds of types (`CORBA::TCKind`).

/// The kind of a [`TypeCode`](crate::TypeCode), with the number it has on the wire.
///
/// Source: CORBA 3.3 Part 1, ORB Interface (TypeCodes).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u32)]
#[expect(
    clippy::exhaustive_enums,
    reason = "CORBA 3 has no others, and adds none"
)]
#[doc(alias = "TCKind")]
#[allow(missing_docs, reason = "each is the IDL keyword it is named after")]
pub enum TcKind {
    Null = 0,
    Void,
    Short,
    Long,
    UShort,
    ULong,
    Float,
    Double,
    Boolean,
    Char,
    Octet,
    Any,
    TypeCode,
    Principal,
    ObjRef,
    Struct,
    Union,
    Enum,
    String,
    Sequence,
    Array,
    Alias,
    Except,
    LongLong,
    ULongLong,
    LongDouble,
    WChar,
    WString,
    Fixed,
    Value,
    ValueBox,
    Native,
    AbstractInterface,
    LocalInterface,
    Component,
    Home,
    Event,
}

/// All kinds by number.
const KINDS: [TcKind; 37] = {
    use TcKind::*;
    [
        Null,
        Void,
        Short,
        Long,
        UShort,
        ULong,
        Float,
        Double,
        Boolean,
        Char,
        Octet,
        Any,
        TypeCode,
        Principal,
        ObjRef,
        Struct,
        Union,
        Enum,
        String,
        Sequence,
        Array,
        Alias,
        Except,
        LongLong,
        ULongLong,
        LongDouble,
        WChar,
        WString,
        Fixed,
        Value,
        ValueBox,
        Native,
        AbstractInterface,
        LocalInterface,
        Component,
        Home,
        Event,
    ]
};

impl TcKind {
    /// Returns the kind with this number on the wire.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        KINDS.get(usize::try_from(number).ok()?).copied()
    }

    /// Returns the number of the kind on the wire (`CORBA::TCKind`).
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// Whether types of this kind have a repository id and a name.
    #[must_use]
    pub const fn is_named(self) -> bool {
        use TcKind::*;
        matches!(
            self,
            ObjRef
                | Struct
                | Union
                | Enum
                | Alias
                | Except
                | Value
                | ValueBox
                | Native
                | AbstractInterface
                | LocalInterface
                | Component
                | Home
                | Event
        )
    }

    /// Whether types of this kind may contain themselves, so that an indirection may refer to one that is still being
    /// read.
    pub(crate) const fn may_recur(self) -> bool {
        use TcKind::*;
        matches!(self, Struct | Union | Except | Value | Event)
    }

    /// Whether types of this kind have no parameters.
    pub(crate) const fn is_simple(self) -> bool {
        use TcKind::*;
        !self.is_named() && !matches!(self, String | WString | Fixed | Sequence | Array)
    }

    /// Returns the IDL keyword.
    pub(crate) const fn keyword(self) -> &'static str {
        use TcKind::*;
        match self {
            Null => "null",
            Void => "void",
            Short => "short",
            Long => "long",
            UShort => "unsigned short",
            ULong => "unsigned long",
            Float => "float",
            Double => "double",
            Boolean => "boolean",
            Char => "char",
            Octet => "octet",
            Any => "any",
            TypeCode => "TypeCode",
            Principal => "Principal",
            ObjRef => "interface",
            Struct => "struct",
            Union => "union",
            Enum => "enum",
            String => "string",
            Sequence => "sequence",
            Array => "array",
            Alias => "typedef",
            Except => "exception",
            LongLong => "long long",
            ULongLong => "unsigned long long",
            LongDouble => "long double",
            WChar => "wchar",
            WString => "wstring",
            Fixed => "fixed",
            Value | ValueBox => "valuetype",
            Native => "native",
            AbstractInterface => "abstract interface",
            LocalInterface => "local interface",
            Component => "component",
            Home => "home",
            Event => "eventtype",
        }
    }
}
