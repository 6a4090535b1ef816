/** Decimal numbers, long doubles and the small integers of IDL 4.

 Module `IDL:Numbers:1.0`.*/
pub mod numbers {
    /// Typedef `IDL:Numbers/Price:1.0`.
    pub type Price = ::zorb::Fixed<5, 2>;
    ::zorb::__private::type_code!(
        __TC_PRICE = __Tc::Alias("IDL:Numbers/Price:1.0", "Price", & __Tc::Fixed(5, 2));
        alias #[doc = " The TypeCode of `Numbers::Price`."] PRICE_TYPE_CODE
    );
    /// Typedef `IDL:Numbers/Huge:1.0`.
    pub type Huge = ::zorb::Fixed<31, 10>;
    ::zorb::__private::type_code!(
        __TC_HUGE = __Tc::Alias("IDL:Numbers/Huge:1.0", "Huge", & __Tc::Fixed(31, 10));
        alias #[doc = " The TypeCode of `Numbers::Huge`."] HUGE_TYPE_CODE
    );
    /// Constant `Numbers::VAT`.
    pub const VAT: ::zorb::Fixed<3, 1> = ::zorb::Fixed::constant(195);
    /// Constant `Numbers::MINUS`.
    pub const MINUS: ::zorb::Fixed<3, 3> = ::zorb::Fixed::constant(-1);
    /// Constant `Numbers::SHIPPING`.
    pub const SHIPPING: ::zorb::Fixed<5, 2> = ::zorb::Fixed::constant(490);
    /// Typedef `IDL:Numbers/Exact:1.0`.
    pub type Exact = ::zorb::LongDouble;
    ::zorb::__private::type_code!(
        __TC_EXACT = __Tc::Alias("IDL:Numbers/Exact:1.0", "Exact", & __Tc::LongDouble);
        alias #[doc = " The TypeCode of `Numbers::Exact`."] EXACT_TYPE_CODE
    );
    /// Constant `Numbers::THIRD`.
    pub const THIRD: ::zorb::LongDouble = ::zorb::LongDouble::from_f64(0.25);
    /// Constant `Numbers::BIG`.
    pub const BIG: ::zorb::LongDouble = ::zorb::LongDouble::from_bits(
        0xc3e3_7e43_c880_0759_ba59_c08e_14c7_cd7b,
    );
    /// Constant `Numbers::LEAST`.
    pub const LEAST: i8 = -128;
    /// Constant `Numbers::MOST`.
    pub const MOST: u8 = 255;
    /// Typedef `IDL:Numbers/Levels:1.0`.
    pub type Levels = ::std::vec::Vec<i8>;
    ::zorb::__private::type_code!(
        __TC_LEVELS = __Tc::Alias("IDL:Numbers/Levels:1.0", "Levels", & __Tc::Sequence(&
        __Tc::Octet, 0)); alias #[doc = " The TypeCode of `Numbers::Levels`."]
        LEVELS_TYPE_CODE
    );
    /// Struct `IDL:Numbers/Bill:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Bill {
        /// Member `cost`.
        pub cost: ::zorb::Fixed<5, 2>,
        /// Member `tip`.
        pub tip: ::zorb::Fixed<4, 2>,
        /// Member `more`.
        pub more: ::std::vec::Vec<::zorb::Fixed<31, 10>>,
        /// Member `exact`.
        pub exact: ::zorb::LongDouble,
        /// Member `curve`.
        pub curve: ::std::vec::Vec<::zorb::LongDouble>,
        /// Member `level`.
        pub level: i8,
        /// Member `all_levels`.
        pub all_levels: ::std::vec::Vec<i8>,
        /// Member `data`.
        pub data: [u8; 4],
    }
    ::zorb::__private::cdr_struct!(
        Bill { cost : ::zorb::Fixed < 5, 2 >, tip : ::zorb::Fixed < 4, 2 >, more :
        ::std::vec::Vec < ::zorb::Fixed < 31, 10 > >, exact : ::zorb::LongDouble, curve :
        ::std::vec::Vec < ::zorb::LongDouble >, level : i8, all_levels : ::std::vec::Vec
        < i8 >, data : [u8; 4] }
    );
    ::zorb::__private::type_code!(
        __TC_BILL = __Tc::Struct("IDL:Numbers/Bill:1.0", "Bill", & [("cost", &
        __TC_PRICE), ("tip", & __Tc::Fixed(4, 2)), ("more", & __Tc::Sequence(& __TC_HUGE,
        0)), ("exact", & __Tc::LongDouble), ("curve", & __Tc::Sequence(&
        __Tc::LongDouble, 0)), ("level", & __Tc::Octet), ("all_levels", & __TC_LEVELS),
        ("data", & __Tc::Array(& __Tc::Octet, 4))]); value Bill
    );
    /// Union `IDL:Numbers/ByLevel:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    #[allow(
        clippy::large_enum_variant,
        reason = "members are as large as the IDL has them"
    )]
    pub enum ByLevel {
        /// Member `low`, selected by `-1`.
        Low(::zorb::Fixed<5, 2>),
        /// Member `rest`, selected by each value that selects no other.
        Rest {
            /// The discriminator: one of the values that select this member.
            discriminator: i8,
            /// The member.
            value: ::zorb::LongDouble,
        },
    }
    ::zorb::__private::cdr_union!(
        ByLevel : i8 { one { Low(::zorb::Fixed < 5, 2 >) = [- 1] } several {} default
        Rest(::zorb::LongDouble); }
    );
    ::zorb::__private::type_code!(
        __TC_BY_LEVEL = __Tc::Union("IDL:Numbers/ByLevel:1.0", "ByLevel", & __Tc::Octet,
        1, & [(- 1, "low", & __TC_PRICE), (0, "rest", & __TC_EXACT)]); value ByLevel
    );
    /// The operations of a servant of interface `IDL:Numbers/Till:1.0`, as `async fn`s.
    pub trait Till: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Operation `add`. Returns the result, `b`, `d`.
        #[allow(clippy::type_complexity, reason = "the IDL has as many results")]
        fn add(
            &self,
            a: ::zorb::Fixed<5, 2>,
            b: ::zorb::Fixed<5, 2>,
            c: ::zorb::LongDouble,
            e: i8,
            f: &[i8],
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (::zorb::Fixed<5, 2>, ::zorb::Fixed<5, 2>, ::zorb::LongDouble),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send;
        /// Reads attribute `balance`.
        fn balance(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<::zorb::Fixed<5, 2>, ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Writes attribute `balance`.
        fn set_balance(
            &self,
            value: ::zorb::Fixed<5, 2>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:Numbers/Till:1.0`.
    #[derive(Clone)]
    pub struct TillRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        TillRef, "IDL:Numbers/Till:1.0", concrete & __TC_TILL, bases : []
    );
    impl TillRef {
        /// Operation `add`. Returns the result, `b`, `d`.
        #[allow(clippy::type_complexity, reason = "the IDL has as many results")]
        pub fn add<'a>(
            &'a self,
            a: ::zorb::Fixed<5, 2>,
            b: ::zorb::Fixed<5, 2>,
            c: ::zorb::LongDouble,
            e: i8,
            f: &'a [i8],
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (::zorb::Fixed<5, 2>, ::zorb::Fixed<5, 2>, ::zorb::LongDouble),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (::zorb::Fixed<5, 2>, ::zorb::Fixed<5, 2>, ::zorb::LongDouble),
                    _,
                >("add", (a, b, c, e, f))
        }
        /// Reads attribute `balance`.
        pub fn balance(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<::zorb::Fixed<5, 2>, ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.invoke::<_, (::zorb::Fixed<5, 2>,), _>("_get_balance", ())
        }
        /// Writes attribute `balance`.
        pub fn set_balance(
            &self,
            value: ::zorb::Fixed<5, 2>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.invoke::<_, (), _>("_set_balance", (value,))
        }
    }
    /// Serves interface `IDL:Numbers/Till:1.0` with a [`Till`].
    #[derive(Debug)]
    pub struct TillServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: Till> TillServant<T> {
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
    impl<T> ::core::clone::Clone for TillServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: Till> ::zorb::__private::InterfaceSkeleton for TillServant<T> {
        type Ref = TillRef;
    }
    impl<T: Till> ::zorb::__private::Skeleton for TillServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:Numbers/Till:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:Numbers/Till:1.0")
        }
        fn start(
            &self,
            request: ::zorb::__private::ServerRequest,
        ) -> ::zorb::__private::Started {
            match request.find(::zorb::__private::Skeleton::operations(self)) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByValue<::zorb::Fixed<5, 2>>,
                            ::zorb::__private::ByValue<::zorb::Fixed<5, 2>>,
                            ::zorb::__private::ByValue<::zorb::LongDouble>,
                            ::zorb::__private::ByValue<i8>,
                            ::zorb::__private::BorrowedNumbers<i8>,
                        ),
                        (::zorb::Fixed<5, 2>, ::zorb::Fixed<5, 2>, ::zorb::LongDouble),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Till>::add)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (),
                        (::zorb::Fixed<5, 2>,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Till>::balance)
                }
                ::core::option::Option::Some(2) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByValue<::zorb::Fixed<5, 2>>,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Till>::set_balance)
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
                &[(2, 0)],
                &[(b"_get_balance", 1), (b"_set_balance", 2), (b"add", 0)],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_TILL = __Tc::Named(__TcKind::ObjRef, "IDL:Numbers/Till:1.0", "Till");
    );
}
