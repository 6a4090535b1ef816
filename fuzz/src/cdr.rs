//! Octets to values and back: what was read can be written, and reads the same again; the block
//! moves of sequences agree with their elements read one by one; and no value holds much more memory than its octets.

use crate::memory;
use bytes::Bytes;
use std::borrow::Cow;
use std::sync::Arc;
use zorb_cdr::{
    Any, Array, BigEndian, BoundedSeq, BoundedStr, BoundedWideStr, ByteOrder, Char, CharSet, Codec,
    Dec, Decode, DecodeError, Decoder, Enc, Encode, Encoder, Fixed, Frame, LittleEndian,
    LongDouble, Map, Seq, TypeCode, WChar, WCharSet, WideStr, WireFormat, cdr_bitmask, cdr_bitset,
    cdr_enum, cdr_struct, cdr_union,
};

/// The struct of the benchmarks: five fields, four alignments.
struct Mixed {
    short: i16,
    letter: Char,
    long: i32,
    octet: u8,
    double: f64,
}
cdr_struct!(Mixed {
    short: i16,
    letter: Char,
    long: i32,
    octet: u8,
    double: f64,
});

/// A struct whose size differs with where it begins.
struct Odd {
    octet: u8,
    flag: bool,
    inner: [i16; 3],
    wide: i64,
    last: u8,
}
cdr_struct!(Odd {
    octet: u8,
    flag: bool,
    inner: Array<i16, 3>,
    wide: i64,
    last: u8,
});

/// A struct that has text in it.
struct Person {
    name: String,
    age: u8,
    nicknames: Vec<String>,
    color: Color,
    home: Option<Box<Odd>>,
}

enum Color {
    Red,
    Green,
    Blue,
}
cdr_enum!(Color { Red, Green, Blue });

impl Encode for Person {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), zorb_cdr::EncodeError> {
        e.put(&self.name)?;
        e.write_u8(self.age);
        e.put(&self.nicknames)?;
        e.put(&self.color)?;
        e.write_bool(self.home.is_some());
        match &self.home {
            Some(home) => e.put(&**home),
            None => Ok(()),
        }
    }
}

impl<'de> Decode<'de> for Person {
    const MIN_SIZE: usize = 14;

    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        Ok(Self {
            name: d.get()?,
            age: d.read_u8()?,
            nicknames: d.get()?,
            color: d.get()?,
            home: match d.read_bool()? {
                true => Some(Box::new(d.get()?)),
                false => None,
            },
        })
    }
}

/// A type that contains itself: the limit on depth has to hold.
struct Tree(Vec<Self>);

impl Encode for Tree {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), zorb_cdr::EncodeError> {
        e.put(&self.0)
    }
}

impl<'de> Decode<'de> for Tree {
    const MIN_SIZE: usize = 4;

    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        d.nested(|d| Ok(Self(d.get()?)))
    }
}

/// A union of members that are alike, so that it has a fixed layout.
enum Word {
    Long(i32),
    Float { discriminator: u8, value: u32 },
    Rest { discriminator: u8, value: Color },
}
cdr_union!(Word: u8 {
    one { Long(i32) = [0] }
    several { Float(u32) = [1] [255] }
    default Rest(Color);
});

/// A union that contains itself, and is sometimes nothing.
enum Expr {
    Number(Fixed<5, 2>),
    All {
        discriminator: i32,
        value: Vec<Self>,
    },
    Unset {
        discriminator: i32,
    },
}
cdr_union!(Expr: i32 {
    one { Number(Fixed<5, 2>) = [0] }
    several { All(Vec<Expr>) = [1] [-1] }
    unset Unset;
});

/// A union that is large in memory, and an octet without its member.
#[expect(
    clippy::large_enum_variant,
    reason = "IDL's unions are such enums, and what they cost is tested"
)]
enum Sparse {
    Numbers([i32; 1024]),
    Nothing,
}
cdr_union!(Sparse: bool {
    one { Numbers(Array<i32, 1024>) = [true] }
    several {}
    last Nothing = [false];
});

/// A number in parts.
struct Parts {
    low: u8,
    level: i16,
    flag: bool,
}
cdr_bitset!(Parts: u32 { low: u8 = 0, 3; level: i16 = 5, 12; flag: bool = 31, 1 });

#[derive(Clone, Copy)]
struct Access(u8);
impl Access {
    const READ: Self = Self(1);
    const WRITE: Self = Self(4);
}
cdr_bitmask!(Access: u8 { READ, WRITE });

/// Where and how a value lies.
struct Case {
    frame: Frame,
    start: usize,
    format: WireFormat,
    /// Whether alignment counts from more than one place.
    fragmented: bool,
}

impl Case {
    fn decoder<O: ByteOrder>(&self) -> Option<Decoder<'_, O>> {
        let decoder = Decoder::at(&self.frame, self.start, self.format).ok()?;
        Some(decoder.with_limits(memory::limits()))
    }

    /// Reads a `T`, which has to keep the promise about memory.
    fn read<'a, O: ByteOrder, T: Decode<'a>>(
        &self,
        d: &mut Decoder<'a, O>,
    ) -> Result<T, DecodeError> {
        memory::measured(self.frame.len(), || d.get::<T>())
    }

    /// Writes a value where this one stood.
    fn write<O: ByteOrder>(&self, value: &impl Encode) -> Vec<u8> {
        let mut e = Encoder::<O>::new(self.format);
        e.append(&vec![0; self.start]);
        e.put(value).expect("what was read can be written");
        e.finish().to_vec()
    }

    /// Reads a `T`; if that works, writes it and reads it again.
    fn check<O: ByteOrder, T: Encode + for<'de> Decode<'de>>(&self) {
        let Some(mut d) = self.decoder::<O>() else {
            return;
        };
        let Ok(value) = self.read::<O, T>(&mut d) else {
            return;
        };
        assert!(d.position() <= self.frame.len());
        let written = self.write::<O>(&value);
        // Text may be longer or shorter: a length of 0 stands for the empty string, a mark for its
        // byte order.
        if T::LAYOUT.is_fixed() && !self.fragmented {
            assert_eq!(written.len(), d.position(), "the same number of octets");
        }
        let frame = Frame::new(Bytes::from(written.clone()));
        let mut again = Decoder::<O>::at(&frame, self.start, self.format).expect("it is there");
        let value = again.get::<T>().expect("what was written can be read");
        assert_eq!(again.position(), written.len());
        assert!(
            self.write::<O>(&value) == written,
            "it reads the same again"
        );
    }

    /// Checks a codec.
    fn codec<O: ByteOrder, C: Codec>(&self) {
        let Some(mut d) = self.decoder::<O>() else {
            return;
        };
        let Ok(Dec(value)) = self.read::<O, Dec<C>>(&mut d) else {
            return;
        };
        let written = self.write::<O>(&Enc::<C>(std::borrow::Borrow::borrow(&value)));
        let frame = Frame::new(Bytes::from(written.clone()));
        let mut again = Decoder::<O>::at(&frame, self.start, self.format).expect("it is there");
        let Dec(value) = again.get::<Dec<C>>().expect("what was written can be read");
        let twice = self.write::<O>(&Enc::<C>(std::borrow::Borrow::borrow(&value)));
        assert!(twice == written, "it reads the same again");
    }

    /// A sequence read in one move, against its elements one by one.
    fn sequence<O: ByteOrder, T: Encode + for<'de> Decode<'de>>(&self) {
        self.check::<O, Vec<T>>();
        let Some(mut whole) = self.decoder::<O>() else {
            return;
        };
        let at_once = self.read::<O, Vec<T>>(&mut whole);
        let Some(mut d) = self.decoder::<O>() else {
            return;
        };
        let singly = d.read_count(T::MIN_SIZE).and_then(|count| {
            // A sequence pays for memory that is more than its octets.
            if size_of::<T>() > T::MIN_SIZE {
                d.charge_memory(count * size_of::<T>())?;
            }
            let elements = |d: &mut Decoder<'_, O>| {
                let mut values = Vec::new();
                for _ in 0..count {
                    values.push(d.get::<T>()?);
                }
                Ok(values)
            };
            // Elements that may contain others are a level below their sequence.
            match T::LAYOUT.is_fixed() {
                true => elements(&mut d),
                false => d.nested(elements),
            }
        });
        match (at_once, singly) {
            (Ok(at_once), Ok(singly)) => {
                assert_eq!(whole.position(), d.position());
                let written = self.write::<O>(&at_once);
                assert!(written == self.write::<O>(&singly));
                if T::LAYOUT.is_fixed() && !self.fragmented {
                    assert_eq!(written.len(), d.position(), "the same number of octets");
                }
            }
            (Err(_), Err(_)) => {}
            (at_once, singly) => panic!(
                "at once: {:?}, one by one: {:?}",
                at_once.map(|v| v.len()),
                singly.map(|v| v.len())
            ),
        }
    }

    /// A numeric slice, borrowed where it can be, against the owned one.
    fn slice<O: ByteOrder, T>(&self)
    where
        T: Encode + for<'de> Decode<'de> + Clone + 'static,
        for<'de> Cow<'de, [T]>: Decode<'de>,
    {
        let (Some(mut a), Some(mut b)) = (self.decoder::<O>(), self.decoder::<O>()) else {
            return;
        };
        match (a.get::<Cow<'_, [T]>>(), b.get::<Vec<T>>()) {
            (Ok(borrowed), Ok(owned)) => {
                assert!(self.write::<O>(&borrowed.into_owned()) == self.write::<O>(&owned));
            }
            (Err(_), Err(_)) => {}
            _ => panic!("borrowed and owned disagree"),
        }
    }

    fn run<O: ByteOrder>(&self, kind: u8) {
        match kind {
            0..0xe0 => {}
            0xe0 => return self.sequence::<O, LongDouble>(),
            0xe1 => return self.sequence::<O, Fixed<5, 2>>(),
            0xe2 => return self.sequence::<O, Fixed<31, 10>>(),
            0xe3 => return self.sequence::<O, Word>(),
            0xe4 => return self.sequence::<O, Expr>(),
            0xe5 => return self.sequence::<O, Parts>(),
            0xe6 => return self.sequence::<O, Access>(),
            0xe7 => return self.codec::<O, Map<u16, Seq<BoundedStr<4>>>>(),
            0xe9 => return self.sequence::<O, Sparse>(),
            0xea => return self.check::<O, Vec<Vec<Sparse>>>(),
            0xeb => return self.codec::<O, Map<u8, Sparse>>(),
            0xec => return self.sequence::<O, Any>(),
            0xed => return self.sequence::<O, TypeCode>(),
            0xe8 => return self.check::<O, (u8, Fixed<4, 4>, LongDouble, [Word; 2])>(),
            _ => {}
        }
        match kind % 32 {
            0 => self.check::<O, (bool, u8, i16, u16, i32)>(),
            1 => self.check::<O, (u8, i64, f32, u8, f64, u64)>(),
            2 => self.check::<O, (Char, WChar, Char)>(),
            3 => self.check::<O, (u8, String, u16, String)>(),
            4 => self.codec::<O, WideStr>(),
            5 => self.codec::<O, BoundedStr<5>>(),
            6 => self.codec::<O, BoundedWideStr<3>>(),
            7 => self.check::<O, Bytes>(),
            8 => self.sequence::<O, u8>(),
            9 => self.sequence::<O, bool>(),
            10 => self.sequence::<O, i16>(),
            11 => self.sequence::<O, u32>(),
            12 => self.sequence::<O, f64>(),
            13 => self.sequence::<O, Char>(),
            14 => self.sequence::<O, WChar>(),
            15 => self.sequence::<O, Mixed>(),
            16 => self.sequence::<O, Odd>(),
            17 => self.sequence::<O, [i16; 3]>(),
            18 => self.sequence::<O, (u8, f64)>(),
            19 => self.sequence::<O, String>(),
            20 => self.sequence::<O, Person>(),
            21 => self.sequence::<O, Vec<u16>>(),
            22 => self.sequence::<O, Color>(),
            23 => self.check::<O, Tree>(),
            24 => self.codec::<O, BoundedSeq<Odd, 3>>(),
            25 => self.codec::<O, Seq<BoundedStr<4>>>(),
            26 => self.codec::<O, Array<Seq<WideStr>, 2>>(),
            27 => self.slice::<O, i32>(),
            28 => self.slice::<O, f64>(),
            29 => self.slice::<O, u16>(),
            30 => {
                if let Some(mut d) = self.decoder::<O>() {
                    let _ = d.read_encapsulated::<Vec<Person>>();
                }
            }
            _ => {
                if let Some(mut d) = self.decoder::<O>()
                    && let Ok(text) = d.read_str()
                {
                    assert!(!text.contains('\0'), "a CORBA string has no NUL in it");
                }
            }
        }
    }
}

/// The first octets say how the rest is read: flags, type, place, fragments.
pub fn run(data: &[u8]) {
    let [flags, kind, start, piece, octets @ ..] = data else {
        return;
    };
    let fragmented = flags & 0x20 != 0 && *piece >= 12;
    let octets = Bytes::copy_from_slice(octets);
    let frame = if fragmented {
        let starts: Vec<usize> = (1..)
            .map(|n| n * usize::from(*piece))
            .take_while(|start| *start < octets.len())
            .collect();
        Frame::with_fragment_starts(octets, Arc::from(starts))
    } else {
        Frame::new(octets)
    };
    let case = Case {
        start: usize::from(start % 16).min(frame.len()),
        frame,
        format: WireFormat {
            minor: (flags >> 1 & 3).min(2),
            char_set: match flags & 8 {
                0 => CharSet::Utf8,
                _ => CharSet::Latin1,
            },
            wchar_set: match flags & 16 {
                0 => WCharSet::Utf16,
                _ => WCharSet::None,
            },
            ..WireFormat::default()
        },
        fragmented,
    };
    match flags & 1 {
        0 => case.run::<BigEndian>(*kind),
        _ => case.run::<LittleEndian>(*kind),
    }
}
