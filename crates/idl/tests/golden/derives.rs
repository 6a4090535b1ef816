/** option: derive M = Default
 option: derive M::Money = Copy
 option: derive M::Money = serde::Serialize
 option: derive M::Shape = Eq
 option: derive M::Colour = PartialEq
 option: derive M::Empty = Hash
 option: derive M::Empty = Eq

 Module `IDL:M:1.0`.*/
pub mod m {
    /// Enum `IDL:M/Colour:1.0`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
    pub enum Colour {
        /// Enumerator `red`.
        #[default]
        Red,
        /// Enumerator `deep_blue`.
        DeepBlue,
    }
    ::zorb::__private::cdr_enum!(Colour { Red, DeepBlue });
    ::zorb::__private::idl_enum!(Colour { Red = "red", DeepBlue = "deep_blue" });
    ::zorb::__private::type_code!(
        __TC_COLOUR = __Tc::Enum("IDL:M/Colour:1.0", "Colour", & ["red", "deep_blue"]);
        value Colour
    );
    /// Struct `IDL:M/Money:1.0`.
    #[derive(Debug, Clone, PartialEq, Default, Copy, serde::Serialize)]
    pub struct Money {
        /// Member `cents`.
        pub cents: i64,
        /// Member `tint`.
        pub tint: Colour,
        /// Member `grid`.
        pub grid: [[f64; 3]; 2],
    }
    ::zorb::__private::cdr_struct!(
        Money { cents : i64, tint : Colour, grid : [[f64; 3]; 2] }
    );
    ::zorb::__private::type_code!(
        __TC_MONEY = __Tc::Struct("IDL:M/Money:1.0", "Money", & [("cents", &
        __Tc::LongLong), ("tint", & __TC_COLOUR), ("grid", & __Tc::Array(& __Tc::Array(&
        __Tc::Double, 3), 2))]); value Money
    );
    /// Union `IDL:M/Shape:1.0`.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[allow(
        clippy::large_enum_variant,
        reason = "members are as large as the IDL has them"
    )]
    pub enum Shape {
        /// Member `name`, selected by each value that selects no other.
        Name {
            /// The discriminator: one of the values that select this member.
            discriminator: ::zorb::Char,
            /// The member.
            value: ::std::string::String,
        },
        /// Member `number`, selected by `'a'`, `'b'`.
        Number {
            /// The discriminator: one of the values that select this member.
            discriminator: ::zorb::Char,
            /// The member.
            value: i32,
        },
    }
    impl ::core::default::Default for Shape {
        fn default() -> Self {
            Self::Name {
                discriminator: ::zorb::Char(0),
                value: ::core::default::Default::default(),
            }
        }
    }
    ::zorb::__private::cdr_union!(
        Shape : ::zorb::Char { one {} several { Number(i32) = [::zorb::Char(97)]
        [::zorb::Char(98)] } default Name(::std::string::String); }
    );
    ::zorb::__private::type_code!(
        __TC_SHAPE = __Tc::Union("IDL:M/Shape:1.0", "Shape", & __Tc::Char, 0, & [(0,
        "name", & __Tc::String(0)), (97, "number", & __Tc::Long), (98, "number", &
        __Tc::Long)]); value Shape
    );
    /// Union `IDL:M/Other:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    #[allow(
        clippy::large_enum_variant,
        reason = "members are as large as the IDL has them"
    )]
    pub enum Other {
        /// Member `sum`, selected by `deep_blue`.
        Sum(Money),
        /// No member.
        Unset,
    }
    impl ::core::default::Default for Other {
        fn default() -> Self {
            Self::Sum(::core::default::Default::default())
        }
    }
    ::zorb::__private::cdr_union!(
        Other : Colour { one { Sum(Money) = [Colour::DeepBlue] } several {} last Unset =
        [Colour::Red]; }
    );
    ::zorb::__private::type_code!(
        __TC_OTHER = __Tc::Union("IDL:M/Other:1.0", "Other", & __TC_COLOUR, - 1, & [(1,
        "sum", & __TC_MONEY)]); value Other
    );
    /// Exception `IDL:M/Empty:1.0`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash)]
    pub struct Empty;
    ::zorb::__private::exception!(Empty, "IDL:M/Empty:1.0", {});
    ::zorb::__private::type_code!(
        __TC_EMPTY = __Tc::Except("IDL:M/Empty:1.0", "Empty", & []); exception Empty
    );
    /// The state of value type `IDL:M/Node:1.0`.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Node {
        /// Public member `next`.
        pub next: ::core::option::Option<::zorb::Value<Node>>,
        /// Private member `what`.
        pub what: ::core::option::Option<::zorb::ObjectRef>,
    }
    ::zorb::__private::cdr_struct!(
        Node { next : ::zorb::__private::ValueCodec < Node >, what :
        ::zorb::__private::RefCodec < ::zorb::ObjectRef > }
    );
    ::zorb::__private::value_type!(
        Node, "M::Node", ["IDL:M/Node:1.0"], & __TC_NODE, base : [], derives : [], known
        : [], plain[]
    );
    ::zorb::__private::type_code!(
        __TC_NODE = __Tc::Value(__TcKind::Value, "IDL:M/Node:1.0", "Node", 0, &
        __Tc::Null, & [("next", & __TC_NODE, 1), ("what", & ::zorb::__private::OBJECT,
        0)]);
    );
    /// Bitset `IDL:M/Bits:1.0`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Bits {
        /// Bitfield `low`, 3 bits wide.
        pub low: u8,
    }
    ::zorb::__private::cdr_bitset!(Bits : u8 { low : u8 = 0, 3 });
}
/// Struct `IDL:Untouched:1.0`.
#[derive(Debug, Clone, PartialEq)]
pub struct Untouched {
    /// Member `x`.
    pub x: i32,
}
::zorb::__private::cdr_struct!(Untouched { x : i32 });
::zorb::__private::type_code!(
    __TC_UNTOUCHED = __Tc::Struct("IDL:Untouched:1.0", "Untouched", & [("x", &
    __Tc::Long)]); value Untouched
);
