/** option: in\_memory Store::Place
 option: in\_memory Store::Track

 Module `IDL:Store:1.0`.*/
pub mod store {
    #[allow(non_snake_case, unused_imports, reason = "for the derived traits")]
    use ::zorb::__private::zerocopy as __in_memory_Kind;
    /// Enum `IDL:Store/Kind:1.0`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[derive(
        __in_memory_Kind::Immutable,
        __in_memory_Kind::IntoBytes,
        __in_memory_Kind::KnownLayout,
        __in_memory_Kind::TryFromBytes
    )]
    #[zerocopy(crate = "self::__in_memory_Kind")]
    #[repr(u32)]
    pub enum Kind {
        /// Enumerator `board`.
        Board,
        /// Enumerator `box`.
        Box,
    }
    ::zorb::__private::cdr_enum!(Kind { Board, Box });
    ::zorb::__private::idl_enum!(Kind { Board = "board", Box = "box" });
    ::zorb::__private::type_code!(
        __TC_KIND = __Tc::Enum("IDL:Store/Kind:1.0", "Kind", & ["board", "box"]); value
        Kind
    );
    #[allow(non_snake_case, unused_imports, reason = "for the derived traits")]
    use ::zorb::__private::zerocopy as __in_memory_Corner;
    /// Struct `IDL:Store/Corner:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    #[derive(Copy)]
    #[derive(
        __in_memory_Corner::Immutable,
        __in_memory_Corner::IntoBytes,
        __in_memory_Corner::KnownLayout,
        __in_memory_Corner::TryFromBytes
    )]
    #[zerocopy(crate = "self::__in_memory_Corner")]
    #[repr(C)]
    pub struct Corner {
        /// Member `x`.
        pub x: i16,
        /// Member `y`.
        pub y: i16,
    }
    ::zorb::__private::cdr_struct!(Corner { x : i16, y : i16 });
    ::zorb::__private::type_code!(
        __TC_CORNER = __Tc::Struct("IDL:Store/Corner:1.0", "Corner", & [("x", &
        __Tc::Short), ("y", & __Tc::Short)]); value Corner
    );
    #[allow(non_snake_case, unused_imports, reason = "for the derived traits")]
    use ::zorb::__private::zerocopy as __in_memory_Place;
    /** In another order in memory, without padding.

 Struct `IDL:Store/Place:1.0`.*/
    #[derive(Debug, Clone, PartialEq)]
    #[derive(Copy)]
    #[derive(
        __in_memory_Place::Immutable,
        __in_memory_Place::IntoBytes,
        __in_memory_Place::KnownLayout,
        __in_memory_Place::TryFromBytes
    )]
    #[zerocopy(crate = "self::__in_memory_Place")]
    #[repr(C)]
    pub struct Place {
        /// Member `weight`.
        pub weight: f64,
        /// Member `at`.
        pub at: i32,
        /// Member `row`.
        pub row: i16,
        /// Member `side`.
        pub side: ::zorb::Char,
        /// Member `mark`.
        pub mark: u8,
    }
    ::zorb::__private::cdr_struct!(
        Place { row : i16, side : ::zorb::Char, at : i32, mark : u8, weight : f64 }
    );
    ::zorb::__private::type_code!(
        __TC_PLACE = __Tc::Struct("IDL:Store/Place:1.0", "Place", & [("row", &
        __Tc::Short), ("side", & __Tc::Char), ("at", & __Tc::Long), ("mark", &
        __Tc::Octet), ("weight", & __Tc::Double)]); value Place
    );
    #[allow(non_snake_case, unused_imports, reason = "for the derived traits")]
    use ::zorb::__private::zerocopy as __in_memory_Track;
    /// Struct `IDL:Store/Track:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    #[derive(Copy)]
    #[derive(
        __in_memory_Track::Immutable,
        __in_memory_Track::IntoBytes,
        __in_memory_Track::KnownLayout,
        __in_memory_Track::TryFromBytes
    )]
    #[zerocopy(crate = "self::__in_memory_Track")]
    #[repr(C)]
    pub struct Track {
        /// Member `valid`.
        pub valid: bool,
        /// Member `channel`.
        pub channel: [u8; 3],
        /// Member `what`.
        pub what: Kind,
        /// Member `corners`.
        pub corners: [Corner; 2],
    }
    ::zorb::__private::cdr_struct!(
        Track { valid : bool, channel : [u8; 3], what : Kind, corners : [Corner; 2] }
    );
    ::zorb::__private::type_code!(
        __TC_TRACK = __Tc::Struct("IDL:Store/Track:1.0", "Track", & [("valid", &
        __Tc::Boolean), ("channel", & __Tc::Array(& __Tc::Octet, 3)), ("what", &
        __TC_KIND), ("corners", & __Tc::Array(& __TC_CORNER, 2))]); value Track
    );
    /// Typedef `IDL:Store/Places:1.0`.
    pub type Places = ::std::vec::Vec<Place>;
    ::zorb::__private::type_code!(
        __TC_PLACES = __Tc::Alias("IDL:Store/Places:1.0", "Places", & __Tc::Sequence(&
        __TC_PLACE, 100)); alias #[doc = " The TypeCode of `Store::Places`."]
        PLACES_TYPE_CODE
    );
    /// Struct `IDL:Store/Plain:1.0`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Plain {
        /// Member `one`.
        pub one: Place,
        /// Member `name`.
        pub name: ::std::string::String,
    }
    ::zorb::__private::cdr_struct!(Plain { one : Place, name : ::std::string::String });
    ::zorb::__private::type_code!(
        __TC_PLAIN = __Tc::Struct("IDL:Store/Plain:1.0", "Plain", & [("one", &
        __TC_PLACE), ("name", & __Tc::String(0))]); value Plain
    );
    /// The operations of a servant of interface `IDL:Store/Shelf:1.0`, as `async fn`s.
    pub trait Shelf: ::core::marker::Send + ::core::marker::Sync + 'static {
        /// Operation `find`.
        fn find(
            &self,
            name: &str,
            along: &Track,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<Place, ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `put`. Returns `along`.
        fn put(
            &self,
            what: &[Place],
            owner: ::core::option::Option<::zorb::ObjectRef>,
            along: &Track,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<Track, ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Oneway operation `drop`.
        fn drop(
            &self,
            what: &[Place],
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Operation `other`.
        fn other(
            &self,
            what: &Plain,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Reads attribute `front`.
        fn front(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<Place, ::zorb::SystemException>,
        > + ::core::marker::Send;
        /// Writes attribute `front`.
        fn set_front(
            &self,
            value: &Place,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send;
    }
    /// A reference to an object of interface `IDL:Store/Shelf:1.0`.
    #[derive(Clone)]
    pub struct ShelfRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        ShelfRef, "IDL:Store/Shelf:1.0", concrete & __TC_SHELF, bases : []
    );
    impl ShelfRef {
        /// Operation `find`.
        pub fn find<'a>(
            &'a self,
            name: &'a str,
            along: &'a Track,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<Place, ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            async move {
                if self
                    .object
                    .passes_memory(12361082846576828865, "LAYOUT:find/ab8b635b6d62e1c1")
                    .await
                {
                    let result = self
                        .object
                        .invoke::<
                            _,
                            (::zorb::__private::InMemory<Place>,),
                            ::zorb::SystemException,
                        >(
                            "find/ab8b635b6d62e1c1",
                            (
                                name,
                                ::zorb::__private::Enc::<
                                    ::zorb::__private::InMemory<Track>,
                                >(along),
                            ),
                        )
                        .await;
                    if !self.object.declines_memory(12361082846576828865, &result) {
                        return result;
                    }
                }
                self.object.invoke::<_, (Place,), _>("find", (name, along)).await
            }
        }
        /// Operation `put`. Returns `along`.
        pub fn put<'a>(
            &'a self,
            what: &'a [Place],
            owner: impl ::zorb::IntoReference<::zorb::ObjectRef>,
            along: &'a Track,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<Track, ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            let owner = ::zorb::__private::untyped_reference(
                ::zorb::__private::OwnedArgument::<
                    ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                >::reference(owner),
            );
            async move {
                if self
                    .object
                    .passes_memory(17458833975946987324, "LAYOUT:put/f24a3d0010d7473c")
                    .await
                {
                    let result = self
                        .object
                        .invoke::<
                            _,
                            (::zorb::__private::InMemory<Track>,),
                            ::zorb::SystemException,
                        >(
                            "put/f24a3d0010d7473c",
                            (
                                ::zorb::__private::Enc::<
                                    ::zorb::__private::BoundedSeq<
                                        ::zorb::__private::InMemory<Place>,
                                        100,
                                    >,
                                >(what),
                                &owner,
                                ::zorb::__private::Enc::<
                                    ::zorb::__private::InMemory<Track>,
                                >(along),
                            ),
                        )
                        .await;
                    if !self.object.declines_memory(17458833975946987324, &result) {
                        return result;
                    }
                }
                self.object
                    .invoke::<
                        _,
                        (Track,),
                        _,
                    >(
                        "put",
                        (
                            ::zorb::__private::Enc::<
                                ::zorb::__private::BoundedSeq<Place, 100>,
                            >(what),
                            owner,
                            along,
                        ),
                    )
                    .await
            }
        }
        /// Oneway operation `drop`.
        pub fn drop<'a>(
            &'a self,
            what: &'a [Place],
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            async move {
                if self
                    .object
                    .passes_memory_one_way(
                        6008040309488430733,
                        "LAYOUT:drop/5360d8d45b492e8d",
                    )
                {
                    return self
                        .object
                        .invoke_oneway(
                            "drop/5360d8d45b492e8d",
                            (
                                ::zorb::__private::Enc::<
                                    ::zorb::__private::BoundedSeq<
                                        ::zorb::__private::InMemory<Place>,
                                        100,
                                    >,
                                >(what),
                            ),
                        )
                        .await;
                }
                self.object
                    .invoke_oneway(
                        "drop",
                        (
                            ::zorb::__private::Enc::<
                                ::zorb::__private::BoundedSeq<Place, 100>,
                            >(what),
                        ),
                    )
                    .await
            }
        }
        /// Operation `other`.
        pub fn other<'a>(
            &'a self,
            what: &'a Plain,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            self.object.invoke::<_, (), _>("other", (what,))
        }
        /// Reads attribute `front`.
        pub fn front(
            &self,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<Place, ::zorb::SystemException>,
        > + ::core::marker::Send + '_ {
            async move {
                if self
                    .object
                    .passes_memory(
                        18035273869609170946,
                        "LAYOUT:_get_front/fa4a2a0788f07802",
                    )
                    .await
                {
                    let result = self
                        .object
                        .invoke::<
                            _,
                            (::zorb::__private::InMemory<Place>,),
                            ::zorb::SystemException,
                        >("_get_front/fa4a2a0788f07802", ())
                        .await;
                    if !self.object.declines_memory(18035273869609170946, &result) {
                        return result;
                    }
                }
                self.object.invoke::<_, (Place,), _>("_get_front", ()).await
            }
        }
        /// Writes attribute `front`.
        pub fn set_front<'a>(
            &'a self,
            value: &'a Place,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), ::zorb::SystemException>,
        > + ::core::marker::Send + 'a {
            async move {
                if self
                    .object
                    .passes_memory(
                        14214946555210574449,
                        "LAYOUT:_set_front/c545a293f47d2a71",
                    )
                    .await
                {
                    let result = self
                        .object
                        .invoke::<
                            _,
                            (),
                            ::zorb::SystemException,
                        >(
                            "_set_front/c545a293f47d2a71",
                            (
                                ::zorb::__private::Enc::<
                                    ::zorb::__private::InMemory<Place>,
                                >(value),
                            ),
                        )
                        .await;
                    if !self.object.declines_memory(14214946555210574449, &result) {
                        return result;
                    }
                }
                self.object.invoke::<_, (), _>("_set_front", (value,)).await
            }
        }
    }
    /// Serves interface `IDL:Store/Shelf:1.0` with a [`Shelf`].
    #[derive(Debug)]
    pub struct ShelfServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: Shelf> ShelfServant<T> {
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
    impl<T> ::core::clone::Clone for ShelfServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: Shelf> ::zorb::__private::InterfaceSkeleton for ShelfServant<T> {
        type Ref = ShelfRef;
    }
    impl<T: Shelf> ::zorb::__private::Skeleton for ShelfServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:Store/Shelf:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(
                repository_id, "IDL:Store/Shelf:1.0" | "LAYOUT:find/ab8b635b6d62e1c1" |
                "LAYOUT:put/f24a3d0010d7473c" | "LAYOUT:drop/5360d8d45b492e8d" |
                "LAYOUT:_get_front/fa4a2a0788f07802" |
                "LAYOUT:_set_front/c545a293f47d2a71"
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
                            ::zorb::__private::BorrowedText,
                            ::zorb::__private::ByRef<Track, Track>,
                        ),
                        (Place,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Shelf>::find)
                }
                ::core::option::Option::Some(1) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::RecycledSeq<Place, 100>,
                            ::zorb::__private::Taken<
                                ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                            >,
                            ::zorb::__private::ByRef<Track, Track>,
                        ),
                        (Track,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Shelf>::put)
                }
                ::core::option::Option::Some(2) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::RecycledSeq<Place, 100>,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Shelf>::drop)
                }
                ::core::option::Option::Some(3) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByRef<Plain, Plain>,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Shelf>::other)
                }
                ::core::option::Option::Some(4) => {
                    ::zorb::__private::upcall::<
                        (),
                        (Place,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Shelf>::front)
                }
                ::core::option::Option::Some(5) => {
                    ::zorb::__private::upcall::<
                        (::zorb::__private::ByRef<Place, Place>,),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Shelf>::set_front)
                }
                ::core::option::Option::Some(6) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::BorrowedText,
                            ::zorb::__private::ByRef<
                                ::zorb::__private::InMemory<Track>,
                                Track,
                            >,
                        ),
                        (::zorb::__private::InMemory<Place>,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Shelf>::find)
                }
                ::core::option::Option::Some(7) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::RecycledSeq<
                                ::zorb::__private::InMemory<Place>,
                                100,
                            >,
                            ::zorb::__private::Taken<
                                ::zorb::__private::RefCodec<::zorb::ObjectRef>,
                            >,
                            ::zorb::__private::ByRef<
                                ::zorb::__private::InMemory<Track>,
                                Track,
                            >,
                        ),
                        (::zorb::__private::InMemory<Track>,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Shelf>::put)
                }
                ::core::option::Option::Some(8) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::RecycledSeq<
                                ::zorb::__private::InMemory<Place>,
                                100,
                            >,
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Shelf>::drop)
                }
                ::core::option::Option::Some(9) => {
                    ::zorb::__private::upcall::<
                        (),
                        (::zorb::__private::InMemory<Place>,),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Shelf>::front)
                }
                ::core::option::Option::Some(10) => {
                    ::zorb::__private::upcall::<
                        (
                            ::zorb::__private::ByRef<
                                ::zorb::__private::InMemory<Place>,
                                Place,
                            >,
                        ),
                        (),
                        _,
                        _,
                        _,
                    >(&self.servant, request, <T as Shelf>::set_front)
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
                &[(0, 2), (0, 1), (1, 0), (4, 9)],
                &[
                    (b"other", 3),
                    (b"drop/5360d8d45b492e8d", 8),
                    (b"_set_front/c545a293f47d2a71", 10),
                    (b"find", 0),
                    (b"_get_front", 4),
                    (b"_get_front/fa4a2a0788f07802", 9),
                    (b"put", 1),
                    (b"_set_front", 5),
                    (b"find/ab8b635b6d62e1c1", 6),
                    (b"drop", 2),
                    (b"put/f24a3d0010d7473c", 7),
                ],
            );
            &OPERATIONS
        }
    }
    ::zorb::__private::type_code!(
        __TC_SHELF = __Tc::Named(__TcKind::ObjRef, "IDL:Store/Shelf:1.0", "Shelf");
    );
}
