//! The part of a function, by its name.

use crate::figures::profiles::tool::Share;

/// A layer of the stacked bars.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Part {
    Kernel,
    KernelCopying,
    Copying,
    Marshalling,
    Rest,
}

/// From the bottom up.
pub(super) const PARTS: [Part; 5] = [
    Part::Kernel,
    Part::KernelCopying,
    Part::Copying,
    Part::Marshalling,
    Part::Rest,
];

/// How the kernel's functions are called that move octets from and to a program's memory.
const KERNEL_COPIES: [&str; 6] = [
    "_copy_to_iter",
    "_copy_from_iter",
    "copy_user",
    "rep_movs",
    "copy_page",
    "__pi_memcpy",
];
/// And the C library's.
const COPIES: [&str; 5] = ["memcpy", "memmove", "memset", "strcpy", "memchr"];
/// What turns values into octets and back: ours, omniORB's, and what omniidl makes.
const MARSHALS: [&str; 12] = [
    "zorb_cdr",
    "zorb_giop::codeset",
    "Encode>",
    "Decode>",
    "cdrStream",
    "cdrMemory",
    "arshal",
    "CodeSet",
    "giopStream::get",
    "giopStream::put",
    "operator<<=",
    "operator>>=",
];

impl Part {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::KernelCopying => "copying, in the kernel",
            Self::Copying => "copying and clearing",
            Self::Marshalling => "marshalling",
            Self::Rest => "rest: ORB, servant, start",
        }
    }

    pub(super) fn of(share: &Share) -> Self {
        let has = |words: &[&str]| words.iter().any(|word| share.function.contains(word));
        let kernel = share.object.starts_with("[kernel") || share.object.starts_with("[k]");
        match (kernel, has(&KERNEL_COPIES), has(&COPIES), has(&MARSHALS)) {
            (true, true, ..) => Self::KernelCopying,
            (true, ..) => Self::Kernel,
            (_, _, true, _) => Self::Copying,
            (_, _, _, true) => Self::Marshalling,
            _ => Self::Rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_known_by_its_name() {
        let part = |object: &str, function: &str| {
            Part::of(&Share {
                object: object.to_owned(),
                function: function.to_owned(),
                file: String::new(),
                percent: 1.0,
            })
        };
        assert_eq!(part("[kernel.kallsyms]", "tcp_ack"), Part::Kernel);
        assert_eq!(
            part("[kernel.kallsyms]", "_copy_to_iter"),
            Part::KernelCopying
        );
        assert_eq!(
            part("libc.so.6", "__memmove_avx512_unaligned_erms"),
            Part::Copying
        );
        assert_eq!(
            part("papers-ttcp", "zorb_cdr::traits::Encode::encode_slice"),
            Part::Marshalling
        );
        assert_eq!(
            part(
                "libomniORB4.so.2.5",
                "omni::omniCodeSet::NCS_C_8bit::marshalChar"
            ),
            Part::Marshalling
        );
        assert_eq!(
            part("papers-ttcp", "zorb_connection::outbound::Outbound::write"),
            Part::Rest
        );
    }
}
