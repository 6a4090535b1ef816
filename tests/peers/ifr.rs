//! Clients of omniORB and JacORB that read our interface repository, as `zorb ifr serve` has one, and our servants'.

use crate::gateway::types_of;
use crate::interop::server;
use crate::support::{Running, have, passed};
use std::path::{Path, PathBuf};
use zorb::{Interface, ObjectRef, Orb, TypeCode};
use zorb_ifr::InterfaceRepository;
use zorb_ifr::ir::corba::{DefinitionKind, InterfaceDefRef, RepositoryRef};

fn program(path: &str, cell: &str) -> Option<PathBuf> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    have(cell, &[&built]).then_some(built)
}

/// What a client of ours reads, as the others print it.
async fn read(repository: &RepositoryRef, id: &str, object: &ObjectRef) -> Vec<String> {
    let found = repository.lookup_id(id).await.expect("the repository");
    let found = found.expect("the interface is in it");
    let interface: InterfaceDefRef = found.as_object().unchecked_narrow();
    let kind = |ty: &TypeCode| ty.kind() as u32;
    let mut lines = vec![format!(
        "interface {}",
        interface.absolute_name().await.expect("its name")
    )];
    let all = interface.describe_interface().await.expect("all of it");
    for operation in &all.operations {
        let parameters = operation.parameters.iter();
        let parameters: String = parameters
            .map(|it| format!(" {}:{}", it.name, kind(&it.type_)))
            .collect();
        let result = kind(&operation.result);
        lines.push(format!("operation {} {result}{parameters}", operation.name));
    }
    let attributes = all.attributes.iter();
    lines.extend(attributes.map(|it| format!("attribute {}", it.name)));
    let contents = repository.contents(DefinitionKind::DkAll, true).await;
    for contained in contents.expect("the contents").into_iter().flatten() {
        let described = contained.describe().await.expect("a description").value;
        let name = contained.name().await.expect("a name");
        let ty = described.type_code().name().unwrap_or_default();
        lines.push(format!("contains {name} {ty}"));
    }
    let inside = interface.describe_contents(DefinitionKind::DkAll, false, -1);
    let inside = inside.await.expect("descriptions").len();
    lines.push(format!("described {inside}"));
    let of = object.get_interface().await.expect("its interface");
    let of: InterfaceDefRef = of.expect("there is one").unchecked_narrow();
    lines.push(format!("object {}", of.id().await.expect("its id")));
    lines
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_other_orbs_read_our_repository_as_ours_do() {
    let orb = Orb::builder().listen("iiop://127.0.0.1:0").build();
    let orb = orb.await.expect("the ORB listens");
    let repository = InterfaceRepository::new(&orb).expect("the ORB listens");
    for file in ["interop.idl", "rich.idl"] {
        repository.add(&types_of(file)).expect("definitions");
    }
    let reference = repository.reference().expect("the ORB listens");
    orb.register_initial_reference(zorb_ifr::NAME, &reference)
        .expect("a new name");
    let peer = server::serve(&orb);
    let id = peer.as_object().type_id().to_owned();
    let expected = read(&reference, &id, peer.as_object()).await;
    assert!(expected.len() > 50, "{expected:?}");
    for (cell, path) in [
        (
            "omniorb-zorb/ifr/read",
            "tests/interop/build/omniorb/ifr_client",
        ),
        ("jacorb-zorb/ifr/read", "tests/interop/build/jacorb/ifr"),
    ] {
        let Some(program) = program(path, cell) else {
            continue;
        };
        let args = [reference.to_string(), id.clone(), peer.to_string()];
        let said =
            tokio::task::spawn_blocking(move || Running::start(&program, &args).finish().success());
        let said = said.await.expect("it ends");
        assert_eq!(said, expected, "{cell}");
        passed(cell);
    }
    orb.shutdown(true).await.expect("outside any upcall");
}
