/** option: defaults
 option: delegates

 Module `IDL:Bank:1.0`.*/
pub mod bank {
    /// The declarations inside interface `Bank::Account`, and the exceptions of its operations.
    pub mod account {
        /// Exception `IDL:Bank/Account/Frozen:1.0`.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Frozen;
        ::zorb::__private::exception!(Frozen, "IDL:Bank/Account/Frozen:1.0", {});
        ::zorb::__private::type_code!(
            __TC_FROZEN = __Tc::Except("IDL:Bank/Account/Frozen:1.0", "Frozen", & []);
            exception Frozen
        );
        /// The exceptions of `deposit`.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum DepositError {
            /// `IDL:Bank/Account/Frozen:1.0`.
            Frozen(Frozen),
            /// A system exception.
            System(::zorb::SystemException),
        }
        ::zorb::__private::operation_error!(DepositError { Frozen(Frozen) });
    }
    /// The operations of a servant of interface `IDL:Bank/Account:1.0`, as `async fn`s.
    pub trait Account: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Reads attribute `owner`.
        fn owner(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                ::std::string::String,
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send {
            ::zorb::__private::not_implemented()
        }
        /// Writes attribute `owner`.
        fn set_owner(
            &self,
            value: &str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send {
            let _ = value;
            ::zorb::__private::not_implemented()
        }
        /// Operation `deposit`.
        fn deposit(
            &self,
            amount: f64,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), account::DepositError>,
        > + ::core::marker::Send {
            let _ = amount;
            ::zorb::__private::not_implemented()
        }
        /// Operation `run`.
        fn run(
            &self,
            command: &str,
            context: &::zorb::Context,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send {
            let _ = command;
            let _ = context;
            ::zorb::__private::not_implemented()
        }
        /// Oneway operation `remind`.
        fn remind(
            &self,
            what: &str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send {
            let _ = what;
            ::zorb::__private::not_implemented()
        }
    }
    /// A reference to an object of interface `IDL:Bank/Account:1.0`.
    #[derive(Clone)]
    pub struct AccountRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        AccountRef, "IDL:Bank/Account:1.0", concrete & __TC_ACCOUNT, bases : []
    );
    impl AccountRef {
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
        /// Operation `deposit`.
        pub fn deposit(
            &self,
            amount: f64,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), account::DepositError>,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (::zorb::__private::ByValue<f64>,),
                    (),
                    _,
                    _,
                >("deposit", (amount,))
        }
        /// Operation `run`.
        pub fn run<'a>(
            &'a self,
            command: &'a str,
            context: &'a ::zorb::Context,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (i32,),
                    _,
                >(
                    "run",
                    (
                        command,
                        ::zorb::__private::ContextArgument::new(context, &["user"]),
                    ),
                )
        }
        /// Oneway operation `remind`.
        pub fn remind<'a>(
            &'a self,
            what: &'a str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object.invoke_oneway("remind", (what,))
        }
    }
    /// Serves interface `IDL:Bank/Account:1.0` with a [`Account`].
    #[derive(Debug)]
    pub struct AccountServant<T_> {
        servant: ::std::sync::Arc<T_>,
    }
    impl<T_: Account> AccountServant<T_> {
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
    impl<T_> ::core::clone::Clone for AccountServant<T_> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T_: Account> ::zorb::__private::InterfaceSkeleton for AccountServant<T_> {
        type Ref = AccountRef;
    }
    impl<T_: Account> ::zorb::__private::Skeleton for AccountServant<T_> {
        fn repository_id(&self) -> &'static str {
            "IDL:Bank/Account:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:Bank/Account:1.0")
        }
        fn start(
            &self,
            request: ::zorb::__private::ServerRequest,
        ) -> ::zorb::__private::Started {
            match request.find(::zorb::__private::Skeleton::operations(self)) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::upcall::<
                        (),
                        (::std::string::String,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Account>::owner)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::BorrowedText,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Account>::set_owner)
                }
                ::core::option::Option::Some(2) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByValue<f64>,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Account>::deposit)
                }
                ::core::option::Option::Some(3) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::BorrowedText, ::zorb::Context),
                        (i32,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Account>::run)
                }
                ::core::option::Option::Some(4) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::BorrowedText,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Account>::remind)
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
                &[(1, 1), (3, 0)],
                &[
                    (b"deposit", 2),
                    (b"remind", 4),
                    (b"_get_owner", 0),
                    (b"run", 3),
                    (b"_set_owner", 1),
                ],
            );
            &OPERATIONS
        }
    }
    /// Implements [`Account`] by another servant of interface `IDL:Bank/Account:1.0`.
    pub trait AccountDelegate: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// The servant that gets the calls.
        type Delegate: Account;
        /// The servant that gets the calls.
        fn delegate(&self) -> &Self::Delegate;
    }
    impl<T_: AccountDelegate> Account for T_ {
        fn owner(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                ::std::string::String,
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send {
            <<T_ as AccountDelegate>::Delegate as Account>::owner(
                <T_ as AccountDelegate>::delegate(self),
            )
        }
        fn set_owner(
            &self,
            value: &str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send {
            <<T_ as AccountDelegate>::Delegate as Account>::set_owner(
                <T_ as AccountDelegate>::delegate(self),
                value,
            )
        }
        fn deposit(
            &self,
            amount: f64,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), account::DepositError>,
        > + ::core::marker::Send {
            <<T_ as AccountDelegate>::Delegate as Account>::deposit(
                <T_ as AccountDelegate>::delegate(self),
                amount,
            )
        }
        fn run(
            &self,
            command: &str,
            context: &::zorb::Context,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send {
            <<T_ as AccountDelegate>::Delegate as Account>::run(
                <T_ as AccountDelegate>::delegate(self),
                command,
                context,
            )
        }
        fn remind(
            &self,
            what: &str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send {
            <<T_ as AccountDelegate>::Delegate as Account>::remind(
                <T_ as AccountDelegate>::delegate(self),
                what,
            )
        }
    }
    ::zorb::__private::type_code!(
        __TC_ACCOUNT = __Tc::Named(__TcKind::ObjRef, "IDL:Bank/Account:1.0", "Account");
    );
    /// Typedef `IDL:Bank/Data:1.0`.
    pub type Data = ::zorb::Bytes;
    ::zorb::__private::type_code!(
        __TC_DATA = __Tc::Alias("IDL:Bank/Data:1.0", "Data", & __Tc::Sequence(&
        __Tc::Octet, 0)); alias #[doc = " The TypeCode of `Bank::Data`."] DATA_TYPE_CODE
    );
    /// The operations of a servant of interface `IDL:Bank/T:1.0`, as `async fn`s.
    pub trait T: Account {
        /// Operation `f`. Returns the result, `y`.
        fn f(
            &self,
            x: ::zorb::OctetsRef<'_>,
            y: ::core::option::Option<AccountRef>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (::zorb::Bytes, ::core::option::Option<AccountRef>),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send {
            let _ = x;
            let _ = y;
            ::zorb::__private::not_implemented()
        }
    }
    /// A reference to an object of interface `IDL:Bank/T:1.0`.
    #[derive(Clone)]
    pub struct TRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        TRef, "IDL:Bank/T:1.0", concrete & __TC_T, bases : ["IDL:Bank/Account:1.0"]
    );
    ::zorb::__private::upcasts!(TRef => [AccountRef]);
    impl TRef {
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
        /// Operation `deposit`.
        pub fn deposit(
            &self,
            amount: f64,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), account::DepositError>,
        > + ::core::marker::Send + '_ {
            self.object
                .call::<
                    (::zorb::__private::ByValue<f64>,),
                    (),
                    _,
                    _,
                >("deposit", (amount,))
        }
        /// Operation `run`.
        pub fn run<'a>(
            &'a self,
            command: &'a str,
            context: &'a ::zorb::Context,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<i32, ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object
                .invoke::<
                    _,
                    (i32,),
                    _,
                >(
                    "run",
                    (
                        command,
                        ::zorb::__private::ContextArgument::new(context, &["user"]),
                    ),
                )
        }
        /// Oneway operation `remind`.
        pub fn remind<'a>(
            &'a self,
            what: &'a str,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object.invoke_oneway("remind", (what,))
        }
        /// Operation `f`. Returns the result, `y`.
        pub fn f<'a>(
            &'a self,
            x: impl ::core::convert::Into<::zorb::Octets<'a>>,
            y: impl ::zorb::IntoReference<AccountRef>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (::zorb::Bytes, ::core::option::Option<AccountRef>),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send + 'a {
            self.object
                .call::<
                    (
                        ::zorb::__private::BorrowedOctets,
                        ::zorb::__private::Taken<::zorb::__private::RefCodec<AccountRef>>,
                    ),
                    (::zorb::Bytes, ::zorb::__private::RefCodec<AccountRef>),
                    _,
                    _,
                >(
                    "f",
                    (
                        ::core::convert::Into::<::zorb::Octets<'a>>::into(x),
                        ::zorb::__private::OwnedArgument::<
                            ::zorb::__private::RefCodec<AccountRef>,
                        >::reference(y),
                    ),
                )
        }
    }
    /// Serves interface `IDL:Bank/T:1.0` with a [`T`].
    #[derive(Debug)]
    pub struct TServant<T_> {
        servant: ::std::sync::Arc<T_>,
    }
    impl<T_: T> TServant<T_> {
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
    impl<T_> ::core::clone::Clone for TServant<T_> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T_: T> ::zorb::__private::InterfaceSkeleton for TServant<T_> {
        type Ref = TRef;
    }
    impl<T_: T> ::zorb::__private::Skeleton for TServant<T_> {
        fn repository_id(&self) -> &'static str {
            "IDL:Bank/T:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:Bank/T:1.0" | "IDL:Bank/Account:1.0")
        }
        fn start(
            &self,
            request: ::zorb::__private::ServerRequest,
        ) -> ::zorb::__private::Started {
            match request.find(::zorb::__private::Skeleton::operations(self)) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::upcall::<
                        (),
                        (::std::string::String,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Account>::owner)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::BorrowedText,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Account>::set_owner)
                }
                ::core::option::Option::Some(2) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByValue<f64>,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Account>::deposit)
                }
                ::core::option::Option::Some(3) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::BorrowedText, ::zorb::Context),
                        (i32,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Account>::run)
                }
                ::core::option::Option::Some(4) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::BorrowedText,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as Account>::remind)
                }
                ::core::option::Option::Some(5) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::BorrowedOctets,
                            ::zorb::__private::Taken<
                                ::zorb::__private::RefCodec<AccountRef>,
                            >,
                        ),
                        (::zorb::Bytes, ::zorb::__private::RefCodec<AccountRef>),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T_ as T>::f)
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
                &[(2, 2), (3, 0)],
                &[
                    (b"run", 3),
                    (b"_get_owner", 0),
                    (b"f", 5),
                    (b"remind", 4),
                    (b"deposit", 2),
                    (b"_set_owner", 1),
                ],
            );
            &OPERATIONS
        }
    }
    /// Implements [`T`] by another servant of interface `IDL:Bank/T:1.0`.
    pub trait TDelegate: Account {
        /// The servant that gets the calls.
        type Delegate: T;
        /// The servant that gets the calls.
        fn delegate(&self) -> &Self::Delegate;
    }
    impl<T_: TDelegate> T for T_ {
        fn f(
            &self,
            x: ::zorb::OctetsRef<'_>,
            y: ::core::option::Option<AccountRef>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (::zorb::Bytes, ::core::option::Option<AccountRef>),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send {
            <<T_ as TDelegate>::Delegate as T>::f(
                <T_ as TDelegate>::delegate(self),
                x,
                y,
            )
        }
    }
    ::zorb::__private::type_code!(
        __TC_T = __Tc::Named(__TcKind::ObjRef, "IDL:Bank/T:1.0", "T");
    );
}
