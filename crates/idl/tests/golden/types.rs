/** Every type that there is, as a member.

 Module `IDL:Types:1.0`.*/
pub mod types {
    /// Enum `IDL:Types/Color:1.0`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Color {
        /// Enumerator `RED`.
        Red,
        /// Enumerator `green`.
        Green,
        /// Enumerator `Blue_Sky`.
        BlueSky,
    }
    ::zorb::__private::cdr_enum!(Color { Red, Green, BlueSky });
    ::zorb::__private::idl_enum!(
        Color { Red = "RED", Green = "green", BlueSky = "Blue_Sky" }
    );
    ::zorb::__private::type_code!(
        __TC_COLOR = __Tc::Enum("IDL:Types/Color:1.0", "Color", & ["RED", "green",
        "Blue_Sky"]); value Color
    );
    /** Odd alignments.

 Struct `IDL:Types/BinStruct:1.0`.*/
    #[derive(Debug, Clone, PartialEq)]
    pub struct BinStruct {
        /// Member `s`.
        pub s: i16,
        /// Member `c`.
        pub c: ::zorb::Char,
        /// Member `l`.
        pub l: i32,
        /// Member `o`.
        pub o: u8,
        /// Member `d`.
        pub d: f64,
    }
    ::zorb::__private::cdr_struct!(
        BinStruct { s : i16, c : ::zorb::Char, l : i32, o : u8, d : f64 }
    );
    ::zorb::__private::type_code!(
        __TC_BIN_STRUCT = __Tc::Struct("IDL:Types/BinStruct:1.0", "BinStruct", & [("s", &
        __Tc::Short), ("c", & __Tc::Char), ("l", & __Tc::Long), ("o", & __Tc::Octet),
        ("d", & __Tc::Double)]); value BinStruct
    );
    /// Typedef `IDL:Types/OctetSeq:1.0`.
    pub type OctetSeq = ::zorb::Bytes;
    ::zorb::__private::type_code!(
        __TC_OCTET_SEQ = __Tc::Alias("IDL:Types/OctetSeq:1.0", "OctetSeq", &
        __Tc::Sequence(& __Tc::Octet, 0)); alias #[doc =
        " The TypeCode of `Types::OctetSeq`."] OCTET_SEQ_TYPE_CODE
    );
    /// Typedef `IDL:Types/Key:1.0`.
    pub type Key = ::zorb::Bytes;
    ::zorb::__private::type_code!(
        __TC_KEY = __Tc::Alias("IDL:Types/Key:1.0", "Key", & __Tc::Sequence(&
        __Tc::Octet, 16)); alias #[doc = " The TypeCode of `Types::Key`."] KEY_TYPE_CODE
    );
    /// Typedef `IDL:Types/LongSeq:1.0`.
    pub type LongSeq = ::std::vec::Vec<i32>;
    ::zorb::__private::type_code!(
        __TC_LONG_SEQ = __Tc::Alias("IDL:Types/LongSeq:1.0", "LongSeq", &
        __Tc::Sequence(& __Tc::Long, 0)); alias #[doc =
        " The TypeCode of `Types::LongSeq`."] LONG_SEQ_TYPE_CODE
    );
    /// Typedef `IDL:Types/Deep:1.0`.
    pub type Deep = ::std::vec::Vec<::std::vec::Vec<BinStruct>>;
    ::zorb::__private::type_code!(
        __TC_DEEP = __Tc::Alias("IDL:Types/Deep:1.0", "Deep", & __Tc::Sequence(&
        __Tc::Sequence(& __TC_BIN_STRUCT, 0), 4)); alias #[doc =
        " The TypeCode of `Types::Deep`."] DEEP_TYPE_CODE
    );
    /// Typedef `IDL:Types/Names:1.0`.
    pub type Names = ::std::vec::Vec<::std::string::String>;
    ::zorb::__private::type_code!(
        __TC_NAMES = __Tc::Alias("IDL:Types/Names:1.0", "Names", & __Tc::Sequence(&
        __Tc::String(8), 0)); alias #[doc = " The TypeCode of `Types::Names`."]
        NAMES_TYPE_CODE
    );
    /// Typedef `IDL:Types/Grid:1.0`.
    pub type Grid = [[i32; 3]; 2];
    ::zorb::__private::type_code!(
        __TC_GRID = __Tc::Alias("IDL:Types/Grid:1.0", "Grid", & __Tc::Array(&
        __Tc::Array(& __Tc::Long, 3), 2)); alias #[doc =
        " The TypeCode of `Types::Grid`."] GRID_TYPE_CODE
    );
    /// Typedef `IDL:Types/Brief:1.0`.
    pub type Brief = ::std::string::String;
    ::zorb::__private::type_code!(
        __TC_BRIEF = __Tc::Alias("IDL:Types/Brief:1.0", "Brief", & __Tc::String(20));
        alias #[doc = " The TypeCode of `Types::Brief`."] BRIEF_TYPE_CODE
    );
    /// Typedef `IDL:Types/Pair:1.0`.
    pub type Pair = [::std::string::String; 2];
    ::zorb::__private::type_code!(
        __TC_PAIR = __Tc::Alias("IDL:Types/Pair:1.0", "Pair", & __Tc::Array(&
        __Tc::String(20), 2)); alias #[doc = " The TypeCode of `Types::Pair`."]
        PAIR_TYPE_CODE
    );
    /// Struct `IDL:Types/Basics:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Basics {
        /// Member `a`.
        pub a: bool,
        /// Member `b`.
        pub b: ::zorb::Char,
        /// Member `c`.
        pub c: ::zorb::WChar,
        /// Member `d`.
        pub d: u8,
        /// Member `e`.
        pub e: i16,
        /// Member `f`.
        pub f: u16,
        /// Member `g`.
        pub g: i32,
        /// Member `h`.
        pub h: u32,
        /// Member `i`.
        pub i: i64,
        /// Member `j`.
        pub j: u64,
        /// Member `k`.
        pub k: f32,
        /// Member `l`.
        pub l: f64,
        /// Member `m`.
        pub m: ::std::string::String,
        /// Member `n`.
        pub n: ::std::string::String,
        /// Member `o`.
        pub o: ::std::string::String,
        /// Member `p`.
        pub p: ::std::string::String,
        /// Member `q`.
        pub q: i16,
        /// Member `r`.
        pub r: u64,
    }
    ::zorb::__private::cdr_struct!(
        Basics { a : bool, b : ::zorb::Char, c : ::zorb::WChar, d : u8, e : i16, f : u16,
        g : i32, h : u32, i : i64, j : u64, k : f32, l : f64, m : ::std::string::String,
        n : ::zorb::__private::WideStr, o : ::zorb::__private::BoundedStr < 5 >, p :
        ::zorb::__private::BoundedWideStr < 6 >, q : i16, r : u64 }
    );
    ::zorb::__private::type_code!(
        __TC_BASICS = __Tc::Struct("IDL:Types/Basics:1.0", "Basics", & [("a", &
        __Tc::Boolean), ("b", & __Tc::Char), ("c", & __Tc::WChar), ("d", & __Tc::Octet),
        ("e", & __Tc::Short), ("f", & __Tc::UShort), ("g", & __Tc::Long), ("h", &
        __Tc::ULong), ("i", & __Tc::LongLong), ("j", & __Tc::ULongLong), ("k", &
        __Tc::Float), ("l", & __Tc::Double), ("m", & __Tc::String(0)), ("n", &
        __Tc::WString(0)), ("o", & __Tc::String(5)), ("p", & __Tc::WString(6)), ("q", &
        __Tc::Short), ("r", & __Tc::ULongLong)]); value Basics
    );
    /// The declarations inside `Types::Compound`.
    pub mod compound {
        /// The declarations inside `Types::Compound::Inner`.
        pub mod inner {
            /// Enum `IDL:Types/Compound/Inner/Size:1.0`.
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub enum Size {
                /// Enumerator `small`.
                Small,
                /// Enumerator `large`.
                Large,
            }
            ::zorb::__private::cdr_enum!(Size { Small, Large });
            ::zorb::__private::idl_enum!(Size { Small = "small", Large = "large" });
            ::zorb::__private::type_code!(
                __TC_SIZE = __Tc::Enum("IDL:Types/Compound/Inner/Size:1.0", "Size", &
                ["small", "large"]); value Size
            );
        }
        /// Struct `IDL:Types/Compound/Inner:1.0`.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Inner {
            /// Member `x`.
            pub x: i32,
            /// Member `how_big`.
            pub how_big: inner::Size,
        }
        ::zorb::__private::cdr_struct!(Inner { x : i32, how_big : inner::Size });
        ::zorb::__private::type_code!(
            __TC_INNER = __Tc::Struct("IDL:Types/Compound/Inner:1.0", "Inner", & [("x", &
            __Tc::Long), ("how_big", & inner::__TC_SIZE)]); value Inner
        );
    }
    /// Struct `IDL:Types/Compound:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Compound {
        /// Member `tint`.
        pub tint: Color,
        /// Member `plain`.
        pub plain: BinStruct,
        /// Member `octets`.
        pub octets: ::zorb::Bytes,
        /// Member `key_`.
        pub key: ::zorb::Bytes,
        /// Member `longs`.
        pub longs: ::std::vec::Vec<i32>,
        /// Member `deep1`.
        pub deep1: ::std::vec::Vec<::std::vec::Vec<BinStruct>>,
        /// Member `names1`.
        pub names1: ::std::vec::Vec<::std::string::String>,
        /// Member `grid1`.
        pub grid1: [[i32; 3]; 2],
        /// Member `text`.
        pub text: ::std::string::String,
        /// Member `pair1`.
        pub pair1: [::std::string::String; 2],
        /// Member `inside`.
        pub inside: compound::Inner,
        /// Member `anything`.
        pub anything: ::core::option::Option<::zorb::ObjectRef>,
        /// Member `more_keys`.
        pub more_keys: [::zorb::Bytes; 2],
    }
    ::zorb::__private::cdr_struct!(
        Compound { tint : Color, plain : BinStruct, octets : ::zorb::Bytes, key :
        ::zorb::__private::BoundedOctets < 16 >, longs : ::std::vec::Vec < i32 >, deep1 :
        ::zorb::__private::BoundedSeq < ::std::vec::Vec < BinStruct >, 4 >, names1 :
        ::zorb::__private::Seq < ::zorb::__private::BoundedStr < 8 > >, grid1 : [[i32;
        3]; 2], text : ::zorb::__private::BoundedStr < 20 >, pair1 :
        ::zorb::__private::Array < ::zorb::__private::BoundedStr < 20 >, 2 >, inside :
        compound::Inner, anything : ::zorb::__private::RefCodec < ::zorb::ObjectRef >,
        more_keys : ::zorb::__private::Array < ::zorb::__private::BoundedOctets < 16 >, 2
        > }
    );
    ::zorb::__private::type_code!(
        __TC_COMPOUND = __Tc::Struct("IDL:Types/Compound:1.0", "Compound", & [("tint", &
        __TC_COLOR), ("plain", & __TC_BIN_STRUCT), ("octets", & __TC_OCTET_SEQ), ("key_",
        & __TC_KEY), ("longs", & __TC_LONG_SEQ), ("deep1", & __TC_DEEP), ("names1", &
        __TC_NAMES), ("grid1", & __TC_GRID), ("text", & __TC_BRIEF), ("pair1", &
        __TC_PAIR), ("inside", & compound::__TC_INNER), ("anything", &
        ::zorb::__private::OBJECT), ("more_keys", & __Tc::Array(& __TC_KEY, 2))]); value
        Compound
    );
    /// Struct `IDL:Types/Node:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Node {
        /// Member `name`.
        pub name: ::std::string::String,
        /// Member `children`.
        pub children: ::std::vec::Vec<Node>,
    }
    ::zorb::__private::cdr_struct!(
        Node { name : ::std::string::String, children : ::std::vec::Vec < Node > }
    );
    ::zorb::__private::type_code!(
        __TC_NODE = __Tc::Struct("IDL:Types/Node:1.0", "Node", & [("name", &
        __Tc::String(0)), ("children", & __TC_NODES)]); value Node
    );
    /// Typedef `IDL:Types/Nodes:1.0`.
    pub type Nodes = ::std::vec::Vec<Node>;
    ::zorb::__private::type_code!(
        __TC_NODES = __Tc::Alias("IDL:Types/Nodes:1.0", "Nodes", & __Tc::Sequence(&
        __TC_NODE, 0)); alias #[doc = " The TypeCode of `Types::Nodes`."] NODES_TYPE_CODE
    );
}
