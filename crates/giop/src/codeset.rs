//! Code sets: their component in references, and their negotiation.
//!
//! The client chooses once for each connection, from the sets that the server's reference states. Source: CORBA
//! 3.3 Part 2, Code Set Conversion.

use crate::context::{ServiceContext, ServiceContextId};
use crate::header::Version;
use crate::ior::{ComponentTag, JACORB_ORB_TYPE, TaggedComponent, encapsulate, in_encapsulation};
use zorb_cdr::{
    ByteOrder, CharSet, Decode, DecodeError, Decoder, DefaultLabels, EncapsulationVisitor, Encode,
    EncodeError, Encoder, WCharSet, WireFormat,
};

/// A code set of the OSF registry.
///
/// Source: CORBA 3.3 Part 2, Code Set Conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CodeSetId(pub u32);

impl CodeSetId {
    /// ISO 8859-1 (Latin-1): `char` data of a connection without negotiated code sets.
    pub const LATIN1: Self = Self(0x0001_0001);
    /// ISO 646 (ASCII), a part of both ISO 8859-1 and UTF-8.
    pub const ASCII: Self = Self(0x0001_0020);
    /// UTF-8, the native set of zorb for `char` data.
    pub const UTF8: Self = Self(0x0501_0001);
    /// UTF-16, the native set of zorb for `wchar` data.
    pub const UTF16: Self = Self(0x0001_0109);
    /// UCS-2, level 1: the set for `wchar` data of some ORBs that lack UTF-16.
    pub const UCS2: Self = Self(0x0001_0100);
}

impl Encode for CodeSetId {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        e.write_u32(self.0);
        Ok(())
    }
}

impl<'de> Decode<'de> for CodeSetId {
    const MIN_SIZE: usize = 4;
    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        Ok(Self(d.read_u32()?))
    }
}

/// A native code set, and those that can be converted to and from it.
///
/// Source: CORBA 3.3 Part 2, Code Set Conversion.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CodeSetComponent {
    /// The native set; `None` when it is not stated.
    pub native: Option<CodeSetId>,
    /// The sets that the ORB converts to and from the native one, in its order of preference.
    pub conversion: Vec<CodeSetId>,
}

impl CodeSetComponent {
    fn offers(&self, id: CodeSetId) -> bool {
        self.native == Some(id) || self.conversion.contains(&id)
    }
}

/// The code sets of a server, from TAG_CODE_SETS.
///
/// Source: CORBA 3.3 Part 2, Code Set Conversion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeSetInfo {
    /// The sets for `char` and `string`.
    pub char_data: CodeSetComponent,
    /// The sets for `wchar` and `wstring`.
    pub wchar_data: CodeSetComponent,
}

impl CodeSetInfo {
    /// Returns the default of zorb's own references: UTF-8 as native set, with ISO 8859-1 by conversion, and UTF-16.
    #[must_use]
    pub fn ours() -> Self {
        Self::native_in(CharSet::Utf8)
    }

    /// Returns the component of an ORB whose native set is `native`, and which converts the other one.
    #[must_use]
    pub fn native_in(native: CharSet) -> Self {
        let (native, other) = match native {
            CharSet::Latin1 => (CodeSetId::LATIN1, CodeSetId::UTF8),
            _ => (CodeSetId::UTF8, CodeSetId::LATIN1),
        };
        Self {
            char_data: CodeSetComponent {
                native: Some(native),
                conversion: vec![other],
            },
            wchar_data: CodeSetComponent {
                native: Some(CodeSetId::UTF16),
                conversion: Vec::new(),
            },
        }
    }

    /// Encodes the code sets as the component TAG_CODE_SETS of a reference; a missing native set is written as 0.
    ///
    /// # Errors
    /// An encoding error is possible only for a list that is too long for CDR, which no program has.
    pub fn to_component(&self) -> Result<TaggedComponent, EncodeError> {
        let data = encapsulate(|e| {
            for part in [&self.char_data, &self.wchar_data] {
                e.write_u32(part.native.map_or(0, |id| id.0));
                e.put(&part.conversion)?;
            }
            Ok(())
        })?;
        Ok(TaggedComponent {
            tag: ComponentTag::CODE_SETS,
            data,
        })
    }

    /// Reads the code sets from the data of the component TAG_CODE_SETS. A native set of 0 is read as `None`.
    ///
    /// # Errors
    /// [`Truncated`](zorb_cdr::DecodeErrorKind::Truncated) if the data end early, and
    /// [`CountTooLarge`](zorb_cdr::DecodeErrorKind::CountTooLarge) for a list longer than the data.
    pub fn from_component(data: &[u8]) -> Result<Self, DecodeError> {
        struct Read;
        impl<'de> EncapsulationVisitor<'de> for Read {
            type Output = CodeSetInfo;
            fn visit<O: ByteOrder>(
                self,
                d: &mut Decoder<'de, O>,
            ) -> Result<CodeSetInfo, DecodeError> {
                let mut part = || -> Result<CodeSetComponent, DecodeError> {
                    let native = CodeSetId(d.read_u32()?);
                    Ok(CodeSetComponent {
                        native: (native.0 != 0).then_some(native),
                        conversion: d.get()?,
                    })
                };
                Ok(CodeSetInfo {
                    char_data: part()?,
                    wchar_data: part()?,
                })
            }
        }
        in_encapsulation(data, Read)
    }
}

/// Properties of a server, from its reference, that decide which code sets a client chooses.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a client has to look at all of it"
)]
pub struct ServerText<'a> {
    /// The code sets in the reference (TAG_CODE_SETS); `None` for a reference without the component.
    pub stated: Option<&'a CodeSetInfo>,
    /// The ORB that made the reference (TAG_ORB_TYPE); `None` for a reference without the component.
    pub orb_type: Option<u32>,
    /// Whether the reference has RMI's stream formats (TAG_RMI_CUSTOM_MAX_STREAM_FORMAT), as those of GlassFish's
    /// family do, which state no ORB type.
    pub knows_rmi: bool,
    /// The GIOP version of the connection.
    pub version: Version,
}

/// The negotiated code sets of a connection.
///
/// Source: CORBA 3.3 Part 2, Code Set Conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeSets {
    /// The set for `char` and `string`.
    pub char_set: CharSet,
    /// The set for `wchar` and `wstring`; none if the connection refuses them.
    pub wchar_set: WCharSet,
}

impl CodeSets {
    /// The code sets of a connection without negotiation: ISO 8859-1, and no wide text.
    pub const UNSTATED: Self = Self {
        char_set: CharSet::Latin1,
        wchar_set: WCharSet::None,
    };

    /// Returns the client's choice for the server of a reference. `None` when no code sets are negotiated, and no
    /// context is sent: the reference states none, or GIOP is 1.0.
    ///
    /// The choice is that of [`negotiate`](Self::negotiate), except for two ORBs:
    ///
    /// - **JacORB**: its servers (3.9) read text in the negotiated set, but always write it in their native one. So
    ///   only the native set counts, whatever is wanted: ISO 8859-1 if it is that, else UTF-8. No choice is right for a
    ///   server with another native set (ISO 8859-15): it reads text correctly, and its own text beyond ASCII is an
    ///   error here rather than another text.
    /// - **GlassFish's family**: its servers state ISO 8859-1 as native, and their strings hold all of Unicode. So they
    ///   get UTF-8, in which a `char` beyond ASCII cannot be sent, unless ISO 8859-1 is wanted.
    #[must_use]
    pub fn for_server(server: ServerText<'_>, wanted: Option<CharSet>) -> Option<Self> {
        let theirs = (server.stated).filter(|_| server.version >= Version::V1_1)?;
        if server.orb_type == Some(JACORB_ORB_TYPE) {
            let mut theirs = theirs.clone();
            theirs.char_data.conversion.clear();
            return Some(Self::negotiate(Some(&theirs), wanted));
        }
        let is_glassfish = server.orb_type.is_none() && server.knows_rmi;
        let wanted = wanted.or_else(|| is_glassfish.then_some(CharSet::Utf8));
        Some(Self::negotiate(Some(theirs), wanted))
    }

    /// Returns the client's choice for a server that states `theirs` (`None`: states nothing) and uses the sets that it
    /// states; see [`for_server`](Self::for_server) for servers that do not.
    ///
    /// The `wanted` set (the client's native one, where its operator has named one) comes first, if the server has it.
    /// Next is the server's native set, as in the specification for clients that convert both. A server that is
    /// natively ISO 8859-1 can store nothing else (omniORB, TAO), and no other set has a `char` beyond ASCII. Next are
    /// UTF-8, then ISO 8859-1, if the server converts it. A server that has neither gets UTF-8, the specification's
    /// fall-back.
    ///
    /// Wide text is UTF-16 for every server that states a set for it, except for those that have UCS-2 and not UTF-16.
    #[must_use]
    pub fn negotiate(theirs: Option<&CodeSetInfo>, wanted: Option<CharSet>) -> Self {
        let Some(theirs) = theirs else {
            return Self::UNSTATED;
        };
        let chars = &theirs.char_data;
        let of_server = match chars.native {
            Some(CodeSetId::LATIN1) => CharSet::Latin1,
            Some(CodeSetId::UTF8) => CharSet::Utf8,
            _ if !chars.offers(CodeSetId::UTF8) && chars.offers(CodeSetId::LATIN1) => {
                CharSet::Latin1
            }
            _ => CharSet::Utf8,
        };
        Self {
            char_set: match wanted {
                Some(CharSet::Latin1) if chars.offers(CodeSetId::LATIN1) => CharSet::Latin1,
                Some(CharSet::Utf8) if chars.offers(CodeSetId::UTF8) => CharSet::Utf8,
                _ => of_server,
            },
            wchar_set: if theirs.wchar_data == CodeSetComponent::default() {
                WCharSet::None
            } else if !theirs.wchar_data.offers(CodeSetId::UTF16)
                && theirs.wchar_data.offers(CodeSetId::UCS2)
            {
                WCharSet::Ucs2
            } else {
                WCharSet::Utf16
            },
        }
    }

    /// Makes the service context for the server.
    ///
    /// # Errors
    /// Never, in practice: there is no text in it.
    pub fn to_context(self) -> Result<ServiceContext, EncodeError> {
        let data = encapsulate(|e| {
            e.write_u32(match self.char_set {
                CharSet::Latin1 => CodeSetId::LATIN1.0,
                _ => CodeSetId::UTF8.0,
            });
            e.write_u32(match self.wchar_set {
                WCharSet::Utf16 => CodeSetId::UTF16.0,
                WCharSet::Ucs2 => CodeSetId::UCS2.0,
                _ => 0,
            });
            Ok(())
        })?;
        Ok(ServiceContext {
            id: ServiceContextId::CODE_SETS,
            data,
        })
    }

    /// Reads the client's choice from its service context; `None` when it names a set that this ORB does not have
    /// (CODESET_INCOMPATIBLE).
    ///
    /// # Errors
    /// [`Truncated`](zorb_cdr::DecodeErrorKind::Truncated) if the context has fewer than two ids.
    pub fn from_context(data: &[u8]) -> Result<Option<Self>, DecodeError> {
        struct Read;
        impl<'de> EncapsulationVisitor<'de> for Read {
            type Output = (CodeSetId, CodeSetId);
            fn visit<O: ByteOrder>(
                self,
                d: &mut Decoder<'de, O>,
            ) -> Result<Self::Output, DecodeError> {
                Ok((CodeSetId(d.read_u32()?), CodeSetId(d.read_u32()?)))
            }
        }
        let (chars, wchars) = in_encapsulation(data, Read)?;
        let char_set = match chars {
            CodeSetId::UTF8 => CharSet::Utf8,
            // ASCII is a part of both sets; 0 states none, so ISO 8859-1 applies.
            CodeSetId::LATIN1 | CodeSetId::ASCII | CodeSetId(0) => CharSet::Latin1,
            _ => return Ok(None),
        };
        let wchar_set = match wchars {
            CodeSetId::UTF16 => WCharSet::Utf16,
            // This ORB does not offer the set, but some clients have no other one.
            CodeSetId::UCS2 => WCharSet::Ucs2,
            CodeSetId(0) => WCharSet::None,
            _ => return Ok(None),
        };
        Ok(Some(Self {
            char_set,
            wchar_set,
        }))
    }

    /// Whether a client that chose `self` may name `other` later on the same connection: the same sets, or a set for
    /// wide text where it had named none.
    #[must_use]
    pub fn may_become(self, other: Self) -> bool {
        self.char_set == other.char_set
            && (self.wchar_set == other.wchar_set || self.wchar_set == WCharSet::None)
    }

    /// Returns the format for encoders and decoders, given the minor version of GIOP.
    #[must_use]
    pub fn with_minor(self, minor: u8) -> WireFormat {
        WireFormat {
            minor,
            char_set: self.char_set,
            wchar_set: self.wchar_set,
            default_labels: DefaultLabels::Discriminator,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(native: CodeSetId, conversion: &[CodeSetId]) -> CodeSetInfo {
        CodeSetInfo {
            char_data: CodeSetComponent {
                native: Some(native),
                conversion: conversion.to_vec(),
            },
            wchar_data: CodeSetComponent::default(),
        }
    }

    #[test]
    fn the_native_set_of_the_server_is_chosen_unless_another_one_is_wanted_that_it_has() {
        use CharSet::{Latin1, Utf8};
        use CodeSetId as C;
        let ebcdic = CodeSetId(0x1002_0025);
        for (native, conversion, expected, utf8_wanted, latin1_wanted) in [
            (C::UTF8, vec![], Utf8, Utf8, Utf8),
            (C::UTF8, vec![C::LATIN1], Utf8, Utf8, Latin1),
            (C::LATIN1, vec![C::UTF8], Latin1, Utf8, Latin1),
            (C::LATIN1, vec![], Latin1, Latin1, Latin1),
            (ebcdic, vec![C::LATIN1], Latin1, Latin1, Latin1),
            (ebcdic, vec![C::LATIN1, C::UTF8], Utf8, Utf8, Latin1),
            (ebcdic, vec![], Utf8, Utf8, Utf8),
        ] {
            let theirs = info(native, &conversion);
            for (wanted, expected) in [
                (None, expected),
                (Some(Utf8), utf8_wanted),
                (Some(Latin1), latin1_wanted),
            ] {
                let chosen = CodeSets::negotiate(Some(&theirs), wanted);
                assert_eq!(
                    chosen.char_set, expected,
                    "{native:?} {conversion:?} {wanted:?}"
                );
                assert_eq!(chosen.wchar_set, WCharSet::None);
            }
        }
        assert_eq!(CodeSets::negotiate(None, None), CodeSets::UNSTATED);
        let with_us = CodeSets::negotiate(Some(&CodeSetInfo::ours()), None);
        assert_eq!(
            (with_us.char_set, with_us.wchar_set),
            (Utf8, WCharSet::Utf16)
        );
    }

    #[test]
    fn a_jacorb_server_is_spoken_to_in_what_it_answers_in() {
        use CodeSetId as C;
        let latin9 = CodeSetId(0x0001_000f);
        for (native, expected) in [
            (C::UTF8, CharSet::Utf8),
            (C::LATIN1, CharSet::Latin1),
            (latin9, CharSet::Utf8),
        ] {
            let theirs = info(native, &[C::LATIN1, latin9, C::UTF8]);
            let choose = |orb_type, version, wanted| {
                let server = ServerText {
                    stated: Some(&theirs),
                    orb_type,
                    knows_rmi: false,
                    version,
                };
                CodeSets::for_server(server, wanted)
            };
            for wanted in [None, Some(CharSet::Utf8), Some(CharSet::Latin1)] {
                let with_jacorb = choose(Some(JACORB_ORB_TYPE), Version::V1_1, wanted);
                assert_eq!(with_jacorb.unwrap().char_set, expected, "{native:?}");
            }
            for other in [None, Some(crate::ior::ORB_TYPE)] {
                let chosen = choose(other, Version::V1_2, Some(CharSet::Utf8)).unwrap();
                assert_eq!(chosen.char_set, CharSet::Utf8, "{native:?}");
            }
            assert_eq!(choose(Some(JACORB_ORB_TYPE), Version::V1_0, None), None);
        }
        let nothing = ServerText {
            stated: None,
            orb_type: None,
            knows_rmi: false,
            version: Version::V1_2,
        };
        assert_eq!(CodeSets::for_server(nothing, None), None);
    }

    #[test]
    fn glassfish_gets_utf8_unless_iso_8859_1_is_wanted() {
        use CodeSetId as C;
        let theirs = info(C::LATIN1, &[C::UTF8, C::ASCII]);
        for (knows_rmi, orb_type, wanted, expected) in [
            (true, None, None, CharSet::Utf8),
            (true, None, Some(CharSet::Latin1), CharSet::Latin1),
            // omniORB and TAO store text in their native set only.
            (false, None, None, CharSet::Latin1),
            (true, Some(0x5441_4f00), None, CharSet::Latin1),
        ] {
            let server = ServerText {
                stated: Some(&theirs),
                orb_type,
                knows_rmi,
                version: Version::V1_2,
            };
            let chosen = CodeSets::for_server(server, wanted).unwrap();
            assert_eq!(chosen.char_set, expected, "{server:?}");
        }
    }

    #[test]
    fn wide_text_is_utf16_unless_the_server_has_ucs2_alone() {
        use CodeSetId as C;
        for (native, conversion, expected) in [
            (Some(C::UTF16), vec![], WCharSet::Utf16),
            (Some(C::UTF16), vec![C::UCS2], WCharSet::Utf16),
            (Some(C::UCS2), vec![C::UTF16], WCharSet::Utf16),
            (Some(C::UCS2), vec![], WCharSet::Ucs2),
            (None, vec![C::UCS2], WCharSet::Ucs2),
            (None, vec![], WCharSet::None),
            // The specification's fall-back.
            (Some(CodeSetId(0x0001_0104)), vec![], WCharSet::Utf16),
        ] {
            let mut theirs = info(C::UTF8, &[]);
            theirs.wchar_data = CodeSetComponent { native, conversion };
            let chosen = CodeSets::negotiate(Some(&theirs), None);
            assert_eq!(chosen.wchar_set, expected, "{theirs:?}");
            let context = chosen.to_context().unwrap();
            assert_eq!(CodeSets::from_context(&context.data), Ok(Some(chosen)));
        }
    }

    #[test]
    fn orbs_of_ours_agree_on_what_the_client_wants_else_on_what_the_server_is() {
        for native in [CharSet::Utf8, CharSet::Latin1] {
            let theirs = CodeSetInfo::native_in(native);
            let chosen = CodeSets::negotiate(Some(&theirs), None);
            assert_eq!(chosen.char_set, native);
            for wanted in [CharSet::Utf8, CharSet::Latin1] {
                let chosen = CodeSets::negotiate(Some(&theirs), Some(wanted));
                assert_eq!(chosen.char_set, wanted);
            }
        }
    }

    #[test]
    fn a_choice_may_be_repeated_and_completed_but_not_changed() {
        let of = |char_set, wchar_set| CodeSets {
            char_set,
            wchar_set,
        };
        let narrow = of(CharSet::Utf8, WCharSet::None);
        let wide = of(CharSet::Utf8, WCharSet::Utf16);
        for (from, to, allowed) in [
            (narrow, narrow, true),
            (narrow, wide, true),
            (wide, wide, true),
            (wide, narrow, false),
            (wide, of(CharSet::Latin1, WCharSet::Utf16), false),
            (wide, of(CharSet::Utf8, WCharSet::Ucs2), false),
        ] {
            assert_eq!(from.may_become(to), allowed, "{from:?} {to:?}");
        }
    }

    #[test]
    fn what_is_published_and_what_is_chosen_survive_a_round_trip() {
        let ours = CodeSetInfo::ours();
        let component = ours.to_component().unwrap();
        assert_eq!(
            CodeSetInfo::from_component(&component.data),
            Ok(ours.clone())
        );
        let chosen = CodeSets::negotiate(Some(&ours), None);
        let context = chosen.to_context().unwrap();
        assert_eq!(CodeSets::from_context(&context.data), Ok(Some(chosen)));
        // An EBCDIC client gets CODESET_INCOMPATIBLE.
        let data = [0, 0, 0, 0, 0x10, 0x02, 0x00, 0x25, 0, 0, 0, 0];
        assert_eq!(CodeSets::from_context(&data), Ok(None));
    }
}
