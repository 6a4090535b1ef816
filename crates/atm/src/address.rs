//! Addresses of circuits, with the quality of service that they are opened with.
use std::{fmt, str::FromStr};

use crate::session::frame::{MAX_SDU, MIN_SDU};

/// A permanent virtual circuit as one of its ends names it: interface, virtual path and virtual channel, as in
/// `0.0.100`.
///
/// The numbers are those of the host; the other end of the circuit has numbers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CircuitId {
    interface: u16,
    vpi: u8,
    vci: u16,
}

impl CircuitId {
    /// Returns the circuit with these numbers. `None` if they are invalid: path and channel both 0, or an interface
    /// above 32,767.
    #[must_use]
    pub const fn new(interface: u16, vpi: u8, vci: u16) -> Option<Self> {
        if interface > i16::MAX.cast_unsigned() || vpi == 0 && vci == 0 {
            return None;
        }
        Some(Self {
            interface,
            vpi,
            vci,
        })
    }

    /// Returns the number of the interface, as in `/proc/net/atm/devices`.
    #[must_use]
    pub const fn interface(self) -> u16 {
        self.interface
    }

    /// Returns the number of the virtual path (VPI).
    #[must_use]
    pub const fn vpi(self) -> u8 {
        self.vpi
    }

    /// Returns the virtual channel. Channels below 32 are reserved, and Linux permits them to privileged processes
    /// only.
    #[must_use]
    pub const fn vci(self) -> u16 {
        self.vci
    }
}

impl fmt::Display for CircuitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.interface, self.vpi, self.vci)
    }
}

impl FromStr for CircuitId {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<Self, Unreadable> {
        let read = || {
            let mut numbers = text.split('.');
            let (interface, vpi, vci) = (numbers.next()?, numbers.next()?, numbers.next()?);
            if numbers.next().is_some() {
                return None;
            }
            Self::new(number(interface)?, number(vpi)?, number(vci)?)
        };
        read().ok_or(Unreadable(
            "a circuit as interface.vpi.vci, from 0.0.1 to 32767.255.65535",
        ))
    }
}

/// The traffic contract that is requested when a circuit is opened, in both directions. The default is unspecified bit
/// rate and frames of [`Config::MAX_SDU`](crate::session::Config::MAX_SDU) octets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Quality {
    class: Class,
    peak_cell_rate: Option<u32>,
    sdu: Option<u16>,
}

/// The ATM traffic class of a circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Class {
    /// Unspecified bit rate.
    #[default]
    Ubr,
    /// Constant bit rate, which is the peak cell rate.
    Cbr,
}

impl Quality {
    /// Returns the quality with this traffic class.
    #[must_use]
    pub const fn with_class(self, class: Class) -> Self {
        Self { class, ..self }
    }

    /// Returns the quality with this peak cell rate, in cells a second. A cell carries 48 octets.
    #[must_use]
    pub const fn with_peak_cell_rate(self, cells: u32) -> Self {
        Self {
            peak_cell_rate: Some(cells),
            ..self
        }
    }

    /// Returns the quality with frames of at most `octets` octets, 256 to 65,535; `None` beyond that range.
    #[must_use]
    pub fn with_sdu(self, octets: u32) -> Option<Self> {
        let sdu = u16::try_from(octets).ok();
        let sdu = sdu.filter(|sdu| (MIN_SDU..=MAX_SDU).contains(&u32::from(*sdu)))?;
        Some(Self {
            sdu: Some(sdu),
            ..self
        })
    }

    /// Returns the traffic class; unspecified bit rate unless set.
    #[must_use]
    pub const fn class(&self) -> Class {
        self.class
    }

    /// Returns the peak cell rate in cells a second; `None` for as much as the link has.
    #[must_use]
    pub const fn peak_cell_rate(&self) -> Option<u32> {
        self.peak_cell_rate
    }

    /// Returns the largest frame in octets; `None` stands for the default, [`Config::MAX_SDU`](crate::session::Config::MAX_SDU).
    #[must_use]
    pub const fn sdu(&self) -> Option<u16> {
        self.sdu
    }
}

/// The address on which a peer listens: the circuit as the listening end names it, and the quality with which it is
/// opened.
///
/// It is written as `interface.vpi.vci`. Behind a question mark are the parameters that differ from their defaults,
/// joined by `&`:
///
/// | parameter | meaning | default |
/// |---|---|---|
/// | `peer=interface.vpi.vci` | the circuit as the connecting end names it | the same numbers |
/// | `qos=ubr`, `qos=cbr` | the traffic class | `ubr` |
/// | `pcr=`*n* | the peak cell rate in cells a second; CBR needs it | as much as the link has |
/// | `sdu=`*n* | the largest frame in octets, 256 to 65,535 | 32,384 |
///
/// ```
/// use zorb_atm::{AtmAddress, Class};
///
/// let address: AtmAddress = "1.0.100?peer=0.0.100&qos=cbr&pcr=10000".parse()?;
/// assert_eq!(address.quality().class(), Class::Cbr);
/// assert_eq!(address.at_the_peer().to_string(), "0.0.100");
/// # Ok::<(), zorb_atm::Unreadable>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AtmAddress {
    circuit: CircuitId,
    peer: CircuitId,
    quality: Quality,
}

impl AtmAddress {
    /// Makes the address of a circuit that has the same numbers at both ends, with the default quality.
    #[must_use]
    pub fn new(circuit: CircuitId) -> Self {
        Self {
            circuit,
            peer: circuit,
            quality: Quality::default(),
        }
    }

    /// Returns the address with `peer` as the circuit's numbers at the connecting end. Without it, both ends have the numbers
    /// of [`circuit`](Self::circuit).
    #[must_use]
    pub const fn with_peer(self, peer: CircuitId) -> Self {
        Self { peer, ..self }
    }

    /// Returns the address with this quality; `None` for constant bit rate without a rate.
    #[must_use]
    pub fn with_quality(self, quality: Quality) -> Option<Self> {
        let is_possible = quality.class == Class::Ubr || quality.peak_cell_rate.is_some();
        is_possible.then_some(Self { quality, ..self })
    }

    /// Returns the circuit at the listening end.
    #[must_use]
    pub const fn circuit(&self) -> CircuitId {
        self.circuit
    }

    /// Returns the circuit at the connecting end.
    #[must_use]
    pub const fn at_the_peer(&self) -> CircuitId {
        self.peer
    }

    /// Returns the quality of service with which it is opened.
    #[must_use]
    pub const fn quality(&self) -> &Quality {
        &self.quality
    }
}

impl fmt::Display for AtmAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.circuit)?;
        let mut separator = '?';
        let mut next = || std::mem::replace(&mut separator, '&');
        if self.peer != self.circuit {
            write!(f, "{}peer={}", next(), self.peer)?;
        }
        if self.quality.class == Class::Cbr {
            write!(f, "{}qos=cbr", next())?;
        }
        if let Some(cells) = self.quality.peak_cell_rate {
            write!(f, "{}pcr={cells}", next())?;
        }
        if let Some(octets) = self.quality.sdu {
            write!(f, "{}sdu={octets}", next())?;
        }
        Ok(())
    }
}

impl FromStr for AtmAddress {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<Self, Unreadable> {
        let (circuit, parameters) = match text.split_once('?') {
            Some((circuit, parameters)) => (circuit, Some(parameters)),
            None => (text, None),
        };
        let mut address = Self::new(circuit.parse()?);
        let mut quality = Quality::default();
        let mut seen = Vec::new();
        for parameter in parameters.into_iter().flat_map(|all| all.split('&')) {
            let expected =
                Unreadable("one of the parameters peer=, qos=, pcr= and sdu=, each once");
            let (name, value) = parameter.split_once('=').ok_or(expected)?;
            if seen.contains(&name) {
                return Err(expected);
            }
            seen.push(name);
            match name {
                "peer" => address.peer = value.parse()?,
                "qos" => {
                    quality.class = match value {
                        "ubr" => Class::Ubr,
                        "cbr" => Class::Cbr,
                        _ => return Err(Unreadable("qos=ubr or qos=cbr")),
                    }
                }
                "pcr" => {
                    let cells = number(value).filter(|cells| (1..=MAX_PCR).contains(cells));
                    let cells =
                        cells.ok_or(Unreadable("pcr= and cells a second, up to 2147483647"))?;
                    quality = quality.with_peak_cell_rate(cells);
                }
                "sdu" => {
                    let sized = number(value).and_then(|octets| quality.with_sdu(octets));
                    quality = sized.ok_or(Unreadable("sdu= and octets, from 256 to 65535"))?;
                }
                _ => return Err(expected),
            }
        }
        let sized = address.with_quality(quality);
        sized.ok_or(Unreadable("pcr= beside qos=cbr"))
    }
}

/// The largest peak cell rate that the kernel's type can hold.
pub(crate) const MAX_PCR: u32 = i32::MAX.cast_unsigned();

/// The error of text that is not an address. It has the expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable(pub(crate) &'static str);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.0)
    }
}

impl std::error::Error for Unreadable {}

/// Parses a decimal number without a sign and without leading zeros.
fn number<N: FromStr>(text: &str) -> Option<N> {
    let is_decimal = text.bytes().all(|octet| octet.is_ascii_digit());
    let is_canonical = text == "0" || !text.starts_with('0');
    (is_decimal && is_canonical).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn addresses_are_read_and_written_alike() {
        for text in [
            "0.0.100",
            "32767.255.65535",
            "1.0.100?peer=0.0.100",
            "0.1.32?qos=cbr&pcr=353207",
            "0.1.32?pcr=1000&sdu=9180",
            "7.1.0?peer=0.0.33&qos=cbr&pcr=1&sdu=65535",
        ] {
            assert_eq!(
                text.parse::<AtmAddress>().map(|a| a.to_string()),
                Ok(text.into())
            );
        }
        let usual: AtmAddress = "0.0.100?qos=ubr&peer=0.0.100".parse().unwrap();
        assert_eq!(usual.to_string(), "0.0.100");
    }

    #[test]
    fn what_is_wrong_with_the_text_is_said() {
        let check = |text: &str, expected: &str| {
            let error = text.parse::<AtmAddress>().expect_err(text);
            assert_eq!(error.to_string(), format!("expected {expected}"));
        };
        let circuit = "a circuit as interface.vpi.vci, from 0.0.1 to 32767.255.65535";
        for text in [
            "",
            "0",
            "0.0",
            "0.0.0",
            "0.0.1.2",
            "-1.0.1",
            "+1.0.1",
            "0.256.1",
            "0.0.65536",
            "32768.0.1",
            "00.0.1",
            "0.0.x",
            "0.0.100?peer=x",
        ] {
            check(text, circuit);
        }
        let parameter = "one of the parameters peer=, qos=, pcr= and sdu=, each once";
        for text in [
            "0.0.1?",
            "0.0.1?x=1",
            "0.0.1?pcr",
            "0.0.1?sdu=999&sdu=999",
            "0.0.1?sdu=999&",
        ] {
            check(text, parameter);
        }
        check("0.0.1?qos=abr", "qos=ubr or qos=cbr");
        check("0.0.1?qos=cbr", "pcr= beside qos=cbr");
        for rate in ["0", "-1", "2147483648", "x"] {
            check(
                &format!("0.0.1?pcr={rate}"),
                "pcr= and cells a second, up to 2147483647",
            );
        }
        for octets in ["0", "255", "65536", "99999999999"] {
            check(
                &format!("0.0.1?sdu={octets}"),
                "sdu= and octets, from 256 to 65535",
            );
        }
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_written_as_an_equal_address(text in "[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,5}(\\?((peer|qos|pcr|sdu)=[0-9.bcru]{1,9}&?){0,4})?") {
            if let Ok(address) = text.parse::<AtmAddress>() {
                prop_assert_eq!(address.to_string().parse(), Ok(address));
            }
        }
    }
}
