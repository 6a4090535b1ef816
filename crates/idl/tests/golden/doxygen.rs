/** Devices, as a \[list\] of \<Device\>.

 Opened by Rack::open(); see the rack or http&#58;//device.example/a\_b.

 ```text
 interface Device {
   sequence<long> all();
 };
 ```

 Module `IDL:Devices:1.0`.*/
pub mod devices {
    /** Not there. `NULL` is never it.

 Exception `IDL:Devices/Missing:1.0`.*/
    #[derive(Debug, Clone, PartialEq)]
    pub struct Missing {
        /** `""` or a name

 Member `name`.*/
        pub name: ::std::string::String,
    }
    ::zorb::__private::exception!(
        Missing, "IDL:Devices/Missing:1.0", { name : ::std::string::String }
    );
    ::zorb::__private::type_code!(
        __TC_MISSING = __Tc::Except("IDL:Devices/Missing:1.0", "Missing", & [("name", &
        __Tc::String(0))]); exception Missing
    );
    /** What it is:

 - a **motor**
 - a *lamp*

 Deprecated: Use `Rack`.

 Enum `IDL:Devices/Kind:1.0`.*/
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Kind {
        /// Enumerator `motor`.
        Motor,
        /// Enumerator `lamp`.
        Lamp,
    }
    ::zorb::__private::cdr_enum!(Kind { Motor, Lamp });
    ::zorb::__private::idl_enum!(Kind { Motor = "motor", Lamp = "lamp" });
    ::zorb::__private::type_code!(
        __TC_KIND = __Tc::Enum("IDL:Devices/Kind:1.0", "Kind", & ["motor", "lamp"]);
        value Kind
    );
    /// The declarations inside interface `Devices::Rack`, and the exceptions of its operations.
    pub mod rack {
        /// The exceptions of `open`.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum OpenError {
            /// `IDL:Devices/Missing:1.0`.
            Missing(super::Missing),
            /// A system exception.
            System(::zorb::SystemException),
        }
        ::zorb::__private::operation_error!(OpenError { Missing(super::Missing) });
    }
    /// The operations of a servant of interface `IDL:Devices/Rack:1.0`, as `async fn`s.
    pub trait Rack: ::core::marker::Send + ::core::marker::Sync + 'static {
        /** Opens a device.

 - `name`: the name, as in \[names\]
   or an alias
 - `what`: its kind

 Returns: a number

 Raises `Missing`: if there is none

 See: close()

 - `at`: Where.

 Operation `open`. Returns the result, `at`.*/
        fn open(
            &self,
            name: &str,
            what: Kind,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(i32, i32), rack::OpenError>,
        > + ::core::marker::Send;
        /// Operation `close`.
        fn close(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:Devices/Rack:1.0`.
    #[derive(Clone)]
    pub struct RackRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        RackRef, "IDL:Devices/Rack:1.0", concrete & __TC_RACK, bases : []
    );
    impl RackRef {
        /** Opens a device.

 - `name`: the name, as in \[names\]
   or an alias
 - `what`: its kind

 Returns: a number

 Raises `Missing`: if there is none

 See: close()

 - `at`: Where.

 Operation `open`. Returns the result, `at`.*/
        pub fn open<'a>(
            &'a self,
            name: &'a str,
            what: Kind,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(i32, i32), rack::OpenError>,
        > + ::core::marker::Send + 'a {
            self.object
                .call::<
                    (::zorb::__private::BorrowedText, ::zorb::__private::ByValue<Kind>),
                    (i32, i32),
                    _,
                    _,
                >("open", (name, what))
        }
        /// Operation `close`.
        pub fn close(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (), _, _>("close", ())
        }
    }
    /// Serves interface `IDL:Devices/Rack:1.0` with a [`Rack`].
    #[derive(Debug)]
    pub struct RackServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: Rack> RackServant<T> {
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
    impl<T> ::core::clone::Clone for RackServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: Rack> ::zorb::__private::InterfaceSkeleton for RackServant<T> {
        type Ref = RackRef;
    }
    impl<T: Rack> ::zorb::__private::Skeleton for RackServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:Devices/Rack:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:Devices/Rack:1.0")
        }
        fn start(
            &self,
            request: ::zorb::__private::ServerRequest,
        ) -> ::zorb::__private::Started {
            match request.find(::zorb::__private::Skeleton::operations(self)) {
                ::core::option::Option::Some(0) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::BorrowedText,
                            ::zorb::__private::ByValue<Kind>,
                        ),
                        (i32, i32),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Rack>::open)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Rack>::close)
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
                &[(b"close", 1), (b"open", 0)],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_RACK = __Tc::Named(__TcKind::ObjRef, "IDL:Devices/Rack:1.0", "Rack");
    );
}
