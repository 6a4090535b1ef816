/** Types that hold themselves, types without a name, types that inherit.

 Module `IDL:Recursion:1.0`.*/
pub mod recursion {
    /// Struct `IDL:Recursion/Empty:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Empty;
    ::zorb::__private::cdr_struct!(Empty {});
    ::zorb::__private::type_code!(
        __TC_EMPTY = __Tc::Struct("IDL:Recursion/Empty:1.0", "Empty", & []); value Empty
    );
    /// Struct `IDL:Recursion/Node:1.0`.
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
        __TC_NODE = __Tc::Struct("IDL:Recursion/Node:1.0", "Node", & [("name", &
        __Tc::String(0)), ("children", & __TC_NODES)]); value Node
    );
    /// Typedef `IDL:Recursion/Nodes:1.0`.
    pub type Nodes = ::std::vec::Vec<Node>;
    ::zorb::__private::type_code!(
        __TC_NODES = __Tc::Alias("IDL:Recursion/Nodes:1.0", "Nodes", & __Tc::Sequence(&
        __TC_NODE, 0)); alias #[doc = " The TypeCode of `Recursion::Nodes`."]
        NODES_TYPE_CODE
    );
    /** The old way.

 Struct `IDL:Recursion/Chain:1.0`.*/
    #[derive(Debug, Clone, PartialEq)]
    pub struct Chain {
        /// Member `link`.
        pub link: i32,
        /// Member `next`.
        pub next: ::std::vec::Vec<Chain>,
    }
    ::zorb::__private::cdr_struct!(
        Chain { link : i32, next : ::std::vec::Vec < Chain > }
    );
    ::zorb::__private::type_code!(
        __TC_CHAIN = __Tc::Struct("IDL:Recursion/Chain:1.0", "Chain", & [("link", &
        __Tc::Long), ("next", & __Tc::Sequence(& __TC_CHAIN, 0))]); value Chain
    );
    /// Union `IDL:Recursion/Tree:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    #[allow(
        clippy::large_enum_variant,
        reason = "members are as large as the IDL has them"
    )]
    pub enum Tree {
        /// Member `both`, selected by `TRUE`.
        Both(::std::vec::Vec<Tree>),
        /// Member `leaf`, selected by `FALSE`.
        Leaf(i32),
    }
    ::zorb::__private::cdr_union!(
        Tree : bool { one { Both(::zorb::__private::BoundedSeq < Tree, 2 >) = [true],
        Leaf(i32) = [false] } several {} }
    );
    ::zorb::__private::type_code!(
        __TC_TREE = __Tc::Union("IDL:Recursion/Tree:1.0", "Tree", & __Tc::Boolean, 1, &
        [(1, "both", & __Tc::Sequence(& __TC_TREE, 2)), (0, "leaf", & __Tc::Long)]);
        value Tree
    );
    /** Each holds the other.

 Struct `IDL:Recursion/Even:1.0`.*/
    #[derive(Debug, Clone, PartialEq)]
    pub struct Even {
        /// Member `rest`.
        pub rest: ::std::vec::Vec<Odd>,
        /// Member `nothing`.
        pub nothing: Empty,
    }
    ::zorb::__private::cdr_struct!(
        Even { rest : ::std::vec::Vec < Odd >, nothing : Empty }
    );
    ::zorb::__private::type_code!(
        __TC_EVEN = __Tc::Struct("IDL:Recursion/Even:1.0", "Even", & [("rest", &
        __Tc::Sequence(& __TC_ODD, 0)), ("nothing", & __TC_EMPTY)]); value Even
    );
    /// Typedef `IDL:Recursion/Evens:1.0`.
    pub type Evens = ::std::vec::Vec<Even>;
    ::zorb::__private::type_code!(
        __TC_EVENS = __Tc::Alias("IDL:Recursion/Evens:1.0", "Evens", & __Tc::Sequence(&
        __TC_EVEN, 0)); alias #[doc = " The TypeCode of `Recursion::Evens`."]
        EVENS_TYPE_CODE
    );
    /// Struct `IDL:Recursion/Odd:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Odd {
        /// Member `rest`.
        pub rest: ::std::vec::Vec<Even>,
    }
    ::zorb::__private::cdr_struct!(Odd { rest : ::std::vec::Vec < Even > });
    ::zorb::__private::type_code!(
        __TC_ODD = __Tc::Struct("IDL:Recursion/Odd:1.0", "Odd", & [("rest", &
        __TC_EVENS)]); value Odd
    );
    /// The declarations inside `Recursion::Plainly`.
    pub mod plainly {
        /// Struct `IDL:Recursion/Plainly/Inner:1.0`.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Inner {
            /// Member `more`.
            pub more: ::std::vec::Vec<super::Plainly>,
        }
        ::zorb::__private::cdr_struct!(
            Inner { more : ::std::vec::Vec < super::Plainly > }
        );
        ::zorb::__private::type_code!(
            __TC_INNER = __Tc::Struct("IDL:Recursion/Plainly/Inner:1.0", "Inner", &
            [("more", & __Tc::Sequence(& super::__TC_PLAINLY, 0))]); value Inner
        );
    }
    /// Struct `IDL:Recursion/Plainly:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Plainly {
        /// Member `grid`.
        pub grid: ::std::vec::Vec<::std::vec::Vec<i16>>,
        /// Member `tag`.
        pub tag: ::std::string::String,
        /// Member `cube`.
        pub cube: [[i32; 3]; 2],
        /// Member `tags`.
        pub tags: ::std::vec::Vec<::std::string::String>,
        /// Member `inside`.
        pub inside: [plainly::Inner; 2],
    }
    ::zorb::__private::cdr_struct!(
        Plainly { grid : ::zorb::__private::Seq < ::zorb::__private::BoundedSeq < i16, 3
        > >, tag : ::zorb::__private::BoundedStr < 5 >, cube : [[i32; 3]; 2], tags :
        ::zorb::__private::BoundedSeq < ::zorb::__private::BoundedStr < 3 >, 2 >, inside
        : [plainly::Inner; 2] }
    );
    ::zorb::__private::type_code!(
        __TC_PLAINLY = __Tc::Struct("IDL:Recursion/Plainly:1.0", "Plainly", & [("grid", &
        __Tc::Sequence(& __Tc::Sequence(& __Tc::Short, 3), 0)), ("tag", &
        __Tc::String(5)), ("cube", & __Tc::Array(& __Tc::Array(& __Tc::Long, 3), 2)),
        ("tags", & __Tc::Sequence(& __Tc::String(3), 2)), ("inside", & __Tc::Array(&
        plainly::__TC_INNER, 2))]); value Plainly
    );
    /// Struct `IDL:Recursion/Point:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Point {
        /// Member `x`.
        pub x: i32,
        /// Member `y`.
        pub y: i32,
    }
    ::zorb::__private::cdr_struct!(Point { x : i32, y : i32 });
    ::zorb::__private::type_code!(
        __TC_POINT = __Tc::Struct("IDL:Recursion/Point:1.0", "Point", & [("x", &
        __Tc::Long), ("y", & __Tc::Long)]); value Point
    );
    /// Struct `IDL:Recursion/Place:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Place {
        /// The inherited members: those of `Recursion::Point`.
        pub base: Point,
        /// Member `name`.
        pub name: ::std::string::String,
    }
    ::zorb::__private::cdr_struct!(Place { base : Point, name : ::std::string::String });
    ::zorb::__private::type_code!(
        __TC_PLACE = __Tc::Struct("IDL:Recursion/Place:1.0", "Place", & [("x", &
        __Tc::Long), ("y", & __Tc::Long), ("name", & __Tc::String(0))]); value Place
    );
    /// Struct `IDL:Recursion/Home:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Home {
        /// The inherited members: those of `Recursion::Place`.
        pub base: Place,
    }
    ::zorb::__private::cdr_struct!(Home { base : Place });
    ::zorb::__private::type_code!(
        __TC_HOME = __Tc::Struct("IDL:Recursion/Home:1.0", "Home", & [("x", &
        __Tc::Long), ("y", & __Tc::Long), ("name", & __Tc::String(0))]); value Home
    );
    /// Module `IDL:Recursion/Far:1.0`.
    pub mod far {
        /// Struct `IDL:Recursion/Far/Away:1.0`.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Away {
            /// The inherited members: those of `Recursion::Home`.
            pub base: super::Home,
            /// Member `others`.
            pub others: ::std::vec::Vec<Away>,
        }
        ::zorb::__private::cdr_struct!(
            Away { base : super::Home, others : ::std::vec::Vec < Away > }
        );
        ::zorb::__private::type_code!(
            __TC_AWAY = __Tc::Struct("IDL:Recursion/Far/Away:1.0", "Away", & [("x", &
            __Tc::Long), ("y", & __Tc::Long), ("name", & __Tc::String(0)), ("others", &
            __Tc::Sequence(& __TC_AWAY, 0))]); value Away
        );
    }
}
