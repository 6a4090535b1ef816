/// Module `IDL:example.com/Bank:1.0`.
pub mod bank {
    /// Exception `IDL:example.com/Bank/Overdrawn:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Overdrawn {
        /// Member `missing`.
        pub missing: i32,
    }
    ::zorb::__private::exception!(
        Overdrawn, "IDL:example.com/Bank/Overdrawn:1.0", { missing : i32 }
    );
    ::zorb::__private::type_code!(
        __TC_OVERDRAWN = __Tc::Except("IDL:example.com/Bank/Overdrawn:1.0", "Overdrawn",
        & [("missing", & __Tc::Long)]); exception Overdrawn
    );
    /// Typedef `IDL:example.com/Bank/Data:1.0`.
    pub type Data = ::zorb::Bytes;
    ::zorb::__private::type_code!(
        __TC_DATA = __Tc::Alias("IDL:example.com/Bank/Data:1.0", "Data", &
        __Tc::Sequence(& __Tc::Octet, 0)); alias #[doc =
        " The TypeCode of `Bank::Data`."] DATA_TYPE_CODE
    );
    /// The operations of a servant of interface `IDL:example.com/Bank/AMI_AuditHandler:1.0`, as `async fn`s.
    pub trait AmiAuditHandler: ::core::marker::Send + ::core::marker::Sync + 'static {}
    /// A reference to an object of interface `IDL:example.com/Bank/AMI_AuditHandler:1.0`.
    #[derive(Clone)]
    pub struct AmiAuditHandlerRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        AmiAuditHandlerRef, "IDL:example.com/Bank/AMI_AuditHandler:1.0", concrete &
        __TC_AMI_AUDIT_HANDLER, bases : []
    );
    /// Serves interface `IDL:example.com/Bank/AMI_AuditHandler:1.0` with a [`AmiAuditHandler`].
    #[derive(Debug)]
    pub struct AmiAuditHandlerServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: AmiAuditHandler> AmiAuditHandlerServant<T> {
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
    impl<T> ::core::clone::Clone for AmiAuditHandlerServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: AmiAuditHandler> ::zorb::__private::InterfaceSkeleton
    for AmiAuditHandlerServant<T> {
        type Ref = AmiAuditHandlerRef;
    }
    impl<T: AmiAuditHandler> ::zorb::__private::Skeleton for AmiAuditHandlerServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:example.com/Bank/AMI_AuditHandler:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:example.com/Bank/AMI_AuditHandler:1.0")
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
    /// The reply to a call of interface `IDL:example.com/Bank/AMI_AuditHandler:1.0`, which is asked for by the method of the operation.
    #[derive(Debug)]
    pub struct AmiAmiAuditHandlerPoller {
        poller: ::zorb::messaging::Poller,
    }
    ::zorb::__private::poller!(AmiAmiAuditHandlerPoller => []);
    ::zorb::__private::type_code!(
        __TC_AMI_AUDIT_HANDLER = __Tc::Named(__TcKind::ObjRef,
        "IDL:example.com/Bank/AMI_AuditHandler:1.0", "AMI_AuditHandler");
    );
    /// The operations of a servant of interface `IDL:example.com/Bank/AMI_AMI_AuditHandlerHandler:1.0`, as `async fn`s.
    pub trait AmiAmiAuditHandlerHandler: ::core::marker::Send + ::core::marker::Sync + 'static {}
    /// A reference to an object of interface `IDL:example.com/Bank/AMI_AMI_AuditHandlerHandler:1.0`.
    #[derive(Clone)]
    pub struct AmiAmiAuditHandlerHandlerRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        AmiAmiAuditHandlerHandlerRef,
        "IDL:example.com/Bank/AMI_AMI_AuditHandlerHandler:1.0", concrete &
        __TC_AMI_AMI_AUDIT_HANDLER_HANDLER, bases :
        ["IDL:omg.org/Messaging/ReplyHandler:1.0"]
    );
    ::zorb::__private::upcasts!(
        AmiAmiAuditHandlerHandlerRef => [::zorb::messaging::ReplyHandlerRef]
    );
    /// Serves interface `IDL:example.com/Bank/AMI_AMI_AuditHandlerHandler:1.0` with a [`AmiAmiAuditHandlerHandler`].
    #[derive(Debug)]
    pub struct AmiAmiAuditHandlerHandlerServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: AmiAmiAuditHandlerHandler> AmiAmiAuditHandlerHandlerServant<T> {
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
    impl<T> ::core::clone::Clone for AmiAmiAuditHandlerHandlerServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: AmiAmiAuditHandlerHandler> ::zorb::__private::InterfaceSkeleton
    for AmiAmiAuditHandlerHandlerServant<T> {
        type Ref = AmiAmiAuditHandlerHandlerRef;
    }
    impl<T: AmiAmiAuditHandlerHandler> ::zorb::__private::Skeleton
    for AmiAmiAuditHandlerHandlerServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:example.com/Bank/AMI_AMI_AuditHandlerHandler:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(
                repository_id, "IDL:example.com/Bank/AMI_AMI_AuditHandlerHandler:1.0" |
                "IDL:omg.org/Messaging/ReplyHandler:1.0"
            )
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
        __TC_AMI_AMI_AUDIT_HANDLER_HANDLER = __Tc::Named(__TcKind::ObjRef,
        "IDL:example.com/Bank/AMI_AMI_AuditHandlerHandler:1.0",
        "AMI_AMI_AuditHandlerHandler");
    );
    /// The operations of a servant of interface `IDL:example.com/Bank/Audit:1.0`, as `async fn`s.
    pub trait Audit: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Operation `log`.
        fn log(
            &self,
            what: ::core::option::Option<::zorb::ObjectRef>,
            octets: ::zorb::OctetsRef<'_>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `log_excep`.
        fn log_excep(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Oneway operation `tick`.
        fn tick(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:example.com/Bank/Audit:1.0`.
    #[derive(Clone)]
    pub struct AuditRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        AuditRef, "IDL:example.com/Bank/Audit:1.0", concrete & __TC_AUDIT, bases : []
    );
    impl AuditRef {
        /// Operation `log`.
        pub fn log<'a>(
            &'a self,
            what: impl ::zorb::IntoReference<::zorb::ObjectRef>,
            octets: impl ::core::convert::Into<::zorb::Octets<'a>>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .call::<
                    (
                        ::zorb::__private::Taken<
                            ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                        >,
                        ::zorb::__private::BorrowedOctets,
                    ),
                    (i32,),
                    _,
                    _,
                >(
                    "log",
                    (
                        ::zorb::__private::OwnedArgument::<
                            ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                        >::reference(what),
                        ::core::convert::Into::<::zorb::Octets<'a>>::into(octets),
                    ),
                )
        }
        /// Operation `log_excep`.
        pub fn log_excep(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (i32,), _, _>("log_excep", ())
        }
        /// Oneway operation `tick`.
        pub fn tick(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.invoke_oneway("tick", ())
        }
    }
    /// Serves interface `IDL:example.com/Bank/Audit:1.0` with a [`Audit`].
    #[derive(Debug)]
    pub struct AuditServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: Audit> AuditServant<T> {
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
    impl<T> ::core::clone::Clone for AuditServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: Audit> ::zorb::__private::InterfaceSkeleton for AuditServant<T> {
        type Ref = AuditRef;
    }
    impl<T: Audit> ::zorb::__private::Skeleton for AuditServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:example.com/Bank/Audit:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:example.com/Bank/Audit:1.0")
        }
        fn start(
            &self,
            request: ::zorb::__private::ServerRequest,
        ) -> ::zorb::__private::Started {
            match request.find(::zorb::__private::Skeleton::operations(self)) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::Taken<
                                ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                            >,
                            ::zorb::__private::BorrowedOctets,
                        ),
                        (i32,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Audit>::log)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (),
                        (i32,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Audit>::log_excep)
                }
                ::core::option::Option::Some(2) => {
                    ::zorb::__private::upcall::<
                        (),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Audit>::tick)
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
                15995050791870030928,
                &[(2, 0)],
                &[(b"log_excep", 1), (b"log", 0), (b"tick", 2)],
            );
            &OPERATIONS
        }
    }
    impl AuditRef {
        /// Calls operation `log`, and returns before the reply: `ami_handler` gets it, unless it is nil.
        pub fn sendc_log(
            &self,
            ami_handler: impl ::zorb::IntoReference<AmiAmiAuditHandlerRef>,
            what: impl ::zorb::IntoReference<::zorb::ObjectRef>,
            octets: impl ::core::convert::Into<::zorb::Bytes>,
        ) {
            let ami_handler = ::zorb::IntoReference::<
                AmiAmiAuditHandlerRef,
            >::into_reference(ami_handler);
            let __target = ::core::clone::Clone::clone(self);
            let what = ::zorb::IntoReference::<::zorb::ObjectRef>::into_reference(what);
            let octets: ::zorb::Bytes = ::core::convert::Into::into(octets);
            let __call = async move { __target.log(what, &octets).await };
            ::zorb::__private::send_to_handler(
                &self.object,
                ami_handler,
                __call,
                AmiAmiAuditHandlerRef::__reply_log,
            );
        }
        /// Calls operation `log`, and returns before the reply: the poller gets it.
        pub fn sendp_log(
            &self,
            what: impl ::zorb::IntoReference<::zorb::ObjectRef>,
            octets: impl ::core::convert::Into<::zorb::Bytes>,
        ) -> AmiAuditPoller {
            let __target = ::core::clone::Clone::clone(self);
            let what = ::zorb::IntoReference::<::zorb::ObjectRef>::into_reference(what);
            let octets: ::zorb::Bytes = ::core::convert::Into::into(octets);
            let __call = async move { __target.log(what, &octets).await };
            let __poller = ::zorb::__private::send_to_poller(
                &self.object,
                "log",
                __call,
                AmiAmiAuditHandlerRef::__reply_log,
            );
            ::core::convert::From::from(__poller)
        }
        /// Calls operation `log_excep`, and returns before the reply: `ami_handler` gets it, unless it is nil.
        pub fn sendc_log_excep(
            &self,
            ami_handler: impl ::zorb::IntoReference<AmiAmiAuditHandlerRef>,
        ) {
            let ami_handler = ::zorb::IntoReference::<
                AmiAmiAuditHandlerRef,
            >::into_reference(ami_handler);
            let __target = ::core::clone::Clone::clone(self);
            let __call = async move { __target.log_excep().await };
            ::zorb::__private::send_to_handler(
                &self.object,
                ami_handler,
                __call,
                AmiAmiAuditHandlerRef::__reply_log_excep,
            );
        }
        /// Calls operation `log_excep`, and returns before the reply: the poller gets it.
        pub fn sendp_log_excep(&self) -> AmiAuditPoller {
            let __target = ::core::clone::Clone::clone(self);
            let __call = async move { __target.log_excep().await };
            let __poller = ::zorb::__private::send_to_poller(
                &self.object,
                "log_excep",
                __call,
                AmiAmiAuditHandlerRef::__reply_log_excep,
            );
            ::core::convert::From::from(__poller)
        }
    }
    impl AmiAmiAuditHandlerRef {
        #[doc(hidden)]
        pub fn __reply_log(
            self,
            __outcome: ::core::result::Result<i32, ::zorb::SystemException>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'static {
            async move {
                match __outcome {
                    ::core::result::Result::Ok(ami_return_val) => {
                        self.log(ami_return_val).await
                    }
                    ::core::result::Result::Err(__error) => {
                        self.log_ami_excep(&__error).await
                    }
                }
            }
        }
        #[doc(hidden)]
        pub fn __reply_log_excep(
            self,
            __outcome: ::core::result::Result<i32, ::zorb::SystemException>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'static {
            async move {
                match __outcome {
                    ::core::result::Result::Ok(ami_return_val) => {
                        self.log_excep(ami_return_val).await
                    }
                    ::core::result::Result::Err(__error) => {
                        self.log_excep_excep(&__error).await
                    }
                }
            }
        }
    }
    /// The reply to a call of interface `IDL:example.com/Bank/Audit:1.0`, which is asked for by the method of the operation.
    #[derive(Debug)]
    pub struct AmiAuditPoller {
        poller: ::zorb::messaging::Poller,
    }
    ::zorb::__private::poller!(AmiAuditPoller => []);
    impl AmiAuditPoller {
        /// Waits for the reply to `log`, up to `timeout`, or for ever.
        pub fn log(
            &self,
            timeout: ::core::option::Option<::core::time::Duration>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.poller.reply("log", timeout)
        }
        /// Waits for the reply to `log_excep`, up to `timeout`, or for ever.
        pub fn log_excep(
            &self,
            timeout: ::core::option::Option<::core::time::Duration>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.poller.reply("log_excep", timeout)
        }
    }
    ::zorb::__private::type_code!(
        __TC_AUDIT = __Tc::Named(__TcKind::ObjRef, "IDL:example.com/Bank/Audit:1.0",
        "Audit");
    );
    /// The operations of a servant of interface `IDL:example.com/Bank/AMI_AMI_AuditHandler:1.0`, as `async fn`s.
    pub trait AmiAmiAuditHandler: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Operation `log`.
        fn log(
            &self,
            ami_return_val: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `log_ami_excep`.
        fn log_ami_excep(
            &self,
            excep_holder: &::zorb::SystemException,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `log_excep`.
        fn log_excep(
            &self,
            ami_return_val: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `log_excep_excep`.
        fn log_excep_excep(
            &self,
            excep_holder: &::zorb::SystemException,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:example.com/Bank/AMI_AMI_AuditHandler:1.0`.
    #[derive(Clone)]
    pub struct AmiAmiAuditHandlerRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        AmiAmiAuditHandlerRef, "IDL:example.com/Bank/AMI_AMI_AuditHandler:1.0", concrete
        & __TC_AMI_AMI_AUDIT_HANDLER, bases : ["IDL:omg.org/Messaging/ReplyHandler:1.0"]
    );
    ::zorb::__private::upcasts!(
        AmiAmiAuditHandlerRef => [::zorb::messaging::ReplyHandlerRef]
    );
    impl AmiAmiAuditHandlerRef {
        /// Operation `log`.
        pub fn log(
            &self,
            ami_return_val: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (::zorb::__private::ByValue<i32>,),
                    (),
                    _,
                    _,
                >("log", (ami_return_val,))
        }
        /// Operation `log_ami_excep`.
        pub fn log_ami_excep<'a>(
            &'a self,
            excep_holder: &'a ::zorb::SystemException,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (),
                    _,
                >(
                    "log_ami_excep",
                    (
                        ::zorb::__private::Enc::<
                            ::zorb::__private::ExceptionHolderCodec<
                                ::zorb::SystemException,
                            >,
                        >(excep_holder),
                    ),
                )
        }
        /// Operation `log_excep`.
        pub fn log_excep(
            &self,
            ami_return_val: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (::zorb::__private::ByValue<i32>,),
                    (),
                    _,
                    _,
                >("log_excep", (ami_return_val,))
        }
        /// Operation `log_excep_excep`.
        pub fn log_excep_excep<'a>(
            &'a self,
            excep_holder: &'a ::zorb::SystemException,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (),
                    _,
                >(
                    "log_excep_excep",
                    (
                        ::zorb::__private::Enc::<
                            ::zorb::__private::ExceptionHolderCodec<
                                ::zorb::SystemException,
                            >,
                        >(excep_holder),
                    ),
                )
        }
    }
    /// Serves interface `IDL:example.com/Bank/AMI_AMI_AuditHandler:1.0` with a [`AmiAmiAuditHandler`].
    #[derive(Debug)]
    pub struct AmiAmiAuditHandlerServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: AmiAmiAuditHandler> AmiAmiAuditHandlerServant<T> {
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
    impl<T> ::core::clone::Clone for AmiAmiAuditHandlerServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: AmiAmiAuditHandler> ::zorb::__private::InterfaceSkeleton
    for AmiAmiAuditHandlerServant<T> {
        type Ref = AmiAmiAuditHandlerRef;
    }
    impl<T: AmiAmiAuditHandler> ::zorb::__private::Skeleton
    for AmiAmiAuditHandlerServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:example.com/Bank/AMI_AMI_AuditHandler:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(
                repository_id, "IDL:example.com/Bank/AMI_AMI_AuditHandler:1.0" |
                "IDL:omg.org/Messaging/ReplyHandler:1.0"
            )
        }
        fn start(
            &self,
            request: ::zorb::__private::ServerRequest,
        ) -> ::zorb::__private::Started {
            match request.find(::zorb::__private::Skeleton::operations(self)) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByValue<i32>,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAmiAuditHandler>::log)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByRef<
                                ::zorb::__private::ExceptionHolderCodec<
                                    ::zorb::SystemException,
                                >,
                                ::zorb::SystemException,
                            >,
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAmiAuditHandler>::log_ami_excep)
                }
                ::core::option::Option::Some(2) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByValue<i32>,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAmiAuditHandler>::log_excep)
                }
                ::core::option::Option::Some(3) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByRef<
                                ::zorb::__private::ExceptionHolderCodec<
                                    ::zorb::SystemException,
                                >,
                                ::zorb::SystemException,
                            >,
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAmiAuditHandler>::log_excep_excep)
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
                &[(0, 2), (1, 0)],
                &[
                    (b"log_excep", 2),
                    (b"log_excep_excep", 3),
                    (b"log", 0),
                    (b"log_ami_excep", 1),
                ],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_AMI_AMI_AUDIT_HANDLER = __Tc::Named(__TcKind::ObjRef,
        "IDL:example.com/Bank/AMI_AMI_AuditHandler:1.0", "AMI_AMI_AuditHandler");
    );
    /// The declarations inside interface `Bank::Account`, and the exceptions of its operations.
    pub mod account {
        /// The exceptions of `withdraw`.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum WithdrawError {
            /// `IDL:example.com/Bank/Overdrawn:1.0`.
            Overdrawn(super::Overdrawn),
            /// A system exception.
            System(::zorb::SystemException),
        }
        ::zorb::__private::operation_error!(
            WithdrawError { Overdrawn(super::Overdrawn) }
        );
    }
    /// The operations of a servant of interface `IDL:example.com/Bank/Account:1.0`, as `async fn`s.
    pub trait Account: Audit {
        /// Reads attribute `owner`.
        fn owner(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                ::std::string::String,
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send;
        /// Reads attribute `rank`.
        fn rank(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Writes attribute `rank`.
        fn set_rank(
            &self,
            value: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `withdraw`. Returns the result, `why`, `peer`.
        #[allow(clippy::type_complexity, reason = "the IDL has as many results")]
        fn withdraw(
            &self,
            amount: f64,
            why: &str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (f64, ::std::string::String, ::core::option::Option<AccountRef>),
                account::WithdrawError,
            >,
        > + ::core::marker::Send;
        /// Operation `sendc_withdraw`.
        fn sendc_withdraw(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `get_rank`.
        fn get_rank(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:example.com/Bank/Account:1.0`.
    #[derive(Clone)]
    pub struct AccountRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        AccountRef, "IDL:example.com/Bank/Account:1.0", concrete & __TC_ACCOUNT, bases :
        ["IDL:example.com/Bank/Audit:1.0"]
    );
    ::zorb::__private::upcasts!(AccountRef => [AuditRef]);
    impl AccountRef {
        /// Operation `log`.
        pub fn log<'a>(
            &'a self,
            what: impl ::zorb::IntoReference<::zorb::ObjectRef>,
            octets: impl ::core::convert::Into<::zorb::Octets<'a>>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .call::<
                    (
                        ::zorb::__private::Taken<
                            ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                        >,
                        ::zorb::__private::BorrowedOctets,
                    ),
                    (i32,),
                    _,
                    _,
                >(
                    "log",
                    (
                        ::zorb::__private::OwnedArgument::<
                            ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                        >::reference(what),
                        ::core::convert::Into::<::zorb::Octets<'a>>::into(octets),
                    ),
                )
        }
        /// Operation `log_excep`.
        pub fn log_excep(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (i32,), _, _>("log_excep", ())
        }
        /// Oneway operation `tick`.
        pub fn tick(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.invoke_oneway("tick", ())
        }
        /// Reads attribute `owner`.
        pub fn owner(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                ::std::string::String,
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (::std::string::String,), _, _>("_get_owner", ())
        }
        /// Reads attribute `rank`.
        pub fn rank(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (i32,), _, _>("_get_rank", ())
        }
        /// Writes attribute `rank`.
        pub fn set_rank(
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
                >("_set_rank", (value,))
        }
        /// Operation `withdraw`. Returns the result, `why`, `peer`.
        #[allow(clippy::type_complexity, reason = "the IDL has as many results")]
        pub fn withdraw<'a>(
            &'a self,
            amount: f64,
            why: &'a str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (f64, ::std::string::String, ::core::option::Option<AccountRef>),
                account::WithdrawError,
            >,
        > + ::core::marker::Send + 'a {
            self.object
                .call::<
                    (::zorb::__private::ByValue<f64>, ::zorb::__private::BorrowedText),
                    (
                        f64,
                        ::std::string::String,
                        ::zorb::__private::RefCodec<AccountRef>,
                    ),
                    _,
                    _,
                >("withdraw", (amount, why))
        }
        /// Operation `sendc_withdraw`.
        pub fn sendc_withdraw(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (), _, _>("sendc_withdraw", ())
        }
        /// Operation `get_rank`.
        pub fn get_rank(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (), _, _>("get_rank", ())
        }
    }
    /// Serves interface `IDL:example.com/Bank/Account:1.0` with a [`Account`].
    #[derive(Debug)]
    pub struct AccountServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: Account> AccountServant<T> {
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
    impl<T> ::core::clone::Clone for AccountServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: Account> ::zorb::__private::InterfaceSkeleton for AccountServant<T> {
        type Ref = AccountRef;
    }
    impl<T: Account> ::zorb::__private::Skeleton for AccountServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:example.com/Bank/Account:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(
                repository_id, "IDL:example.com/Bank/Account:1.0" |
                "IDL:example.com/Bank/Audit:1.0"
            )
        }
        fn start(
            &self,
            request: ::zorb::__private::ServerRequest,
        ) -> ::zorb::__private::Started {
            match request.find(::zorb::__private::Skeleton::operations(self)) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::Taken<
                                ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                            >,
                            ::zorb::__private::BorrowedOctets,
                        ),
                        (i32,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Audit>::log)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (),
                        (i32,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Audit>::log_excep)
                }
                ::core::option::Option::Some(2) => {
                    ::zorb::__private::upcall::<
                        (),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Audit>::tick)
                }
                ::core::option::Option::Some(3) => {
                    ::zorb::__private::upcall::<
                        (),
                        (::std::string::String,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::owner)
                }
                ::core::option::Option::Some(4) => {
                    ::zorb::__private::upcall::<
                        (),
                        (i32,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::rank)
                }
                ::core::option::Option::Some(5) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByValue<i32>,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::set_rank)
                }
                ::core::option::Option::Some(6) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByValue<f64>,
                            ::zorb::__private::BorrowedText,
                        ),
                        (
                            f64,
                            ::std::string::String,
                            ::zorb::__private::RefCodec<AccountRef>,
                        ),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::withdraw)
                }
                ::core::option::Option::Some(7) => {
                    ::zorb::__private::upcall::<
                        (),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::sendc_withdraw)
                }
                ::core::option::Option::Some(8) => {
                    ::zorb::__private::upcall::<
                        (),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::get_rank)
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
                &[(2, 0), (0, 5), (2, 1)],
                &[
                    (b"log", 0),
                    (b"withdraw", 6),
                    (b"get_rank", 8),
                    (b"_get_rank", 4),
                    (b"tick", 2),
                    (b"_get_owner", 3),
                    (b"_set_rank", 5),
                    (b"sendc_withdraw", 7),
                    (b"log_excep", 1),
                ],
            );
            &OPERATIONS
        }
    }
    impl AccountRef {
        /// Calls operation `log`, and returns before the reply: `ami_handler` gets it, unless it is nil.
        pub fn sendc_log(
            &self,
            ami_handler: impl ::zorb::IntoReference<AmiAmiAuditHandlerRef>,
            what: impl ::zorb::IntoReference<::zorb::ObjectRef>,
            octets: impl ::core::convert::Into<::zorb::Bytes>,
        ) {
            let ami_handler = ::zorb::IntoReference::<
                AmiAmiAuditHandlerRef,
            >::into_reference(ami_handler);
            let __target = ::core::clone::Clone::clone(self);
            let what = ::zorb::IntoReference::<::zorb::ObjectRef>::into_reference(what);
            let octets: ::zorb::Bytes = ::core::convert::Into::into(octets);
            let __call = async move { __target.log(what, &octets).await };
            ::zorb::__private::send_to_handler(
                &self.object,
                ami_handler,
                __call,
                AmiAmiAuditHandlerRef::__reply_log,
            );
        }
        /// Calls operation `log`, and returns before the reply: the poller gets it.
        pub fn sendp_log(
            &self,
            what: impl ::zorb::IntoReference<::zorb::ObjectRef>,
            octets: impl ::core::convert::Into<::zorb::Bytes>,
        ) -> AmiAuditPoller {
            let __target = ::core::clone::Clone::clone(self);
            let what = ::zorb::IntoReference::<::zorb::ObjectRef>::into_reference(what);
            let octets: ::zorb::Bytes = ::core::convert::Into::into(octets);
            let __call = async move { __target.log(what, &octets).await };
            let __poller = ::zorb::__private::send_to_poller(
                &self.object,
                "log",
                __call,
                AmiAmiAuditHandlerRef::__reply_log,
            );
            ::core::convert::From::from(__poller)
        }
        /// Calls operation `log_excep`, and returns before the reply: `ami_handler` gets it, unless it is nil.
        pub fn sendc_log_excep(
            &self,
            ami_handler: impl ::zorb::IntoReference<AmiAmiAuditHandlerRef>,
        ) {
            let ami_handler = ::zorb::IntoReference::<
                AmiAmiAuditHandlerRef,
            >::into_reference(ami_handler);
            let __target = ::core::clone::Clone::clone(self);
            let __call = async move { __target.log_excep().await };
            ::zorb::__private::send_to_handler(
                &self.object,
                ami_handler,
                __call,
                AmiAmiAuditHandlerRef::__reply_log_excep,
            );
        }
        /// Calls operation `log_excep`, and returns before the reply: the poller gets it.
        pub fn sendp_log_excep(&self) -> AmiAuditPoller {
            let __target = ::core::clone::Clone::clone(self);
            let __call = async move { __target.log_excep().await };
            let __poller = ::zorb::__private::send_to_poller(
                &self.object,
                "log_excep",
                __call,
                AmiAmiAuditHandlerRef::__reply_log_excep,
            );
            ::core::convert::From::from(__poller)
        }
        /// Reads attribute `owner`, and returns before the reply: `ami_handler` gets it, unless it is nil.
        pub fn sendc_get_owner(
            &self,
            ami_handler: impl ::zorb::IntoReference<AmiAccountHandlerRef>,
        ) {
            let ami_handler = ::zorb::IntoReference::<
                AmiAccountHandlerRef,
            >::into_reference(ami_handler);
            let __target = ::core::clone::Clone::clone(self);
            let __call = async move { __target.owner().await };
            ::zorb::__private::send_to_handler(
                &self.object,
                ami_handler,
                __call,
                AmiAccountHandlerRef::__reply_get_owner,
            );
        }
        /// Reads attribute `owner`, and returns before the reply: the poller gets it.
        pub fn sendp_get_owner(&self) -> AmiAccountPoller {
            let __target = ::core::clone::Clone::clone(self);
            let __call = async move { __target.owner().await };
            let __poller = ::zorb::__private::send_to_poller(
                &self.object,
                "get_owner",
                __call,
                AmiAccountHandlerRef::__reply_get_owner,
            );
            ::core::convert::From::from(__poller)
        }
        /// Reads attribute `rank`, and returns before the reply: `ami_handler` gets it, unless it is nil.
        pub fn sendc_ami_get_rank(
            &self,
            ami_handler: impl ::zorb::IntoReference<AmiAccountHandlerRef>,
        ) {
            let ami_handler = ::zorb::IntoReference::<
                AmiAccountHandlerRef,
            >::into_reference(ami_handler);
            let __target = ::core::clone::Clone::clone(self);
            let __call = async move { __target.rank().await };
            ::zorb::__private::send_to_handler(
                &self.object,
                ami_handler,
                __call,
                AmiAccountHandlerRef::__reply_ami_get_rank,
            );
        }
        /// Reads attribute `rank`, and returns before the reply: the poller gets it.
        pub fn sendp_ami_get_rank(&self) -> AmiAccountPoller {
            let __target = ::core::clone::Clone::clone(self);
            let __call = async move { __target.rank().await };
            let __poller = ::zorb::__private::send_to_poller(
                &self.object,
                "ami_get_rank",
                __call,
                AmiAccountHandlerRef::__reply_ami_get_rank,
            );
            ::core::convert::From::from(__poller)
        }
        /// Writes attribute `rank`, and returns before the reply: `ami_handler` gets it, unless it is nil.
        pub fn sendc_set_rank(
            &self,
            ami_handler: impl ::zorb::IntoReference<AmiAccountHandlerRef>,
            value: i32,
        ) {
            let ami_handler = ::zorb::IntoReference::<
                AmiAccountHandlerRef,
            >::into_reference(ami_handler);
            let __target = ::core::clone::Clone::clone(self);
            let __call = async move { __target.set_rank(value).await };
            ::zorb::__private::send_to_handler(
                &self.object,
                ami_handler,
                __call,
                AmiAccountHandlerRef::__reply_set_rank,
            );
        }
        /// Writes attribute `rank`, and returns before the reply: the poller gets it.
        pub fn sendp_set_rank(&self, value: i32) -> AmiAccountPoller {
            let __target = ::core::clone::Clone::clone(self);
            let __call = async move { __target.set_rank(value).await };
            let __poller = ::zorb::__private::send_to_poller(
                &self.object,
                "set_rank",
                __call,
                AmiAccountHandlerRef::__reply_set_rank,
            );
            ::core::convert::From::from(__poller)
        }
        /// Calls operation `withdraw`, and returns before the reply: `ami_handler` gets it, unless it is nil.
        pub fn sendc_ami_withdraw(
            &self,
            ami_handler: impl ::zorb::IntoReference<AmiAccountHandlerRef>,
            amount: f64,
            why: impl ::core::convert::Into<::std::string::String>,
        ) {
            let ami_handler = ::zorb::IntoReference::<
                AmiAccountHandlerRef,
            >::into_reference(ami_handler);
            let __target = ::core::clone::Clone::clone(self);
            let why: ::std::string::String = ::core::convert::Into::into(why);
            let __call = async move { __target.withdraw(amount, &why).await };
            ::zorb::__private::send_to_handler(
                &self.object,
                ami_handler,
                __call,
                AmiAccountHandlerRef::__reply_withdraw,
            );
        }
        /// Calls operation `withdraw`, and returns before the reply: the poller gets it.
        pub fn sendp_withdraw(
            &self,
            amount: f64,
            why: impl ::core::convert::Into<::std::string::String>,
        ) -> AmiAccountPoller {
            let __target = ::core::clone::Clone::clone(self);
            let why: ::std::string::String = ::core::convert::Into::into(why);
            let __call = async move { __target.withdraw(amount, &why).await };
            let __poller = ::zorb::__private::send_to_poller(
                &self.object,
                "withdraw",
                __call,
                AmiAccountHandlerRef::__reply_withdraw,
            );
            ::core::convert::From::from(__poller)
        }
        /// Calls operation `sendc_withdraw`, and returns before the reply: `ami_handler` gets it, unless it is nil.
        pub fn sendc_sendc_withdraw(
            &self,
            ami_handler: impl ::zorb::IntoReference<AmiAccountHandlerRef>,
        ) {
            let ami_handler = ::zorb::IntoReference::<
                AmiAccountHandlerRef,
            >::into_reference(ami_handler);
            let __target = ::core::clone::Clone::clone(self);
            let __call = async move { __target.sendc_withdraw().await };
            ::zorb::__private::send_to_handler(
                &self.object,
                ami_handler,
                __call,
                AmiAccountHandlerRef::__reply_sendc_withdraw,
            );
        }
        /// Calls operation `sendc_withdraw`, and returns before the reply: the poller gets it.
        pub fn sendp_sendc_withdraw(&self) -> AmiAccountPoller {
            let __target = ::core::clone::Clone::clone(self);
            let __call = async move { __target.sendc_withdraw().await };
            let __poller = ::zorb::__private::send_to_poller(
                &self.object,
                "sendc_withdraw",
                __call,
                AmiAccountHandlerRef::__reply_sendc_withdraw,
            );
            ::core::convert::From::from(__poller)
        }
        /// Calls operation `get_rank`, and returns before the reply: `ami_handler` gets it, unless it is nil.
        pub fn sendc_get_rank(
            &self,
            ami_handler: impl ::zorb::IntoReference<AmiAccountHandlerRef>,
        ) {
            let ami_handler = ::zorb::IntoReference::<
                AmiAccountHandlerRef,
            >::into_reference(ami_handler);
            let __target = ::core::clone::Clone::clone(self);
            let __call = async move { __target.get_rank().await };
            ::zorb::__private::send_to_handler(
                &self.object,
                ami_handler,
                __call,
                AmiAccountHandlerRef::__reply_get_rank,
            );
        }
        /// Calls operation `get_rank`, and returns before the reply: the poller gets it.
        pub fn sendp_get_rank(&self) -> AmiAccountPoller {
            let __target = ::core::clone::Clone::clone(self);
            let __call = async move { __target.get_rank().await };
            let __poller = ::zorb::__private::send_to_poller(
                &self.object,
                "get_rank",
                __call,
                AmiAccountHandlerRef::__reply_get_rank,
            );
            ::core::convert::From::from(__poller)
        }
    }
    impl AmiAccountHandlerRef {
        #[doc(hidden)]
        pub fn __reply_get_owner(
            self,
            __outcome: ::core::result::Result<
                ::std::string::String,
                ::zorb::SystemException,
            >,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'static {
            async move {
                match __outcome {
                    ::core::result::Result::Ok(ami_return_val) => {
                        self.get_owner(&ami_return_val).await
                    }
                    ::core::result::Result::Err(__error) => {
                        self.get_owner_excep(&__error).await
                    }
                }
            }
        }
        #[doc(hidden)]
        pub fn __reply_ami_get_rank(
            self,
            __outcome: ::core::result::Result<i32, ::zorb::SystemException>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'static {
            async move {
                match __outcome {
                    ::core::result::Result::Ok(ami_return_val) => {
                        self.ami_get_rank(ami_return_val).await
                    }
                    ::core::result::Result::Err(__error) => {
                        self.ami_get_rank_excep(&__error).await
                    }
                }
            }
        }
        #[doc(hidden)]
        pub fn __reply_set_rank(
            self,
            __outcome: ::core::result::Result<(), ::zorb::SystemException>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'static {
            async move {
                match __outcome {
                    ::core::result::Result::Ok(()) => self.set_rank().await,
                    ::core::result::Result::Err(__error) => {
                        self.set_rank_excep(&__error).await
                    }
                }
            }
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity, reason = "the IDL has as many results")]
        pub fn __reply_withdraw(
            self,
            __outcome: ::core::result::Result<
                (f64, ::std::string::String, ::core::option::Option<AccountRef>),
                account::WithdrawError,
            >,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'static {
            async move {
                match __outcome {
                    ::core::result::Result::Ok((ami_return_val, why, peer)) => {
                        self.withdraw(ami_return_val, &why, peer).await
                    }
                    ::core::result::Result::Err(__error) => {
                        self.withdraw_excep(&__error).await
                    }
                }
            }
        }
        #[doc(hidden)]
        pub fn __reply_sendc_withdraw(
            self,
            __outcome: ::core::result::Result<(), ::zorb::SystemException>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'static {
            async move {
                match __outcome {
                    ::core::result::Result::Ok(()) => self.sendc_withdraw().await,
                    ::core::result::Result::Err(__error) => {
                        self.sendc_withdraw_excep(&__error).await
                    }
                }
            }
        }
        #[doc(hidden)]
        pub fn __reply_get_rank(
            self,
            __outcome: ::core::result::Result<(), ::zorb::SystemException>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'static {
            async move {
                match __outcome {
                    ::core::result::Result::Ok(()) => self.get_rank().await,
                    ::core::result::Result::Err(__error) => {
                        self.get_rank_excep(&__error).await
                    }
                }
            }
        }
    }
    /// The reply to a call of interface `IDL:example.com/Bank/Account:1.0`, which is asked for by the method of the operation.
    #[derive(Debug)]
    pub struct AmiAccountPoller {
        poller: ::zorb::messaging::Poller,
    }
    ::zorb::__private::poller!(AmiAccountPoller => [AmiAuditPoller]);
    impl AmiAccountPoller {
        /// Waits for the reply to `log`, up to `timeout`, or for ever.
        pub fn log(
            &self,
            timeout: ::core::option::Option<::core::time::Duration>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.poller.reply("log", timeout)
        }
        /// Waits for the reply to `log_excep`, up to `timeout`, or for ever.
        pub fn log_excep(
            &self,
            timeout: ::core::option::Option<::core::time::Duration>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.poller.reply("log_excep", timeout)
        }
        /// Waits for the reply to `_get_owner`, up to `timeout`, or for ever.
        pub fn get_owner(
            &self,
            timeout: ::core::option::Option<::core::time::Duration>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                ::std::string::String,
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send + '_ {
            self.poller.reply("get_owner", timeout)
        }
        /// Waits for the reply to `_get_rank`, up to `timeout`, or for ever.
        pub fn ami_get_rank(
            &self,
            timeout: ::core::option::Option<::core::time::Duration>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.poller.reply("ami_get_rank", timeout)
        }
        /// Waits for the reply to `_set_rank`, up to `timeout`, or for ever.
        pub fn set_rank(
            &self,
            timeout: ::core::option::Option<::core::time::Duration>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.poller.reply("set_rank", timeout)
        }
        /// Waits for the reply to `withdraw`, up to `timeout`, or for ever.
        #[allow(clippy::type_complexity, reason = "the IDL has as many results")]
        pub fn withdraw(
            &self,
            timeout: ::core::option::Option<::core::time::Duration>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (f64, ::std::string::String, ::core::option::Option<AccountRef>),
                account::WithdrawError,
            >,
        > + ::core::marker::Send + '_ {
            self.poller.reply("withdraw", timeout)
        }
        /// Waits for the reply to `sendc_withdraw`, up to `timeout`, or for ever.
        pub fn sendc_withdraw(
            &self,
            timeout: ::core::option::Option<::core::time::Duration>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.poller.reply("sendc_withdraw", timeout)
        }
        /// Waits for the reply to `get_rank`, up to `timeout`, or for ever.
        pub fn get_rank(
            &self,
            timeout: ::core::option::Option<::core::time::Duration>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.poller.reply("get_rank", timeout)
        }
    }
    ::zorb::__private::type_code!(
        __TC_ACCOUNT = __Tc::Named(__TcKind::ObjRef, "IDL:example.com/Bank/Account:1.0",
        "Account");
    );
    /// The operations of a servant of interface `IDL:example.com/Bank/AMI_AccountHandler:1.0`, as `async fn`s.
    pub trait AmiAccountHandler: AmiAmiAuditHandler {
        /// Operation `get_owner`.
        fn get_owner(
            &self,
            ami_return_val: &str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `get_owner_excep`.
        fn get_owner_excep(
            &self,
            excep_holder: &::zorb::SystemException,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `ami_get_rank`.
        fn ami_get_rank(
            &self,
            ami_return_val: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `ami_get_rank_excep`.
        fn ami_get_rank_excep(
            &self,
            excep_holder: &::zorb::SystemException,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `set_rank`.
        fn set_rank(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `set_rank_excep`.
        fn set_rank_excep(
            &self,
            excep_holder: &::zorb::SystemException,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `withdraw`.
        fn withdraw(
            &self,
            ami_return_val: f64,
            why: &str,
            peer: ::core::option::Option<AccountRef>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `withdraw_excep`.
        fn withdraw_excep(
            &self,
            excep_holder: &account::WithdrawError,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `sendc_withdraw`.
        fn sendc_withdraw(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `sendc_withdraw_excep`.
        fn sendc_withdraw_excep(
            &self,
            excep_holder: &::zorb::SystemException,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `get_rank`.
        fn get_rank(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `get_rank_excep`.
        fn get_rank_excep(
            &self,
            excep_holder: &::zorb::SystemException,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:example.com/Bank/AMI_AccountHandler:1.0`.
    #[derive(Clone)]
    pub struct AmiAccountHandlerRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        AmiAccountHandlerRef, "IDL:example.com/Bank/AMI_AccountHandler:1.0", concrete &
        __TC_AMI_ACCOUNT_HANDLER, bases :
        ["IDL:example.com/Bank/AMI_AMI_AuditHandler:1.0",
        "IDL:omg.org/Messaging/ReplyHandler:1.0"]
    );
    ::zorb::__private::upcasts!(
        AmiAccountHandlerRef => [AmiAmiAuditHandlerRef,
        ::zorb::messaging::ReplyHandlerRef]
    );
    impl AmiAccountHandlerRef {
        /// Operation `log`.
        pub fn log(
            &self,
            ami_return_val: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (::zorb::__private::ByValue<i32>,),
                    (),
                    _,
                    _,
                >("log", (ami_return_val,))
        }
        /// Operation `log_ami_excep`.
        pub fn log_ami_excep<'a>(
            &'a self,
            excep_holder: &'a ::zorb::SystemException,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (),
                    _,
                >(
                    "log_ami_excep",
                    (
                        ::zorb::__private::Enc::<
                            ::zorb::__private::ExceptionHolderCodec<
                                ::zorb::SystemException,
                            >,
                        >(excep_holder),
                    ),
                )
        }
        /// Operation `log_excep`.
        pub fn log_excep(
            &self,
            ami_return_val: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (::zorb::__private::ByValue<i32>,),
                    (),
                    _,
                    _,
                >("log_excep", (ami_return_val,))
        }
        /// Operation `log_excep_excep`.
        pub fn log_excep_excep<'a>(
            &'a self,
            excep_holder: &'a ::zorb::SystemException,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (),
                    _,
                >(
                    "log_excep_excep",
                    (
                        ::zorb::__private::Enc::<
                            ::zorb::__private::ExceptionHolderCodec<
                                ::zorb::SystemException,
                            >,
                        >(excep_holder),
                    ),
                )
        }
        /// Operation `get_owner`.
        pub fn get_owner<'a>(
            &'a self,
            ami_return_val: &'a str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .call::<
                    (::zorb::__private::BorrowedText,),
                    (),
                    _,
                    _,
                >("get_owner", (ami_return_val,))
        }
        /// Operation `get_owner_excep`.
        pub fn get_owner_excep<'a>(
            &'a self,
            excep_holder: &'a ::zorb::SystemException,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (),
                    _,
                >(
                    "get_owner_excep",
                    (
                        ::zorb::__private::Enc::<
                            ::zorb::__private::ExceptionHolderCodec<
                                ::zorb::SystemException,
                            >,
                        >(excep_holder),
                    ),
                )
        }
        /// Operation `ami_get_rank`.
        pub fn ami_get_rank(
            &self,
            ami_return_val: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (::zorb::__private::ByValue<i32>,),
                    (),
                    _,
                    _,
                >("ami_get_rank", (ami_return_val,))
        }
        /// Operation `ami_get_rank_excep`.
        pub fn ami_get_rank_excep<'a>(
            &'a self,
            excep_holder: &'a ::zorb::SystemException,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (),
                    _,
                >(
                    "ami_get_rank_excep",
                    (
                        ::zorb::__private::Enc::<
                            ::zorb::__private::ExceptionHolderCodec<
                                ::zorb::SystemException,
                            >,
                        >(excep_holder),
                    ),
                )
        }
        /// Operation `set_rank`.
        pub fn set_rank(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (), _, _>("set_rank", ())
        }
        /// Operation `set_rank_excep`.
        pub fn set_rank_excep<'a>(
            &'a self,
            excep_holder: &'a ::zorb::SystemException,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (),
                    _,
                >(
                    "set_rank_excep",
                    (
                        ::zorb::__private::Enc::<
                            ::zorb::__private::ExceptionHolderCodec<
                                ::zorb::SystemException,
                            >,
                        >(excep_holder),
                    ),
                )
        }
        /// Operation `withdraw`.
        pub fn withdraw<'a>(
            &'a self,
            ami_return_val: f64,
            why: &'a str,
            peer: impl ::zorb::IntoReference<AccountRef>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .call::<
                    (
                        ::zorb::__private::ByValue<f64>,
                        ::zorb::__private::BorrowedText,
                        ::zorb::__private::Taken<::zorb::__private::RefCodec<AccountRef>>,
                    ),
                    (),
                    _,
                    _,
                >(
                    "withdraw",
                    (
                        ami_return_val,
                        why,
                        ::zorb::__private::OwnedArgument::<
                            ::zorb::__private::RefCodec<AccountRef>,
                        >::reference(peer),
                    ),
                )
        }
        /// Operation `withdraw_excep`.
        pub fn withdraw_excep<'a>(
            &'a self,
            excep_holder: &'a account::WithdrawError,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (),
                    _,
                >(
                    "withdraw_excep",
                    (
                        ::zorb::__private::Enc::<
                            ::zorb::__private::ExceptionHolderCodec<
                                account::WithdrawError,
                            >,
                        >(excep_holder),
                    ),
                )
        }
        /// Operation `sendc_withdraw`.
        pub fn sendc_withdraw(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (), _, _>("sendc_withdraw", ())
        }
        /// Operation `sendc_withdraw_excep`.
        pub fn sendc_withdraw_excep<'a>(
            &'a self,
            excep_holder: &'a ::zorb::SystemException,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (),
                    _,
                >(
                    "sendc_withdraw_excep",
                    (
                        ::zorb::__private::Enc::<
                            ::zorb::__private::ExceptionHolderCodec<
                                ::zorb::SystemException,
                            >,
                        >(excep_holder),
                    ),
                )
        }
        /// Operation `get_rank`.
        pub fn get_rank(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (), _, _>("get_rank", ())
        }
        /// Operation `get_rank_excep`.
        pub fn get_rank_excep<'a>(
            &'a self,
            excep_holder: &'a ::zorb::SystemException,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (),
                    _,
                >(
                    "get_rank_excep",
                    (
                        ::zorb::__private::Enc::<
                            ::zorb::__private::ExceptionHolderCodec<
                                ::zorb::SystemException,
                            >,
                        >(excep_holder),
                    ),
                )
        }
    }
    /// Serves interface `IDL:example.com/Bank/AMI_AccountHandler:1.0` with a [`AmiAccountHandler`].
    #[derive(Debug)]
    pub struct AmiAccountHandlerServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: AmiAccountHandler> AmiAccountHandlerServant<T> {
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
    impl<T> ::core::clone::Clone for AmiAccountHandlerServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: AmiAccountHandler> ::zorb::__private::InterfaceSkeleton
    for AmiAccountHandlerServant<T> {
        type Ref = AmiAccountHandlerRef;
    }
    impl<T: AmiAccountHandler> ::zorb::__private::Skeleton
    for AmiAccountHandlerServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:example.com/Bank/AMI_AccountHandler:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(
                repository_id, "IDL:example.com/Bank/AMI_AccountHandler:1.0" |
                "IDL:example.com/Bank/AMI_AMI_AuditHandler:1.0" |
                "IDL:omg.org/Messaging/ReplyHandler:1.0"
            )
        }
        fn start(
            &self,
            request: ::zorb::__private::ServerRequest,
        ) -> ::zorb::__private::Started {
            match request.find(::zorb::__private::Skeleton::operations(self)) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByValue<i32>,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAmiAuditHandler>::log)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByRef<
                                ::zorb::__private::ExceptionHolderCodec<
                                    ::zorb::SystemException,
                                >,
                                ::zorb::SystemException,
                            >,
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAmiAuditHandler>::log_ami_excep)
                }
                ::core::option::Option::Some(2) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByValue<i32>,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAmiAuditHandler>::log_excep)
                }
                ::core::option::Option::Some(3) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByRef<
                                ::zorb::__private::ExceptionHolderCodec<
                                    ::zorb::SystemException,
                                >,
                                ::zorb::SystemException,
                            >,
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAmiAuditHandler>::log_excep_excep)
                }
                ::core::option::Option::Some(4) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::BorrowedText,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAccountHandler>::get_owner)
                }
                ::core::option::Option::Some(5) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByRef<
                                ::zorb::__private::ExceptionHolderCodec<
                                    ::zorb::SystemException,
                                >,
                                ::zorb::SystemException,
                            >,
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAccountHandler>::get_owner_excep)
                }
                ::core::option::Option::Some(6) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByValue<i32>,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAccountHandler>::ami_get_rank)
                }
                ::core::option::Option::Some(7) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByRef<
                                ::zorb::__private::ExceptionHolderCodec<
                                    ::zorb::SystemException,
                                >,
                                ::zorb::SystemException,
                            >,
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(
                        &self.servant,
                        request,
                        <T as AmiAccountHandler>::ami_get_rank_excep,
                    )
                }
                ::core::option::Option::Some(8) => {
                    ::zorb::__private::upcall::<
                        (),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAccountHandler>::set_rank)
                }
                ::core::option::Option::Some(9) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByRef<
                                ::zorb::__private::ExceptionHolderCodec<
                                    ::zorb::SystemException,
                                >,
                                ::zorb::SystemException,
                            >,
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAccountHandler>::set_rank_excep)
                }
                ::core::option::Option::Some(10) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByValue<f64>,
                            ::zorb::__private::BorrowedText,
                            ::zorb::__private::Taken<
                                ::zorb::__private::RefCodec<AccountRef>,
                            >,
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAccountHandler>::withdraw)
                }
                ::core::option::Option::Some(11) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByRef<
                                ::zorb::__private::ExceptionHolderCodec<
                                    account::WithdrawError,
                                >,
                                account::WithdrawError,
                            >,
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAccountHandler>::withdraw_excep)
                }
                ::core::option::Option::Some(12) => {
                    ::zorb::__private::upcall::<
                        (),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAccountHandler>::sendc_withdraw)
                }
                ::core::option::Option::Some(13) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByRef<
                                ::zorb::__private::ExceptionHolderCodec<
                                    ::zorb::SystemException,
                                >,
                                ::zorb::SystemException,
                            >,
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(
                        &self.servant,
                        request,
                        <T as AmiAccountHandler>::sendc_withdraw_excep,
                    )
                }
                ::core::option::Option::Some(14) => {
                    ::zorb::__private::upcall::<
                        (),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAccountHandler>::get_rank)
                }
                ::core::option::Option::Some(15) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByRef<
                                ::zorb::__private::ExceptionHolderCodec<
                                    ::zorb::SystemException,
                                >,
                                ::zorb::SystemException,
                            >,
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as AmiAccountHandler>::get_rank_excep)
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
                &[(0, 3), (1, 0), (0, 6), (0, 4), (0, 9), (2, 0)],
                &[
                    (b"log_ami_excep", 1),
                    (b"get_owner", 4),
                    (b"set_rank", 8),
                    (b"log", 0),
                    (b"get_rank", 14),
                    (b"sendc_withdraw", 12),
                    (b"log_excep_excep", 3),
                    (b"withdraw_excep", 11),
                    (b"set_rank_excep", 9),
                    (b"get_rank_excep", 15),
                    (b"withdraw", 10),
                    (b"ami_get_rank_excep", 7),
                    (b"log_excep", 2),
                    (b"sendc_withdraw_excep", 13),
                    (b"ami_get_rank", 6),
                    (b"get_owner_excep", 5),
                ],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_AMI_ACCOUNT_HANDLER = __Tc::Named(__TcKind::ObjRef,
        "IDL:example.com/Bank/AMI_AccountHandler:1.0", "AMI_AccountHandler");
    );
    /// The operations of a servant of interface `IDL:example.com/Bank/Described:1.0`, as `async fn`s.
    pub trait Described: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Operation `describe`.
        fn describe(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                ::std::string::String,
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:example.com/Bank/Described:1.0`.
    #[derive(Clone)]
    pub struct DescribedRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        DescribedRef, "IDL:example.com/Bank/Described:1.0", abstract & __TC_DESCRIBED,
        bases : []
    );
    ::zorb::__private::abstract_upcasts!(DescribedRef => [DescribedRef]);
    impl DescribedRef {
        /// Operation `describe`.
        pub fn describe(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                ::std::string::String,
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (::std::string::String,), _, _>("describe", ())
        }
    }
    #[doc(hidden)]
    pub trait __DescribedOfValue {
        /// Operation `describe`.
        fn describe(
            &mut self,
        ) -> ::core::result::Result<::std::string::String, ::zorb::SystemException>;
    }
    impl Described for ::zorb::Abstract<DescribedRef> {
        async fn describe(
            &self,
        ) -> ::core::result::Result<::std::string::String, ::zorb::SystemException> {
            match self {
                ::zorb::Abstract::Object(__object) => __object.describe().await,
                ::zorb::Abstract::Value(__value) => {
                    __value
                        .operations_mut::<
                            dyn __DescribedOfValue,
                            _,
                            _,
                        >(|__state| __state.describe())
                }
            }
        }
    }
    ::zorb::__private::type_code!(
        __TC_DESCRIBED = __Tc::Named(__TcKind::AbstractInterface,
        "IDL:example.com/Bank/Described:1.0", "Described");
    );
    /// Local interface `IDL:example.com/Bank/Here:1.0`.
    pub trait Here: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Operation `go`.
        fn go(&self) -> ::core::result::Result<(), ::zorb::SystemException>;
    }
    ::zorb::__private::local_interface!(Here);
    ::zorb::__private::type_code!(
        __TC_HERE = __Tc::Named(__TcKind::LocalInterface,
        "IDL:example.com/Bank/Here:1.0", "Here");
    );
}
