/** What of the caller's context travels.

 The operations of a servant of interface `IDL:Shell:1.0`, as `async fn`s.*/
pub trait Shell: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// Operation `run`.
    fn run(
        &self,
        command: &str,
        context: &::zorb::Context,
    ) -> impl ::core::future::Future<
        Output = ::core::result::Result<i32, ::zorb::SystemException>,
    > + ::core::marker::Send;
    /// Oneway operation `note`.
    fn note(
        &self,
        context: &str,
        context_: &::zorb::Context,
    ) -> impl ::core::future::Future<
        Output = ::core::result::Result<(), ::zorb::SystemException>,
    > + ::core::marker::Send;
}
/** What of the caller's context travels.

 A reference to an object of interface `IDL:Shell:1.0`.*/
#[derive(Clone)]
pub struct ShellRef {
    object: ::zorb::ObjectRef,
}
::zorb::__private::interface_ref!(
    ShellRef, "IDL:Shell:1.0", concrete & __TC_SHELL, bases : []
);
impl ShellRef {
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
                    ::zorb::__private::ContextArgument::new(context, &["user", "app.*"]),
                ),
            )
    }
    /// Oneway operation `note`.
    pub fn note<'a>(
        &'a self,
        context: &'a str,
        context_: &'a ::zorb::Context,
    ) -> impl ::core::future::Future<
        Output = ::core::result::Result<(), ::zorb::SystemException>,
    > + ::core::marker::Send + 'a {
        self.object
            .invoke_oneway(
                "note",
                (context, ::zorb::__private::ContextArgument::new(context_, &["z*"])),
            )
    }
}
/// Serves interface `IDL:Shell:1.0` with a [`Shell`].
#[derive(Debug)]
pub struct ShellServant<T> {
    servant: ::std::sync::Arc<T>,
}
impl<T: Shell> ShellServant<T> {
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
impl<T> ::core::clone::Clone for ShellServant<T> {
    fn clone(&self) -> Self {
        Self {
            servant: ::std::sync::Arc::clone(&self.servant),
        }
    }
}
impl<T: Shell> ::zorb::__private::InterfaceSkeleton for ShellServant<T> {
    type Ref = ShellRef;
}
impl<T: Shell> ::zorb::__private::Skeleton for ShellServant<T> {
    fn repository_id(&self) -> &'static str {
        "IDL:Shell:1.0"
    }
    fn is_a(&self, repository_id: &str) -> bool {
        ::core::matches!(repository_id, "IDL:Shell:1.0")
    }
    fn start(
        &self,
        request: ::zorb::__private::ServerRequest,
    ) -> ::zorb::__private::Started {
        match request.find(::zorb::__private::Skeleton::operations(self)) {
            ::core::option::Option::Some(0) => {
                ::zorb::__private::upcall::<
                    (::zorb::__private::BorrowedText, ::zorb::Context),
                    (i32,),
                    _,
                    _,
                    _,
                >(&self.servant, request, <T as Shell>::run)
            }
            ::core::option::Option::Some(1) => {
                ::zorb::__private::upcall::<
                    (::zorb::__private::BorrowedText, ::zorb::Context),
                    (),
                    _,
                    _,
                    _,
                >(&self.servant, request, <T as Shell>::note)
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
            &[(b"run", 0), (b"note", 1)],
        );
        &OPERATIONS
    }
}
::zorb::__private::type_code!(
    __TC_SHELL = __Tc::Named(__TcKind::ObjRef, "IDL:Shell:1.0", "Shell");
);
