//! The perfect hash of names that are known only when the program runs.

/// Names with their numbers, in the order of their slots.
type Slots = &'static [(&'static [u8], u32)];

/// The result of `new`, of `zorb_poa::Operations` or `zorb_poa::ObjectIds`, for the parts that the IDL compiler would
/// compute: each name has its index. The parts live as long as the program, as constants of generated code do.
pub(super) fn perfect<T, N: AsRef<[u8]>>(
    names: &[N],
    new: fn(u64, &'static [(u32, u32)], Slots) -> T,
) -> T {
    let names: Vec<&[u8]> = names.iter().map(AsRef::as_ref).collect();
    let hash = phf_generator::generate_hash(&names);
    let slots = hash.map.iter().map(|&at| {
        let name: &'static [u8] = names[at].to_vec().leak();
        (name, at as u32)
    });
    let slots = slots.collect::<Vec<_>>().leak();
    new(hash.key, hash.disps.leak(), slots)
}
