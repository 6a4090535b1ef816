//! Clients of omniORB and JacORB, and JacORB's browser, that read our interface repository, as `zorb ifr serve` has one, and our
//! servants'; and our client that reads JacORB's.

use crate::gateway::types_of;
use crate::interop::server;
use crate::support::{Running, have, passed};
use std::path::{Path, PathBuf};
use zorb::{Interface, ObjectRef, Orb, TypeCode};
use zorb_dynamic::IdlTypes;
use zorb_dynamic::zorb_idl::Options;
use zorb_dynamic::zorb_idl::description::DefinitionKind as Described;
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

/// The IDL of JacORB's repository.
fn shop() -> IdlTypes {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/jacorb/repository.idl");
    IdlTypes::from_files(&[file], &Options::default()).expect("the IDL")
}

/// JacORB's repository, and its reference.
fn jacorb_s_repository(cell: &str) -> Option<(Running, String)> {
    let program = program("tests/interop/build/jacorb/repository", cell)?;
    let classes = program.with_file_name("repository-classes");
    let mut running = Running::start(&program, &[classes]);
    let reference = running.find(|line| line.starts_with("IOR:").then(|| line.to_owned()));
    Some((running, reference.expect("it says where it is")))
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_reads_jacorb_s_repository() {
    let cell = "zorb-jacorb/ifr/read";
    let Some((_running, reference)) = jacorb_s_repository(cell) else {
        return;
    };
    let orb = Orb::builder().build().await.expect("an ORB");
    let repository = orb.string_to_object(&reference).await.expect("a reference");
    let repository: RepositoryRef = repository.unchecked_narrow();
    let (read, expected) = (
        zorb_ifr::read(&repository).await.expect("all of it"),
        shop(),
    );
    for (id, ty) in expected.iter() {
        assert_eq!(read.by_id(id).as_ref(), Some(ty), "{id}");
    }
    let mut operations = 0;
    for definition in expected.description().definitions() {
        let id = &definition.repository_id;
        let Described::Interface(interface) = &definition.kind else {
            continue;
        };
        for operation in &interface.operations {
            let name = &operation.wire_name;
            let found = read.signature(id, name);
            assert_eq!(found, expected.signature(id, name), "{id} {name}");
            operations += 1;
        }
        for base in &interface.ancestors {
            let base = expected.description().get(*base).expect("its base");
            assert!(read.derives(id, &base.repository_id), "{id}");
        }
    }
    assert!(operations > 6, "{operations}");
    passed(cell);
}

/// Its tree, without the window.
#[tokio::test(flavor = "multi_thread")]
async fn jacorb_s_browser_shows_of_our_repository_what_it_shows_of_jacorb_s() {
    let cell = "jacorb-zorb/ifr/browse";
    let Some(browser) = program("tests/interop/build/jacorb/browser", cell) else {
        return;
    };
    let Some((_running, theirs)) = jacorb_s_repository(cell) else {
        return;
    };
    let orb = Orb::builder().listen("iiop://127.0.0.1:0").build();
    let orb = orb.await.expect("the ORB listens");
    let manager = orb.root_poa().the_poa_manager().clone();
    manager.activate().expect("not inactive");
    let repository = InterfaceRepository::new(&orb).expect("the ORB listens");
    repository.add(&shop()).expect("definitions");
    let ours = repository.reference().expect("the ORB listens").to_string();
    let show = |reference: String| {
        let browser = browser.clone();
        tokio::task::spawn_blocking(move || {
            let lines = Running::start(&browser, &[reference]).finish().success();
            // JacORB's enumerators are escaped.
            let mut lines: Vec<String> = lines.iter().map(|it| it.replace(" _", " ")).collect();
            lines.sort();
            lines
        })
    };
    let (ours, theirs) = (show(ours).await, show(theirs).await);
    let (ours, theirs) = (ours.expect("it ends"), theirs.expect("it ends"));
    assert!(theirs.len() > 50, "{theirs:?}");
    assert_eq!(ours, theirs);
    passed(cell);
    orb.shutdown(true).await.expect("outside any upcall");
}
