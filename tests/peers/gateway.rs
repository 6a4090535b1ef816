//! Gateways without generated code between our client and a server: every call of a column is called and served dynamically,
//! and its client checks each value as without them.

use crate::matrix::Talk;
use crate::peers::{Brand, Way};
use crate::rich::rich_idl::rich::Special;
use crate::runner::{self, Cell, Peer, World};
use std::path::Path;
use zorb::{
    CharSet, DynamicReply, DynamicRequest, DynamicServant, DynamicSkeleton, ObjectRef, Orb,
    RequestError, SystemException,
};
use zorb_dynamic::IdlTypes;
use zorb_dynamic::zorb_idl::Options;

/// How a gateway passes requests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum By {
    /// As the octets that they are.
    Octets,
    /// Decoded and encoded again by the types of this IDL file of `tests/interop`.
    Types(&'static str),
}

/// The gateways to `interop.idl`, each with the setting of its cells.
pub(crate) const GATEWAYS: [(&str, By); 2] = [
    ("gateway", By::Octets),
    ("typed-gateway", By::Types("interop.idl")),
];

/// The gateways to `rich.idl`, each with the cells that it does not run.
pub(crate) const RICH_GATEWAYS: [(&str, By, &[&str]); 2] = [
    ("rich/gateway", By::Octets, OF_REFERENCES),
    ("rich/typed-gateway", By::Types("rich.idl"), OF_REFERENCES),
];

/// Cells in which the server puts a reference to itself into an any, which its client does not expect behind a gateway.
const OF_REFERENCES: &[&str] = &["any_objects", "any_object"];

/// Cells that look at the connection, the address or the process of the target.
pub(crate) const OF_CONNECTIONS: &[&str] = &[
    "corbaloc",
    "server_dies",
    "stale_reference",
    "restart",
    "shutdown",
    "cancel",
];

/// The types of an IDL file of `tests/interop`.
pub(crate) fn types_of(file: &str) -> IdlTypes {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop");
    let mut options = Options::default();
    options.include_dirs.push(folder.join("include"));
    let long_double = ("WITH_LONG_DOUBLE".to_owned(), "1".to_owned());
    options.defines.push(long_double);
    let types = IdlTypes::from_files(&[folder.join(file)], &options);
    types.expect("the IDL of the matrix")
}

struct Gateway {
    /// The target in the code sets that its clients may use.
    utf8: ObjectRef,
    latin1: ObjectRef,
    types: Option<IdlTypes>,
}

impl Gateway {
    fn new(target: &ObjectRef, by: By) -> Self {
        let types = match by {
            By::Octets => None,
            By::Types(file) => Some(types_of(file)),
        };
        Self {
            utf8: target.with_char_code_set(CharSet::Utf8),
            latin1: target.with_char_code_set(CharSet::Latin1),
            types,
        }
    }
}

impl DynamicServant for Gateway {
    async fn invoke(&self, request: &DynamicRequest<'_>) -> Result<DynamicReply, RequestError> {
        let (operation, raw) = (request.operation(), request.raw_arguments()?);
        let target = match raw.format().char_set {
            CharSet::Latin1 => &self.latin1,
            _ => &self.utf8,
        };
        let is_declared = !operation.starts_with('_')
            || operation.starts_with("_get_")
            || operation.starts_with("_set_");
        // A gateway stands for its target, whatever that raises.
        let raised = |exception: SystemException| RequestError::from(exception.raise());
        if let Some(types) = self.types.as_ref().filter(|_| is_declared) {
            let signature = types.signature(target.type_id(), &operation);
            let signature = signature.map_err(SystemException::from)?;
            let (arguments, context) = request.arguments_of(&signature)?;
            let mut call = signature.request(target, &arguments)?;
            if let Some(context) = context {
                call = call.context(&context, &["*"]);
            }
            if signature.is_oneway {
                call.send().await.map_err(raised)?;
                return signature.reply(None, Vec::new());
            }
            let response = call.invoke().await.map_err(|error| match error {
                RequestError::System(exception) => raised(exception),
                user => user,
            })?;
            return signature.reply(response.result, response.outputs);
        }
        if request.response_expected() {
            let reply = target.invoke_raw(&operation, &raw).await.map_err(raised)?;
            return Ok(reply.into());
        }
        target.send_raw(&operation, &raw).await.map_err(raised)?;
        Ok(DynamicReply::new(None, Vec::new()))
    }

    fn answers_every_operation(&self) -> bool {
        true
    }
}

/// Makes a gateway to an object.
pub(crate) fn in_front(orb: &Orb, target: &ObjectRef, by: By) -> ObjectRef {
    let poa = orb.root_poa();
    poa.the_poa_manager().activate().expect("not inactive");
    let gateway = Gateway::new(target, by);
    if let Some(types) = &gateway.types {
        types.register_values(orb);
        // What custom marshalling writes, IDL does not say.
        orb.register_value::<Special>();
    }
    let skeleton = DynamicSkeleton::new(target.type_id(), gateway);
    poa.activate(skeleton).expect("the ORB listens")
}

/// The cells of a client that calls `reference` through a gateway of its own ORB.
async fn through<P: Peer>(
    talk: Talk,
    (reference, by, name): (&str, By, &str),
    (way, prefix): (Option<Way>, &str),
    groups: &[&[Cell<P>]],
    without: &[&str],
) {
    let (between, _folder) = talk.listen().await;
    let target = between
        .string_to_object(reference)
        .await
        .expect("a reference");
    let reference = between.object_to_string(&in_front(&between, &target, by));
    let (client, peer, _folder) = talk.connect::<P>(&reference).await;
    assert_eq!(peer.orb_name().await.unwrap(), name);
    assert_ne!(peer.as_object().type_id(), "");
    let world = World {
        orb: client,
        peer,
        way,
        utf8: talk.utf8,
        one_in: 1,
    };
    let all = groups.iter().copied().flatten();
    let cells: Vec<Cell<P>> = all
        .filter(|cell| !without.contains(&cell.name))
        .map(|cell| Cell {
            name: cell.name,
            run: cell.run,
        })
        .collect();
    runner::run(world, prefix, &[&cells]).await;
    between.shutdown(true).await.expect("outside any upcall");
}

/// Our client on our own server through a gateway, without the cells that are about connections.
pub(crate) async fn among_ourselves<P: Peer>(by: By, groups: &[&[Cell<P>]], without: &[&str]) {
    let talk = Talk::new("1.2", crate::peers::Over::Tcp);
    let (orb, _folder) = talk.listen().await;
    let reference = orb.object_to_string(&P::serve(&orb));
    let prefix = format!("gateway {by:?}");
    let to = (&*reference, by, "zorb");
    through::<P>(talk, to, (None, &prefix), groups, without).await;
    orb.shutdown(true).await.expect("outside any upcall");
}

/// Our client on another ORB's server through a gateway.
pub(crate) async fn on_peer<P: Peer>(
    brand: &'static Brand,
    (talk, by): (Talk, By),
    groups: &[&[Cell<P>]],
    without: &[&str],
) {
    let prefix = talk.prefix(crate::matrix::OURS, (brand.name, brand.order));
    let Some(programs) = brand.find(&prefix) else {
        return;
    };
    let way = Way::new(brand, &programs, talk.over, talk.args_of(brand));
    let (_server, reference) = way.start();
    let to = (&*reference, by, brand.orb_name);
    through::<P>(talk, to, (Some(way), &prefix), groups, without).await;
}
