//! Why a handshake has failed, in one line that names the cause.

use crate::handshake::Role;
use rustls::{AlertDescription, CertificateError, Error as TlsError, pki_types::UnixTime};
use std::{error::Error, fmt, io, time::Duration};

/// Why a handshake has failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The connection below has failed.
    Connection(io::Error),
    /// The peer has closed the connection within the handshake.
    Ended,
    /// The peer has closed the connection without a word.
    EndedAtOnce,
    /// The peer speaks another protocol.
    NotTls(Spoken),
    /// The peers did not agree, or one of them broke the protocol.
    Tls(Role, TlsError),
    /// It was not done in time.
    Late(Duration),
    /// It made room for others, as the one that had lasted longest.
    Evicted,
}

/// The protocol that a peer speaks in place of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spoken {
    Giop,
    Http,
    Unknown,
}

/// The protocol of the first octets of a peer, if it is certainly not TLS (RFC 8446, section 5.1).
pub(crate) fn not_tls(octets: &[u8]) -> Option<Spoken> {
    let begins = |with: &[u8]| octets.starts_with(with) || with.starts_with(octets);
    match octets {
        [0x14..=0x17] | [0x14..=0x17, 3, ..] => None,
        _ if begins(b"GIOP") => Some(Spoken::Giop),
        _ if [&b"GET "[..], b"POST ", b"HEAD ", b"HTTP/"]
            .iter()
            .any(|with| begins(with)) =>
        {
            Some(Spoken::Http)
        }
        _ => Some(Spoken::Unknown),
    }
}

/// The error of a connection whose handshake is over. A peer that refuses a certificate says so only then in TLS 1.3.
pub(crate) fn of_session(error: TlsError) -> io::Error {
    Failure::Tls(Role::Client, error).into()
}

impl Failure {
    fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Connection(error) => error.kind(),
            Self::Ended | Self::EndedAtOnce => io::ErrorKind::UnexpectedEof,
            Self::NotTls(_) => io::ErrorKind::InvalidData,
            Self::Tls(_, error) => match error {
                TlsError::InvalidCertificate(_) | TlsError::NoCertificatesPresented => {
                    io::ErrorKind::PermissionDenied
                }
                TlsError::AlertReceived(alert) if refuses_certificate(*alert).is_some() => {
                    io::ErrorKind::PermissionDenied
                }
                _ => io::ErrorKind::InvalidData,
            },
            Self::Late(_) => io::ErrorKind::TimedOut,
            Self::Evicted => io::ErrorKind::ConnectionAborted,
        }
    }
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        Self::new(failure.kind(), failure)
    }
}

impl Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection(error) => write!(f, "the connection failed within the TLS handshake: {error}"),
            Self::Ended => f.write_str("the peer closed the connection within the TLS handshake"),
            Self::EndedAtOnce => f.write_str(
                "the peer closed the connection without an answer to the TLS handshake, as a port without TLS may",
            ),
            Self::NotTls(Spoken::Giop) => f.write_str("the peer speaks GIOP without TLS"),
            Self::NotTls(Spoken::Http) => f.write_str("the peer speaks HTTP without TLS"),
            Self::NotTls(Spoken::Unknown) => f.write_str("the peer does not speak TLS"),
            Self::Tls(role, error) => write_error(f, *role, error),
            Self::Late(limit) => write!(f, "the TLS handshake was not done within {limit:?}"),
            Self::Evicted => f.write_str("the TLS handshake made room for those of other clients"),
        }
    }
}

fn write_error(f: &mut fmt::Formatter<'_>, role: Role, error: &TlsError) -> fmt::Result {
    let whose = match role {
        Role::Client => "the server's certificate",
        Role::Server => "the client's certificate",
    };
    match error {
        TlsError::InvalidCertificate(why) => write_certificate(f, whose, why),
        TlsError::NoCertificatesPresented => {
            f.write_str("the client has presented no certificate, and the server requires one")
        }
        TlsError::AlertReceived(alert) => match refuses_certificate(*alert) {
            Some(why) => write!(f, "the peer refused our certificate: {why}"),
            None => write!(f, "the peer ended the TLS session: {alert:?}"),
        },
        TlsError::PeerIncompatible(why) => write!(
            f,
            "the peers have no version or cipher of TLS in common: {why:?}"
        ),
        other => write!(f, "TLS: {other}"),
    }
}

/// What is wrong with our certificate, if that is why the peer has ended the session (RFC 8446, section 6.2).
fn refuses_certificate(alert: AlertDescription) -> Option<&'static str> {
    Some(match alert {
        AlertDescription::CertificateRequired => "there is none, and it requires one",
        AlertDescription::UnknownCA => "its chain leads to no authority that the peer trusts",
        AlertDescription::CertificateExpired => "it has expired",
        AlertDescription::CertificateRevoked => "it was revoked",
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::NoCertificate
        | AlertDescription::AccessDenied => "it is not accepted",
        _ => return None,
    })
}

fn write_certificate(
    f: &mut fmt::Formatter<'_>,
    whose: &str,
    why: &CertificateError,
) -> fmt::Result {
    match why {
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => {
            let names = match &presented[..] {
                [] => "no name".to_owned(),
                names => {
                    let names: Vec<&str> = names.iter().map(|name| plain_name(name)).collect();
                    names.join(", ")
                }
            };
            write!(
                f,
                "name: {whose} is for {names}, not for {}",
                expected.to_str()
            )
        }
        CertificateError::NotValidForName => write!(f, "name: {whose} is for another name"),
        CertificateError::ExpiredContext { time, not_after } => {
            write!(
                f,
                "date: {whose} expired at {}, and it is {}",
                Date(*not_after),
                Date(*time)
            )
        }
        CertificateError::Expired => write!(f, "date: {whose} has expired"),
        CertificateError::NotValidYetContext { time, not_before } => {
            write!(
                f,
                "date: {whose} is valid from {} on, and it is {}",
                Date(*not_before),
                Date(*time)
            )
        }
        CertificateError::NotValidYet => write!(f, "date: {whose} is not valid yet"),
        CertificateError::UnknownIssuer => write!(
            f,
            "chain: {whose} leads to none of the trusted authorities (or one within it is missing)"
        ),
        CertificateError::BadSignature => write!(f, "chain: {whose} has a bad signature"),
        CertificateError::Revoked => write!(f, "chain: {whose} was revoked"),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            write!(f, "purpose: {whose} is not for this use")
        }
        other => write!(f, "{whose} is not accepted: {other}"),
    }
}

/// A name in a certificate without its kind: rustls has it as `DnsName("bank.example")`.
fn plain_name(presented: &str) -> &str {
    let inside = presented.split_once('(').map(|(_, inside)| inside);
    let inside = inside.and_then(|inside| inside.strip_suffix(')'));
    inside.map_or(presented, |inside| inside.trim_matches('"'))
}

/// A time in the calendar.
struct Date(UnixTime);

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        // Days of years that begin in March, in eras of 400 years.
        let day = days.saturating_add(719_468);
        let (era, of_era) = (day / 146_097, day % 146_097);
        let leap = (of_era / 1_460).saturating_sub(of_era / 36_524);
        let year = of_era.saturating_sub(leap).saturating_sub(of_era / 146_096) / 365;
        let before = year
            .saturating_mul(365)
            .saturating_add(year / 4)
            .saturating_sub(year / 100);
        let of_year = of_era.saturating_sub(before);
        let shifted = of_year.saturating_mul(5).saturating_add(2) / 153;
        let of_month = of_year.saturating_sub(shifted.saturating_mul(153).saturating_add(2) / 5);
        let month = if shifted < 10 {
            shifted.saturating_add(3)
        } else {
            shifted.saturating_sub(9)
        };
        let year = year
            .saturating_add(era.saturating_mul(400))
            .saturating_add(u64::from(month <= 2));
        let (hour, minute) = (second / 3_600, second / 60 % 60);
        write!(
            f,
            "{year:04}-{month:02}-{:02} {hour:02}:{minute:02}:{:02} UTC",
            of_month.saturating_add(1),
            second % 60
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_that_of_the_calendar() {
        let check = |seconds, expected: &str| {
            let time = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
            assert_eq!(Date(time).to_string(), expected);
        };
        check(0, "1970-01-01 00:00:00 UTC");
        check(951_782_399, "2000-02-28 23:59:59 UTC");
        check(951_782_400, "2000-02-29 00:00:00 UTC");
        check(1_795_962_531, "2026-11-29 14:28:51 UTC");
        check(4_107_542_400, "2100-03-01 00:00:00 UTC");
    }

    #[test]
    fn other_protocols_are_recognised_by_their_first_octets() {
        let check = |octets: &[u8], expected| assert_eq!(not_tls(octets), expected, "{octets:?}");
        check(b"GIOP\x01\x02", Some(Spoken::Giop));
        check(b"GI", Some(Spoken::Giop));
        check(b"GET / HTTP/1.1\r\n", Some(Spoken::Http));
        check(b"\0\0\0\0", Some(Spoken::Unknown));
        check(b"\x16\x03\x01", None);
        check(b"\x15\x03\x03", None);
        check(b"\x16", None);
        check(b"\x16\x02", Some(Spoken::Unknown));
    }
}
