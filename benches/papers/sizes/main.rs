//! A program that writes and reads so many types, to see how large it is.
//!
//! Built with `PAPERS_TYPES` (0 to 16) and `PAPERS_HOW` (`compiled` or `interpreted`) in the environment: code for
//! other types is not in it then. Compiled code is what `zorb::idl` makes of a struct; the interpreter is
//! `zorb_papers::interpreter` with all its principles, and a type is data to it.
#![forbid(unsafe_code)]

use std::hint::black_box;
use zorb_cdr::{
    Decode, Decoder, Encode, Encoder, Frame, IdlType, NativeEndian, TypeCode, WireFormat,
};
use zorb_papers::interpreter::{SPLIT, Type, decode, encode, free};

mod idl {
    //! Sixteen structs of five to eight members, no two alike.
    zorb::idl! {
        module Types {
            struct T01 { short a; char b; long c; octet d; double e; };
            struct T02 { double a; long b; string c; octet d; short e; unsigned long f; };
            struct T03 { long a; long b; string c; boolean d; long long e; };
            struct T04 { octet a; double b; octet c; double d; octet e; string f; };
            struct T05 { string a; string b; unsigned short c; long d; float e; char f; };
            struct T06 { float a; float b; float c; octet d; long e; boolean f; short g; };
            struct T07 { unsigned long long a; short b; sequence<long> c; octet d; string e; };
            struct T08 { sequence<octet> a; long b; short c; short d; double e; };
            struct T09 { boolean a; boolean b; string c; unsigned long d; unsigned long e; double f; };
            struct T10 { long long a; sequence<double> b; string c; char d; short e; };
            struct T11 { sequence<short> a; sequence<long> b; octet c; double d; long e; };
            struct T12 { short a; long b; long long c; double d; float e; octet f; string g; };
            struct T13 { char a; char b; unsigned short c; sequence<octet> d; string e; boolean f; };
            struct T14 { string a; double b; string c; double d; string e; long f; };
            struct T15 { unsigned long a; unsigned long long b; octet c; sequence<string> d; short e; };
            struct T16 { double a; double b; double c; long d; octet e; short f; char g; boolean h; };
        };
    }
}

use idl::types::{T01, T02, T03, T04, T05, T06, T07, T08, T09, T10, T11, T12, T13, T14, T15, T16};

/// How many types there are in this one.
const TYPES: u8 = match option_env!("PAPERS_TYPES") {
    None => 16,
    Some(number) => match u8::from_str_radix(number, 10) {
        Ok(number) => number,
        Err(_) => panic!("PAPERS_TYPES is no number"),
    },
};

/// Whether they are compiled; a word that is as long means the same as the other one of the two.
const COMPILED: bool = match option_env!("PAPERS_HOW") {
    None => true,
    Some(word) => word.len() == "compiled".len(),
};

/// Reads a sequence of them from the octets, and writes it again.
#[inline(never)]
fn compiled<T: Encode + for<'de> Decode<'de>>(octets: &Frame) -> Option<Vec<u8>> {
    let mut d = Decoder::<NativeEndian>::new(octets, WireFormat::default());
    let values: Vec<T> = d.get().ok()?;
    let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
    e.put(&values).ok()?;
    Some(e.finish().to_vec())
}

/// The same, by a walk along the type.
#[inline(never)]
fn interpreted(ty: &TypeCode, octets: &Frame) -> Option<Vec<u8>> {
    let ty = Type::of(&TypeCode::sequence(ty, 0)).ok()?;
    let mut memory = decode::<SPLIT>(&ty, octets.octets()).ok()?;
    let written = encode::<SPLIT>(&ty, &mut memory, Vec::new()).ok()?;
    free::<SPLIT>(&ty, memory);
    Some(written)
}

fn main() -> std::process::ExitCode {
    // An empty sequence is one of every type.
    let octets = Frame::new(black_box(vec![0, 0, 0, 0]).into());
    let mut right = true;
    macro_rules! each {
        ($($number:literal $name:ident),* $(,)?) => {$(
            if TYPES >= $number {
                let written = if COMPILED {
                    compiled::<$name>(&octets)
                } else {
                    interpreted(&TypeCode::from_static(<$name as IdlType>::TYPE), &octets)
                };
                right &= written.as_deref() == Some(octets.octets());
            }
        )*};
    }
    each!(
        1 T01, 2 T02, 3 T03, 4 T04, 5 T05, 6 T06, 7 T07, 8 T08,
        9 T09, 10 T10, 11 T11, 12 T12, 13 T13, 14 T14, 15 T15, 16 T16,
    );
    u8::from(!right).into()
}
