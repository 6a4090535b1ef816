//! The macro `object_ids! { … }`: a set of object ids, and its perfect hash.

use crate::errors::compile_error;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::collections::BTreeMap;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{LitByteStr, LitStr, Token, bracketed};
use zorb_idl::perfect_hash;

/// The input of the macro: `[path of the ORB] "id", b"id", …`
struct ObjectIds {
    orb: TokenStream,
    ids: Vec<Id>,
}

struct Id {
    octets: Vec<u8>,
    span: Span,
}

impl Parse for ObjectIds {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let path;
        bracketed!(path in input);
        let ids = Punctuated::<Id, Token![,]>::parse_terminated(input)?;
        Ok(Self {
            orb: path.parse()?,
            ids: ids.into_iter().collect(),
        })
    }
}

impl Parse for Id {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitByteStr) {
            let literal: LitByteStr = input.parse()?;
            return Ok(Self {
                octets: literal.value(),
                span: literal.span(),
            });
        }
        let literal: LitStr = input.parse().map_err(|error| {
            let message = "expected object ids: literals such as \"main\" or b\"\\x01\"";
            syn::Error::new(error.span(), message)
        })?;
        Ok(Self {
            octets: literal.value().into_bytes(),
            span: literal.span(),
        })
    }
}

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let ObjectIds { orb, ids } = match syn::parse2(input) {
        Ok(parsed) => parsed,
        Err(error) => return error.to_compile_error(),
    };
    let mut known = BTreeMap::new();
    let twice = ids.iter().find(|id| known.insert(&id.octets, ()).is_some());
    if let Some(twice) = twice {
        return compile_error(twice.span, "the object id occurs twice");
    }
    let octets: Vec<&[u8]> = ids.iter().map(|id| id.octets.as_slice()).collect();
    let table = perfect_hash(&octets, &quote!(#orb::ObjectIds));
    quote! {{
        static IDS: #orb::ObjectIds = #table;
        &IDS
    }}
}
