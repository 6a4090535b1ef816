//! Explanations of exceptions, and what to check next.

use zorb::{SystemException, SystemExceptionKind as Kind};

/// The explanation of OBJECT_NOT_EXIST and similar exceptions.
pub(crate) const GONE: &str = "the server is there and does not know the object: it was deactivated, \
                               or the reference is of an earlier run of the server";

/// An explanation of an exception; `None` if the exception is clear by itself.
pub(crate) fn hint(exception: &SystemException) -> Option<&'static str> {
    let detail = format!("{exception:#}");
    let says = |text: &str| detail.contains(text);
    Some(match exception.kind {
        _ if says("name: the server's certificate") => {
            "the certificate is for other hosts than the one in the reference: the server needs one with this \
             name among its alternative names, or has to publish another host"
        }
        _ if says("date: the server's certificate") => {
            "the server needs a new certificate, or the clock of this host is wrong"
        }
        _ if says("chain: the server's certificate") => {
            "the authority that issued the certificate is not in the file of --tls, or the server does not send \
             the certificates between"
        }
        _ if says("the peer refused our certificate") => {
            "the server asks for a certificate of an authority that it trusts: --certificate names ours"
        }
        _ if says("without TLS") => {
            "the port is one without TLS: corbaloc:iiop: in place of corbaloc:ssliop:, or another port"
        }
        Kind::Transient if says("connection refused") || says("Connection refused") => {
            "no server listens there: the server is not running, or has started again on another port \
             since the reference was made"
        }
        Kind::Transient
            if says("no name server answered")
                || (says("cannot resolve") && !says("lookup") && says(" within ")) =>
        {
            "no name server answered in time whether the host is known: the name servers of this host \
             (/etc/resolv.conf) are down or cannot be reached"
        }
        Kind::Transient if says("cannot resolve") || says("lookup") => {
            "the host name is not known here: the server publishes a name that only others know \
             (it can be configured to publish another), or a name server is down"
        }
        Kind::Transient if says("within") || says("timed out") => {
            "nothing answers there at all: a firewall drops it, the host is down, or the address is \
             one that only the server's own network knows"
        }
        Kind::Transient if says("nreachable") => {
            "there is no way to that address from here: it may be one of the server's own network"
        }
        Kind::Transient if says("No such file") => {
            "the UNIX socket is not there: the server is not running, or is on another host"
        }
        Kind::Transient => "the server cannot take the request now; a later try may succeed",
        Kind::CommFailure if says("found a TLS") => {
            "the port is one for TLS: --tls, and corbaloc:ssliop: in place of corbaloc:iiop:"
        }
        Kind::CommFailure if says("expected the magic") => {
            "something listens there, but it does not speak GIOP: is it the right port?"
        }
        Kind::CommFailure => {
            "the connection was made and lost: the server has ended, it wants TLS on that port, or it \
             does not speak GIOP"
        }
        Kind::Timeout if says("no request could be sent") => {
            "there was no connection in time (--timeout): the host cannot be reached, or no name server \
             says where it is"
        }
        Kind::Timeout => {
            "there was no answer in time (--timeout): the host cannot be reached, the server is held \
             up, or what listens there does not speak GIOP"
        }
        Kind::ObjectNotExist => GONE,
        Kind::ObjAdapter => "the server is there, but its POA manager takes no requests",
        _ if says("a secure endpoint only") => {
            "the server takes connections by TLS only: --tls names the authorities that are trusted"
        }
        Kind::ImpLimit => {
            "the reference has no profile that zorb has a transport for: see zorb ior"
        }
        Kind::InvObjref => "the reference leads nowhere: see zorb ior",
        Kind::NoPermission => "the server is there and does not let us in",
        Kind::BadOperation => {
            "the object is there and has no such operation: it is of another type"
        }
        _ => return None,
    })
}

/// Whether an exception is one that an object's server raises and a client's ORB does not, so that the server is reachable even where no
/// record of replies says so.
pub(crate) fn is_of_server(exception: &SystemException) -> bool {
    matches!(
        exception.kind,
        Kind::NoPermission | Kind::NoImplement | Kind::ObjAdapter | Kind::Unknown
    )
}

/// Whether the exception came from the object's server, so that the server is reachable.
pub(crate) fn is_answer(exception: &SystemException, answered: bool) -> bool {
    answered && !matches!(exception.kind, Kind::CommFailure | Kind::Timeout)
}
