use crate::client::options::{Dii, Look, Octets, Options};
use crate::client::payload::Payload;
use crate::common::idl::bench::{
    LONG_SEQ_TYPE_CODE, OCTET_SEQ_TYPE_CODE, STRUCT_SEQ_TYPE_CODE, TtcpRef,
};
use crate::common::in_memory;
use crate::flavor::Failure;
use zorb::{Any, Bytes, Interface, Request, SystemException, SystemExceptionKind, minor};
use zorb_floor::{digest, report::Asked};

/// The exception that refuses a one-way call of SYNC_NONE when there is no room for it.
const NO_ROOM: (SystemExceptionKind, u32) =
    (SystemExceptionKind::Transient, minor::REQUEST_DISCARDED);

/// One operation with its argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    NoParams,
    Octet,
    Long,
    Struct,
    /// Native programs have no other.
    StructInMemory,
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
    dii: Option<Dii>,
}

impl Operation {
    pub(crate) fn of(options: &Options) -> Result<Self, Failure> {
        let found = KINDS.iter().find(|(name, _)| *name == options.op);
        let Some((_, kind)) = found else {
            let known: Vec<_> = KINDS.iter().map(|(name, _)| *name).collect();
            return Err(format!("unknown op {:?}; known: {}", options.op, known.join(", ")).into());
        };
        let kind = match kind {
            Kind::Struct if options.life.native => &Kind::StructInMemory,
            kind => kind,
        };
        let payload = Payload::new(&options.op, options.size);
        let shared = (options.octets == Octets::Bytes).then(|| payload.octets.clone().into());
        Ok(Self {
            kind: *kind,
            payload,
            shared,
            dii: options.dii,
        })
    }

    /// A request for the operation, with its argument.
    fn request(&self, server: &TtcpRef) -> Result<Request, Failure> {
        let payload = &self.payload;
        let octets = || Any::with_type_code(&OCTET_SEQ_TYPE_CODE, &payload.octets);
        let structs = || Any::with_type_code(&STRUCT_SEQ_TYPE_CODE, &payload.structs);
        let (name, argument) = match self.kind {
            Kind::NoParams => ("sendNoParams_2way", None),
            Kind::Octet => ("sendOctetSeq_2way", Some(octets()?)),
            Kind::Long => {
                let longs = Any::with_type_code(&LONG_SEQ_TYPE_CODE, &payload.longs);
                ("sendLongSeq_2way", Some(longs?))
            }
            Kind::Struct => ("sendStructSeq_2way", Some(structs()?)),
            Kind::OneWayNoParams => ("sendNoParams_1way", None),
            Kind::OneWayOctet => ("sendOctetSeq_1way", Some(octets()?)),
            Kind::OneWayStruct => ("sendStructSeq_1way", Some(structs()?)),
            Kind::EchoString | Kind::EchoStruct | Kind::EchoOctet | Kind::StructInMemory => {
                return Err("this operation is called by its stub alone".into());
            }
        };
        let request = server.as_object().request(name);
        Ok(match argument {
            Some(argument) => request.argument(argument),
            None => request,
        })
    }

    async fn send(&self, request: &Request) -> Result<(), Failure> {
        match self.is_one_way() {
            true => request.send().await?,
            false => drop(request.invoke().await?),
        }
        Ok(())
    }

    /// Calls any of the servers so many times by requests, as [`repeat_at_random`](Self::repeat_at_random) does by stubs.
    async fn repeat_by_requests(
        &self,
        servers: &[TtcpRef],
        calls: usize,
        is_new: bool,
        mut after: impl FnMut(),
    ) -> Result<(), Failure> {
        let made: Result<Vec<_>, _> = servers.iter().map(|it| self.request(it)).collect();
        let kept = made?;
        let mut random = Random::default();
        for _ in 0..calls {
            let at = random.below(servers.len());
            match (servers.get(at), kept.get(at)) {
                (Some(server), _) if is_new => self.send(&self.request(server)?).await?,
                (_, Some(request)) => self.send(request).await?,
                _ => return Err("no reference".into()),
            }
            after();
        }
        Ok(())
    }

    /// Whether calls are made without stubs.
    pub(crate) const fn is_dynamic(&self) -> bool {
        self.dii.is_some()
    }

    pub(crate) fn is_one_way(&self) -> bool {
        matches!(
            self.kind,
            Kind::OneWayNoParams | Kind::OneWayOctet | Kind::OneWayStruct
        )
    }

    /// The numbers that the result is computed from, for that many calls.
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

    /// Calls any of the servers at random so many times, without parameters.
    pub(crate) async fn repeat_at_random(
        &self,
        servers: &[TtcpRef],
        calls: usize,
        mut after: impl FnMut(),
    ) -> Result<(), Failure> {
        if let Some(dii) = self.dii {
            let is_new = dii == Dii::New;
            return self.repeat_by_requests(servers, calls, is_new, after).await;
        }
        if self.kind != Kind::NoParams {
            return Err("several servants are called without parameters".into());
        }
        let mut random = Random::default();
        for _ in 0..calls {
            let server = servers.get(random.below(servers.len()));
            let server = server.ok_or("no reference")?;
            server.send_no_params_2way().await?;
            after();
        }
        Ok(())
    }

    /// Calls so many times, and `after` each time. What is called is found out once, so that it costs no call anything.
    pub(crate) async fn repeat(
        &self,
        server: &TtcpRef,
        calls: usize,
        mut after: impl FnMut(),
    ) -> Result<(), SystemException> {
        macro_rules! each {
            ($call:expr) => {
                for _ in 0..calls {
                    $call.await?;
                    after();
                }
            };
        }
        // A one-way call of SYNC_NONE for which there is no room is refused: the flood goes on when others have run.
        macro_rules! each_one_way {
            ($call:expr) => {
                for _ in 0..calls {
                    while let Err(refused) = $call.await {
                        if (refused.kind, refused.minor) != NO_ROOM {
                            return Err(refused);
                        }
                        tokio::task::yield_now().await;
                    }
                    after();
                }
            };
        }
        let payload = &self.payload;
        match (self.kind, &self.shared) {
            (Kind::NoParams, _) => each!(server.send_no_params_2way()),
            (Kind::Octet, None) => each!(server.send_octet_seq_2way(&payload.octets)),
            (Kind::Octet, Some(shared)) => each!(server.send_octet_seq_2way(shared.clone())),
            (Kind::Long, _) => each!(server.send_long_seq_2way(&payload.longs)),
            (Kind::Struct, _) => each!(server.send_struct_seq_2way(&payload.structs)),
            (Kind::StructInMemory, _) => {
                let server = server.as_object();
                let server: in_memory::bench::TtcpRef = server.unchecked_narrow();
                each!(server.send_struct_seq_2way(&payload.in_memory));
            }
            (Kind::EchoString, _) => each!(server.echo_string(&payload.string)),
            (Kind::EchoStruct, _) => each!(server.echo_struct_seq(&payload.structs)),
            (Kind::EchoOctet, _) => each!(server.echo_octet_seq(&payload.octets)),
            (Kind::OneWayNoParams, _) => each_one_way!(server.send_no_params_1way()),
            (Kind::OneWayOctet, None) => each_one_way!(server.send_octet_seq_1way(&payload.octets)),
            (Kind::OneWayOctet, Some(shared)) => {
                each_one_way!(server.send_octet_seq_1way(shared.clone()))
            }
            (Kind::OneWayStruct, _) => each_one_way!(server.send_struct_seq_1way(&payload.structs)),
        }
        Ok(())
    }
}

/// The numbers by which every peer's client chooses servers.
struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Self(1)
    }
}

impl Random {
    fn below(&mut self, many: usize) -> usize {
        if many <= 1 {
            return 0;
        }
        self.0 = (self.0)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % many
    }
}
