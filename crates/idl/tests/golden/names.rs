/** option: rename Names::Vendor::get\_it = fetch
 option: rename Names::Vendor::get\_it::fn = function
 option: rename Names::Vendor::getIt::fn = function

 Module `IDL:Names:1.0`.*/
pub mod names {
    /// Struct `IDL:Names/struct:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Struct {
        /// Member `match`.
        pub match_: i32,
        /// Member `in`.
        pub in_: i32,
        /// Member `fooBar`.
        pub foo_bar: i32,
    }
    ::zorb::__private::cdr_struct!(Struct { match_ : i32, in_ : i32, foo_bar : i32 });
    ::zorb::__private::type_code!(
        __TC_STRUCT = __Tc::Struct("IDL:Names/struct:1.0", "struct", & [("match", &
        __Tc::Long), ("in", & __Tc::Long), ("fooBar", & __Tc::Long)]); value Struct
    );
    /// Enum `IDL:Names/move:1.0`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Move {
        /// Enumerator `Static`.
        Static,
        /// Enumerator `aBC_d`.
        ABcD,
    }
    ::zorb::__private::cdr_enum!(Move { Static, ABcD });
    ::zorb::__private::idl_enum!(Move { Static = "Static", ABcD = "aBC_d" });
    ::zorb::__private::type_code!(
        __TC_MOVE = __Tc::Enum("IDL:Names/move:1.0", "move", & ["Static", "aBC_d"]);
        value Move
    );
    /// The operations of a servant of interface `IDL:Names/self:1.0`, as `async fn`s.
    pub trait Self_: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Operation `clone`.
        fn clone_(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `type`.
        fn type_(
            &self,
            loop_: i32,
            self_: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Reads attribute `ref`.
        fn ref_(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Writes attribute `ref`.
        fn set_ref(
            &self,
            value: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:Names/self:1.0`.
    #[derive(Clone)]
    pub struct SelfRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        SelfRef, "IDL:Names/self:1.0", concrete & __TC_SELF, bases : []
    );
    impl SelfRef {
        /// Operation `clone`.
        pub fn clone_(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (), _, _>("clone", ())
        }
        /// Operation `type`.
        pub fn type_(
            &self,
            loop_: i32,
            self_: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (::zorb::__private::ByValue<i32>, ::zorb::__private::ByValue<i32>),
                    (),
                    _,
                    _,
                >("type", (loop_, self_))
        }
        /// Reads attribute `ref`.
        pub fn ref_(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (i32,), _, _>("_get_ref", ())
        }
        /// Writes attribute `ref`.
        pub fn set_ref(
            &self,
            value: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (::zorb::__private::ByValue<i32>,),
                    (),
                    _,
                    _,
                >("_set_ref", (value,))
        }
    }
    /// Serves interface `IDL:Names/self:1.0` with a [`Self_`].
    #[derive(Debug)]
    pub struct SelfServant<T_> {
        servant: ::std::sync::Arc<T_>,
    }
    impl<T_: Self_> SelfServant<T_> {
        /// A skeleton that owns its servant.
        pub fn new(servant: T_) -> Self {
            Self {
                servant: ::std::sync::Arc::new(servant),
            }
        }
        /// A skeleton that shares its servant with the other owners of the `Arc`.
        pub fn from_arc(servant: ::std::sync::Arc<T_>) -> Self {
            Self { servant }
        }
    }
    impl<T_> ::core::clone::Clone for SelfServant<T_> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T_: Self_> ::zorb::__private::InterfaceSkeleton for SelfServant<T_> {
        type Ref = SelfRef;
    }
    impl<T_: Self_> ::zorb::__private::Skeleton for SelfServant<T_> {
        fn repository_id(&self) -> &'static str {
            "IDL:Names/self:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:Names/self:1.0")
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
                    >(&self.servant, request, <T_ as Self_>::clone_)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByValue<i32>,
                            ::zorb::__private::ByValue<i32>,
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Self_>::type_)
                }
                ::core::option::Option::Some(2) => {
                    ::zorb::__private::upcall::<
                        (),
                        (i32,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Self_>::ref_)
                }
                ::core::option::Option::Some(3) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByValue<i32>,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Self_>::set_ref)
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
                &[(0, 0), (0, 0)],
                &[(b"type", 1), (b"clone", 0), (b"_get_ref", 2), (b"_set_ref", 3)],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_SELF = __Tc::Named(__TcKind::ObjRef, "IDL:Names/self:1.0", "self");
    );
    /// The operations of a servant of interface `IDL:Names/Bool:1.0`, as `async fn`s.
    pub trait Bool: ::core::marker::Send + ::core::marker::Sync + 'static {}
    /// A reference to an object of interface `IDL:Names/Bool:1.0`.
    #[derive(Clone)]
    pub struct BoolRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        BoolRef, "IDL:Names/Bool:1.0", concrete & __TC_BOOL, bases : []
    );
    /// Serves interface `IDL:Names/Bool:1.0` with a [`Bool`].
    #[derive(Debug)]
    pub struct BoolServant<T_> {
        servant: ::std::sync::Arc<T_>,
    }
    impl<T_: Bool> BoolServant<T_> {
        /// A skeleton that owns its servant.
        pub fn new(servant: T_) -> Self {
            Self {
                servant: ::std::sync::Arc::new(servant),
            }
        }
        /// A skeleton that shares its servant with the other owners of the `Arc`.
        pub fn from_arc(servant: ::std::sync::Arc<T_>) -> Self {
            Self { servant }
        }
    }
    impl<T_> ::core::clone::Clone for BoolServant<T_> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T_: Bool> ::zorb::__private::InterfaceSkeleton for BoolServant<T_> {
        type Ref = BoolRef;
    }
    impl<T_: Bool> ::zorb::__private::Skeleton for BoolServant<T_> {
        fn repository_id(&self) -> &'static str {
            "IDL:Names/Bool:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:Names/Bool:1.0")
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
        __TC_BOOL = __Tc::Named(__TcKind::ObjRef, "IDL:Names/Bool:1.0", "Bool");
    );
    /// Struct `IDL:Names/url_t:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct UrlT {
        /// Member `where`.
        pub where_: ::core::option::Option<BoolRef>,
    }
    ::zorb::__private::cdr_struct!(
        UrlT { where_ : ::zorb::__private::RefCodec < BoolRef > }
    );
    ::zorb::__private::type_code!(
        __TC_URL_T = __Tc::Struct("IDL:Names/url_t:1.0", "url_t", & [("where", &
        __TC_BOOL)]); value UrlT
    );
    /// The operations of a servant of interface `IDL:Names/Vendor:1.0`, as `async fn`s.
    pub trait Vendor: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Operation `getIt`.
        fn get_it(
            &self,
            function: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `get_it`.
        fn fetch(
            &self,
            function: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:Names/Vendor:1.0`.
    #[derive(Clone)]
    pub struct VendorRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        VendorRef, "IDL:Names/Vendor:1.0", concrete & __TC_VENDOR, bases : []
    );
    impl VendorRef {
        /// Operation `getIt`.
        pub fn get_it(
            &self,
            function: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (::zorb::__private::ByValue<i32>,),
                    (i32,),
                    _,
                    _,
                >("getIt", (function,))
        }
        /// Operation `get_it`.
        pub fn fetch(
            &self,
            function: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (::zorb::__private::ByValue<i32>,),
                    (i32,),
                    _,
                    _,
                >("get_it", (function,))
        }
    }
    /// Serves interface `IDL:Names/Vendor:1.0` with a [`Vendor`].
    #[derive(Debug)]
    pub struct VendorServant<T_> {
        servant: ::std::sync::Arc<T_>,
    }
    impl<T_: Vendor> VendorServant<T_> {
        /// A skeleton that owns its servant.
        pub fn new(servant: T_) -> Self {
            Self {
                servant: ::std::sync::Arc::new(servant),
            }
        }
        /// A skeleton that shares its servant with the other owners of the `Arc`.
        pub fn from_arc(servant: ::std::sync::Arc<T_>) -> Self {
            Self { servant }
        }
    }
    impl<T_> ::core::clone::Clone for VendorServant<T_> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T_: Vendor> ::zorb::__private::InterfaceSkeleton for VendorServant<T_> {
        type Ref = VendorRef;
    }
    impl<T_: Vendor> ::zorb::__private::Skeleton for VendorServant<T_> {
        fn repository_id(&self) -> &'static str {
            "IDL:Names/Vendor:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:Names/Vendor:1.0")
        }
        fn start(
            &self,
            request: ::zorb::__private::ServerRequest,
        ) -> ::zorb::__private::Started {
            match request.find(::zorb::__private::Skeleton::operations(self)) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByValue<i32>,),
                        (i32,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Vendor>::get_it)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByValue<i32>,),
                        (i32,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Vendor>::fetch)
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
                4203492208743950414,
                &[(0, 0)],
                &[(b"get_it", 1), (b"getIt", 0)],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_VENDOR = __Tc::Named(__TcKind::ObjRef, "IDL:Names/Vendor:1.0", "Vendor");
    );
    /// Struct `IDL:Names/T:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct T {
        /// Member `try`.
        pub try_: i32,
    }
    ::zorb::__private::cdr_struct!(T { try_ : i32 });
    ::zorb::__private::type_code!(
        __TC_T = __Tc::Struct("IDL:Names/T:1.0", "T", & [("try", & __Tc::Long)]); value T
    );
    /// Exception `IDL:Names/System:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct System;
    ::zorb::__private::exception!(System, "IDL:Names/System:1.0", {});
    ::zorb::__private::type_code!(
        __TC_SYSTEM = __Tc::Except("IDL:Names/System:1.0", "System", & []); exception
        System
    );
    /// Struct `IDL:Names/Packet:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Packet {
        /// Member `streamIDs`.
        pub stream_ids: ::std::string::String,
        /// Member `SNMPv3`.
        pub snmpv3: i32,
    }
    ::zorb::__private::cdr_struct!(
        Packet { stream_ids : ::std::string::String, snmpv3 : i32 }
    );
    ::zorb::__private::type_code!(
        __TC_PACKET = __Tc::Struct("IDL:Names/Packet:1.0", "Packet", & [("streamIDs", &
        __Tc::String(0)), ("SNMPv3", & __Tc::Long)]); value Packet
    );
    /// Typedef `IDL:Names/Packets:1.0`.
    pub type Packets = ::std::vec::Vec<Packet>;
    ::zorb::__private::type_code!(
        __TC_PACKETS = __Tc::Alias("IDL:Names/Packets:1.0", "Packets", & __Tc::Sequence(&
        __TC_PACKET, 0)); alias #[doc = " The TypeCode of `Names::Packets`."]
        PACKETS_TYPE_CODE
    );
    /// The declarations inside interface `Names::Stage`, and the exceptions of its operations.
    pub mod stage {
        /// Exception `IDL:Names/Stage/StartError:1.0`.
        #[derive(Debug, Clone, PartialEq)]
        pub struct StartError {
            /// Member `why`.
            pub why: ::std::string::String,
        }
        ::zorb::__private::exception!(
            StartError, "IDL:Names/Stage/StartError:1.0", { why : ::std::string::String }
        );
        ::zorb::__private::type_code!(
            __TC_START_ERROR = __Tc::Except("IDL:Names/Stage/StartError:1.0",
            "StartError", & [("why", & __Tc::String(0))]); exception StartError
        );
        /// The exceptions of `start`.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum StartCallError {
            /// `IDL:Names/Stage/StartError:1.0`.
            StartError(StartError),
            /// A system exception.
            System(::zorb::SystemException),
        }
        ::zorb::__private::operation_error!(StartCallError { StartError(StartError) });
    }
    /// The operations of a servant of interface `IDL:Names/Stage:1.0`, as `async fn`s.
    pub trait Stage: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Operation `start`.
        fn start(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), stage::StartCallError>,
        > + ::core::marker::Send;
        /// Reads attribute `gain`.
        fn gain(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Writes attribute `gain`.
        fn set_gain_attribute(
            &self,
            value: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `set_gain`.
        fn set_gain(
            &self,
            gain: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `GetIDs`.
        fn get_ids(
            &self,
            node_ids: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                ::std::vec::Vec<Packet>,
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:Names/Stage:1.0`.
    #[derive(Clone)]
    pub struct StageRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        StageRef, "IDL:Names/Stage:1.0", concrete & __TC_STAGE, bases : []
    );
    impl StageRef {
        /// Operation `start`.
        pub fn start(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), stage::StartCallError>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (), _, _>("start", ())
        }
        /// Reads attribute `gain`.
        pub fn gain(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (i32,), _, _>("_get_gain", ())
        }
        /// Writes attribute `gain`.
        pub fn set_gain_attribute(
            &self,
            value: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (::zorb::__private::ByValue<i32>,),
                    (),
                    _,
                    _,
                >("_set_gain", (value,))
        }
        /// Operation `set_gain`.
        pub fn set_gain(
            &self,
            gain: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (::zorb::__private::ByValue<i32>,),
                    (),
                    _,
                    _,
                >("set_gain", (gain,))
        }
        /// Operation `GetIDs`.
        pub fn get_ids(
            &self,
            node_ids: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                ::std::vec::Vec<Packet>,
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send + '_ {
            self.object.invoke::<_, (::std::vec::Vec<Packet>,), _>("GetIDs", (node_ids,))
        }
    }
    /// Serves interface `IDL:Names/Stage:1.0` with a [`Stage`].
    #[derive(Debug)]
    pub struct StageServant<T_> {
        servant: ::std::sync::Arc<T_>,
    }
    impl<T_: Stage> StageServant<T_> {
        /// A skeleton that owns its servant.
        pub fn new(servant: T_) -> Self {
            Self {
                servant: ::std::sync::Arc::new(servant),
            }
        }
        /// A skeleton that shares its servant with the other owners of the `Arc`.
        pub fn from_arc(servant: ::std::sync::Arc<T_>) -> Self {
            Self { servant }
        }
    }
    impl<T_> ::core::clone::Clone for StageServant<T_> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T_: Stage> ::zorb::__private::InterfaceSkeleton for StageServant<T_> {
        type Ref = StageRef;
    }
    impl<T_: Stage> ::zorb::__private::Skeleton for StageServant<T_> {
        fn repository_id(&self) -> &'static str {
            "IDL:Names/Stage:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:Names/Stage:1.0")
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
                    >(&self.servant, request, <T_ as Stage>::start)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (),
                        (i32,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Stage>::gain)
                }
                ::core::option::Option::Some(2) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByValue<i32>,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Stage>::set_gain_attribute)
                }
                ::core::option::Option::Some(3) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByValue<i32>,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Stage>::set_gain)
                }
                ::core::option::Option::Some(4) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByValue<i32>,),
                        (::std::vec::Vec<Packet>,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Stage>::get_ids)
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
                4203492208743950414,
                &[(3, 0), (0, 1)],
                &[
                    (b"_get_gain", 1),
                    (b"GetIDs", 4),
                    (b"start", 0),
                    (b"_set_gain", 2),
                    (b"set_gain", 3),
                ],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_STAGE = __Tc::Named(__TcKind::ObjRef, "IDL:Names/Stage:1.0", "Stage");
    );
    /// Module `IDL:Names/Inner:1.0`.
    pub mod inner {
        /// Exception `IDL:Names/Inner/System:1.0`.
        #[derive(Debug, Clone, PartialEq)]
        pub struct System;
        ::zorb::__private::exception!(System, "IDL:Names/Inner/System:1.0", {});
        ::zorb::__private::type_code!(
            __TC_SYSTEM = __Tc::Except("IDL:Names/Inner/System:1.0", "System", & []);
            exception System
        );
        /// The declarations inside interface `Names::Inner::Two`, and the exceptions of its operations.
        pub mod two {
            /// The exceptions of `f`.
            #[derive(Debug, Clone, PartialEq)]
            #[non_exhaustive]
            pub enum FError {
                /// `IDL:Names/Inner/System:1.0`.
                NamesInnerSystem(super::System),
                /// `IDL:Names/System:1.0`.
                NamesSystem(super::super::System),
                /// A system exception.
                System(::zorb::SystemException),
            }
            ::zorb::__private::operation_error!(
                FError { NamesInnerSystem(super::System),
                NamesSystem(super::super::System) }
            );
        }
        /// The operations of a servant of interface `IDL:Names/Inner/Two:1.0`, as `async fn`s.
        pub trait Two: ::core::marker::Send + ::core::marker::Sync + 'static {
            /// Operation `f`.
            fn f(
                &self,
            ) -> impl ::core::future::Future<
                Output = ::core::result::Result<(), two::FError>,
            > + ::core::marker::Send;
        }
        /// A reference to an object of interface `IDL:Names/Inner/Two:1.0`.
        #[derive(Clone)]
        pub struct TwoRef {
            object: ::zorb::ObjectRef,
        }
        ::zorb::__private::interface_ref!(
            TwoRef, "IDL:Names/Inner/Two:1.0", concrete & __TC_TWO, bases : []
        );
        impl TwoRef {
            /// Operation `f`.
            pub fn f(
                &self,
            ) -> impl ::core::future::Future<
                Output = ::core::result::Result<(), two::FError>,
            > + ::core::marker::Send + '_ {
                self.object.call::<(), (), _, _>("f", ())
            }
        }
        /// Serves interface `IDL:Names/Inner/Two:1.0` with a [`Two`].
        #[derive(Debug)]
        pub struct TwoServant<T_> {
            servant: ::std::sync::Arc<T_>,
        }
        impl<T_: Two> TwoServant<T_> {
            /// A skeleton that owns its servant.
            pub fn new(servant: T_) -> Self {
                Self {
                    servant: ::std::sync::Arc::new(servant),
                }
            }
            /// A skeleton that shares its servant with the other owners of the `Arc`.
            pub fn from_arc(servant: ::std::sync::Arc<T_>) -> Self {
                Self { servant }
            }
        }
        impl<T_> ::core::clone::Clone for TwoServant<T_> {
            fn clone(&self) -> Self {
                Self {
                    servant: ::std::sync::Arc::clone(&self.servant),
                }
            }
        }
        impl<T_: Two> ::zorb::__private::InterfaceSkeleton for TwoServant<T_> {
            type Ref = TwoRef;
        }
        impl<T_: Two> ::zorb::__private::Skeleton for TwoServant<T_> {
            fn repository_id(&self) -> &'static str {
                "IDL:Names/Inner/Two:1.0"
            }
            fn is_a(&self, repository_id: &str) -> bool {
                ::core::matches!(repository_id, "IDL:Names/Inner/Two:1.0")
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
                        >(&self.servant, request, <T_ as Two>::f)
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
                    &[(b"f", 0)],
                );
                &OPERATIONS
            }
        }
        ::zorb::__private::type_code!(
            __TC_TWO = __Tc::Named(__TcKind::ObjRef, "IDL:Names/Inner/Two:1.0", "Two");
        );
    }
}
