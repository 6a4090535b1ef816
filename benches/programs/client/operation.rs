use crate::client::options::{Look, Octets, Options};
use crate::client::payload::Payload;
use crate::common::idl::bench::TtcpRef;
use crate::flavor::Failure;
use zorb::{Bytes, SystemException};
use zorb_floor::{digest, report::Asked};

/// One operation with its argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    NoParams,
    Octet,
    Long,
    Struct,
    EchoString,
    EchoStruct,
    EchoOctet,
    OneWayNoParams,
    OneWayOctet,
    OneWayStruct,
}

const KINDS: [(&str, Kind); 10] = [
    ("noparams", Kind::NoParams),
    ("octet", Kind::Octet),
    ("long", Kind::Long),
    ("struct", Kind::Struct),
    ("echostring", Kind::EchoString),
    ("echostruct", Kind::EchoStruct),
    ("echooctet", Kind::EchoOctet),
    ("oneway_noparams", Kind::OneWayNoParams),
    ("oneway_octet", Kind::OneWayOctet),
    ("oneway_struct", Kind::OneWayStruct),
];

#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) kind: Kind,
    pub(crate) payload: Payload,
    /// The payload's octets, to be shared rather than lent.
    shared: Option<Bytes>,
}

impl Operation {
    pub(crate) fn of(options: &Options) -> Result<Self, Failure> {
        let found = KINDS.iter().find(|(name, _)| *name == options.op);
        let Some((_, kind)) = found else {
            let known: Vec<_> = KINDS.iter().map(|(name, _)| *name).collect();
            return Err(format!("unknown op {:?}; known: {}", options.op, known.join(", ")).into());
        };
        let payload = Payload::new(&options.op, options.size);
        let shared = (options.octets == Octets::Bytes).then(|| payload.octets.clone().into());
        Ok(Self {
            kind: *kind,
            payload,
            shared,
        })
    }

    pub(crate) fn is_one_way(&self) -> bool {
        matches!(
            self.kind,
            Kind::OneWayNoParams | Kind::OneWayOctet | Kind::OneWayStruct
        )
    }

    /// What the result is made of, for that many calls.
    pub(crate) fn asked(&self, options: &Options) -> Asked {
        let digest = match options.look {
            Look::Ends if options.op.contains("octet") => digest::ends(&self.payload.octets),
            _ => self.payload.digest(&options.op),
        };
        Asked {
            peer: options.peer.clone(),
            op: options.op.clone(),
            size: options.size,
            octets: Payload::octets_per_call(&options.op, options.size),
            iters: options.iters,
            warmup: options.warmup,
            threads: options.threads,
            digest,
        }
    }

    pub(crate) async fn call(&self, server: &TtcpRef) -> Result<(), SystemException> {
        let payload = &self.payload;
        match (self.kind, &self.shared) {
            (Kind::NoParams, _) => server.send_no_params_2way().await,
            (Kind::Octet, None) => server.send_octet_seq_2way(&payload.octets).await,
            (Kind::Octet, Some(shared)) => server.send_octet_seq_2way(shared.clone()).await,
            (Kind::Long, _) => server.send_long_seq_2way(&payload.longs).await,
            (Kind::Struct, _) => server.send_struct_seq_2way(&payload.structs).await,
            (Kind::EchoString, _) => server.echo_string(&payload.string).await.map(drop),
            (Kind::EchoStruct, _) => server.echo_struct_seq(&payload.structs).await.map(drop),
            (Kind::EchoOctet, _) => server.echo_octet_seq(&payload.octets).await.map(drop),
            (Kind::OneWayNoParams, _) => server.send_no_params_1way().await,
            (Kind::OneWayOctet, None) => server.send_octet_seq_1way(&payload.octets).await,
            (Kind::OneWayOctet, Some(shared)) => server.send_octet_seq_1way(shared.clone()).await,
            (Kind::OneWayStruct, _) => server.send_struct_seq_1way(&payload.structs).await,
        }
    }
}
