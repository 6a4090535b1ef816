/// Module `IDL:Plain:1.0`.
pub mod plain {
    /// Struct `IDL:Plain/P:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct P {
        /// Member `x`.
        pub x: i32,
    }
    ::zorb::__private::cdr_struct!(P { x : i32 });
    ::zorb::__private::type_code!(
        __TC_P = __Tc::Struct("IDL:Plain/P:1.0", "P", & [("x", & __Tc::Long)]); value P
    );
}
/// Module `IDL:p1/M2:1.0`.
pub mod m2 {
    /// Struct `LOCAL:before`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Before {
        /// Member `m`.
        pub m: crate::common::Money,
        /// Member `p`.
        pub p: super::plain::P,
    }
    ::zorb::__private::cdr_struct!(
        Before { m : crate ::common::Money, p : super::plain::P }
    );
    ::zorb::__private::type_code!(
        __TC_BEFORE = __Tc::Struct("LOCAL:before", "Before", & [("m", & crate
        ::common::__TC_MONEY), ("p", & super::plain::__TC_P)]); value Before
    );
    /// Module `IDL:p1/M2/M3:1.0`.
    pub mod m3 {
        /// Struct `IDL:p2/T3:1.0`.
        #[derive(Debug, Clone, PartialEq)]
        pub struct T3 {
            /// Member `b`.
            pub b: super::Before,
        }
        ::zorb::__private::cdr_struct!(T3 { b : super::Before });
        ::zorb::__private::type_code!(
            __TC_T3 = __Tc::Struct("IDL:p2/T3:1.0", "T3", & [("b", &
            super::__TC_BEFORE)]); value T3
        );
        /// Struct `IDL:p1/M2/M3/T5:1.0`.
        #[derive(Debug, Clone, PartialEq)]
        pub struct T5 {
            /// Member `t`.
            pub t: super::T4,
            /// Member `b`.
            pub b: ::core::option::Option<crate::common::BaseRef>,
        }
        ::zorb::__private::cdr_struct!(
            T5 { t : super::T4, b : ::zorb::__private::RefCodec < crate ::common::BaseRef
            > }
        );
        ::zorb::__private::type_code!(
            __TC_T5 = __Tc::Struct("IDL:p1/M2/M3/T5:1.0", "T5", & [("t", &
            super::__TC_T4), ("b", & crate ::common::__TC_BASE)]); value T5
        );
    }
    /// Struct `IDL:p1/M2/T4:2.10`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct T4 {
        /// Member `t`.
        pub t: m3::T3,
    }
    ::zorb::__private::cdr_struct!(T4 { t : m3::T3 });
    ::zorb::__private::type_code!(
        __TC_T4 = __Tc::Struct("IDL:p1/M2/T4:2.10", "T4", & [("t", & m3::__TC_T3)]);
        value T4
    );
    /// The declarations inside interface `M2::Derived`, and the exceptions of its operations.
    pub mod derived {
        /// The exceptions of `last`.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum LastError {
            /// `IDL:common.example/Common/Broke:1.0`.
            Broke(crate::common::Broke),
            /// A system exception.
            System(::zorb::SystemException),
        }
        ::zorb::__private::operation_error!(LastError { Broke(crate ::common::Broke) });
    }
    /// The operations of a servant of interface `IDL:p1/M2/Derived:1.0`, as `async fn`s.
    pub trait Derived: crate::common::Base {
        /// Operation `last`.
        fn last(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<m3::T5, derived::LastError>,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:p1/M2/Derived:1.0`.
    #[derive(Clone)]
    pub struct DerivedRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        DerivedRef, "IDL:p1/M2/Derived:1.0", concrete & __TC_DERIVED, bases :
        ["IDL:common.example/Common/Base:1.0"]
    );
    ::zorb::__private::upcasts!(DerivedRef => [crate ::common::BaseRef]);
    impl DerivedRef {
        /// Operation `ping`.
        pub fn ping(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            self.object.call::<(), (), _, _>("ping", ())
        }
        /// Operation `last`.
        pub fn last(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<m3::T5, derived::LastError>,
        > + ::core::marker::Send + '_ {
            self.object.invoke::<_, (m3::T5,), _>("last", ())
        }
    }
    /// Serves interface `IDL:p1/M2/Derived:1.0` with a [`Derived`].
    #[derive(Debug)]
    pub struct DerivedServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: Derived> DerivedServant<T> {
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
    impl<T> ::core::clone::Clone for DerivedServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: Derived> ::zorb::__private::InterfaceSkeleton for DerivedServant<T> {
        type Ref = DerivedRef;
    }
    impl<T: Derived> ::zorb::__private::Skeleton for DerivedServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:p1/M2/Derived:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(
                repository_id, "IDL:p1/M2/Derived:1.0" |
                "IDL:common.example/Common/Base:1.0"
            )
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
                    >(&self.servant, request, <T as crate::common::Base>::ping)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (),
                        (m3::T5,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Derived>::last)
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
                &[(b"ping", 0), (b"last", 1)],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_DERIVED = __Tc::Named(__TcKind::ObjRef, "IDL:p1/M2/Derived:1.0", "Derived");
    );
}
