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
    /// What is declared inside interface `Bank::Account`, and what its operations raise.
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
        /// What `withdraw` raises.
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
        /// What `_get_rank` raises.
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

 What a servant of interface `IDL:example.com/Bank/Account:1.0` implements, with `async fn`s.*/
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
        /// Operation `peer`. Gives back the result, `rank_`.
        fn peer(
            &self,
            other: ::core::option::Option<AccountRef>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (::core::option::Option<AccountRef>, i32),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send;
        /// Operation `store`. Gives back `more`.
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
    /// A reference to an object of interface `IDL:example.com/Bank/Account:1.0`.
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
        pub async fn withdraw(
            &self,
            amount: f64,
            why: &str,
        ) -> ::core::result::Result<f64, account::WithdrawError> {
            static OPERATION: ::zorb::__private::Operation = ::zorb::__private::Operation::two_way(
                "withdraw",
            );
            let (result,) = self
                .object
                .invoke::<_, (f64,), account::WithdrawError>(&OPERATION, (amount, why))
                .await?;
            ::core::result::Result::Ok(result)
        }
        /// Reads attribute `owner`.
        pub async fn owner(
            &self,
        ) -> ::core::result::Result<::std::string::String, ::zorb::SystemException> {
            static OPERATION: ::zorb::__private::Operation = ::zorb::__private::Operation::two_way(
                "_get_owner",
            );
            let (result,) = self
                .object
                .invoke::<
                    _,
                    (::std::string::String,),
                    ::zorb::SystemException,
                >(&OPERATION, ())
                .await?;
            ::core::result::Result::Ok(result)
        }
        /// Writes attribute `owner`.
        pub async fn set_owner(
            &self,
            value: &str,
        ) -> ::core::result::Result<(), ::zorb::SystemException> {
            static OPERATION: ::zorb::__private::Operation = ::zorb::__private::Operation::two_way(
                "_set_owner",
            );
            self.object
                .invoke::<_, (), ::zorb::SystemException>(&OPERATION, (value,))
                .await
        }
        /// Reads attribute `rank`.
        pub async fn rank(&self) -> ::core::result::Result<i32, account::RankError> {
            static OPERATION: ::zorb::__private::Operation = ::zorb::__private::Operation::two_way(
                "_get_rank",
            );
            let (result,) = self
                .object
                .invoke::<_, (i32,), account::RankError>(&OPERATION, ())
                .await?;
            ::core::result::Result::Ok(result)
        }
        /// Oneway operation `nudge`.
        pub async fn nudge(
            &self,
            n: i32,
        ) -> ::core::result::Result<(), ::zorb::SystemException> {
            static OPERATION: ::zorb::__private::Operation = ::zorb::__private::Operation::one_way(
                "nudge",
            );
            self.object.invoke_oneway(&OPERATION, (n,)).await
        }
        /// Operation `peer`. Gives back the result, `rank_`.
        pub async fn peer(
            &self,
            other: impl ::core::convert::Into<::core::option::Option<AccountRef>>,
        ) -> ::core::result::Result<
            (::core::option::Option<AccountRef>, i32),
            ::zorb::SystemException,
        > {
            static OPERATION: ::zorb::__private::Operation = ::zorb::__private::Operation::two_way(
                "peer",
            );
            let other: ::core::option::Option<AccountRef> = ::core::convert::Into::into(
                other,
            );
            let (result0, result1) = self
                .object
                .invoke::<
                    _,
                    (
                        ::zorb::__private::Dec<::zorb::__private::RefCodec<AccountRef>>,
                        i32,
                    ),
                    ::zorb::SystemException,
                >(
                    &OPERATION,
                    (
                        ::zorb::__private::Enc::<
                            ::zorb::__private::RefCodec<AccountRef>,
                        >(&other),
                    ),
                )
                .await?;
            ::core::result::Result::Ok((result0.0, result1))
        }
        /// Operation `store`. Gives back `more`.
        pub async fn store<'a>(
            &self,
            data: impl ::core::convert::Into<::zorb::Octets<'a>>,
            more: &[::core::option::Option<AccountRef>],
        ) -> ::core::result::Result<
            ::std::vec::Vec<::core::option::Option<AccountRef>>,
            ::zorb::SystemException,
        > {
            static OPERATION: ::zorb::__private::Operation = ::zorb::__private::Operation::two_way(
                "store",
            );
            let data: ::zorb::Octets<'a> = ::core::convert::Into::into(data);
            let (result,) = self
                .object
                .invoke::<
                    _,
                    (
                        ::zorb::__private::Dec<
                            ::zorb::__private::Seq<
                                ::zorb::__private::RefCodec<AccountRef>,
                            >,
                        >,
                    ),
                    ::zorb::SystemException,
                >(
                    &OPERATION,
                    (
                        data,
                        ::zorb::__private::Enc::<
                            ::zorb::__private::Seq<
                                ::zorb::__private::RefCodec<AccountRef>,
                            >,
                        >(more),
                    ),
                )
                .await?;
            ::core::result::Result::Ok(result.0)
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
        /// A skeleton that shares its servant with whoever else holds it.
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
            request: ::zorb::__private::Request,
        ) -> ::zorb::__private::Upcall {
            static OPERATIONS: ::zorb::__private::Operations = ::zorb::__private::Operations::new(
                0,
                &[7, 3, 7, 1],
                29,
                &[
                    (b"store", 6),
                    (b"peer", 5),
                    (b"withdraw", 0),
                    (b"_get_owner", 1),
                    (b"_get_rank", 3),
                    (b"nudge", 4),
                    (b"", ::zorb::__private::Operations::NOBODY),
                    (b"_set_owner", 2),
                ],
            );
            let servant = ::std::sync::Arc::clone(&self.servant);
            match OPERATIONS.find(request.operation()) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::Upcall::new(async move {
                        let arguments = match request
                            .arguments::<(f64, ::std::borrow::Cow<'_, str>)>()
                        {
                            ::core::result::Result::Ok(arguments) => arguments,
                            ::core::result::Result::Err(error) => {
                                return request.system_exception(&error);
                            }
                        };
                        match <T as Account>::withdraw(
                                &servant,
                                arguments.0,
                                &arguments.1,
                            )
                            .await
                        {
                            ::core::result::Result::Ok(result) => {
                                request.reply((result,))
                            }
                            ::core::result::Result::Err(error) => {
                                request.exception(&error)
                            }
                        }
                    })
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::Upcall::new(async move {
                        if let ::core::result::Result::Err(error) = request
                            .arguments::<()>()
                        {
                            return request.system_exception(&error);
                        }
                        match <T as Account>::owner(&servant).await {
                            ::core::result::Result::Ok(result) => {
                                request.reply((result,))
                            }
                            ::core::result::Result::Err(error) => {
                                request.exception(&error)
                            }
                        }
                    })
                }
                ::core::option::Option::Some(2) => {
                    ::zorb::__private::Upcall::new(async move {
                        let arguments = match request
                            .arguments::<(::std::borrow::Cow<'_, str>,)>()
                        {
                            ::core::result::Result::Ok(arguments) => arguments,
                            ::core::result::Result::Err(error) => {
                                return request.system_exception(&error);
                            }
                        };
                        match <T as Account>::set_owner(&servant, &arguments.0).await {
                            ::core::result::Result::Ok(()) => request.reply(()),
                            ::core::result::Result::Err(error) => {
                                request.exception(&error)
                            }
                        }
                    })
                }
                ::core::option::Option::Some(3) => {
                    ::zorb::__private::Upcall::new(async move {
                        if let ::core::result::Result::Err(error) = request
                            .arguments::<()>()
                        {
                            return request.system_exception(&error);
                        }
                        match <T as Account>::rank(&servant).await {
                            ::core::result::Result::Ok(result) => {
                                request.reply((result,))
                            }
                            ::core::result::Result::Err(error) => {
                                request.exception(&error)
                            }
                        }
                    })
                }
                ::core::option::Option::Some(4) => {
                    ::zorb::__private::Upcall::new(async move {
                        let arguments = match request.arguments::<(i32,)>() {
                            ::core::result::Result::Ok(arguments) => arguments,
                            ::core::result::Result::Err(error) => {
                                return request.system_exception(&error);
                            }
                        };
                        match <T as Account>::nudge(&servant, arguments.0).await {
                            ::core::result::Result::Ok(()) => request.reply(()),
                            ::core::result::Result::Err(error) => {
                                request.exception(&error)
                            }
                        }
                    })
                }
                ::core::option::Option::Some(5) => {
                    ::zorb::__private::Upcall::new(async move {
                        let arguments = match request
                            .arguments::<
                                (
                                    ::zorb::__private::Dec<
                                        ::zorb::__private::RefCodec<AccountRef>,
                                    >,
                                ),
                            >()
                        {
                            ::core::result::Result::Ok(arguments) => arguments,
                            ::core::result::Result::Err(error) => {
                                return request.system_exception(&error);
                            }
                        };
                        match <T as Account>::peer(&servant, arguments.0.0).await {
                            ::core::result::Result::Ok((result0, result1)) => {
                                request
                                    .reply((
                                        ::zorb::__private::Enc::<
                                            ::zorb::__private::RefCodec<AccountRef>,
                                        >(&result0),
                                        result1,
                                    ))
                            }
                            ::core::result::Result::Err(error) => {
                                request.exception(&error)
                            }
                        }
                    })
                }
                ::core::option::Option::Some(6) => {
                    ::zorb::__private::Upcall::new(async move {
                        let arguments = match request
                            .arguments::<
                                (
                                    ::zorb::OctetsRef<'_>,
                                    ::zorb::__private::Recycled<
                                        ::zorb::__private::RefCodec<AccountRef>,
                                    >,
                                ),
                            >()
                        {
                            ::core::result::Result::Ok(arguments) => arguments,
                            ::core::result::Result::Err(error) => {
                                return request.system_exception(&error);
                            }
                        };
                        match <T as Account>::store(&servant, arguments.0, &arguments.1)
                            .await
                        {
                            ::core::result::Result::Ok(result) => {
                                request
                                    .reply((
                                        ::zorb::__private::Enc::<
                                            ::zorb::__private::Seq<
                                                ::zorb::__private::RefCodec<AccountRef>,
                                            >,
                                        >(&result),
                                    ))
                            }
                            ::core::result::Result::Err(error) => {
                                request.exception(&error)
                            }
                        }
                    })
                }
                _ => request.unknown_operation(),
            }
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
    /// What a servant of interface `IDL:example.com/Bank/Audit:1.0` implements, with `async fn`s.
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
        pub async fn log(
            &self,
            what: impl ::core::convert::Into<::core::option::Option<::zorb::ObjectRef>>,
        ) -> ::core::result::Result<(), ::zorb::SystemException> {
            static OPERATION: ::zorb::__private::Operation = ::zorb::__private::Operation::two_way(
                "log",
            );
            let what: ::core::option::Option<::zorb::ObjectRef> = ::core::convert::Into::into(
                what,
            );
            self.object
                .invoke::<
                    _,
                    (),
                    ::zorb::SystemException,
                >(
                    &OPERATION,
                    (
                        ::zorb::__private::Enc::<
                            ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                        >(&what),
                    ),
                )
                .await
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
        /// A skeleton that shares its servant with whoever else holds it.
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
            request: ::zorb::__private::Request,
        ) -> ::zorb::__private::Upcall {
            static OPERATIONS: ::zorb::__private::Operations = ::zorb::__private::Operations::new(
                0,
                &[1],
                32,
                &[(b"log", 0)],
            );
            let servant = ::std::sync::Arc::clone(&self.servant);
            match OPERATIONS.find(request.operation()) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::Upcall::new(async move {
                        let arguments = match request
                            .arguments::<
                                (
                                    ::zorb::__private::Dec<
                                        ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                                    >,
                                ),
                            >()
                        {
                            ::core::result::Result::Ok(arguments) => arguments,
                            ::core::result::Result::Err(error) => {
                                return request.system_exception(&error);
                            }
                        };
                        match <T as Audit>::log(&servant, arguments.0.0).await {
                            ::core::result::Result::Ok(()) => request.reply(()),
                            ::core::result::Result::Err(error) => {
                                request.exception(&error)
                            }
                        }
                    })
                }
                _ => request.unknown_operation(),
            }
        }
    }
    ::zorb::__private::type_code!(
        __TC_AUDIT = __Tc::Named(__TcKind::ObjRef, "IDL:example.com/Bank/Audit:1.0",
        "Audit");
    );
    /// What a servant of interface `IDL:example.com/Bank/Checking:1.0` implements, with `async fn`s.
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
        pub async fn log(
            &self,
            what: impl ::core::convert::Into<::core::option::Option<::zorb::ObjectRef>>,
        ) -> ::core::result::Result<(), ::zorb::SystemException> {
            static OPERATION: ::zorb::__private::Operation = ::zorb::__private::Operation::two_way(
                "log",
            );
            let what: ::core::option::Option<::zorb::ObjectRef> = ::core::convert::Into::into(
                what,
            );
            self.object
                .invoke::<
                    _,
                    (),
                    ::zorb::SystemException,
                >(
                    &OPERATION,
                    (
                        ::zorb::__private::Enc::<
                            ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                        >(&what),
                    ),
                )
                .await
        }
        /** Takes money out.

 Operation `withdraw`.*/
        pub async fn withdraw(
            &self,
            amount: f64,
            why: &str,
        ) -> ::core::result::Result<f64, account::WithdrawError> {
            static OPERATION: ::zorb::__private::Operation = ::zorb::__private::Operation::two_way(
                "withdraw",
            );
            let (result,) = self
                .object
                .invoke::<_, (f64,), account::WithdrawError>(&OPERATION, (amount, why))
                .await?;
            ::core::result::Result::Ok(result)
        }
        /// Reads attribute `owner`.
        pub async fn owner(
            &self,
        ) -> ::core::result::Result<::std::string::String, ::zorb::SystemException> {
            static OPERATION: ::zorb::__private::Operation = ::zorb::__private::Operation::two_way(
                "_get_owner",
            );
            let (result,) = self
                .object
                .invoke::<
                    _,
                    (::std::string::String,),
                    ::zorb::SystemException,
                >(&OPERATION, ())
                .await?;
            ::core::result::Result::Ok(result)
        }
        /// Writes attribute `owner`.
        pub async fn set_owner(
            &self,
            value: &str,
        ) -> ::core::result::Result<(), ::zorb::SystemException> {
            static OPERATION: ::zorb::__private::Operation = ::zorb::__private::Operation::two_way(
                "_set_owner",
            );
            self.object
                .invoke::<_, (), ::zorb::SystemException>(&OPERATION, (value,))
                .await
        }
        /// Reads attribute `rank`.
        pub async fn rank(&self) -> ::core::result::Result<i32, account::RankError> {
            static OPERATION: ::zorb::__private::Operation = ::zorb::__private::Operation::two_way(
                "_get_rank",
            );
            let (result,) = self
                .object
                .invoke::<_, (i32,), account::RankError>(&OPERATION, ())
                .await?;
            ::core::result::Result::Ok(result)
        }
        /// Oneway operation `nudge`.
        pub async fn nudge(
            &self,
            n: i32,
        ) -> ::core::result::Result<(), ::zorb::SystemException> {
            static OPERATION: ::zorb::__private::Operation = ::zorb::__private::Operation::one_way(
                "nudge",
            );
            self.object.invoke_oneway(&OPERATION, (n,)).await
        }
        /// Operation `peer`. Gives back the result, `rank_`.
        pub async fn peer(
            &self,
            other: impl ::core::convert::Into<::core::option::Option<AccountRef>>,
        ) -> ::core::result::Result<
            (::core::option::Option<AccountRef>, i32),
            ::zorb::SystemException,
        > {
            static OPERATION: ::zorb::__private::Operation = ::zorb::__private::Operation::two_way(
                "peer",
            );
            let other: ::core::option::Option<AccountRef> = ::core::convert::Into::into(
                other,
            );
            let (result0, result1) = self
                .object
                .invoke::<
                    _,
                    (
                        ::zorb::__private::Dec<::zorb::__private::RefCodec<AccountRef>>,
                        i32,
                    ),
                    ::zorb::SystemException,
                >(
                    &OPERATION,
                    (
                        ::zorb::__private::Enc::<
                            ::zorb::__private::RefCodec<AccountRef>,
                        >(&other),
                    ),
                )
                .await?;
            ::core::result::Result::Ok((result0.0, result1))
        }
        /// Operation `store`. Gives back `more`.
        pub async fn store<'a>(
            &self,
            data: impl ::core::convert::Into<::zorb::Octets<'a>>,
            more: &[::core::option::Option<AccountRef>],
        ) -> ::core::result::Result<
            ::std::vec::Vec<::core::option::Option<AccountRef>>,
            ::zorb::SystemException,
        > {
            static OPERATION: ::zorb::__private::Operation = ::zorb::__private::Operation::two_way(
                "store",
            );
            let data: ::zorb::Octets<'a> = ::core::convert::Into::into(data);
            let (result,) = self
                .object
                .invoke::<
                    _,
                    (
                        ::zorb::__private::Dec<
                            ::zorb::__private::Seq<
                                ::zorb::__private::RefCodec<AccountRef>,
                            >,
                        >,
                    ),
                    ::zorb::SystemException,
                >(
                    &OPERATION,
                    (
                        data,
                        ::zorb::__private::Enc::<
                            ::zorb::__private::Seq<
                                ::zorb::__private::RefCodec<AccountRef>,
                            >,
                        >(more),
                    ),
                )
                .await?;
            ::core::result::Result::Ok(result.0)
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
        /// A skeleton that shares its servant with whoever else holds it.
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
            request: ::zorb::__private::Request,
        ) -> ::zorb::__private::Upcall {
            static OPERATIONS: ::zorb::__private::Operations = ::zorb::__private::Operations::new(
                0,
                &[1, 5, 1, 9],
                28,
                &[
                    (b"", ::zorb::__private::Operations::NOBODY),
                    (b"_get_owner", 2),
                    (b"_set_owner", 3),
                    (b"withdraw", 1),
                    (b"", ::zorb::__private::Operations::NOBODY),
                    (b"", ::zorb::__private::Operations::NOBODY),
                    (b"peer", 6),
                    (b"store", 7),
                    (b"nudge", 5),
                    (b"", ::zorb::__private::Operations::NOBODY),
                    (b"_get_rank", 4),
                    (b"", ::zorb::__private::Operations::NOBODY),
                    (b"log", 0),
                    (b"", ::zorb::__private::Operations::NOBODY),
                    (b"", ::zorb::__private::Operations::NOBODY),
                    (b"", ::zorb::__private::Operations::NOBODY),
                ],
            );
            let servant = ::std::sync::Arc::clone(&self.servant);
            match OPERATIONS.find(request.operation()) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::Upcall::new(async move {
                        let arguments = match request
                            .arguments::<
                                (
                                    ::zorb::__private::Dec<
                                        ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                                    >,
                                ),
                            >()
                        {
                            ::core::result::Result::Ok(arguments) => arguments,
                            ::core::result::Result::Err(error) => {
                                return request.system_exception(&error);
                            }
                        };
                        match <T as Audit>::log(&servant, arguments.0.0).await {
                            ::core::result::Result::Ok(()) => request.reply(()),
                            ::core::result::Result::Err(error) => {
                                request.exception(&error)
                            }
                        }
                    })
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::Upcall::new(async move {
                        let arguments = match request
                            .arguments::<(f64, ::std::borrow::Cow<'_, str>)>()
                        {
                            ::core::result::Result::Ok(arguments) => arguments,
                            ::core::result::Result::Err(error) => {
                                return request.system_exception(&error);
                            }
                        };
                        match <T as Account>::withdraw(
                                &servant,
                                arguments.0,
                                &arguments.1,
                            )
                            .await
                        {
                            ::core::result::Result::Ok(result) => {
                                request.reply((result,))
                            }
                            ::core::result::Result::Err(error) => {
                                request.exception(&error)
                            }
                        }
                    })
                }
                ::core::option::Option::Some(2) => {
                    ::zorb::__private::Upcall::new(async move {
                        if let ::core::result::Result::Err(error) = request
                            .arguments::<()>()
                        {
                            return request.system_exception(&error);
                        }
                        match <T as Account>::owner(&servant).await {
                            ::core::result::Result::Ok(result) => {
                                request.reply((result,))
                            }
                            ::core::result::Result::Err(error) => {
                                request.exception(&error)
                            }
                        }
                    })
                }
                ::core::option::Option::Some(3) => {
                    ::zorb::__private::Upcall::new(async move {
                        let arguments = match request
                            .arguments::<(::std::borrow::Cow<'_, str>,)>()
                        {
                            ::core::result::Result::Ok(arguments) => arguments,
                            ::core::result::Result::Err(error) => {
                                return request.system_exception(&error);
                            }
                        };
                        match <T as Account>::set_owner(&servant, &arguments.0).await {
                            ::core::result::Result::Ok(()) => request.reply(()),
                            ::core::result::Result::Err(error) => {
                                request.exception(&error)
                            }
                        }
                    })
                }
                ::core::option::Option::Some(4) => {
                    ::zorb::__private::Upcall::new(async move {
                        if let ::core::result::Result::Err(error) = request
                            .arguments::<()>()
                        {
                            return request.system_exception(&error);
                        }
                        match <T as Account>::rank(&servant).await {
                            ::core::result::Result::Ok(result) => {
                                request.reply((result,))
                            }
                            ::core::result::Result::Err(error) => {
                                request.exception(&error)
                            }
                        }
                    })
                }
                ::core::option::Option::Some(5) => {
                    ::zorb::__private::Upcall::new(async move {
                        let arguments = match request.arguments::<(i32,)>() {
                            ::core::result::Result::Ok(arguments) => arguments,
                            ::core::result::Result::Err(error) => {
                                return request.system_exception(&error);
                            }
                        };
                        match <T as Account>::nudge(&servant, arguments.0).await {
                            ::core::result::Result::Ok(()) => request.reply(()),
                            ::core::result::Result::Err(error) => {
                                request.exception(&error)
                            }
                        }
                    })
                }
                ::core::option::Option::Some(6) => {
                    ::zorb::__private::Upcall::new(async move {
                        let arguments = match request
                            .arguments::<
                                (
                                    ::zorb::__private::Dec<
                                        ::zorb::__private::RefCodec<AccountRef>,
                                    >,
                                ),
                            >()
                        {
                            ::core::result::Result::Ok(arguments) => arguments,
                            ::core::result::Result::Err(error) => {
                                return request.system_exception(&error);
                            }
                        };
                        match <T as Account>::peer(&servant, arguments.0.0).await {
                            ::core::result::Result::Ok((result0, result1)) => {
                                request
                                    .reply((
                                        ::zorb::__private::Enc::<
                                            ::zorb::__private::RefCodec<AccountRef>,
                                        >(&result0),
                                        result1,
                                    ))
                            }
                            ::core::result::Result::Err(error) => {
                                request.exception(&error)
                            }
                        }
                    })
                }
                ::core::option::Option::Some(7) => {
                    ::zorb::__private::Upcall::new(async move {
                        let arguments = match request
                            .arguments::<
                                (
                                    ::zorb::OctetsRef<'_>,
                                    ::zorb::__private::Recycled<
                                        ::zorb::__private::RefCodec<AccountRef>,
                                    >,
                                ),
                            >()
                        {
                            ::core::result::Result::Ok(arguments) => arguments,
                            ::core::result::Result::Err(error) => {
                                return request.system_exception(&error);
                            }
                        };
                        match <T as Account>::store(&servant, arguments.0, &arguments.1)
                            .await
                        {
                            ::core::result::Result::Ok(result) => {
                                request
                                    .reply((
                                        ::zorb::__private::Enc::<
                                            ::zorb::__private::Seq<
                                                ::zorb::__private::RefCodec<AccountRef>,
                                            >,
                                        >(&result),
                                    ))
                            }
                            ::core::result::Result::Err(error) => {
                                request.exception(&error)
                            }
                        }
                    })
                }
                _ => request.unknown_operation(),
            }
        }
    }
    ::zorb::__private::type_code!(
        __TC_CHECKING = __Tc::Named(__TcKind::ObjRef,
        "IDL:example.com/Bank/Checking:1.0", "Checking");
    );
}
