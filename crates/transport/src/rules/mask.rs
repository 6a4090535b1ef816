//! Masks: the hosts for which a rule holds.

use super::{Holds, Ip, Party, RulesError};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::str::FromStr;

/// The hosts for which a rule holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mask {
    /// `*`
    All,
    /// This host: its addresses, and the UNIX sockets.
    LocalHost,
    /// Addresses that are equal in these bits.
    Network {
        address: u128,
        bits: u128,
        is_v4: bool,
    },
    /// A host by its name; a leading dot for all names below one.
    Host(Box<str>),
}

impl Mask {
    pub(super) fn holds(&self, party: &Party<'_>) -> Holds {
        match (self, party.ip) {
            (Self::All, _) => Holds::Yes,
            (Self::Host(name), _) => match party.host {
                Some(host) => Holds::of(is_host(name, host)),
                None => Holds::No,
            },
            (_, Ip::Unknown) => Holds::Maybe,
            (_, Ip::None) => Holds::No,
            (Self::LocalHost, Ip::ThisHost) => Holds::Yes,
            (Self::LocalHost, Ip::Known(ip)) => Holds::of(is_own(ip)),
            // As in omniORB: what stays on this host has the addresses of this host.
            (Self::Network { .. }, Ip::ThisHost) => Holds::of(self.has_own()),
            (Self::Network { .. }, Ip::Known(ip)) => Holds::of(self.contains(ip)),
        }
    }

    fn contains(&self, ip: IpAddr) -> bool {
        let Self::Network {
            address,
            bits,
            is_v4,
        } = self
        else {
            return false;
        };
        let ip = reached(ip);
        ip.is_ipv4() == *is_v4 && number(ip) & bits == *address
    }

    /// Whether this host has an address in the network: it would send to the network from that.
    fn has_own(&self) -> bool {
        let Self::Network { address, is_v4, .. } = self else {
            return false;
        };
        let (any, there): (IpAddr, IpAddr) = match is_v4 {
            true => {
                let address = u32::try_from(*address).unwrap_or_default();
                (Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::from(address).into())
            }
            false => (
                Ipv6Addr::UNSPECIFIED.into(),
                Ipv6Addr::from(*address).into(),
            ),
        };
        let from = UdpSocket::bind((any, 0)).and_then(|socket| {
            // Sends nothing.
            socket.connect((there, 9))?;
            socket.local_addr()
        });
        from.is_ok_and(|from| self.contains(from.ip()))
    }
}

impl FromStr for Mask {
    type Err = RulesError;

    fn from_str(text: &str) -> Result<Self, RulesError> {
        let wrong = || RulesError::Mask(text.into());
        match text {
            "*" => return Ok(Self::All),
            "localhost" => return Ok(Self::LocalHost),
            _ => {}
        }
        let (address, mask) = match text.split_once('/') {
            Some((address, mask)) => (address, Some(mask)),
            None => (text, None),
        };
        let Ok(address) = address.parse::<IpAddr>() else {
            return match mask {
                None => host(text).ok_or_else(wrong),
                Some(_) => Err(wrong()),
            };
        };
        let width: u32 = if address.is_ipv4() { 32 } else { 128 };
        let all = u128::MAX >> 128_u32.saturating_sub(width);
        let bits = match mask {
            None => all,
            Some(mask) => match (mask.parse::<u32>(), mask.parse::<IpAddr>()) {
                (Ok(length), _) if length <= width => {
                    let behind = width.saturating_sub(length);
                    all & u128::MAX.checked_shl(behind).unwrap_or_default()
                }
                (_, Ok(mask)) if mask.is_ipv4() == address.is_ipv4() => number(mask),
                _ => return Err(wrong()),
            },
        };
        Ok(Self::Network {
            address: number(address) & bits,
            bits,
            is_v4: address.is_ipv4(),
        })
    }
}

/// The mask of a host's name.
fn host(text: &str) -> Option<Mask> {
    let name = text.strip_prefix('*').unwrap_or(text);
    let is_name = |part: &str| {
        let mut octets = part.bytes();
        !part.is_empty() && octets.all(|o| o.is_ascii_alphanumeric() || o == b'-' || o == b'_')
    };
    let below = name.strip_prefix('.');
    let is_mask = below.is_some() == text.starts_with('*')
        && below.unwrap_or(name).split('.').all(is_name)
        // A number alone, or numbers with dots, would be an address that is none.
        && name.bytes().any(|octet| octet.is_ascii_alphabetic());
    is_mask.then(|| Mask::Host(name.to_ascii_lowercase().into()))
}

fn is_host(name: &str, host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    match name.starts_with('.') {
        true => host.ends_with(name),
        false => host == *name,
    }
}

/// The address at which a connection to another one ends: nobody's address is this host, and an IPv4 address may be written
/// as one of IPv6.
fn reached(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    }
}

/// Whether an address is one of this host, which can listen at it then.
pub(super) fn is_own(ip: IpAddr) -> bool {
    let ip = reached(ip);
    ip.is_loopback() || UdpSocket::bind((ip, 0)).is_ok()
}

fn number(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(ip) => u128::from(ip.to_bits()),
        IpAddr::V6(ip) => ip.to_bits(),
    }
}
