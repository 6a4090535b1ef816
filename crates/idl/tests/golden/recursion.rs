/** Types that hold themselves, types without a name, types that inherit.

 Module `IDL:Recursion:1.0`.*/
pub mod recursion {
    /// Struct `IDL:Recursion/Empty:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Empty;
    ::zorb::__private::cdr_struct!(Empty {});
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
    /// Typedef `IDL:Recursion/Nodes:1.0`.
    pub type Nodes = ::std::vec::Vec<Node>;
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
    /// Typedef `IDL:Recursion/Evens:1.0`.
    pub type Evens = ::std::vec::Vec<Even>;
    /// Struct `IDL:Recursion/Odd:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Odd {
        /// Member `rest`.
        pub rest: ::std::vec::Vec<Even>,
    }
    ::zorb::__private::cdr_struct!(Odd { rest : ::std::vec::Vec < Even > });
    /// What is declared inside `Recursion::Plainly`.
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
    /// Struct `IDL:Recursion/Point:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Point {
        /// Member `x`.
        pub x: i32,
        /// Member `y`.
        pub y: i32,
    }
    ::zorb::__private::cdr_struct!(Point { x : i32, y : i32 });
    /// Struct `IDL:Recursion/Place:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Place {
        /// What is inherited from `Recursion::Point`.
        pub base: Point,
        /// Member `name`.
        pub name: ::std::string::String,
    }
    ::zorb::__private::cdr_struct!(Place { base : Point, name : ::std::string::String });
    /// Struct `IDL:Recursion/Home:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Home {
        /// What is inherited from `Recursion::Place`.
        pub base: Place,
    }
    ::zorb::__private::cdr_struct!(Home { base : Place });
    /// Module `IDL:Recursion/Far:1.0`.
    pub mod far {
        /// Struct `IDL:Recursion/Far/Away:1.0`.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Away {
            /// What is inherited from `Recursion::Home`.
            pub base: super::Home,
            /// Member `others`.
            pub others: ::std::vec::Vec<Away>,
        }
        ::zorb::__private::cdr_struct!(
            Away { base : super::Home, others : ::std::vec::Vec < Away > }
        );
    }
}
