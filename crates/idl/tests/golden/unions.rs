/** Every shape that a union can have.

 Module `IDL:Unions:1.0`.*/
pub mod unions {
    /// Enum `IDL:Unions/Suit:1.0`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Suit {
        /// Enumerator `clubs`.
        Clubs,
        /// Enumerator `diamonds`.
        Diamonds,
        /// Enumerator `hearts`.
        Hearts,
        /// Enumerator `spades`.
        Spades,
    }
    ::zorb::__private::cdr_enum!(Suit { Clubs, Diamonds, Hearts, Spades });
    ::zorb::__private::idl_enum!(
        Suit { Clubs = "clubs", Diamonds = "diamonds", Hearts = "hearts", Spades =
        "spades" }
    );
    ::zorb::__private::type_code!(
        __TC_SUIT = __Tc::Enum("IDL:Unions/Suit:1.0", "Suit", & ["clubs", "diamonds",
        "hearts", "spades"]); value Suit
    );
    /// Typedef `IDL:Unions/Colour:1.0`.
    pub type Colour = Suit;
    ::zorb::__private::type_code!(
        __TC_COLOUR = __Tc::Alias("IDL:Unions/Colour:1.0", "Colour", & __TC_SUIT); alias
        #[doc = " The TypeCode of `Unions::Colour`."] COLOUR_TYPE_CODE
    );
    /** One label, several, default.

 Union `IDL:Unions/ByLong:1.0`.*/
    #[derive(Debug, Clone, PartialEq)]
    #[allow(
        clippy::large_enum_variant,
        reason = "members are as large as the IDL has them"
    )]
    pub enum ByLong {
        /// Member `text`, selected by `1`, `-7`.
        Text {
            /// The discriminator: one of the values that select this member.
            discriminator: i32,
            /// The member.
            value: ::std::string::String,
        },
        /// Member `at`, selected by `100`.
        At(::zorb::Bytes),
        /// Member `other`, selected by each value that selects no other.
        Other {
            /// The discriminator: one of the values that select this member.
            discriminator: i32,
            /// The member.
            value: u8,
        },
    }
    ::zorb::__private::cdr_union!(
        ByLong : i32 { one { At(::zorb::Bytes) = [100] } several {
        Text(::zorb::__private::BoundedStr < 8 >) = [1] [- 7] } default Other(u8); }
    );
    ::zorb::__private::type_code!(
        __TC_BY_LONG = __Tc::Union("IDL:Unions/ByLong:1.0", "ByLong", & __Tc::Long, 3, &
        [(1, "text", & __Tc::String(8)), (- 7, "text", & __Tc::String(8)), (100, "at", &
        __Tc::Sequence(& __Tc::Octet, 0)), (0, "other", & __Tc::Octet)]); value ByLong
    );
    /** Nothing for most values.

 Union `IDL:Unions/ByShort:1.0`.*/
    #[derive(Debug, Clone, PartialEq)]
    #[allow(
        clippy::large_enum_variant,
        reason = "members are as large as the IDL has them"
    )]
    pub enum ByShort {
        /// Member `real`, selected by `-3`.
        Real(f64),
        /// No member.
        Unset {
            /// The discriminator: a value that selects no member.
            discriminator: i16,
        },
    }
    ::zorb::__private::cdr_union!(
        ByShort : i16 { one { Real(f64) = [- 3] } several {} unset Unset; }
    );
    ::zorb::__private::type_code!(
        __TC_BY_SHORT = __Tc::Union("IDL:Unions/ByShort:1.0", "ByShort", & __Tc::Short, -
        1, & [(- 3, "real", & __Tc::Double)]); value ByShort
    );
    /// Union `IDL:Unions/ByBig:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    #[allow(
        clippy::large_enum_variant,
        reason = "members are as large as the IDL has them"
    )]
    pub enum ByBig {
        /// Member `far_`, selected by `18364758544493064720`.
        Far(::std::string::String),
        /// No member.
        Unset {
            /// The discriminator: a value that selects no member.
            discriminator: u64,
        },
    }
    ::zorb::__private::cdr_union!(
        ByBig : u64 { one { Far(::zorb::__private::WideStr) = [18364758544493064720] }
        several {} unset Unset; }
    );
    ::zorb::__private::type_code!(
        __TC_BY_BIG = __Tc::Union("IDL:Unions/ByBig:1.0", "ByBig", & __Tc::ULongLong, -
        1, & [(18364758544493064720, "far_", & __Tc::WString(0))]); value ByBig
    );
    /// Union `IDL:Unions/ByChar:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    #[allow(
        clippy::large_enum_variant,
        reason = "members are as large as the IDL has them"
    )]
    pub enum ByChar {
        /// Member `small`, selected by `'a'`.
        Small(i32),
        /// Member `last`, selected by `'z'`, `'\''`.
        Last {
            /// The discriminator: one of the values that select this member.
            discriminator: ::zorb::Char,
            /// The member.
            value: f64,
        },
        /// No member.
        Unset {
            /// The discriminator: a value that selects no member.
            discriminator: ::zorb::Char,
        },
    }
    ::zorb::__private::cdr_union!(
        ByChar : ::zorb::Char { one { Small(i32) = [::zorb::Char(97)] } several {
        Last(f64) = [::zorb::Char(122)] [::zorb::Char(39)] } unset Unset; }
    );
    ::zorb::__private::type_code!(
        __TC_BY_CHAR = __Tc::Union("IDL:Unions/ByChar:1.0", "ByChar", & __Tc::Char, - 1,
        & [(97, "small", & __Tc::Long), (122, "last", & __Tc::Double), (39, "last", &
        __Tc::Double)]); value ByChar
    );
    /// Union `IDL:Unions/ByBoolean:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    #[allow(
        clippy::large_enum_variant,
        reason = "members are as large as the IDL has them"
    )]
    pub enum ByBoolean {
        /// Member `yes`, selected by `TRUE`.
        Yes(::std::string::String),
        /// Member `no`, selected by `FALSE`.
        No(::core::option::Option<::zorb::ObjectRef>),
    }
    ::zorb::__private::cdr_union!(
        ByBoolean : bool { one { Yes(::std::string::String) = [true],
        No(::zorb::__private::RefCodec < ::zorb::ObjectRef >) = [false] } several {} }
    );
    ::zorb::__private::type_code!(
        __TC_BY_BOOLEAN = __Tc::Union("IDL:Unions/ByBoolean:1.0", "ByBoolean", &
        __Tc::Boolean, - 1, & [(1, "yes", & __Tc::String(0)), (0, "no", &
        ::zorb::__private::OBJECT)]); value ByBoolean
    );
    /** Nothing for FALSE.

 Union `IDL:Unions/Maybe:1.0`.*/
    #[derive(Debug, Clone, PartialEq)]
    #[allow(
        clippy::large_enum_variant,
        reason = "members are as large as the IDL has them"
    )]
    pub enum Maybe {
        /// Member `truth`, selected by `TRUE`.
        Truth(i32),
        /// No member.
        Unset,
    }
    ::zorb::__private::cdr_union!(
        Maybe : bool { one { Truth(i32) = [true] } several {} last Unset = [false]; }
    );
    ::zorb::__private::type_code!(
        __TC_MAYBE = __Tc::Union("IDL:Unions/Maybe:1.0", "Maybe", & __Tc::Boolean, - 1, &
        [(1, "truth", & __Tc::Long)]); value Maybe
    );
    /** \`default\` is spades alone.

 Union `IDL:Unions/BySuit:1.0`.*/
    #[derive(Debug, Clone, PartialEq)]
    #[allow(
        clippy::large_enum_variant,
        reason = "members are as large as the IDL has them"
    )]
    pub enum BySuit {
        /// Member `black`, selected by `clubs`, `diamonds`.
        Black {
            /// The discriminator: one of the values that select this member.
            discriminator: Suit,
            /// The member.
            value: u8,
        },
        /// Member `heart`, selected by `hearts`.
        Heart(ByLong),
        /// Member `rest`, selected by `spades`.
        Rest(Maybe),
    }
    ::zorb::__private::cdr_union!(
        BySuit : Suit { one { Heart(ByLong) = [Suit::Hearts], Rest(Maybe) =
        [Suit::Spades] } several { Black(u8) = [Suit::Clubs] [Suit::Diamonds] } }
    );
    ::zorb::__private::type_code!(
        __TC_BY_SUIT = __Tc::Union("IDL:Unions/BySuit:1.0", "BySuit", & __TC_COLOUR, 3, &
        [(0, "black", & __Tc::Octet), (1, "black", & __Tc::Octet), (2, "heart", &
        __TC_BY_LONG), (0, "rest", & __TC_MAYBE)]); value BySuit
    );
    /// The declarations inside `Unions::self`.
    pub mod self_ {
        /// Enum `IDL:Unions/self/Own:1.0`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Own {
            /// Enumerator `mine`.
            Mine,
            /// Enumerator `yours`.
            Yours,
        }
        ::zorb::__private::cdr_enum!(Own { Mine, Yours });
        ::zorb::__private::idl_enum!(Own { Mine = "mine", Yours = "yours" });
        ::zorb::__private::type_code!(
            __TC_OWN = __Tc::Enum("IDL:Unions/self/Own:1.0", "Own", & ["mine", "yours"]);
            value Own
        );
        /// Struct `IDL:Unions/self/Inner:1.0`.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Inner {
            /// Member `here`.
            pub here: i16,
        }
        ::zorb::__private::cdr_struct!(Inner { here : i16 });
        ::zorb::__private::type_code!(
            __TC_INNER = __Tc::Struct("IDL:Unions/self/Inner:1.0", "Inner", & [("here", &
            __Tc::Short)]); value Inner
        );
    }
    /** Types of its own, and a name that Rust keeps.

 Union `IDL:Unions/self:1.0`.*/
    #[derive(Debug, Clone, PartialEq)]
    #[allow(
        clippy::large_enum_variant,
        reason = "members are as large as the IDL has them"
    )]
    pub enum Self_ {
        /// Member `type`, selected by `mine`.
        Type(self_::Inner),
        /// Member `grid`, selected by `yours`.
        Grid([[i32; 3]; 2]),
    }
    ::zorb::__private::cdr_union!(
        Self_ : self_::Own { one { Type(self_::Inner) = [self_::Own::Mine], Grid([[i32;
        3]; 2]) = [self_::Own::Yours] } several {} }
    );
    ::zorb::__private::type_code!(
        __TC_SELF = __Tc::Union("IDL:Unions/self:1.0", "self", & self_::__TC_OWN, - 1, &
        [(0, "type", & self_::__TC_INNER), (1, "grid", & __Tc::Array(& __Tc::Array(&
        __Tc::Long, 3), 2))]); value Self_
    );
    /// Union `IDL:Unions/ByWide:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    #[allow(
        clippy::large_enum_variant,
        reason = "members are as large as the IDL has them"
    )]
    pub enum ByWide {
        /// Member `euro`, selected by `'€'`.
        Euro(i32),
        /// No member.
        Unset {
            /// The discriminator: a value that selects no member.
            discriminator: ::zorb::WChar,
        },
    }
    ::zorb::__private::cdr_union!(
        ByWide : ::zorb::WChar { one { Euro(i32) = [::zorb::WChar(8364)] } several {}
        unset Unset; }
    );
    ::zorb::__private::type_code!(
        __TC_BY_WIDE = __Tc::Union("IDL:Unions/ByWide:1.0", "ByWide", & __Tc::WChar, - 1,
        & [(8364, "euro", & __Tc::Long)]); value ByWide
    );
    /// Union `IDL:Unions/ByOctet:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    #[allow(
        clippy::large_enum_variant,
        reason = "members are as large as the IDL has them"
    )]
    pub enum ByOctet {
        /// Member `most`, selected by `255`.
        Most(i32),
        /// Member `less`, selected by each value that selects no other.
        Less {
            /// The discriminator: one of the values that select this member.
            discriminator: u8,
            /// The member.
            value: i32,
        },
    }
    ::zorb::__private::cdr_union!(
        ByOctet : u8 { one { Most(i32) = [255] } several {} default Less(i32); }
    );
    ::zorb::__private::type_code!(
        __TC_BY_OCTET = __Tc::Union("IDL:Unions/ByOctet:1.0", "ByOctet", & __Tc::Octet,
        1, & [(255, "most", & __Tc::Long), (0, "less", & __Tc::Long)]); value ByOctet
    );
    /// Union `IDL:Unions/Expr:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    #[allow(
        clippy::large_enum_variant,
        reason = "members are as large as the IDL has them"
    )]
    pub enum Expr {
        /// Member `number`, selected by `0`.
        Number(f64),
        /// Member `operands`, selected by `1`, `2`.
        Operands {
            /// The discriminator: one of the values that select this member.
            discriminator: i32,
            /// The member.
            value: ::std::vec::Vec<Expr>,
        },
        /// No member.
        Unset {
            /// The discriminator: a value that selects no member.
            discriminator: i32,
        },
    }
    ::zorb::__private::cdr_union!(
        Expr : i32 { one { Number(f64) = [0] } several { Operands(::std::vec::Vec < Expr
        >) = [1] [2] } unset Unset; }
    );
    ::zorb::__private::type_code!(
        __TC_EXPR = __Tc::Union("IDL:Unions/Expr:1.0", "Expr", & __Tc::Long, - 1, & [(0,
        "number", & __Tc::Double), (1, "operands", & __TC_EXPR_SEQ), (2, "operands", &
        __TC_EXPR_SEQ)]); value Expr
    );
    /// Typedef `IDL:Unions/ExprSeq:1.0`.
    pub type ExprSeq = ::std::vec::Vec<Expr>;
    ::zorb::__private::type_code!(
        __TC_EXPR_SEQ = __Tc::Alias("IDL:Unions/ExprSeq:1.0", "ExprSeq", &
        __Tc::Sequence(& __TC_EXPR, 0)); alias #[doc =
        " The TypeCode of `Unions::ExprSeq`."] EXPR_SEQ_TYPE_CODE
    );
    /// The operations of a servant of interface `IDL:Unions/Calculator:1.0`, as `async fn`s.
    pub trait Calculator: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Operation `simplify`. Returns the result, `other`.
        fn simplify(
            &self,
            it: &Expr,
            other: &Maybe,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(Expr, Maybe), ::zorb::SystemException>,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:Unions/Calculator:1.0`.
    #[derive(Clone)]
    pub struct CalculatorRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        CalculatorRef, "IDL:Unions/Calculator:1.0", concrete & __TC_CALCULATOR, bases :
        []
    );
    impl CalculatorRef {
        /// Operation `simplify`. Returns the result, `other`.
        pub fn simplify<'a>(
            &'a self,
            it: &'a Expr,
            other: &'a Maybe,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(Expr, Maybe), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object.invoke::<_, (Expr, Maybe), _>("simplify", (it, other))
        }
    }
    /// Serves interface `IDL:Unions/Calculator:1.0` with a [`Calculator`].
    #[derive(Debug)]
    pub struct CalculatorServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: Calculator> CalculatorServant<T> {
        /// A skeleton that owns its servant.
        pub fn new(servant: T) -> Self {
            Self {
                servant: ::std::sync::Arc::new(servant),
            }
        }
        /// A skeleton that shares its servant with the other owners of the `Arc`.
        pub fn from_arc(servant: ::std::sync::Arc<T>) -> Self {
            Self { servant }
        }
    }
    impl<T> ::core::clone::Clone for CalculatorServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: Calculator> ::zorb::__private::InterfaceSkeleton for CalculatorServant<T> {
        type Ref = CalculatorRef;
    }
    impl<T: Calculator> ::zorb::__private::Skeleton for CalculatorServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:Unions/Calculator:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:Unions/Calculator:1.0")
        }
        fn start(
            &self,
            request: ::zorb::__private::ServerRequest,
        ) -> ::zorb::__private::Started {
            match request.find(::zorb::__private::Skeleton::operations(self)) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByRef<Expr, Expr>,
                            ::zorb::__private::ByRef<Maybe, Maybe>,
                        ),
                        (Expr, Maybe),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Calculator>::simplify)
                }
                _ => request.unknown_operation(),
            }
        }
        fn servant(
            &self,
        ) -> ::core::option::Option<
            ::std::sync::Arc<
                dyn ::core::any::Any + ::core::marker::Send + ::core::marker::Sync,
            >,
        > {
            let servant = ::std::sync::Arc::clone(&self.servant);
            ::core::option::Option::Some(servant)
        }
        #[inline]
        fn operations(&self) -> &'static ::zorb::__private::Operations {
            static OPERATIONS: ::zorb::__private::Operations = ::zorb::__private::Operations::new(
                16287231350648472473,
                &[(0, 0)],
                &[(b"simplify", 0)],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_CALCULATOR = __Tc::Named(__TcKind::ObjRef, "IDL:Unions/Calculator:1.0",
        "Calculator");
    );
}
