//! The calls, and their references.

use zorb::{Char, SystemException};
use zorb_floor::digest;
use zorb_papers::dialogue::Failure;
use zorb_papers::latency::{
    BinStruct, ControlRef, HundredRef, OneRef, TcpSequenceRef, TenRef, digest_chars,
    digest_doubles, digest_shorts, digest_structs,
};
use zorb_papers::place::with_room;
use zorb_papers::with_operations;

/// The kind of servant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Interface {
    Sequence,
    One,
    Ten,
    Hundred,
}

/// The argument of a call.
#[derive(Debug)]
enum Payload {
    NoParams,
    Short(Vec<i16>),
    Char(Vec<Char>),
    Long(Vec<i32>),
    Octet(Vec<u8>),
    Double(Vec<f64>),
    Struct(Vec<BinStruct>),
}

/// The operation of a call.
#[derive(Debug)]
pub(crate) struct Operation {
    interface: Interface,
    payload: Payload,
    pub(crate) one_way: bool,
}

impl Operation {
    /// The call of that name, with so many elements; `None` for an unknown name.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the pattern wraps, as every peer's does"
    )]
    pub(crate) fn new(word: &str, size: usize) -> Option<Self> {
        let interface = match word {
            "ops1" => Interface::One,
            "ops10" => Interface::Ten,
            "ops100" => Interface::Hundred,
            _ => Interface::Sequence,
        };
        let (one_way, of) = match word.strip_prefix("oneway_") {
            Some(of) => (true, of),
            None => (false, word),
        };
        let all = 0..size;
        let letter = |i: usize| Char(b'a' + (i % 26) as u8);
        let payload = match of {
            "short" => Payload::Short(all.map(|i| i as i16).collect()),
            "char" => Payload::Char(all.map(letter).collect()),
            "long" => Payload::Long(all.map(|i| i as i32).collect()),
            "octet" => Payload::Octet(all.map(|i| i as u8).collect()),
            "double" => Payload::Double(all.map(|i| i as f64).collect()),
            "struct" => Payload::Struct(
                all.map(|i| BinStruct {
                    s: i as i16,
                    c: letter(i),
                    l: i as i32,
                    o: i as u8,
                    d: i as f64,
                })
                .collect(),
            ),
            "noparams" => Payload::NoParams,
            _ if interface != Interface::Sequence => Payload::NoParams,
            _ => return None,
        };
        Some(Self {
            interface,
            payload,
            one_way,
        })
    }

    pub(crate) const fn interface(&self) -> Interface {
        self.interface
    }

    /// How many there are to choose from.
    pub(crate) const fn operations(&self) -> usize {
        match self.interface {
            Interface::Sequence | Interface::One => 1,
            Interface::Ten => 10,
            Interface::Hundred => 100,
        }
    }

    /// Octets of a call's arguments.
    pub(crate) const fn octets(&self) -> usize {
        match &self.payload {
            Payload::NoParams => 0,
            Payload::Short(all) => 2 * all.len(),
            Payload::Char(all) => all.len(),
            Payload::Long(all) => 4 * all.len(),
            Payload::Octet(all) => all.len(),
            Payload::Double(all) => 8 * all.len(),
            Payload::Struct(all) => 24 * all.len(),
        }
    }

    /// The digest that a servant makes of a call.
    pub(crate) fn digest(&self) -> u64 {
        match &self.payload {
            Payload::NoParams => 1,
            Payload::Short(all) => digest_shorts(all),
            Payload::Char(all) => digest_chars(all),
            Payload::Long(all) => digest::longs(all),
            Payload::Octet(all) => digest::octets(all),
            Payload::Double(all) => digest_doubles(all),
            Payload::Struct(all) => digest_structs(all),
        }
    }
}

/// The references that the client has.
#[derive(Debug)]
pub(crate) struct Held {
    control: ControlRef,
    sequences: Vec<TcpSequenceRef>,
    ones: Vec<OneRef>,
    tens: Vec<TenRef>,
    hundreds: Vec<HundredRef>,
}

/// References that are asked for in one call, so that no reply is of megabytes.
const AT_A_TIME: usize = 1000;

/// Calls the operation of a number.
macro_rules! call_one_of {
    ($interface:ident, $reference:ident, $($number:literal $operation:ident)*) => {
        impl Numbered for $reference {
            async fn call(&self, number: usize) -> Result<(), SystemException> {
                match number {
                    $($number => self.$operation().await,)*
                    _ => Ok(()),
                }
            }
        }
    };
}

trait Numbered {
    async fn call(&self, number: usize) -> Result<(), SystemException>;
}

with_operations!(One, call_one_of);
with_operations!(Ten, call_one_of);
with_operations!(Hundred, call_one_of);

/// How many there are still to be made at a time.
fn lacking(held: usize, wanted: usize) -> Result<u32, Failure> {
    if held > wanted {
        return Err(format!("there are {held} servants already").into());
    }
    Ok(u32::try_from((wanted - held).min(AT_A_TIME))?)
}

impl Held {
    pub(crate) const fn new(control: ControlRef) -> Self {
        Self {
            control,
            sequences: Vec::new(),
            ones: Vec::new(),
            tens: Vec::new(),
            hundreds: Vec::new(),
        }
    }

    /// Sees to it that the server has so many servants of the kind.
    ///
    /// # Errors
    /// It has more, or cannot make them.
    pub(crate) async fn grow(&mut self, kind: Interface, servants: usize) -> Result<(), Failure> {
        loop {
            let held = match kind {
                Interface::Sequence => self.sequences.len(),
                Interface::One => self.ones.len(),
                Interface::Ten => self.tens.len(),
                Interface::Hundred => self.hundreds.len(),
            };
            let count = lacking(held, servants)?;
            if count == 0 {
                return Ok(());
            }
            match kind {
                Interface::Sequence => {
                    let more = self.control.add_sequences(count).await?;
                    self.sequences.extend(more.into_iter().flatten());
                }
                Interface::One => {
                    let more = self.control.add_ones(count).await?;
                    self.ones.extend(more.into_iter().flatten());
                }
                Interface::Ten => {
                    let more = self.control.add_tens(count).await?;
                    self.tens.extend(more.into_iter().flatten());
                }
                Interface::Hundred => {
                    let more = self.control.add_hundreds(count).await?;
                    self.hundreds.extend(more.into_iter().flatten());
                }
            }
        }
    }

    /// The first servant's reference.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) async fn first(&mut self) -> Result<TcpSequenceRef, Failure> {
        if self.sequences.is_empty() {
            self.grow(Interface::Sequence, 1).await?;
        }
        Ok(self.sequences.first().ok_or("no servant")?.clone())
    }

    /// Waits until everything that was sent one-way has been served.
    ///
    /// # Errors
    /// The call's.
    pub(crate) async fn sync(&mut self) -> Result<(), Failure> {
        Ok(self.first().await?.sync().await?)
    }

    /// Calls a servant, as soon as there is room for the call.
    ///
    /// # Errors
    /// The call's.
    pub(crate) async fn call(
        &self,
        operation: &Operation,
        servant: usize,
        number: usize,
    ) -> Result<(), SystemException> {
        with_room(|| self.call_once(operation, servant, number)).await
    }

    async fn call_once(
        &self,
        operation: &Operation,
        servant: usize,
        number: usize,
    ) -> Result<(), SystemException> {
        match operation.interface {
            Interface::One => self.ones[servant].call(number).await,
            Interface::Ten => self.tens[servant].call(number).await,
            Interface::Hundred => self.hundreds[servant].call(number).await,
            Interface::Sequence => {
                let server = &self.sequences[servant];
                match (&operation.payload, operation.one_way) {
                    (Payload::NoParams, false) => server.send_no_params_2way().await,
                    (Payload::Short(all), false) => server.send_short_seq_2way(all).await,
                    (Payload::Char(all), false) => server.send_char_seq_2way(all).await,
                    (Payload::Long(all), false) => server.send_long_seq_2way(all).await,
                    (Payload::Octet(all), false) => server.send_octet_seq_2way(all).await,
                    (Payload::Double(all), false) => server.send_double_seq_2way(all).await,
                    (Payload::Struct(all), false) => server.send_struct_seq_2way(all).await,
                    (Payload::NoParams, true) => server.send_no_params_1way().await,
                    (Payload::Short(all), true) => server.send_short_seq_1way(all).await,
                    (Payload::Char(all), true) => server.send_char_seq_1way(all).await,
                    (Payload::Long(all), true) => server.send_long_seq_1way(all).await,
                    (Payload::Octet(all), true) => server.send_octet_seq_1way(all).await,
                    (Payload::Double(all), true) => server.send_double_seq_1way(all).await,
                    (Payload::Struct(all), true) => server.send_struct_seq_1way(all).await,
                }
            }
        }
    }
}
