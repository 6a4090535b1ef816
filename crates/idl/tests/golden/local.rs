/** What stays in its process.
 option: native Here::Cookie = crate::Cookie
 option: native Here::Inner::Token = self::Token

 Module `IDL:Here:1.0`.*/
pub mod here {
    /// Native type `IDL:Here/Cookie:1.0`.
    pub type Cookie = crate::Cookie;
    ::zorb::__private::type_code!(
        __TC_COOKIE = __Tc::Named(__TcKind::Native, "IDL:Here/Cookie:1.0", "Cookie");
    );
    /// Native type `IDL:Here/Servant:1.0`.
    pub type Servant = ::zorb::Native;
    ::zorb::__private::type_code!(
        __TC_SERVANT = __Tc::Named(__TcKind::Native, "IDL:Here/Servant:1.0", "Servant");
    );
    /// Module `IDL:Here/Inner:1.0`.
    pub mod inner {
        /// Native type `IDL:Here/Inner/Token:1.0`.
        pub type Token = super::super::Token;
        ::zorb::__private::type_code!(
            __TC_TOKEN = __Tc::Named(__TcKind::Native, "IDL:Here/Inner/Token:1.0",
            "Token");
        );
    }
    /// Typedef `IDL:Here/ObjectId:1.0`.
    pub type ObjectId = ::zorb::Bytes;
    ::zorb::__private::type_code!(
        __TC_OBJECT_ID = __Tc::Alias("IDL:Here/ObjectId:1.0", "ObjectId", &
        __Tc::Sequence(& __Tc::Octet, 0)); alias #[doc =
        " The TypeCode of `Here::ObjectId`."] OBJECT_ID_TYPE_CODE
    );
    /// Exception `IDL:Here/ForwardRequest:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ForwardRequest {
        /// Member `forward_reference`.
        pub forward_reference: ::core::option::Option<::zorb::ObjectRef>,
    }
    ::zorb::__private::exception!(
        ForwardRequest, "IDL:Here/ForwardRequest:1.0", { forward_reference :
        ::zorb::__private::RefCodec < ::zorb::ObjectRef > }
    );
    ::zorb::__private::type_code!(
        __TC_FORWARD_REQUEST = __Tc::Except("IDL:Here/ForwardRequest:1.0",
        "ForwardRequest", & [("forward_reference", & ::zorb::__private::OBJECT)]);
        exception ForwardRequest
    );
    /// The operations of a servant of interface `IDL:Here/Plain:1.0`, as `async fn`s.
    pub trait Plain: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Operation `ping`.
        fn ping(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Reads attribute `name`.
        fn name(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                ::std::string::String,
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send;
        /// Writes attribute `name`.
        fn set_name(
            &self,
            value: &str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:Here/Plain:1.0`.
    #[derive(Clone)]
    pub struct PlainRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        PlainRef, "IDL:Here/Plain:1.0", concrete & __TC_PLAIN, bases : []
    );
    impl PlainRef {
        /// Operation `ping`.
        pub fn ping(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (), _, _>("ping", ())
        }
        /// Reads attribute `name`.
        pub fn name(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                ::std::string::String,
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (::std::string::String,), _, _>("_get_name", ())
        }
        /// Writes attribute `name`.
        pub fn set_name<'a>(
            &'a self,
            value: &'a str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .call::<
                    (::zorb::__private::BorrowedText,),
                    (),
                    _,
                    _,
                >("_set_name", (value,))
        }
    }
    /// Serves interface `IDL:Here/Plain:1.0` with a [`Plain`].
    #[derive(Debug)]
    pub struct PlainServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: Plain> PlainServant<T> {
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
    impl<T> ::core::clone::Clone for PlainServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: Plain> ::zorb::__private::InterfaceSkeleton for PlainServant<T> {
        type Ref = PlainRef;
    }
    impl<T: Plain> ::zorb::__private::Skeleton for PlainServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:Here/Plain:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:Here/Plain:1.0")
        }
        fn start(
            &self,
            request: ::zorb::__private::ServerRequest,
        ) -> ::zorb::__private::Started {
            match request.find(::zorb::__private::Skeleton::operations(self)) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::upcall::<
                        (),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Plain>::ping)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (),
                        (::std::string::String,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Plain>::name)
                }
                ::core::option::Option::Some(2) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::BorrowedText,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Plain>::set_name)
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
                &[(b"ping", 0), (b"_get_name", 1), (b"_set_name", 2)],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_PLAIN = __Tc::Named(__TcKind::ObjRef, "IDL:Here/Plain:1.0", "Plain");
    );
    /// The declarations inside interface `Here::Manager`, and the exceptions of its operations.
    pub mod manager {
        /// Enum `IDL:Here/Manager/State:1.0`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum State {
            /// Enumerator `idle`.
            Idle,
            /// Enumerator `active`.
            Active,
        }
        ::zorb::__private::cdr_enum!(State { Idle, Active });
        ::zorb::__private::idl_enum!(State { Idle = "idle", Active = "active" });
        ::zorb::__private::type_code!(
            __TC_STATE = __Tc::Enum("IDL:Here/Manager/State:1.0", "State", & ["idle",
            "active"]); value State
        );
        /// The exceptions of `incarnate`.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum IncarnateError {
            /// `IDL:Here/ForwardRequest:1.0`.
            ForwardRequest(super::ForwardRequest),
            /// `IDL:Here/Spoilt:1.0`.
            Spoilt(super::Spoilt),
            /// A system exception.
            System(::zorb::SystemException),
        }
        ::zorb::__private::operation_error!(
            IncarnateError { ForwardRequest(super::ForwardRequest), Spoilt(super::Spoilt)
            }
        );
    }
    /** Hands out servants.

 Local interface `IDL:Here/Manager:1.0`.*/
    pub trait Manager: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Operation `incarnate`. Returns the result, `the_cookie`.
        fn incarnate(
            &self,
            id: &[u8],
            adapter: ::core::option::Option<PlainRef>,
            the_cookie: &Cookie,
        ) -> ::core::result::Result<(Servant, Cookie), manager::IncarnateError>;
        /// Reads attribute `current`.
        fn current(
            &self,
        ) -> ::core::result::Result<manager::State, ::zorb::SystemException>;
        /// Reads attribute `parent`.
        fn parent(
            &self,
        ) -> ::core::result::Result<
            ::core::option::Option<::std::sync::Arc<dyn Manager>>,
            ::zorb::SystemException,
        >;
        /// Writes attribute `parent`.
        fn set_parent(
            &self,
            value: ::core::option::Option<::std::sync::Arc<dyn Manager>>,
        ) -> ::core::result::Result<(), ::zorb::SystemException>;
        /// Operation `find`. Returns the result, `all`.
        fn find(
            &self,
            key: &str,
            like: &Entry,
        ) -> ::core::result::Result<
            (
                Entry,
                ::std::vec::Vec<::core::option::Option<::std::sync::Arc<dyn Manager>>>,
            ),
            ::zorb::SystemException,
        >;
    }
    ::zorb::__private::local_interface!(Manager);
    ::zorb::__private::type_code!(
        __TC_MANAGER = __Tc::Named(__TcKind::LocalInterface, "IDL:Here/Manager:1.0",
        "Manager");
    );
    /// Typedef `IDL:Here/Managers:1.0`.
    pub type Managers = ::std::vec::Vec<
        ::core::option::Option<::std::sync::Arc<dyn Manager>>,
    >;
    ::zorb::__private::type_code!(
        __TC_MANAGERS = __Tc::Alias("IDL:Here/Managers:1.0", "Managers", &
        __Tc::Sequence(& __TC_MANAGER, 0)); alias #[doc =
        " The TypeCode of `Here::Managers`."] MANAGERS_TYPE_CODE
    );
    /// Typedef `IDL:Here/Boss:1.0`.
    pub type BossRef = ::std::sync::Arc<dyn Manager>;
    ::zorb::__private::type_code!(
        __TC_BOSS = __Tc::Alias("IDL:Here/Boss:1.0", "Boss", & __TC_MANAGER); alias #[doc
        = " The TypeCode of `Here::Boss`."] BOSS_TYPE_CODE
    );
    /// Struct `IDL:Here/Entry:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Entry {
        /// Member `key`.
        pub key: ::std::string::String,
        /// Member `value`.
        pub value: ::core::option::Option<::std::sync::Arc<dyn Manager>>,
        /// Member `it`.
        pub it: Servant,
    }
    ::zorb::__private::cdr_struct!(
        Entry { key : ::std::string::String, value : ::zorb::__private::LocalCodec <
        ::core::option::Option < ::std::sync::Arc < dyn Manager > > >, it :
        ::zorb::__private::LocalCodec < Servant > }
    );
    ::zorb::__private::type_code!(
        __TC_ENTRY = __Tc::Struct("IDL:Here/Entry:1.0", "Entry", & [("key", &
        __Tc::String(0)), ("value", & __TC_MANAGER), ("it", & __TC_SERVANT)]); value
        Entry
    );
    /// Union `IDL:Here/Either:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    #[allow(
        clippy::large_enum_variant,
        reason = "members are as large as the IDL has them"
    )]
    pub enum Either {
        /// Member `many`, selected by `TRUE`.
        Many(::std::vec::Vec<::core::option::Option<::std::sync::Arc<dyn Manager>>>),
        /// Member `one`, selected by `FALSE`.
        One(Cookie),
    }
    ::zorb::__private::cdr_union!(
        Either : bool { one { Many(::zorb::__private::Seq < ::zorb::__private::LocalCodec
        < ::core::option::Option < ::std::sync::Arc < dyn Manager > > > >) = [true],
        One(::zorb::__private::LocalCodec < Cookie >) = [false] } several {} }
    );
    ::zorb::__private::type_code!(
        __TC_EITHER = __Tc::Union("IDL:Here/Either:1.0", "Either", & __Tc::Boolean, 1, &
        [(1, "many", & __TC_MANAGERS), (0, "one", & __TC_COOKIE)]); value Either
    );
    /// Exception `IDL:Here/Spoilt:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Spoilt {
        /// Member `what`.
        pub what: Entry,
    }
    ::zorb::__private::exception!(Spoilt, "IDL:Here/Spoilt:1.0", { what : Entry });
    ::zorb::__private::type_code!(
        __TC_SPOILT = __Tc::Except("IDL:Here/Spoilt:1.0", "Spoilt", & [("what", &
        __TC_ENTRY)]); exception Spoilt
    );
    /// Local interface `IDL:Here/Special:1.0`.
    pub trait Special: Manager {
        /// Operation `ping`.
        fn ping(&self) -> ::core::result::Result<(), ::zorb::SystemException>;
        /// Reads attribute `name`.
        fn name(
            &self,
        ) -> ::core::result::Result<::std::string::String, ::zorb::SystemException>;
        /// Writes attribute `name`.
        fn set_name(
            &self,
            value: &str,
        ) -> ::core::result::Result<(), ::zorb::SystemException>;
        /// Operation `count`.
        fn count(
            &self,
            t: &inner::Token,
        ) -> ::core::result::Result<i32, ::zorb::SystemException>;
    }
    ::zorb::__private::local_interface!(Special);
    ::zorb::__private::type_code!(
        __TC_SPECIAL = __Tc::Named(__TcKind::LocalInterface, "IDL:Here/Special:1.0",
        "Special");
    );
    /// Local interface `IDL:Here/Most:1.0`.
    pub trait Most: Special {}
    ::zorb::__private::local_interface!(Most);
    ::zorb::__private::type_code!(
        __TC_MOST = __Tc::Named(__TcKind::LocalInterface, "IDL:Here/Most:1.0", "Most");
    );
}
/// Local interface `IDL:Unseen:1.0`.
pub trait Unseen: ::core::marker::Send + ::core::marker::Sync + 'static {}
::zorb::__private::local_interface!(Unseen);
::zorb::__private::type_code!(
    __TC_UNSEEN = __Tc::Named(__TcKind::LocalInterface, "IDL:Unseen:1.0", "Unseen");
);
/// Struct `IDL:Sees:1.0`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sees {
    /// Member `it`.
    pub it: ::core::option::Option<::std::sync::Arc<dyn Unseen>>,
}
::zorb::__private::cdr_struct!(
    Sees { it : ::zorb::__private::LocalCodec < ::core::option::Option < ::std::sync::Arc
    < dyn Unseen > > > }
);
::zorb::__private::type_code!(
    __TC_SEES = __Tc::Struct("IDL:Sees:1.0", "Sees", & [("it", & __TC_UNSEEN)]); value
    Sees
);
