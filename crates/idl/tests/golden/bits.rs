/** What IDL 4 has and GIOP has no form for.

 Module `IDL:Bits:1.0`.*/
pub mod bits {
    /// Enum `IDL:Bits/Suit:1.0`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Suit {
        /// Enumerator `clubs`.
        Clubs,
        /// Enumerator `hearts`.
        Hearts,
    }
    ::zorb::__private::cdr_enum!(Suit { Clubs, Hearts });
    ::zorb::__private::idl_enum!(Suit { Clubs = "clubs", Hearts = "hearts" });
    ::zorb::__private::type_code!(
        __TC_SUIT = __Tc::Enum("IDL:Bits/Suit:1.0", "Suit", & ["clubs", "hearts"]); value
        Suit
    );
    /// Struct `IDL:Bits/Node:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Node {
        /// Member `children`.
        pub children: ::std::collections::BTreeMap<::std::string::String, Node>,
        /// Member `prices`.
        pub prices: ::std::collections::BTreeMap<Suit, ::zorb::Fixed<5, 2>>,
    }
    ::zorb::__private::cdr_struct!(
        Node { children : ::zorb::__private::Map < ::std::string::String, Node >, prices
        : ::zorb::__private::BoundedMap < Suit, ::zorb::Fixed < 5, 2 >, 4 > }
    );
    /// Typedef `IDL:Bits/Names:1.0`.
    pub type Names = ::std::collections::BTreeMap<i8, ::std::string::String>;
    /** Packed.

 Bitset `IDL:Bits/Header:1.0`.*/
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Header {
        /// Bitfield `version`, 3 bits wide.
        pub version: u8,
        /// Bitfield `more_follows`, 1 bit wide.
        pub more_follows: bool,
        /// Bitfield `level`, 12 bits wide.
        pub level: i16,
    }
    ::zorb::__private::cdr_bitset!(
        Header : u32 { version : u8 = 0, 3; more_follows : bool = 3, 1; level : i16 = 8,
        12 }
    );
    /// Bitset `IDL:Bits/Long_Header:1.0`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct LongHeader {
        /// Bitfield `version`, 3 bits wide.
        pub version: u8,
        /// Bitfield `more_follows`, 1 bit wide.
        pub more_follows: bool,
        /// Bitfield `level`, 12 bits wide.
        pub level: i16,
        /// Bitfield `rest`, 40 bits wide.
        pub rest: u64,
    }
    ::zorb::__private::cdr_bitset!(
        LongHeader : u64 { version : u8 = 0, 3; more_follows : bool = 3, 1; level : i16 =
        8, 12; rest : u64 = 20, 40 }
    );
    /// Bitmask `IDL:Bits/Access:1.0`.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
    pub struct Access(u16);
    impl Access {
        /// Flag `read`.
        pub const READ: Self = Self(1);
        /// Flag `write_all`.
        pub const WRITE_ALL: Self = Self(16);
        /// Flag `last`.
        pub const LAST: Self = Self(32768);
    }
    ::zorb::__private::cdr_bitmask!(Access : u16 { READ, WRITE_ALL, LAST });
    /// The operations of a servant of interface `IDL:Bits/Store:1.0`, as `async fn`s.
    pub trait Store: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Operation `swap`. Returns the result, `head`, `tail`.
        #[allow(clippy::type_complexity, reason = "the IDL has as many results")]
        fn swap(
            &self,
            all: &::std::collections::BTreeMap<i8, ::std::string::String>,
            head: Header,
            how: Access,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (
                    ::std::collections::BTreeMap<i8, ::std::string::String>,
                    Header,
                    LongHeader,
                ),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:Bits/Store:1.0`.
    #[derive(Clone)]
    pub struct StoreRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        StoreRef, "IDL:Bits/Store:1.0", concrete & __TC_STORE, bases : []
    );
    impl StoreRef {
        /// Operation `swap`. Returns the result, `head`, `tail`.
        #[allow(clippy::type_complexity, reason = "the IDL has as many results")]
        pub fn swap<'a>(
            &'a self,
            all: &'a ::std::collections::BTreeMap<i8, ::std::string::String>,
            head: Header,
            how: Access,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (
                    ::std::collections::BTreeMap<i8, ::std::string::String>,
                    Header,
                    LongHeader,
                ),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (
                        ::zorb::__private::Map<i8, ::zorb::__private::BoundedWideStr<4>>,
                        Header,
                        LongHeader,
                    ),
                    _,
                >(
                    "swap",
                    (
                        ::zorb::__private::Enc::<
                            ::zorb::__private::Map<
                                i8,
                                ::zorb::__private::BoundedWideStr<4>,
                            >,
                        >(all),
                        head,
                        how,
                    ),
                )
        }
    }
    /// Serves interface `IDL:Bits/Store:1.0` with a [`Store`].
    #[derive(Debug)]
    pub struct StoreServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: Store> StoreServant<T> {
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
    impl<T> ::core::clone::Clone for StoreServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: Store> ::zorb::__private::InterfaceSkeleton for StoreServant<T> {
        type Ref = StoreRef;
    }
    impl<T: Store> ::zorb::__private::Skeleton for StoreServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:Bits/Store:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:Bits/Store:1.0")
        }
        fn start(
            &self,
            request: ::zorb::__private::ServerRequest,
        ) -> ::zorb::__private::Started {
            match request.find(::zorb::__private::Skeleton::operations(self)) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByRef<
                                ::zorb::__private::Map<
                                    i8,
                                    ::zorb::__private::BoundedWideStr<4>,
                                >,
                                ::std::collections::BTreeMap<i8, ::std::string::String>,
                            >,
                            ::zorb::__private::ByValue<Header>,
                            ::zorb::__private::ByValue<Access>,
                        ),
                        (
                            ::zorb::__private::Map<
                                i8,
                                ::zorb::__private::BoundedWideStr<4>,
                            >,
                            Header,
                            LongHeader,
                        ),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Store>::swap)
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
                &[(b"swap", 0)],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_STORE = __Tc::Named(__TcKind::ObjRef, "IDL:Bits/Store:1.0", "Store");
    );
}
