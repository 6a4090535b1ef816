/** Every way a value goes in and out.

 Module `IDL:Parameters:1.0`.*/
pub mod parameters {
    /// Typedef `IDL:Parameters/Key:1.0`.
    pub type Key = ::zorb::Bytes;
    ::zorb::__private::type_code!(
        __TC_KEY = __Tc::Alias("IDL:Parameters/Key:1.0", "Key", & __Tc::Sequence(&
        __Tc::Octet, 16)); alias #[doc = " The TypeCode of `Parameters::Key`."]
        KEY_TYPE_CODE
    );
    /// Typedef `IDL:Parameters/Longs:1.0`.
    pub type Longs = ::std::vec::Vec<i32>;
    ::zorb::__private::type_code!(
        __TC_LONGS = __Tc::Alias("IDL:Parameters/Longs:1.0", "Longs", & __Tc::Sequence(&
        __Tc::Long, 0)); alias #[doc = " The TypeCode of `Parameters::Longs`."]
        LONGS_TYPE_CODE
    );
    /// Typedef `IDL:Parameters/Flags:1.0`.
    pub type Flags = ::std::vec::Vec<bool>;
    ::zorb::__private::type_code!(
        __TC_FLAGS = __Tc::Alias("IDL:Parameters/Flags:1.0", "Flags", & __Tc::Sequence(&
        __Tc::Boolean, 0)); alias #[doc = " The TypeCode of `Parameters::Flags`."]
        FLAGS_TYPE_CODE
    );
    /// Typedef `IDL:Parameters/Name:1.0`.
    pub type Name = ::std::string::String;
    ::zorb::__private::type_code!(
        __TC_NAME = __Tc::Alias("IDL:Parameters/Name:1.0", "Name", & __Tc::String(8));
        alias #[doc = " The TypeCode of `Parameters::Name`."] NAME_TYPE_CODE
    );
    /// Typedef `IDL:Parameters/Names:1.0`.
    pub type Names = ::std::vec::Vec<::std::string::String>;
    ::zorb::__private::type_code!(
        __TC_NAMES = __Tc::Alias("IDL:Parameters/Names:1.0", "Names", & __Tc::Sequence(&
        __TC_NAME, 0)); alias #[doc = " The TypeCode of `Parameters::Names`."]
        NAMES_TYPE_CODE
    );
    /// Typedef `IDL:Parameters/TwoNames:1.0`.
    pub type TwoNames = ::std::vec::Vec<::std::string::String>;
    ::zorb::__private::type_code!(
        __TC_TWO_NAMES = __Tc::Alias("IDL:Parameters/TwoNames:1.0", "TwoNames", &
        __Tc::Sequence(& __TC_NAME, 2)); alias #[doc =
        " The TypeCode of `Parameters::TwoNames`."] TWO_NAMES_TYPE_CODE
    );
    /// Typedef `IDL:Parameters/Matrix:1.0`.
    pub type Matrix = [[f64; 2]; 2];
    ::zorb::__private::type_code!(
        __TC_MATRIX = __Tc::Alias("IDL:Parameters/Matrix:1.0", "Matrix", & __Tc::Array(&
        __Tc::Array(& __Tc::Double, 2), 2)); alias #[doc =
        " The TypeCode of `Parameters::Matrix`."] MATRIX_TYPE_CODE
    );
    /// Typedef `IDL:Parameters/NamePair:1.0`.
    pub type NamePair = [::std::string::String; 2];
    ::zorb::__private::type_code!(
        __TC_NAME_PAIR = __Tc::Alias("IDL:Parameters/NamePair:1.0", "NamePair", &
        __Tc::Array(& __TC_NAME, 2)); alias #[doc =
        " The TypeCode of `Parameters::NamePair`."] NAME_PAIR_TYPE_CODE
    );
    /// Enum `IDL:Parameters/Color:1.0`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Color {
        /// Enumerator `red`.
        Red,
        /// Enumerator `green`.
        Green,
    }
    ::zorb::__private::cdr_enum!(Color { Red, Green });
    ::zorb::__private::idl_enum!(Color { Red = "red", Green = "green" });
    ::zorb::__private::type_code!(
        __TC_COLOR = __Tc::Enum("IDL:Parameters/Color:1.0", "Color", & ["red", "green"]);
        value Color
    );
    /// Struct `IDL:Parameters/Point:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Point {
        /// Member `x`.
        pub x: i32,
        /// Member `y`.
        pub y: i32,
    }
    ::zorb::__private::cdr_struct!(Point { x : i32, y : i32 });
    ::zorb::__private::type_code!(
        __TC_POINT = __Tc::Struct("IDL:Parameters/Point:1.0", "Point", & [("x", &
        __Tc::Long), ("y", & __Tc::Long)]); value Point
    );
    /// The operations of a servant of interface `IDL:Parameters/Peer:1.0`, as `async fn`s.
    pub trait Peer: ::core::marker::Send + ::core::marker::Sync + 'static {}
    /// A reference to an object of interface `IDL:Parameters/Peer:1.0`.
    #[derive(Clone)]
    pub struct PeerRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        PeerRef, "IDL:Parameters/Peer:1.0", concrete & __TC_PEER, bases : []
    );
    /// Serves interface `IDL:Parameters/Peer:1.0` with a [`Peer`].
    #[derive(Debug)]
    pub struct PeerServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: Peer> PeerServant<T> {
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
    impl<T> ::core::clone::Clone for PeerServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: Peer> ::zorb::__private::InterfaceSkeleton for PeerServant<T> {
        type Ref = PeerRef;
    }
    impl<T: Peer> ::zorb::__private::Skeleton for PeerServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:Parameters/Peer:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:Parameters/Peer:1.0")
        }
        fn start(
            &self,
            request: ::zorb::__private::ServerRequest,
        ) -> ::zorb::__private::Started {
            request.unknown_operation()
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
    }
    ::zorb::__private::type_code!(
        __TC_PEER = __Tc::Named(__TcKind::ObjRef, "IDL:Parameters/Peer:1.0", "Peer");
    );
    /// Typedef `IDL:Parameters/Friend:1.0`.
    pub type FriendRef = PeerRef;
    ::zorb::__private::type_code!(
        __TC_FRIEND = __Tc::Alias("IDL:Parameters/Friend:1.0", "Friend", & __TC_PEER);
        alias #[doc = " The TypeCode of `Parameters::Friend`."] FRIEND_TYPE_CODE
    );
    /// The operations of a servant of interface `IDL:Parameters/All:1.0`, as `async fn`s.
    pub trait All: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Operation `in_all`.
        #[allow(clippy::too_many_arguments, reason = "the IDL has as many")]
        fn in_all(
            &self,
            k: ::zorb::OctetsRef<'_>,
            l: &[i32],
            f: &[bool],
            n: &str,
            ns: &[::std::string::String],
            t: &[::std::string::String],
            m: &[[f64; 2]; 2],
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `in_more`.
        #[allow(clippy::too_many_arguments, reason = "the IDL has as many")]
        fn in_more(
            &self,
            p: &[::std::string::String; 2],
            c: Color,
            q: &Point,
            r: ::core::option::Option<PeerRef>,
            o: ::core::option::Option<::zorb::ObjectRef>,
            w: &str,
            x: ::zorb::WChar,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `out_all`. Returns the result, `l`, `n`, `ns`, `m`, `p`.
        #[allow(clippy::type_complexity, reason = "the IDL has as many results")]
        fn out_all(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (
                    ::zorb::Bytes,
                    ::std::vec::Vec<i32>,
                    ::std::string::String,
                    ::std::vec::Vec<::std::string::String>,
                    [[f64; 2]; 2],
                    [::std::string::String; 2],
                ),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send;
        /// Operation `inout_all`. Returns `c`, `q`, `r`, `o`, `w`.
        #[allow(clippy::type_complexity, reason = "the IDL has as many results")]
        fn inout_all(
            &self,
            c: Color,
            q: &Point,
            r: ::core::option::Option<PeerRef>,
            o: ::core::option::Option<::zorb::ObjectRef>,
            w: &str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (
                    Color,
                    Point,
                    ::core::option::Option<PeerRef>,
                    ::core::option::Option<::zorb::ObjectRef>,
                    ::std::string::String,
                ),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:Parameters/All:1.0`.
    #[derive(Clone)]
    pub struct AllRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        AllRef, "IDL:Parameters/All:1.0", concrete & __TC_ALL, bases : []
    );
    impl AllRef {
        /// Operation `in_all`.
        #[allow(clippy::too_many_arguments, reason = "the IDL has as many")]
        pub fn in_all<'a>(
            &'a self,
            k: impl ::core::convert::Into<::zorb::Octets<'a>>,
            l: &'a [i32],
            f: &'a [bool],
            n: &'a str,
            ns: &'a [::std::string::String],
            t: &'a [::std::string::String],
            m: &'a [[f64; 2]; 2],
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (),
                    _,
                >(
                    "in_all",
                    (
                        ::zorb::__private::OctetsArgument::<'a, 16>::new(k),
                        l,
                        f,
                        ::zorb::__private::Enc::<::zorb::__private::BoundedStr<8>>(n),
                        ::zorb::__private::Enc::<
                            ::zorb::__private::Seq<::zorb::__private::BoundedStr<8>>,
                        >(ns),
                        ::zorb::__private::Enc::<
                            ::zorb::__private::BoundedSeq<
                                ::zorb::__private::BoundedStr<8>,
                                2,
                            >,
                        >(t),
                        m,
                    ),
                )
        }
        /// Operation `in_more`.
        #[allow(clippy::too_many_arguments, reason = "the IDL has as many")]
        pub fn in_more<'a>(
            &'a self,
            p: &'a [::std::string::String; 2],
            c: Color,
            q: &'a Point,
            r: impl ::zorb::IntoReference<PeerRef>,
            o: impl ::zorb::IntoReference<::zorb::ObjectRef>,
            w: &'a str,
            x: ::zorb::WChar,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (),
                    _,
                >(
                    "in_more",
                    (
                        ::zorb::__private::Enc::<
                            ::zorb::__private::Array<::zorb::__private::BoundedStr<8>, 2>,
                        >(p),
                        c,
                        q,
                        ::zorb::__private::untyped_reference(
                            ::zorb::__private::OwnedArgument::<
                                ::zorb::__private::RefCodec<PeerRef>,
                            >::reference(r),
                        ),
                        ::zorb::__private::untyped_reference(
                            ::zorb::__private::OwnedArgument::<
                                ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                            >::reference(o),
                        ),
                        ::zorb::__private::Enc::<::zorb::__private::WideStr>(w),
                        x,
                    ),
                )
        }
        /// Operation `out_all`. Returns the result, `l`, `n`, `ns`, `m`, `p`.
        #[allow(clippy::type_complexity, reason = "the IDL has as many results")]
        pub fn out_all(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (
                    ::zorb::Bytes,
                    ::std::vec::Vec<i32>,
                    ::std::string::String,
                    ::std::vec::Vec<::std::string::String>,
                    [[f64; 2]; 2],
                    [::std::string::String; 2],
                ),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send + '_ {
            self.object
                .invoke::<
                    _,
                    (
                        ::zorb::__private::BoundedOctets<16>,
                        ::std::vec::Vec<i32>,
                        ::zorb::__private::BoundedStr<8>,
                        ::zorb::__private::Seq<::zorb::__private::BoundedStr<8>>,
                        [[f64; 2]; 2],
                        ::zorb::__private::Array<::zorb::__private::BoundedStr<8>, 2>,
                    ),
                    _,
                >("out_all", ())
        }
        /// Operation `inout_all`. Returns `c`, `q`, `r`, `o`, `w`.
        #[allow(clippy::type_complexity, reason = "the IDL has as many results")]
        pub fn inout_all<'a>(
            &'a self,
            c: Color,
            q: &'a Point,
            r: impl ::zorb::IntoReference<PeerRef>,
            o: impl ::zorb::IntoReference<::zorb::ObjectRef>,
            w: &'a str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (
                    Color,
                    Point,
                    ::core::option::Option<PeerRef>,
                    ::core::option::Option<::zorb::ObjectRef>,
                    ::std::string::String,
                ),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (
                        Color,
                        Point,
                        ::zorb::__private::RefCodec<PeerRef>,
                        ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                        ::zorb::__private::WideStr,
                    ),
                    _,
                >(
                    "inout_all",
                    (
                        c,
                        q,
                        ::zorb::__private::untyped_reference(
                            ::zorb::__private::OwnedArgument::<
                                ::zorb::__private::RefCodec<PeerRef>,
                            >::reference(r),
                        ),
                        ::zorb::__private::untyped_reference(
                            ::zorb::__private::OwnedArgument::<
                                ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                            >::reference(o),
                        ),
                        ::zorb::__private::Enc::<::zorb::__private::WideStr>(w),
                    ),
                )
        }
    }
    /// Serves interface `IDL:Parameters/All:1.0` with a [`All`].
    #[derive(Debug)]
    pub struct AllServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: All> AllServant<T> {
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
    impl<T> ::core::clone::Clone for AllServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: All> ::zorb::__private::InterfaceSkeleton for AllServant<T> {
        type Ref = AllRef;
    }
    impl<T: All> ::zorb::__private::Skeleton for AllServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:Parameters/All:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:Parameters/All:1.0")
        }
        fn start(
            &self,
            request: ::zorb::__private::ServerRequest,
        ) -> ::zorb::__private::Started {
            match request.find(::zorb::__private::Skeleton::operations(self)) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::BorrowedBoundedOctets<16>,
                            ::zorb::__private::BorrowedNumbers<i32>,
                            ::zorb::__private::RecycledSeq<bool>,
                            ::zorb::__private::ByRef<
                                ::zorb::__private::BoundedStr<8>,
                                str,
                            >,
                            ::zorb::__private::RecycledSeq<
                                ::zorb::__private::BoundedStr<8>,
                            >,
                            ::zorb::__private::RecycledSeq<
                                ::zorb::__private::BoundedStr<8>,
                                2,
                            >,
                            ::zorb::__private::ByRef<[[f64; 2]; 2], [[f64; 2]; 2]>,
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as All>::in_all)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByRef<
                                ::zorb::__private::Array<
                                    ::zorb::__private::BoundedStr<8>,
                                    2,
                                >,
                                [::std::string::String; 2],
                            >,
                            ::zorb::__private::ByValue<Color>,
                            ::zorb::__private::ByRef<Point, Point>,
                            ::zorb::__private::Taken<
                                ::zorb::__private::RefCodec<PeerRef>,
                            >,
                            ::zorb::__private::Taken<
                                ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                            >,
                            ::zorb::__private::ByRef<::zorb::__private::WideStr, str>,
                            ::zorb::__private::ByValue<::zorb::WChar>,
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as All>::in_more)
                }
                ::core::option::Option::Some(2) => {
                    ::zorb::__private::upcall::<
                        (),
                        (
                            ::zorb::__private::BoundedOctets<16>,
                            ::std::vec::Vec<i32>,
                            ::zorb::__private::BoundedStr<8>,
                            ::zorb::__private::Seq<::zorb::__private::BoundedStr<8>>,
                            [[f64; 2]; 2],
                            ::zorb::__private::Array<::zorb::__private::BoundedStr<8>, 2>,
                        ),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as All>::out_all)
                }
                ::core::option::Option::Some(3) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByValue<Color>,
                            ::zorb::__private::ByRef<Point, Point>,
                            ::zorb::__private::Taken<
                                ::zorb::__private::RefCodec<PeerRef>,
                            >,
                            ::zorb::__private::Taken<
                                ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                            >,
                            ::zorb::__private::ByRef<::zorb::__private::WideStr, str>,
                        ),
                        (
                            Color,
                            Point,
                            ::zorb::__private::RefCodec<PeerRef>,
                            ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                            ::zorb::__private::WideStr,
                        ),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as All>::inout_all)
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
                &[(0, 1), (0, 0)],
                &[(b"in_all", 0), (b"inout_all", 3), (b"out_all", 2), (b"in_more", 1)],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_ALL = __Tc::Named(__TcKind::ObjRef, "IDL:Parameters/All:1.0", "All");
    );
}
