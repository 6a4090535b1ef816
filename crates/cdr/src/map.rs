//! Maps, encoded as the sequence of their entries, since CORBA defines no encoding for them.

use crate::{
    ByteOrder, Codec, DecodeError, DecodeErrorKind, Decoder, EncodeError, EncodeErrorKind, Encoder,
    SendCodec,
};
use alloc::collections::{BTreeMap, btree_map::Entry};
use core::{borrow::Borrow, marker::PhantomData};

/// An IDL 4 `map<K, V>`: the number of entries, then each key and its value, in the order of the keys.
///
/// GIOP defines no encoding of maps. This is zorb's own: that of a `sequence` of structs of key and value.
#[derive(Debug)]
pub struct Map<K, V>(PhantomData<(K, V)>);

/// An IDL 4 `map<K, V, N>`: at most `N` entries.
#[derive(Debug)]
pub struct BoundedMap<K, V, const N: u32>(PhantomData<(K, V)>);

impl<K: Codec<Value: Ord>, V: Codec> Codec for Map<K, V> {
    type Value = BTreeMap<K::Value, V::Value>;
    type Borrowed = BTreeMap<K::Value, V::Value>;
    const MIN_SIZE: usize = 4;

    fn encode<O: ByteOrder>(
        map: &Self::Value,
        encoder: &mut Encoder<O>,
    ) -> Result<(), EncodeError> {
        encoder.write_count(map.len())?;
        map.iter().try_for_each(|(key, value)| {
            K::encode(key.borrow(), encoder)?;
            V::encode(value.borrow(), encoder)
        })
    }

    fn decode<O: ByteOrder>(decoder: &mut Decoder<'_, O>) -> Result<Self::Value, DecodeError> {
        let min_size = K::MIN_SIZE.saturating_add(V::MIN_SIZE);
        let len = decoder.read_count(min_size)?;
        decoder.charge_memory(tree_octets::<K::Value, V::Value>(len))?;
        decoder.nested(|decoder| {
            decoder.owe(len.saturating_mul(min_size));
            let mut map = BTreeMap::new();
            for _ in 0..len {
                decoder.count_steps(1)?;
                decoder.repay(min_size);
                match map.entry(K::decode(decoder)?) {
                    Entry::Vacant(place) => place.insert(V::decode(decoder)?),
                    Entry::Occupied(_) => {
                        return Err(
                            decoder.error(DecodeErrorKind::Expected("each key of a map once"))
                        );
                    }
                };
            }
            Ok(map)
        })
    }
}

impl<K: SendCodec<Value: Ord>, V: SendCodec> SendCodec for Map<K, V> {}

/// Returns the number of octets of memory that a `BTreeMap` of `entries` entries takes at most. Each of its nodes has
/// room for 11 entries. Where there are several nodes, each has 5 entries at least, and room for 12 pointers if others
/// are below it.
const fn tree_octets<K, V>(entries: usize) -> usize {
    let entry = size_of::<K>().saturating_add(size_of::<V>());
    let node = entry
        .saturating_mul(11)
        .saturating_add(size_of::<[usize; 2]>());
    let nodes = entries.div_ceil(5);
    let inner = match entries {
        0..=11 => 0,
        _ => nodes.div_ceil(5).saturating_mul(size_of::<[usize; 12]>()),
    };
    let nodes = match entries {
        1..=11 => 1,
        _ => nodes,
    };
    nodes.saturating_mul(node).saturating_add(inner)
}

impl<K: Codec<Value: Ord>, V: Codec, const N: u32> Codec for BoundedMap<K, V, N> {
    type Value = BTreeMap<K::Value, V::Value>;
    type Borrowed = BTreeMap<K::Value, V::Value>;
    const MIN_SIZE: usize = 4;

    fn encode<O: ByteOrder>(
        map: &Self::Value,
        encoder: &mut Encoder<O>,
    ) -> Result<(), EncodeError> {
        let found = map.len();
        if found as u64 > u64::from(N) {
            return Err(EncodeErrorKind::BoundExceeded { bound: N, found }.into());
        }
        Map::<K, V>::encode(map, encoder)
    }

    /// Reads at most `N` entries, in any order of keys.
    ///
    /// # Errors
    /// [`BoundExceeded`](DecodeErrorKind::BoundExceeded) for a larger count, before memory is taken; those of the keys and
    /// values, and of a key that comes twice.
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'_, O>) -> Result<Self::Value, DecodeError> {
        let mut ahead = decoder.clone();
        let count = ahead.read_u32()?;
        if count > N {
            let found = usize::try_from(count).unwrap_or(usize::MAX);
            return Err(ahead.error_behind(4, DecodeErrorKind::BoundExceeded { bound: N, found }));
        }
        Map::<K, V>::decode(decoder)
    }
}

impl<K: SendCodec<Value: Ord>, V: SendCodec, const N: u32> SendCodec for BoundedMap<K, V, N> {}
