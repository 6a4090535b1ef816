/// Module `IDL:example.com/Garden:1.0`.
pub mod garden {
    /// Exception `IDL:example.com/Garden/Withered:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Withered {
        /// Member `why`.
        pub why: ::std::string::String,
    }
    ::zorb::__private::exception!(
        Withered, "IDL:example.com/Garden/Withered:1.0", { why : ::std::string::String }
    );
    ::zorb::__private::type_code!(
        __TC_WITHERED = __Tc::Except("IDL:example.com/Garden/Withered:1.0", "Withered", &
        [("why", & __Tc::String(0))]); exception Withered
    );
    /// The operations of a servant of interface `IDL:example.com/Garden/Described:1.0`, as `async fn`s.
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
    /// A reference to an object of interface `IDL:example.com/Garden/Described:1.0`.
    #[derive(Clone)]
    pub struct DescribedRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        DescribedRef, "IDL:example.com/Garden/Described:1.0", abstract & __TC_DESCRIBED,
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
        "IDL:example.com/Garden/Described:1.0", "Described");
    );
    /// The operations of a servant of interface `IDL:example.com/Garden/Bed:1.0`, as `async fn`s.
    pub trait Bed: Described {}
    /// A reference to an object of interface `IDL:example.com/Garden/Bed:1.0`.
    #[derive(Clone)]
    pub struct BedRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        BedRef, "IDL:example.com/Garden/Bed:1.0", concrete & __TC_BED, bases :
        ["IDL:example.com/Garden/Described:1.0"]
    );
    ::zorb::__private::upcasts!(BedRef => [DescribedRef]);
    ::zorb::__private::abstract_upcasts!(BedRef => [DescribedRef]);
    impl BedRef {
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
    /// Serves interface `IDL:example.com/Garden/Bed:1.0` with a [`Bed`].
    #[derive(Debug)]
    pub struct BedServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: Bed> BedServant<T> {
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
    impl<T> ::core::clone::Clone for BedServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: Bed> ::zorb::__private::InterfaceSkeleton for BedServant<T> {
        type Ref = BedRef;
    }
    impl<T: Bed> ::zorb::__private::Skeleton for BedServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:example.com/Garden/Bed:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(
                repository_id, "IDL:example.com/Garden/Bed:1.0" |
                "IDL:example.com/Garden/Described:1.0"
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
                        (::std::string::String,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Described>::describe)
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
                &[(b"describe", 0)],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_BED = __Tc::Named(__TcKind::ObjRef, "IDL:example.com/Garden/Bed:1.0",
        "Bed");
    );
    /// The declarations inside value type `Garden::Plant`, and the exceptions of its operations.
    pub mod plant {
        /// Typedef `IDL:example.com/Garden/Plant/Plants:1.0`.
        pub type Plants = ::std::vec::Vec<
            ::core::option::Option<::zorb::Value<super::Plant>>,
        >;
        ::zorb::__private::type_code!(
            __TC_PLANTS = __Tc::Alias("IDL:example.com/Garden/Plant/Plants:1.0",
            "Plants", & __Tc::Sequence(& super::__TC_PLANT, 0)); alias #[doc =
            " The TypeCode of `Garden::Plant::Plants`."] PLANTS_TYPE_CODE
        );
    }
    /** A thing that grows.

 The state of value type `IDL:example.com/Garden/Plant:1.0`.*/
    #[derive(Debug, Clone, PartialEq)]
    pub struct Plant {
        /// Public member `name`.
        pub name: ::std::string::String,
        /// Private member `parent`.
        pub parent: ::core::option::Option<::zorb::Value<Plant>>,
        /// Public member `children`.
        pub children: ::std::vec::Vec<::core::option::Option<::zorb::Value<Plant>>>,
    }
    ::zorb::__private::cdr_struct!(
        Plant { name : ::std::string::String, parent : ::zorb::__private::ValueCodec <
        Plant >, children : ::zorb::__private::Seq < ::zorb::__private::ValueCodec <
        Plant > > }
    );
    ::zorb::__private::value_type!(
        Plant, "Garden::Plant", ["IDL:example.com/Garden/Plant:1.0"], & __TC_PLANT, base
        : [], derives : [], known : [Tree], plain[]
    );
    /// The factories of value type `IDL:example.com/Garden/Plant:1.0`. Implement it for `Plant`; the ORB calls none of them.
    pub trait PlantFactories {
        /// Factory `seed`.
        fn seed(
            name: &str,
        ) -> ::core::result::Result<::zorb::Value<Plant>, ::zorb::SystemException>;
    }
    ::zorb::__private::type_code!(
        __TC_PLANT = __Tc::Value(__TcKind::Value, "IDL:example.com/Garden/Plant:1.0",
        "Plant", 0, & __Tc::Null, & [("name", & __Tc::String(0), 1), ("parent", &
        __TC_PLANT, 0), ("children", & plant::__TC_PLANTS, 1)]);
    );
    /// The declarations inside value type `Garden::Tree`, and the exceptions of its operations.
    pub mod tree {
        /// The exceptions of `cut`.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum CutError {
            /// `IDL:example.com/Garden/Withered:1.0`.
            Withered(super::Withered),
            /// A system exception.
            System(::zorb::SystemException),
        }
        ::zorb::__private::operation_error!(CutError { Withered(super::Withered) });
    }
    /// The state of value type `IDL:example.com/Garden/Tree:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Tree {
        /// The state of `Garden::Plant`.
        pub base: Plant,
        /// Public member `height`.
        pub height: f64,
    }
    ::zorb::__private::cdr_struct!(Tree { base : Plant, height : f64 });
    ::zorb::__private::value_type!(
        Tree, "Garden::Tree", ["IDL:example.com/Garden/Tree:1.0",
        "IDL:example.com/Garden/Plant:1.0"], & __TC_TREE, base : [base], derives :
        [Plant], known : [], operations[TreeOperations] impl __DescribedOfValue { fn
        describe(& mut self,) -> ::core::result::Result < ::std::string::String,
        ::zorb::SystemException > { < Self as TreeOperations > ::describe(self,) } }
    );
    /// The operations of values of type `IDL:example.com/Garden/Tree:1.0`. Implement it for `Tree`, and for the state of each value type that is derived from it; call it on a `Value`.
    pub trait TreeOperations {
        /// Operation `describe`.
        fn describe(
            &mut self,
        ) -> ::core::result::Result<::std::string::String, ::zorb::SystemException>;
        /// Reads attribute `rings`.
        fn rings(&self) -> ::core::result::Result<i32, ::zorb::SystemException>;
        /// Writes attribute `rings`.
        fn set_rings(
            &mut self,
            value: i32,
        ) -> ::core::result::Result<(), ::zorb::SystemException>;
        /// Operation `cut`. Returns `rest`.
        fn cut(
            &mut self,
            by: f64,
        ) -> ::core::result::Result<
            ::core::option::Option<::zorb::Value<Tree>>,
            tree::CutError,
        >;
    }
    impl<__T: ::zorb::Derives<Tree>> TreeOperations for ::zorb::Value<__T> {
        fn describe(
            &mut self,
        ) -> ::core::result::Result<::std::string::String, ::zorb::SystemException> {
            self.operations_mut::<dyn TreeOperations, _, _>(|__state| __state.describe())
        }
        fn rings(&self) -> ::core::result::Result<i32, ::zorb::SystemException> {
            self.operations::<dyn TreeOperations, _, _>(|__state| __state.rings())
        }
        fn set_rings(
            &mut self,
            value: i32,
        ) -> ::core::result::Result<(), ::zorb::SystemException> {
            self.operations_mut::<
                    dyn TreeOperations,
                    _,
                    _,
                >(|__state| __state.set_rings(value))
        }
        fn cut(
            &mut self,
            by: f64,
        ) -> ::core::result::Result<
            ::core::option::Option<::zorb::Value<Tree>>,
            tree::CutError,
        > {
            self.operations_mut::<dyn TreeOperations, _, _>(|__state| __state.cut(by))
        }
    }
    ::zorb::__private::type_code!(
        __TC_TREE = __Tc::Value(__TcKind::Value, "IDL:example.com/Garden/Tree:1.0",
        "Tree", 3, & __TC_PLANT, & [("height", & __Tc::Double, 1)]);
    );
    /// Abstract value type `IDL:example.com/Garden/Watered:1.0`.
    #[derive(Debug)]
    pub enum Watered {}
    ::zorb::__private::value_type!(
        Watered, "Garden::Watered", ["IDL:example.com/Garden/Watered:1.0"], &
        __TC_WATERED, base : [], derives : [], known : [Cactus],
        abstract[WateredOperations]
    );
    /// The operations of values of type `IDL:example.com/Garden/Watered:1.0`. Implemented for the states of value types that are derived from it, and called on a `Value` of any of them.
    pub trait WateredOperations {
        /// Operation `water`.
        fn water(
            &mut self,
            litres: u32,
        ) -> ::core::result::Result<(), ::zorb::SystemException>;
    }
    impl<__T: ::zorb::Derives<Watered>> WateredOperations for ::zorb::Value<__T> {
        fn water(
            &mut self,
            litres: u32,
        ) -> ::core::result::Result<(), ::zorb::SystemException> {
            self.operations_mut::<
                    dyn WateredOperations,
                    _,
                    _,
                >(|__state| __state.water(litres))
        }
    }
    ::zorb::__private::type_code!(
        __TC_WATERED = __Tc::Value(__TcKind::Value, "IDL:example.com/Garden/Watered:1.0",
        "Watered", 2, & __Tc::Null, & []);
    );
    /// The state of value type `IDL:example.com/Garden/Cactus:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Cactus {
        /// Public member `spines`.
        pub spines: u8,
    }
    ::zorb::__private::value_type!(
        Cactus, "Garden::Cactus", ["IDL:example.com/Garden/Cactus:1.0"], & __TC_CACTUS,
        base : [], derives : [Watered], known : [], custom[WateredOperations]
    );
    ::zorb::__private::type_code!(
        __TC_CACTUS = __Tc::Value(__TcKind::Value, "IDL:example.com/Garden/Cactus:1.0",
        "Cactus", 1, & __Tc::Null, & [("spines", & __Tc::Octet, 1)]);
    );
    /// Value box `IDL:example.com/Garden/Label:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Label {
        /// The boxed value.
        pub value: ::std::string::String,
    }
    ::zorb::__private::cdr_struct!(Label { value : ::zorb::__private::WideStr });
    ::zorb::__private::value_type!(
        Label, "Garden::Label", ["IDL:example.com/Garden/Label:1.0"], & __TC_LABEL, base
        : [], derives : [], known : [], plain[]
    );
    ::zorb::__private::type_code!(
        __TC_LABEL = __Tc::ValueBox("IDL:example.com/Garden/Label:1.0", "Label", &
        __Tc::WString(0));
    );
    /// Typedef `IDL:example.com/Garden/Flower:1.0`.
    pub type Flower = Plant;
    ::zorb::__private::type_code!(
        __TC_FLOWER = __Tc::Alias("IDL:example.com/Garden/Flower:1.0", "Flower", &
        __TC_PLANT); alias #[doc = " The TypeCode of `Garden::Flower`."] FLOWER_TYPE_CODE
    );
    /// The operations of a servant of interface `IDL:example.com/Garden/Gardener:1.0`, as `async fn`s.
    pub trait Gardener: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Operation `plant`. Returns the result, `name`.
        fn plant(
            &self,
            what: ::core::option::Option<::zorb::Value<Plant>>,
            name: ::core::option::Option<::zorb::Value<Label>>,
            anything: ::core::option::Option<::zorb::Abstract<DescribedRef>>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (
                    ::core::option::Option<::zorb::Value<::zorb::ValueBase>>,
                    ::core::option::Option<::zorb::Value<Label>>,
                ),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:example.com/Garden/Gardener:1.0`.
    #[derive(Clone)]
    pub struct GardenerRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        GardenerRef, "IDL:example.com/Garden/Gardener:1.0", concrete & __TC_GARDENER,
        bases : []
    );
    impl GardenerRef {
        /// Operation `plant`. Returns the result, `name`.
        pub fn plant(
            &self,
            what: impl ::core::convert::Into<
                ::core::option::Option<::zorb::Value<Plant>>,
            >,
            name: impl ::core::convert::Into<
                ::core::option::Option<::zorb::Value<Label>>,
            >,
            anything: impl ::core::convert::Into<
                ::core::option::Option<::zorb::Abstract<DescribedRef>>,
            >,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                (
                    ::core::option::Option<::zorb::Value<::zorb::ValueBase>>,
                    ::core::option::Option<::zorb::Value<Label>>,
                ),
                ::zorb::SystemException,
            >,
        > + ::core::marker::Send + '_ {
            self.object
                .invoke::<
                    _,
                    (
                        ::zorb::__private::ValueCodec<::zorb::ValueBase>,
                        ::zorb::__private::ValueCodec<Label>,
                    ),
                    _,
                >(
                    "plant",
                    (
                        ::zorb::__private::OwnedArgument::<
                            ::zorb::__private::ValueCodec<Plant>,
                        >::new(what),
                        ::zorb::__private::OwnedArgument::<
                            ::zorb::__private::ValueCodec<Label>,
                        >::new(name),
                        ::zorb::__private::OwnedArgument::<
                            ::zorb::__private::AbstractCodec<DescribedRef>,
                        >::new(anything),
                    ),
                )
        }
    }
    /// Serves interface `IDL:example.com/Garden/Gardener:1.0` with a [`Gardener`].
    #[derive(Debug)]
    pub struct GardenerServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: Gardener> GardenerServant<T> {
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
    impl<T> ::core::clone::Clone for GardenerServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: Gardener> ::zorb::__private::InterfaceSkeleton for GardenerServant<T> {
        type Ref = GardenerRef;
    }
    impl<T: Gardener> ::zorb::__private::Skeleton for GardenerServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:example.com/Garden/Gardener:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:example.com/Garden/Gardener:1.0")
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
                                ::zorb::__private::ValueCodec<Plant>,
                            >,
                            ::zorb::__private::Taken<
                                ::zorb::__private::ValueCodec<Label>,
                            >,
                            ::zorb::__private::Taken<
                                ::zorb::__private::AbstractCodec<DescribedRef>,
                            >,
                        ),
                        (
                            ::zorb::__private::ValueCodec<::zorb::ValueBase>,
                            ::zorb::__private::ValueCodec<Label>,
                        ),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Gardener>::plant)
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
                &[(b"plant", 0)],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_GARDENER = __Tc::Named(__TcKind::ObjRef,
        "IDL:example.com/Garden/Gardener:1.0", "Gardener");
    );
}
