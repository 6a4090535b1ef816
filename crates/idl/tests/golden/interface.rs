/** The bank. It lends \[money\].

 Module `IDL:example.com/Bank:1.0`.*/
pub mod bank {
    /// Typedef `IDL:example.com/Bank/OctetSeq:1.0`.
    pub type OctetSeq = ::zorb::Bytes;
    ::zorb::__private::type_code!(
        __TC_OCTET_SEQ = __Tc::Alias("IDL:example.com/Bank/OctetSeq:1.0", "OctetSeq", &
        __Tc::Sequence(& __Tc::Octet, 0)); alias #[doc =
        " The TypeCode of `Bank::OctetSeq`."] OCTET_SEQ_TYPE_CODE
    );
    /// The declarations inside interface `Bank::Account`, and the exceptions of its operations.
    pub mod account {
        /// Exception `IDL:example.com/Bank/Account/Insufficient:1.0`.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Insufficient {
            /// Member `balance`.
            pub balance: f64,
            /// Member `who`.
            pub who: ::core::option::Option<super::AccountRef>,
        }
        ::zorb::__private::exception!(
            Insufficient, "IDL:example.com/Bank/Account/Insufficient:1.0", { balance :
            f64, who : ::zorb::__private::RefCodec < super::AccountRef > }
        );
        ::zorb::__private::type_code!(
            __TC_INSUFFICIENT =
            __Tc::Except("IDL:example.com/Bank/Account/Insufficient:1.0", "Insufficient",
            & [("balance", & __Tc::Double), ("who", & super::__TC_ACCOUNT)]); exception
            Insufficient
        );
        /// The exceptions of `withdraw`.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum WithdrawError {
            /// `IDL:example.com/Bank/Account/Insufficient:1.0`.
            Insufficient(Insufficient),
            /// `IDL:example.com/Bank/Closed:1.0`.
            Closed(super::Closed),
            /// A system exception.
            System(::zorb::SystemException),
        }
        ::zorb::__private::operation_error!(
            WithdrawError { Insufficient(Insufficient), Closed(super::Closed) }
        );
        /// The exceptions of `_get_rank`.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum RankError {
            /// `IDL:example.com/Bank/Closed:1.0`.
            Closed(super::Closed),
            /// A system exception.
            System(::zorb::SystemException),
        }
        ::zorb::__private::operation_error!(RankError { Closed(super::Closed) });
    }
    /** What a customer has.

 The operations of a servant of interface `IDL:example.com/Bank/Account:1.0`, as `async fn`s.*/
    pub trait Account: ::core::marker::Send + ::core::marker::Sync + 'static {
        /** Takes money out.

 Operation `withdraw`.*/
        fn withdraw(
            &self,
            amount: f64,
            why: &str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<f64, account::WithdrawError>,
        > + ::core::marker::Send;
        /// Reads attribute `owner`.
        fn owner(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                ::std::string::String,
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send;
        /// Writes attribute `owner`.
        fn set_owner(
            &self,
            value: &str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Reads attribute `rank`.
        fn rank(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, account::RankError>,
        > + ::core::marker::Send;
        /// Oneway operation `nudge`.
        fn nudge(
            &self,
            n: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `peer`. Returns the result, `rank_`.
        fn peer(
            &self,
            other: ::core::option::Option<AccountRef>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (::core::option::Option<AccountRef>, i32),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send;
        /// Operation `store`. Returns `more`.
        fn store(
            &self,
            data: ::zorb::OctetsRef<'_>,
            more: &[::core::option::Option<AccountRef>],
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                ::std::vec::Vec<::core::option::Option<AccountRef>>,
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send;
    }
    /** What a customer has.

 A reference to an object of interface `IDL:example.com/Bank/Account:1.0`.*/
    #[derive(Clone)]
    pub struct AccountRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        AccountRef, "IDL:example.com/Bank/Account:1.0", concrete & __TC_ACCOUNT, bases :
        []
    );
    impl AccountRef {
        /** Takes money out.

 Operation `withdraw`.*/
        pub fn withdraw<'a>(
            &'a self,
            amount: f64,
            why: &'a str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<f64, account::WithdrawError>,
        > + ::core::marker::Send + 'a {
            self.object
                .call::<
                    (::zorb::__private::ByValue<f64>, ::zorb::__private::BorrowedText),
                    (f64,),
                    _,
                    _,
                >("withdraw", (amount, why))
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
        /// Writes attribute `owner`.
        pub fn set_owner<'a>(
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
                >("_set_owner", (value,))
        }
        /// Reads attribute `rank`.
        pub fn rank(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, account::RankError>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (i32,), _, _>("_get_rank", ())
        }
        /// Oneway operation `nudge`.
        pub fn nudge(
            &self,
            n: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.invoke_oneway("nudge", (n,))
        }
        /// Operation `peer`. Returns the result, `rank_`.
        pub fn peer(
            &self,
            other: impl ::zorb::IntoReference<AccountRef>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (::core::option::Option<AccountRef>, i32),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (::zorb::__private::Taken<::zorb::__private::RefCodec<AccountRef>>,),
                    (::zorb::__private::RefCodec<AccountRef>, i32),
                    _,
                    _,
                >(
                    "peer",
                    (
                        ::zorb::__private::OwnedArgument::<
                            ::zorb::__private::RefCodec<AccountRef>,
                        >::reference(other),
                    ),
                )
        }
        /// Operation `store`. Returns `more`.
        pub fn store<'a>(
            &'a self,
            data: impl ::core::convert::Into<::zorb::Octets<'a>>,
            more: &'a [::core::option::Option<AccountRef>],
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                ::std::vec::Vec<::core::option::Option<AccountRef>>,
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (::zorb::__private::Seq<::zorb::__private::RefCodec<AccountRef>>,),
                    _,
                >(
                    "store",
                    (
                        ::core::convert::Into::<::zorb::Octets<'a>>::into(data),
                        ::zorb::__private::Enc::<
                            ::zorb::__private::Seq<
                                ::zorb::__private::RefCodec<AccountRef>,
                            >,
                        >(more),
                    ),
                )
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
            ::core::matches!(repository_id, "IDL:example.com/Bank/Account:1.0")
        }
        fn start(
            &self,
            request: ::zorb::__private::ServerRequest,
        ) -> ::zorb::__private::Started {
            match request.find(::zorb::__private::Skeleton::operations(self)) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByValue<f64>,
                            ::zorb::__private::BorrowedText,
                        ),
                        (f64,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::withdraw)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (),
                        (::std::string::String,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::owner)
                }
                ::core::option::Option::Some(2) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::BorrowedText,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::set_owner)
                }
                ::core::option::Option::Some(3) => {
                    ::zorb::__private::upcall::<
                        (),
                        (i32,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::rank)
                }
                ::core::option::Option::Some(4) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByValue<i32>,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::nudge)
                }
                ::core::option::Option::Some(5) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::Taken<
                                ::zorb::__private::RefCodec<AccountRef>,
                            >,
                        ),
                        (::zorb::__private::RefCodec<AccountRef>, i32),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::peer)
                }
                ::core::option::Option::Some(6) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::BorrowedOctets,
                            ::zorb::__private::RecycledSeq<
                                ::zorb::__private::RefCodec<AccountRef>,
                            >,
                        ),
                        (
                            ::zorb::__private::Seq<
                                ::zorb::__private::RefCodec<AccountRef>,
                            >,
                        ),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::store)
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
                &[(0, 0), (6, 1), (0, 5)],
                &[
                    (b"_get_rank", 3),
                    (b"withdraw", 0),
                    (b"_set_owner", 2),
                    (b"_get_owner", 1),
                    (b"nudge", 4),
                    (b"peer", 5),
                    (b"store", 6),
                ],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_ACCOUNT = __Tc::Named(__TcKind::ObjRef, "IDL:example.com/Bank/Account:1.0",
        "Account");
    );
    /// Typedef `IDL:example.com/Bank/Accounts:1.0`.
    pub type Accounts = ::std::vec::Vec<::core::option::Option<AccountRef>>;
    ::zorb::__private::type_code!(
        __TC_ACCOUNTS = __Tc::Alias("IDL:example.com/Bank/Accounts:1.0", "Accounts", &
        __Tc::Sequence(& __TC_ACCOUNT, 0)); alias #[doc =
        " The TypeCode of `Bank::Accounts`."] ACCOUNTS_TYPE_CODE
    );
    /// Exception `IDL:example.com/Bank/Closed:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Closed;
    ::zorb::__private::exception!(Closed, "IDL:example.com/Bank/Closed:1.0", {});
    ::zorb::__private::type_code!(
        __TC_CLOSED = __Tc::Except("IDL:example.com/Bank/Closed:1.0", "Closed", & []);
        exception Closed
    );
    /// The operations of a servant of interface `IDL:example.com/Bank/Audit:1.0`, as `async fn`s.
    pub trait Audit: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Operation `log`.
        fn log(
            &self,
            what: ::core::option::Option<::zorb::ObjectRef>,
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
        pub fn log(
            &self,
            what: impl ::zorb::IntoReference<::zorb::ObjectRef>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (
                        ::zorb::__private::Taken<
                            ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                        >,
                    ),
                    (),
                    _,
                    _,
                >(
                    "log",
                    (
                        ::zorb::__private::OwnedArgument::<
                            ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                        >::reference(what),
                    ),
                )
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
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Audit>::log)
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
                &[(b"log", 0)],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_AUDIT = __Tc::Named(__TcKind::ObjRef, "IDL:example.com/Bank/Audit:1.0",
        "Audit");
    );
    /// The operations of a servant of interface `IDL:example.com/Bank/Checking:1.0`, as `async fn`s.
    pub trait Checking: Account + Audit {}
    /// A reference to an object of interface `IDL:example.com/Bank/Checking:1.0`.
    #[derive(Clone)]
    pub struct CheckingRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        CheckingRef, "IDL:example.com/Bank/Checking:1.0", concrete & __TC_CHECKING, bases
        : ["IDL:example.com/Bank/Account:1.0", "IDL:example.com/Bank/Audit:1.0"]
    );
    ::zorb::__private::upcasts!(CheckingRef => [AccountRef, AuditRef]);
    impl CheckingRef {
        /// Operation `log`.
        pub fn log(
            &self,
            what: impl ::zorb::IntoReference<::zorb::ObjectRef>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (
                        ::zorb::__private::Taken<
                            ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                        >,
                    ),
                    (),
                    _,
                    _,
                >(
                    "log",
                    (
                        ::zorb::__private::OwnedArgument::<
                            ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                        >::reference(what),
                    ),
                )
        }
        /** Takes money out.

 Operation `withdraw`.*/
        pub fn withdraw<'a>(
            &'a self,
            amount: f64,
            why: &'a str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<f64, account::WithdrawError>,
        > + ::core::marker::Send + 'a {
            self.object
                .call::<
                    (::zorb::__private::ByValue<f64>, ::zorb::__private::BorrowedText),
                    (f64,),
                    _,
                    _,
                >("withdraw", (amount, why))
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
        /// Writes attribute `owner`.
        pub fn set_owner<'a>(
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
                >("_set_owner", (value,))
        }
        /// Reads attribute `rank`.
        pub fn rank(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, account::RankError>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (i32,), _, _>("_get_rank", ())
        }
        /// Oneway operation `nudge`.
        pub fn nudge(
            &self,
            n: i32,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.invoke_oneway("nudge", (n,))
        }
        /// Operation `peer`. Returns the result, `rank_`.
        pub fn peer(
            &self,
            other: impl ::zorb::IntoReference<AccountRef>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (::core::option::Option<AccountRef>, i32),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (::zorb::__private::Taken<::zorb::__private::RefCodec<AccountRef>>,),
                    (::zorb::__private::RefCodec<AccountRef>, i32),
                    _,
                    _,
                >(
                    "peer",
                    (
                        ::zorb::__private::OwnedArgument::<
                            ::zorb::__private::RefCodec<AccountRef>,
                        >::reference(other),
                    ),
                )
        }
        /// Operation `store`. Returns `more`.
        pub fn store<'a>(
            &'a self,
            data: impl ::core::convert::Into<::zorb::Octets<'a>>,
            more: &'a [::core::option::Option<AccountRef>],
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                ::std::vec::Vec<::core::option::Option<AccountRef>>,
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (::zorb::__private::Seq<::zorb::__private::RefCodec<AccountRef>>,),
                    _,
                >(
                    "store",
                    (
                        ::core::convert::Into::<::zorb::Octets<'a>>::into(data),
                        ::zorb::__private::Enc::<
                            ::zorb::__private::Seq<
                                ::zorb::__private::RefCodec<AccountRef>,
                            >,
                        >(more),
                    ),
                )
        }
    }
    /// Serves interface `IDL:example.com/Bank/Checking:1.0` with a [`Checking`].
    #[derive(Debug)]
    pub struct CheckingServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: Checking> CheckingServant<T> {
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
    impl<T> ::core::clone::Clone for CheckingServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: Checking> ::zorb::__private::InterfaceSkeleton for CheckingServant<T> {
        type Ref = CheckingRef;
    }
    impl<T: Checking> ::zorb::__private::Skeleton for CheckingServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:example.com/Bank/Checking:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(
                repository_id, "IDL:example.com/Bank/Checking:1.0" |
                "IDL:example.com/Bank/Account:1.0" | "IDL:example.com/Bank/Audit:1.0"
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
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Audit>::log)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByValue<f64>,
                            ::zorb::__private::BorrowedText,
                        ),
                        (f64,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::withdraw)
                }
                ::core::option::Option::Some(2) => {
                    ::zorb::__private::upcall::<
                        (),
                        (::std::string::String,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::owner)
                }
                ::core::option::Option::Some(3) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::BorrowedText,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::set_owner)
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
                    >(&self.servant, request, <T as Account>::nudge)
                }
                ::core::option::Option::Some(6) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::Taken<
                                ::zorb::__private::RefCodec<AccountRef>,
                            >,
                        ),
                        (::zorb::__private::RefCodec<AccountRef>, i32),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::peer)
                }
                ::core::option::Option::Some(7) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::BorrowedOctets,
                            ::zorb::__private::RecycledSeq<
                                ::zorb::__private::RefCodec<AccountRef>,
                            >,
                        ),
                        (
                            ::zorb::__private::Seq<
                                ::zorb::__private::RefCodec<AccountRef>,
                            >,
                        ),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Account>::store)
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
                16263683158343804936,
                &[(1, 0), (0, 0), (2, 5)],
                &[
                    (b"log", 0),
                    (b"_set_owner", 3),
                    (b"withdraw", 1),
                    (b"peer", 6),
                    (b"store", 7),
                    (b"_get_rank", 4),
                    (b"_get_owner", 2),
                    (b"nudge", 5),
                ],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_CHECKING = __Tc::Named(__TcKind::ObjRef,
        "IDL:example.com/Bank/Checking:1.0", "Checking");
    );
}
