//! The rules at the head of `interop.idl` for what every IDL has: twist and digest.

use zorb::{Bytes, Char, WChar};

/// FNV-1a, 64 bits.
pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) fn octets(&mut self, octets: &[u8]) {
        for octet in octets {
            self.0 = (self.0 ^ u64::from(*octet)).wrapping_mul(0x100_0000_01b3);
        }
    }

    pub(crate) fn count(&mut self, elements: usize) {
        let elements = u32::try_from(elements).expect("no more than travel");
        self.octets(&elements.to_le_bytes());
    }
}

/// A value of the IDL's types.
pub(crate) trait Value: ToOwned {
    /// Changed in the way that can be predicted.
    fn twisted(&self) -> Self::Owned;
    /// Feeds its octets, as the rules have them and not CDR, to the digest.
    fn feed(&self, d: &mut Digest);
}

/// The digest of one value or of several, behind each other.
macro_rules! digest {
    ($($value:expr),+ $(,)?) => {
        $crate::digest::digest_of(|d| {
            use $crate::digest::Value as _;
            $($value.feed(d);)+
        })
    };
}
pub(crate) use digest;

pub(crate) fn digest_of(feed: impl FnOnce(&mut Digest)) -> u64 {
    let mut digest = Digest(0xcbf2_9ce4_8422_2325);
    feed(&mut digest);
    digest.0
}

macro_rules! numbers {
    ($($number:ty, $x:ident => $twisted:expr;)+) => {$(
        impl Value for $number {
            fn twisted(&self) -> Self {
                let $x = *self;
                $twisted
            }
            fn feed(&self, d: &mut Digest) {
                d.octets(&self.to_le_bytes());
            }
        }
    )+};
}
numbers! {
    u8, x => !x;
    i16, x => !x;
    u16, x => !x;
    i32, x => !x;
    u32, x => !x;
    i64, x => !x;
    u64, x => !x;
    f32, x => -x;
    f64, x => -x;
}

impl Value for bool {
    fn twisted(&self) -> Self {
        !self
    }
    fn feed(&self, d: &mut Digest) {
        d.octets(&[u8::from(*self)]);
    }
}

impl Value for Char {
    fn twisted(&self) -> Self {
        Self(if self.0.is_ascii_alphabetic() {
            self.0 ^ 0x20
        } else {
            self.0
        })
    }
    fn feed(&self, d: &mut Digest) {
        d.octets(&[self.0]);
    }
}

impl Value for WChar {
    fn twisted(&self) -> Self {
        match u8::try_from(self.0) {
            Ok(letter) if letter.is_ascii_alphabetic() => Self(self.0 ^ 0x20),
            _ => *self,
        }
    }
    fn feed(&self, d: &mut Digest) {
        d.octets(&self.0.to_le_bytes());
    }
}

impl Value for str {
    fn twisted(&self) -> String {
        let other_case = |c: char| match c {
            'a'..='z' => c.to_ascii_uppercase(),
            _ => c.to_ascii_lowercase(),
        };
        self.chars().map(other_case).collect()
    }
    fn feed(&self, d: &mut Digest) {
        d.count(self.chars().count());
        for character in self.chars() {
            d.octets(&u32::from(character).to_le_bytes());
        }
    }
}

impl<T: Value<Owned = T> + Clone> Value for [T] {
    fn twisted(&self) -> Vec<T> {
        self.iter().rev().map(T::twisted).collect()
    }
    fn feed(&self, d: &mut Digest) {
        d.count(self.len());
        self.iter().for_each(|element| element.feed(d));
    }
}

impl<T: Value<Owned = T> + Clone, const N: usize> Value for [T; N] {
    fn twisted(&self) -> Self {
        self.each_ref().map(T::twisted)
    }
    fn feed(&self, d: &mut Digest) {
        self.iter().for_each(|element| element.feed(d));
    }
}

/// Types that are twisted and digested like the targets of their `Deref`.
macro_rules! like_target {
    ($([$($t:ident)?] $owner:ty;)+) => {$(
        impl$(<$t: Value<Owned = $t> + Clone>)? Value for $owner {
            fn twisted(&self) -> Self {
                (**self).twisted().into()
            }
            fn feed(&self, d: &mut Digest) {
                (**self).feed(d);
            }
        }
    )+};
}
like_target! {
    [] String;
    [T] Vec<T>;
    [] Bytes;
}

macro_rules! enums {
    ($($name:ident: $first:ident $(, $next:ident)+;)+) => {$(
        impl Value for $name {
            fn twisted(&self) -> Self {
                let all = [Self::$first $(, Self::$next)+];
                all[(*self as usize + 1) % all.len()]
            }
            fn feed(&self, d: &mut Digest) {
                (*self as u32).feed(d);
            }
        }
    )+};
}
pub(crate) use enums;

macro_rules! structs {
    ($($name:ident { $($member:ident),+ })+) => {$(
        impl Value for $name {
            fn twisted(&self) -> Self {
                Self { $($member: self.$member.twisted()),+ }
            }
            fn feed(&self, d: &mut Digest) {
                $(self.$member.feed(d);)+
            }
        }
    )+};
}
pub(crate) use structs;

/// A wstring, or a sequence of them, whose type in Rust is that of a string and whose digest is
/// another.
pub(crate) trait Wide {
    /// As [`Value::feed`].
    fn feed_wide(&self, d: &mut Digest);
}

impl Wide for str {
    fn feed_wide(&self, d: &mut Digest) {
        d.count(self.encode_utf16().count());
        for unit in self.encode_utf16() {
            d.octets(&unit.to_le_bytes());
        }
    }
}

impl Wide for [String] {
    fn feed_wide(&self, d: &mut Digest) {
        d.count(self.len());
        self.iter().for_each(|text| text.feed_wide(d));
    }
}
