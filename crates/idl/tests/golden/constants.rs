/// Module `IDL:Constants:1.0`.
pub mod constants {
    /// Constant `Constants::SHIFTED`.
    pub const SHIFTED: i32 = 19;
    /// Constant `Constants::LEAST`.
    pub const LEAST: i16 = -32768;
    /// Constant `Constants::MOST`.
    pub const MOST: u64 = 18446744073709551615;
    /// Constant `Constants::MASK`.
    pub const MASK: u8 = 240;
    /// Constant `Constants::PRECEDENCE`.
    pub const PRECEDENCE: i32 = 12;
    /// Constant `Constants::FROM_OTHER`.
    pub const FROM_OTHER: u32 = 38;
    /// Constant `Constants::PI`.
    #[allow(clippy::approx_constant, reason = "the value the IDL gives")]
    pub const PI: f64 = 3.14159;
    /// Constant `Constants::HALF`.
    pub const HALF: f32 = 0.5;
    /// Constant `Constants::WHOLE`.
    pub const WHOLE: f64 = 3.0;
    /// Constant `Constants::YES`.
    pub const YES: bool = true;
    /// Constant `Constants::GREETING`.
    pub const GREETING: &str = "good day \"x\"\n";
    /// Constant `Constants::WIDE`.
    pub const WIDE: &str = "w€";
    /// Constant `Constants::LETTER`.
    pub const LETTER: ::zorb::Char = ::zorb::Char(65);
    /// Constant `Constants::EURO`.
    pub const EURO: ::zorb::WChar = ::zorb::WChar(8364);
    /// Enum `IDL:Constants/Level:1.0`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Level {
        /// Enumerator `low`.
        Low,
        /// Enumerator `high`.
        High,
    }
    ::zorb::__private::cdr_enum!(Level { Low, High });
    ::zorb::__private::idl_enum!(Level { Low = "low", High = "high" });
    ::zorb::__private::type_code!(
        __TC_LEVEL = __Tc::Enum("IDL:Constants/Level:1.0", "Level", & ["low", "high"]);
        value Level
    );
    /// Constant `Constants::USUAL`.
    pub const USUAL: Level = Level::High;
    /// Constant `Constants::SAME`.
    pub const SAME: Level = Level::High;
    /// Typedef `IDL:Constants/Code:1.0`.
    pub type Code = ::std::string::String;
    ::zorb::__private::type_code!(
        __TC_CODE = __Tc::Alias("IDL:Constants/Code:1.0", "Code", & __Tc::String(4));
        alias #[doc = " The TypeCode of `Constants::Code`."] CODE_TYPE_CODE
    );
    /// Constant `Constants::ABCD`.
    pub const ABCD: &str = "abcd";
    /// The declarations inside interface `Constants::Limits`, and the exceptions of its operations.
    pub mod limits {
        /// Constant `Constants::Limits::MOST`.
        pub const MOST: i32 = 7;
    }
    /// The operations of a servant of interface `IDL:Constants/Limits:1.0`, as `async fn`s.
    pub trait Limits: ::core::marker::Send + ::core::marker::Sync + 'static {}
    /// A reference to an object of interface `IDL:Constants/Limits:1.0`.
    #[derive(Clone)]
    pub struct LimitsRef {
        object: ::zorb::ObjectRef,
    }
    ::zorb::__private::interface_ref!(
        LimitsRef, "IDL:Constants/Limits:1.0", concrete & __TC_LIMITS, bases : []
    );
    /// Serves interface `IDL:Constants/Limits:1.0` with a [`Limits`].
    #[derive(Debug)]
    pub struct LimitsServant<T> {
        servant: ::std::sync::Arc<T>,
    }
    impl<T: Limits> LimitsServant<T> {
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
    impl<T> ::core::clone::Clone for LimitsServant<T> {
        fn clone(&self) -> Self {
            Self {
                servant: ::std::sync::Arc::clone(&self.servant),
            }
        }
    }
    impl<T: Limits> ::zorb::__private::InterfaceSkeleton for LimitsServant<T> {
        type Ref = LimitsRef;
    }
    impl<T: Limits> ::zorb::__private::Skeleton for LimitsServant<T> {
        fn repository_id(&self) -> &'static str {
            "IDL:Constants/Limits:1.0"
        }
        fn is_a(&self, repository_id: &str) -> bool {
            ::core::matches!(repository_id, "IDL:Constants/Limits:1.0")
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
        __TC_LIMITS = __Tc::Named(__TcKind::ObjRef, "IDL:Constants/Limits:1.0",
        "Limits");
    );
    /// Typedef `IDL:Constants/Few:1.0`.
    pub type Few = ::std::vec::Vec<i32>;
    ::zorb::__private::type_code!(
        __TC_FEW = __Tc::Alias("IDL:Constants/Few:1.0", "Few", & __Tc::Sequence(&
        __Tc::Long, 7)); alias #[doc = " The TypeCode of `Constants::Few`."]
        FEW_TYPE_CODE
    );
}
