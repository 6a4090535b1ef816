//! The Rust types of each IDL type: of a value, of its codec, and of a parameter on either side.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::Generator;
use crate::model::{Basic, DefKind, ScopeId, Type};

/// The size of an array, in octets, from which on a skeleton keeps it in a box. On its way to the servant an argument is
/// moved about ten times. Without optimisation each move takes another place on the stack, which may have 2 MB only.
const LARGE_OCTETS: u64 = 16 << 10;

/// The codec of a type, by which its values are encoded and decoded.
pub(super) struct Codec {
    pub(super) tokens: TokenStream,
    /// Whether the codec is another type than the Rust type of the value.
    pub(super) special: bool,
}

/// One parameter of a stub's method.
pub(super) struct StubParameter {
    pub(super) ty: TokenStream,
    /// The argument in the tuple that is encoded.
    pub(super) argument: TokenStream,
    /// Whether the type names the lifetime `'a`.
    pub(super) lifetime: bool,
    /// Whether it is a reference to an object.
    pub(super) reference: bool,
}

/// One argument on its way to a servant.
pub(super) struct ServantArgument {
    /// The decoded type.
    pub(super) decoded: TokenStream,
    /// The expression by which it is passed to the servant.
    pub(super) passed: TokenStream,
}

impl Generator<'_> {
    pub(super) fn is_octets(&self, ty: &Type) -> bool {
        match self.model.unaliased(ty) {
            Type::Sequence(element, _) => {
                matches!(self.model.unaliased(element), Type::Basic(Basic::Octet))
            }
            _ => false,
        }
    }

    /// Whether a servant can borrow elements of this type from the message as `[T]`.
    fn is_numeric(&self, ty: &Type) -> bool {
        use Basic::{Double, Float, Int8, Long, LongLong, Short, ULong, ULongLong, UShort};
        matches!(
            self.model.unaliased(ty),
            Type::Basic(
                Int8 | Short | UShort | Long | ULong | LongLong | ULongLong | Float | Double
            )
        )
    }

    /// The approximate size of a value in memory, in octets, without the memory that it refers to.
    fn octets_of(&self, ty: &Type) -> u64 {
        use Basic::{
            Boolean, Char, Double, Float, Int8, Long, LongDouble, LongLong, Octet, Short, ULong,
            ULongLong, UShort, WideChar,
        };
        match self.model.unaliased(ty) {
            Type::Basic(Boolean | Char | Octet | Int8) => 1,
            Type::Basic(Short | UShort | WideChar) => 2,
            Type::Basic(Long | ULong | Float) => 4,
            Type::Basic(LongLong | ULongLong | Double) => 8,
            Type::Basic(LongDouble) => 16,
            Type::Array(element, length) => {
                self.octets_of(element).saturating_mul(u64::from(*length))
            }
            // The size of text and sequences. Structs may be larger, which matters in large arrays only.
            _ => 24,
        }
    }

    /// Whether values of this type are passed by value: they are small, and own no memory.
    pub(super) fn is_by_value(&self, ty: &Type) -> bool {
        match self.model.unaliased(ty) {
            Type::Basic(_) | Type::Fixed { .. } => true,
            Type::Named(id) => matches!(
                self.model.def(*id).kind,
                DefKind::Enum(_) | DefKind::Bitset(_) | DefKind::Bitmask(_)
            ),
            _ => false,
        }
    }

    pub(super) fn basic(&self, basic: Basic) -> TokenStream {
        let orb = &self.orb;
        match basic {
            Basic::Boolean => quote!(bool),
            Basic::Char => quote!(#orb::Char),
            Basic::WideChar => quote!(#orb::WChar),
            Basic::Octet => quote!(u8),
            Basic::Int8 => quote!(i8),
            Basic::Short => quote!(i16),
            Basic::UShort => quote!(u16),
            Basic::Long => quote!(i32),
            Basic::ULong => quote!(u32),
            Basic::LongLong => quote!(i64),
            Basic::ULongLong => quote!(u64),
            Basic::Float => quote!(f32),
            Basic::Double => quote!(f64),
            Basic::LongDouble => quote!(#orb::LongDouble),
        }
    }

    /// The Rust type of a reference that is not nil.
    pub(super) fn reference_type(&self, from: ScopeId, ty: &Type) -> TokenStream {
        if let Some(id) = self.local_interface(ty) {
            let contract = self.path_to(from, id);
            return quote!(::std::sync::Arc<dyn #contract>);
        }
        match self.model.unaliased(ty) {
            Type::Named(id) => self.path_to_reference(from, *id),
            _ => {
                let orb = &self.orb;
                quote!(#orb::ObjectRef)
            }
        }
    }

    /// The Rust type of the state of a value that is not null.
    pub(super) fn value_state(&self, from: ScopeId, ty: &Type) -> TokenStream {
        match self.model.unaliased(ty) {
            Type::Named(id) => self.path_to(from, *id),
            _ => {
                let orb = &self.orb;
                quote!(#orb::ValueBase)
            }
        }
    }

    /// Whether the type is one of references or values, which a servant gets by value.
    pub(super) fn is_handle(&self, ty: &Type) -> bool {
        self.model.is_reference(ty) || self.model.is_value(ty)
    }

    /// The owned Rust type.
    pub(super) fn value(&self, from: ScopeId, ty: &Type) -> TokenStream {
        let ty = self.model.unaliased(ty);
        let orb = &self.orb;
        if self.model.is_value(ty) {
            let state = self.value_state(from, ty);
            return quote!(::core::option::Option<#orb::Value<#state>>);
        }
        if self.model.is_reference(ty) {
            let reference = self.reference_type(from, ty);
            return match self.model.is_abstract(ty) {
                true => quote!(::core::option::Option<#orb::Abstract<#reference>>),
                false => quote!(::core::option::Option<#reference>),
            };
        }
        match ty {
            Type::Basic(basic) => self.basic(*basic),
            Type::Str { .. } => quote!(::std::string::String),
            Type::Any => quote!(#orb::Any),
            Type::TypeCode => quote!(#orb::TypeCode),
            Type::Principal => quote!(#orb::Principal),
            Type::Sequence(..) if self.is_octets(ty) => quote!(#orb::Bytes),
            Type::Sequence(element, _) => {
                let element = self.value(from, element);
                quote!(::std::vec::Vec<#element>)
            }
            Type::Array(element, length) => {
                let (element, length) =
                    (self.value(from, element), Literal::u32_unsuffixed(*length));
                quote!([#element; #length])
            }
            Type::Map(key, value, _) => {
                let (key, value) = (self.value(from, key), self.value(from, value));
                quote!(::std::collections::BTreeMap<#key, #value>)
            }
            Type::Fixed { digits, scale } => {
                let orb = &self.orb;
                let [digits, scale] = [*digits, *scale].map(Literal::u8_unsuffixed);
                quote!(#orb::Fixed<#digits, #scale>)
            }
            Type::Exceptions(operation, role) => self.exceptions(from, *operation, *role),
            Type::Named(id) => self.path_to(from, *id),
            // Nothing is generated from a model with errors.
            Type::Object | Type::Error => quote!(()),
            // Not reached: `ValueBase` is a value type, handled above.
            Type::ValueBase => quote!(()),
        }
    }

    pub(super) fn codec(&self, from: ScopeId, ty: &Type) -> Codec {
        let private = &self.private;
        let ty = self.model.unaliased(ty);
        let special = |tokens| Codec {
            tokens,
            special: true,
        };
        let bound = |bound: u32| Literal::u32_unsuffixed(bound);
        if let Type::Named(id) = ty
            && self.passes_memory.get()
            && self.in_memory.has_struct(*id)
        {
            let value = self.value(from, ty);
            return special(quote!(#private::InMemory<#value>));
        }
        if self.is_home_bound(ty) {
            let value = self.value(from, ty);
            return special(quote!(#private::LocalCodec<#value>));
        }
        if self.model.is_value(ty) {
            let state = self.value_state(from, ty);
            return special(quote!(#private::ValueCodec<#state>));
        }
        if self.model.is_reference(ty) {
            let reference = self.reference_type(from, ty);
            return special(match self.model.is_abstract(ty) {
                true => quote!(#private::AbstractCodec<#reference>),
                false => quote!(#private::RefCodec<#reference>),
            });
        }
        match ty {
            Type::Exceptions(operation, role) => {
                let exceptions = self.exceptions(from, *operation, *role);
                special(quote!(#private::ExceptionHolderCodec<#exceptions>))
            }
            Type::Str {
                wide: false,
                bound: Some(n),
            } => {
                let n = bound(*n);
                special(quote!(#private::BoundedStr<#n>))
            }
            Type::Str {
                wide: true,
                bound: None,
            } => special(quote!(#private::WideStr)),
            Type::Str {
                wide: true,
                bound: Some(n),
            } => {
                let n = bound(*n);
                special(quote!(#private::BoundedWideStr<#n>))
            }
            Type::Sequence(_, Some(n)) if self.is_octets(ty) => {
                let n = bound(*n);
                special(quote!(#private::BoundedOctets<#n>))
            }
            Type::Sequence(element, limit) if !self.is_octets(ty) => {
                let element = self.codec(from, element);
                let tokens = element.tokens;
                match limit {
                    Some(n) => {
                        let n = bound(*n);
                        special(quote!(#private::BoundedSeq<#tokens, #n>))
                    }
                    None if element.special => special(quote!(#private::Seq<#tokens>)),
                    None => Codec {
                        tokens: self.value(from, ty),
                        special: false,
                    },
                }
            }
            Type::Map(key, value, limit) => {
                let (key, value) = (self.codec(from, key), self.codec(from, value));
                let (key, value) = (key.tokens, value.tokens);
                special(match limit {
                    Some(n) => {
                        let n = bound(*n);
                        quote!(#private::BoundedMap<#key, #value, #n>)
                    }
                    None => quote!(#private::Map<#key, #value>),
                })
            }
            Type::Array(element, length) => {
                let element = self.codec(from, element);
                let (tokens, length) = (element.tokens, Literal::u32_unsuffixed(*length));
                match element.special {
                    true => special(quote!(#private::Array<#tokens, #length>)),
                    false => Codec {
                        tokens: self.value(from, ty),
                        special: false,
                    },
                }
            }
            _ => Codec {
                tokens: self.value(from, ty),
                special: false,
            },
        }
    }

    /// The type to decode a value as, and whether the value has to be taken out of that type's wrapper afterwards.
    pub(super) fn decoded(&self, from: ScopeId, ty: &Type) -> (TokenStream, bool) {
        let private = &self.private;
        let Codec { tokens, special } = self.codec(from, ty);
        if special {
            (quote!(#private::Dec<#tokens>), true)
        } else {
            (tokens, false)
        }
    }

    /// The type of an `in` parameter that stub and servant share; `None` where they differ. It borrows for `lifetime`.
    fn common_parameter(
        &self,
        from: ScopeId,
        ty: &Type,
        lifetime: Option<&TokenStream>,
    ) -> Option<TokenStream> {
        let ty = self.model.unaliased(ty);
        if !self.is_common_parameter(ty) {
            return None;
        }
        if self.is_by_value(ty) {
            return Some(self.value(from, ty));
        }
        let lent = self.lent(from, ty);
        Some(quote!(&#lifetime #lent))
    }

    /// Whether stub and servant share the type of an `in` parameter: a number, or something borrowed.
    pub(super) fn is_common_parameter(&self, ty: &Type) -> bool {
        !self.is_handle(ty) && !self.is_octets(ty)
    }

    /// The target of a parameter that is passed by reference.
    fn lent(&self, from: ScopeId, ty: &Type) -> TokenStream {
        match ty {
            Type::Str { .. } => quote!(str),
            Type::Sequence(element, _) => {
                let element = self.value(from, element);
                quote!([#element])
            }
            _ => self.value(from, ty),
        }
    }

    /// A parameter of a stub, which borrows for `'a`.
    pub(super) fn stub_parameter(&self, from: ScopeId, ty: &Type, name: &Ident) -> StubParameter {
        let (orb, private) = (&self.orb, &self.private);
        let Codec { tokens, special } = self.codec(from, ty);
        if let Some(lent) = self.common_parameter(from, ty, Some(&quote!('a))) {
            let argument = match special {
                true => quote!(#private::Enc::<#tokens>(#name)),
                false => quote!(#name),
            };
            return StubParameter {
                ty: lent,
                argument,
                lifetime: !self.is_by_value(ty),
                reference: false,
            };
        }
        if self.is_octets(ty) {
            let argument = match self.model.unaliased(ty) {
                Type::Sequence(_, Some(n)) => {
                    let n = Literal::u32_unsuffixed(*n);
                    quote!(#private::OctetsArgument::<'a, #n>::new(#name))
                }
                _ => quote!(::core::convert::Into::<#orb::Octets<'a>>::into(#name)),
            };
            return StubParameter {
                ty: quote!(impl ::core::convert::Into<#orb::Octets<'a>>),
                argument,
                lifetime: true,
                reference: false,
            };
        }
        if self.model.is_reference(ty) && !self.model.is_abstract(ty) && !self.is_home_bound(ty) {
            let reference = self.reference_type(from, ty);
            return StubParameter {
                ty: quote!(impl #orb::IntoReference<#reference>),
                argument: quote!(#private::OwnedArgument::<#tokens>::reference(#name)),
                lifetime: false,
                reference: true,
            };
        }
        let target = self.value(from, ty);
        StubParameter {
            ty: quote!(impl ::core::convert::Into<#target>),
            argument: quote!(#private::OwnedArgument::<#tokens>::new(#name)),
            lifetime: false,
            reference: false,
        }
    }

    pub(super) fn servant_parameter(&self, from: ScopeId, ty: &Type) -> TokenStream {
        let orb = &self.orb;
        self.common_parameter(from, ty, None)
            .unwrap_or_else(|| match self.is_octets(ty) {
                true => quote!(#orb::OctetsRef<'_>),
                false => self.value(from, ty),
            })
    }

    /// The type by which the ORB decodes an argument and passes it to a servant.
    pub(super) fn passing(&self, from: ScopeId, ty: &Type) -> TokenStream {
        let private = &self.private;
        let ty = self.model.unaliased(ty);
        let Codec { tokens, special } = self.codec(from, ty);
        match ty {
            _ if self.is_handle(ty) => quote!(#private::Taken<#tokens>),
            _ if self.is_by_value(ty) => quote!(#private::ByValue<#tokens>),
            Type::Str { .. } if !special => quote!(#private::BorrowedText),
            Type::Sequence(_, Some(n)) if self.is_octets(ty) => {
                let n = Literal::u32_unsuffixed(*n);
                quote!(#private::BorrowedBoundedOctets<#n>)
            }
            _ if self.is_octets(ty) => quote!(#private::BorrowedOctets),
            Type::Sequence(element, None) if self.is_numeric(element) => {
                let element = self.value(from, element);
                quote!(#private::BorrowedNumbers<#element>)
            }
            Type::Sequence(element, bound) => {
                let element = self.codec(from, element).tokens;
                let bound = bound.map(Literal::u32_unsuffixed).into_iter();
                quote!(#private::RecycledSeq<#element #(, #bound)*>)
            }
            Type::Array(element, length) if self.octets_of(ty) >= LARGE_OCTETS => {
                let element = self.codec(from, element).tokens;
                let length = Literal::u32_unsuffixed(*length);
                quote!(#private::LargeArray<#element, #length>)
            }
            _ => {
                let lent = self.lent(from, ty);
                quote!(#private::ByRef<#tokens, #lent>)
            }
        }
    }

    /// The decoded type of the argument at `place`, and the expression that passes it to a servant.
    pub(super) fn servant_argument(
        &self,
        from: ScopeId,
        ty: &Type,
        place: &TokenStream,
    ) -> ServantArgument {
        let (orb, private) = (&self.orb, &self.private);
        let ty = self.model.unaliased(ty);
        let (decoded, special) = self.decoded(from, ty);
        let inner = if special {
            quote!(#place.0)
        } else {
            place.clone()
        };
        let by_value = self.is_handle(ty) || self.is_by_value(ty);
        match ty {
            _ if by_value => ServantArgument {
                decoded,
                passed: inner,
            },
            Type::Str { .. } if !special => ServantArgument {
                decoded: quote!(::std::borrow::Cow<'_, str>),
                passed: quote!(&#inner),
            },
            _ if self.is_octets(ty) && special => ServantArgument {
                decoded,
                passed: quote!(#orb::OctetsRef::new(&#inner)),
            },
            _ if self.is_octets(ty) => ServantArgument {
                decoded: quote!(#orb::OctetsRef<'_>),
                passed: inner,
            },
            Type::Sequence(element, None) if self.is_numeric(element) => {
                let element = self.value(from, element);
                ServantArgument {
                    decoded: quote!(#private::Numbers<'_, #element>),
                    passed: quote!(&#place),
                }
            }
            Type::Sequence(element, bound) => {
                let element = self.codec(from, element).tokens;
                let bound = bound.map(Literal::u32_unsuffixed).into_iter();
                ServantArgument {
                    decoded: quote!(#private::Recycled<#element #(, #bound)*>),
                    passed: quote!(&#place),
                }
            }
            _ => ServantArgument {
                decoded,
                passed: quote!(&#inner),
            },
        }
    }
}
