/** How many at most.

 Constant `LIMIT`.*/
pub const LIMIT: i32 = 7;
/** Where things are.

 Enum `IDL:Place:1.0`.*/
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /** At hand.

 Enumerator `here`.*/
    Here,
    /** Further off,
 by a mile.

 Enumerator `there`.*/
    There,
    /** Not to be found.

 Enumerator `nowhere`.*/
    Nowhere,
}
::zorb::__private::cdr_enum!(Place { Here, There, Nowhere });
::zorb::__private::idl_enum!(
    Place { Here = "here", There = "there", Nowhere = "nowhere" }
);
::zorb::__private::type_code!(
    __TC_PLACE = __Tc::Enum("IDL:Place:1.0", "Place", & ["here", "there", "nowhere"]);
    value Place
);
/** What is kept.

 Struct `IDL:Thing:1.0`.*/
#[derive(Debug, Clone, PartialEq)]
pub struct Thing {
    /** As on the label.

 Member `name`.*/
    pub name: ::std::string::String,
    /** What it weighs.

 In kg; never \[negative\].

 Member `weight`.*/
    pub weight: f64,
    /** In mm.

 Member `width`.*/
    pub width: i32,
    /** In mm.

 Member `height`.*/
    pub height: i32,
    /** From the left.

 Member `x`.*/
    pub x: i32,
    /** From the top.

 Member `y`.*/
    pub y: i32,
    /// Member `found`.
    pub found: Place,
}
::zorb::__private::cdr_struct!(
    Thing { name : ::std::string::String, weight : f64, width : i32, height : i32, x :
    i32, y : i32, found : Place }
);
::zorb::__private::type_code!(
    __TC_THING = __Tc::Struct("IDL:Thing:1.0", "Thing", & [("name", & __Tc::String(0)),
    ("weight", & __Tc::Double), ("width", & __Tc::Long), ("height", & __Tc::Long), ("x",
    & __Tc::Long), ("y", & __Tc::Long), ("found", & __TC_PLACE)]); value Thing
);
/// Union `IDL:Content:1.0`.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "members are as large as the IDL has them")]
pub enum Content {
    /** As it was counted.

 Member `number`, selected by `1`.*/
    Number(i32),
    /** As it was written.

 Member `text`, selected by each value that selects no other.*/
    Text {
        /// The discriminator: one of the values that select this member.
        discriminator: i32,
        /// The member.
        value: ::std::string::String,
    },
}
::zorb::__private::cdr_union!(
    Content : i32 { one { Number(i32) = [1] } several {} default
    Text(::std::string::String); }
);
::zorb::__private::type_code!(
    __TC_CONTENT = __Tc::Union("IDL:Content:1.0", "Content", & __Tc::Long, 1, & [(1,
    "number", & __Tc::Long), (0, "text", & __Tc::String(0))]); value Content
);
/** Nothing more goes in.

 Exception `IDL:Full:1.0`.*/
#[derive(Debug, Clone, PartialEq)]
pub struct Full {
    /** What was left over.

 Member `left`.*/
    pub left: i32,
}
::zorb::__private::exception!(Full, "IDL:Full:1.0", { left : i32 });
::zorb::__private::type_code!(
    __TC_FULL = __Tc::Except("IDL:Full:1.0", "Full", & [("left", & __Tc::Long)]);
    exception Full
);
/// The declarations inside interface `Store`, and the exceptions of its operations.
pub mod store {
    /// The exceptions of `put`.
    #[derive(Debug, Clone, PartialEq)]
    #[non_exhaustive]
    pub enum PutError {
        /// `IDL:Full:1.0`.
        Full(super::Full),
        /// A system exception.
        System(::zorb::SystemException),
    }
    ::zorb::__private::operation_error!(PutError { Full(super::Full) });
}
/// The operations of a servant of interface `IDL:Store:1.0`, as `async fn`s.
pub trait Store: ::core::marker::Send + ::core::marker::Sync + 'static {
    /** Puts something in.

 Counts what is there.

 - `name`: What it is called, by people.
 - `what`: What it is: comes back weighed.
 - `put_at`: Where it is in the end. Near the door, mostly.

 Operation `put`. Returns the result, `what`, `put_at`.*/
    #[allow(clippy::type_complexity, reason = "the IDL has as many results")]
    fn put(
        &self,
        name: &str,
        what: &Thing,
    ) -> impl ::core::future::Future<
        Output = ::core::result::Result<(i32, Thing, Place), store::PutError>,
    > + ::core::marker::Send;
    /** Its own, not what is in it.

 Reads attribute `size`.*/
    fn size(
        &self,
    ) -> impl ::core::future::Future<
        Output = ::core::result::Result<i32, ::zorb::SystemException>,
    > + ::core::marker::Send;
}
/// A reference to an object of interface `IDL:Store:1.0`.
#[derive(Clone)]
pub struct StoreRef {
    object: ::zorb::ObjectRef,
}
::zorb::__private::interface_ref!(
    StoreRef, "IDL:Store:1.0", concrete & __TC_STORE, bases : []
);
impl StoreRef {
    /** Puts something in.

 Counts what is there.

 - `name`: What it is called, by people.
 - `what`: What it is: comes back weighed.
 - `put_at`: Where it is in the end. Near the door, mostly.

 Operation `put`. Returns the result, `what`, `put_at`.*/
    #[allow(clippy::type_complexity, reason = "the IDL has as many results")]
    pub fn put<'a>(
        &'a self,
        name: &'a str,
        what: &'a Thing,
    ) -> impl ::core::future::Future<
        Output = ::core::result::Result<(i32, Thing, Place), store::PutError>,
    > + ::core::marker::Send + 'a {
        self.object.invoke::<_, (i32, Thing, Place), _>("put", (name, what))
    }
    /** Its own, not what is in it.

 Reads attribute `size`.*/
    pub fn size(
        &self,
    ) -> impl ::core::future::Future<
        Output = ::core::result::Result<i32, ::zorb::SystemException>,
    > + ::core::marker::Send + '_ {
        self.object.call::<(), (i32,), _, _>("_get_size", ())
    }
}
/// Serves interface `IDL:Store:1.0` with a [`Store`].
#[derive(Debug)]
pub struct StoreServant<T> {
    servant: ::std::sync::Arc<T>,
}
impl<T: Store> StoreServant<T> {
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
impl<T> ::core::clone::Clone for StoreServant<T> {
    fn clone(&self) -> Self {
        Self {
            servant: ::std::sync::Arc::clone(&self.servant),
        }
    }
}
impl<T: Store> ::zorb::__private::InterfaceSkeleton for StoreServant<T> {
    type Ref = StoreRef;
}
impl<T: Store> ::zorb::__private::Skeleton for StoreServant<T> {
    fn repository_id(&self) -> &'static str {
        "IDL:Store:1.0"
    }
    fn is_a(&self, repository_id: &str) -> bool {
        ::core::matches!(repository_id, "IDL:Store:1.0")
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
                        ::zorb::__private::ByRef<Thing, Thing>,
                    ),
                    (i32, Thing, Place),
                    _,
                    _,
                    _,
                >(&self.servant, request, <T as Store>::put)
            }
            ::core::option::Option::Some(1) => {
                ::zorb::__private::upcall::<
                    (),
                    (i32,),
                    _,
                    _,
                    _,
                >(&self.servant, request, <T as Store>::size)
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
            &[(b"_get_size", 1), (b"put", 0)],
        );
        &OPERATIONS
    }
}
::zorb::__private::type_code!(
    __TC_STORE = __Tc::Named(__TcKind::ObjRef, "IDL:Store:1.0", "Store");
);
