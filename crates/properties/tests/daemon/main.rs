//! The program `zorb-properties`, as processes with clients of ours and of omniORB.

#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../../../../tests/support/mod.rs"]
mod support;

use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Command;
use support::{Ended, Running, have, passed};
use zorb::{Any, IdlType, Interface, Orb, SystemExceptionKind, TypeCode};
use zorb_properties::RemovableSetRef;
use zorb_properties::cos_property_service::{
    ExceptionReason, Property, PropertyDef, PropertyMode, PropertyModeType,
    PropertySetDefFactoryRef, PropertySetDefRef, PropertySetFactoryRef, PropertySetRef,
    property_set::{
        DefinePropertiesError, DefinePropertyError, DeletePropertyError, GetPropertyValueError,
    },
    property_set_def::{DefinePropertyWithModeError, SetPropertyModeError},
    property_set_def_factory::{
        CreateConstrainedPropertysetdefError, CreateInitialPropertysetdefError,
    },
    property_set_factory::CreateConstrainedPropertysetError,
};
use zorb_properties::{PropertyService, PropertyStore, Settings};

/// The program while it runs. Dropping it kills it (SIGKILL).
struct Daemon {
    running: Running,
    url: String,
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zorb-properties"));
    if !args.contains(&"--listen") {
        command.args(["--listen", "iiop://127.0.0.1:0"]);
    }
    command.args(args);
    command
}

impl Daemon {
    fn start(args: &[&str]) -> Self {
        Self::started(command(args)).unwrap_or_else(|running| panic!("{running:?}"))
    }

    fn started(command: Command) -> Result<Self, Running> {
        let mut running = Running::command(command);
        let url = running.find(|line| {
            let rest = line.strip_prefix("zorb-properties is ready: ")?;
            Some(rest.split(' ').next()?.to_owned())
        });
        match url {
            Some(url) => Ok(Self { running, url }),
            None => Err(running),
        }
    }

    fn endpoint(&self) -> String {
        let rest = self.url.split_once('@').expect("an address").1;
        format!("iiop://{}", rest.split_once('/').expect("a key").0)
    }

    fn terminate(self) -> Ended {
        let id = i32::try_from(self.running.id())
            .ok()
            .and_then(Pid::from_raw);
        kill_process(id.expect("a process"), Signal::TERM).expect("it runs");
        self.running.finish()
    }
}

fn any<T: IdlType + ?Sized>(value: &T) -> Any {
    Any::new(value).unwrap()
}

fn property<T: IdlType + ?Sized>(name: &str, value: &T) -> Property {
    Property {
        property_name: name.to_owned(),
        property_value: any(value),
    }
}

fn def<T: IdlType + ?Sized>(name: &str, value: &T, mode: PropertyModeType) -> PropertyDef {
    PropertyDef {
        property_name: name.to_owned(),
        property_value: any(value),
        property_mode: mode,
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// A service of this process.
async fn service(settings: Settings) -> (Orb, PropertyService) {
    let builder = Orb::builder().listen("iiop://127.0.0.1:0");
    let orb = builder.build().await.unwrap();
    let store = PropertyStore::in_memory().unwrap();
    let service = PropertyService::start(&orb, store, settings).unwrap();
    (orb, service)
}

async fn set(service: &PropertyService) -> PropertySetRef {
    let set = service.factory().create_propertyset().await;
    set.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn properties_are_defined_read_and_deleted() {
    let (_orb, service) = service(Settings::default()).await;
    let set = set(&service).await;
    set.define_property("count", &any(&1_i32)).await.unwrap();
    set.define_property("count", &any(&2_i32)).await.unwrap();
    let text = set.define_property("count", &any("two")).await;
    assert!(matches!(
        text,
        Err(DefinePropertyError::ConflictingProperty(_))
    ));
    let unnamed = set.define_property("", &any(&1_i32)).await;
    assert!(matches!(
        unnamed,
        Err(DefinePropertyError::InvalidPropertyName(_))
    ));
    let some = [
        property("a", "x"),
        property("", "y"),
        property("count", "z"),
        property("b", "x"),
    ];
    let Err(DefinePropertiesError::MultipleExceptions(errors)) = set.define_properties(&some).await
    else {
        panic!("two are wrong");
    };
    let reasons: Vec<_> = errors.exceptions.iter().map(|one| one.reason).collect();
    assert_eq!(
        reasons,
        [
            ExceptionReason::InvalidPropertyName,
            ExceptionReason::ConflictingProperty
        ]
    );
    assert_eq!(set.get_number_of_properties().await.unwrap(), 3);
    assert_eq!(set.get_property_value("count").await.unwrap(), any(&2_i32));
    let none = set.get_property_value("none").await;
    assert!(matches!(
        none,
        Err(GetPropertyValueError::PropertyNotFound(_))
    ));
    let (has_all, found) = set.get_properties(&names(&["b", "none"])).await.unwrap();
    assert!(!has_all);
    assert_eq!(
        (found[0].property_value.clone(), found.len()),
        (any("x"), 2)
    );
    assert!(set.is_property_defined("a").await.unwrap());
    assert!(!set.is_property_defined("none").await.unwrap());
    set.delete_property("a").await.unwrap();
    let again = set.delete_property("a").await;
    assert!(matches!(
        again,
        Err(DeletePropertyError::PropertyNotFound(_))
    ));
    assert!(set.delete_properties(&names(&["b", "none"])).await.is_err());
    assert_eq!(set.get_number_of_properties().await.unwrap(), 1);
    assert!(set.delete_all_properties().await.unwrap());
    assert_eq!(set.get_number_of_properties().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn modes_and_constraints_say_what_may_be_done() {
    let (_orb, service) = service(Settings::default()).await;
    let defs = [
        def("fixed", &1_i32, PropertyModeType::FixedNormal),
        def("constant", &2_i32, PropertyModeType::FixedReadonly),
        def("read", &3_i32, PropertyModeType::ReadOnly),
    ];
    let made = service
        .def_factory()
        .create_initial_propertysetdef(&defs)
        .await;
    let set = made.unwrap().unwrap();
    set.define_property("fixed", &any(&4_i32)).await.unwrap();
    let kept = set.delete_property("fixed").await;
    assert!(matches!(kept, Err(DeletePropertyError::FixedProperty(_))));
    for name in ["constant", "read"] {
        let written = set.define_property(name, &any(&4_i32)).await;
        assert!(matches!(
            written,
            Err(DefinePropertyError::ReadOnlyProperty(_))
        ));
    }
    assert!(!set.delete_all_properties().await.unwrap());
    assert_eq!(set.get_number_of_properties().await.unwrap(), 2);
    let (has_all, modes) = set
        .get_property_modes(&names(&["fixed", "read"]))
        .await
        .unwrap();
    let modes: Vec<_> = modes.into_iter().map(|it| it.property_mode).collect();
    assert!(!has_all);
    assert_eq!(
        modes,
        [PropertyModeType::FixedNormal, PropertyModeType::Undefined]
    );
    set.set_property_mode("fixed", PropertyModeType::Normal)
        .await
        .unwrap();
    let undefined = set
        .set_property_mode("fixed", PropertyModeType::Undefined)
        .await;
    assert!(matches!(
        undefined,
        Err(SetPropertyModeError::UnsupportedMode(_))
    ));
    let both = [
        PropertyMode {
            property_name: "none".to_owned(),
            property_mode: PropertyModeType::Normal,
        },
        PropertyMode {
            property_name: "constant".to_owned(),
            property_mode: PropertyModeType::Normal,
        },
    ];
    assert!(set.set_property_modes(&both).await.is_err());
    assert!(set.delete_all_properties().await.unwrap());

    let wrong = [def("", &1_i32, PropertyModeType::Normal)];
    let wrong = service
        .def_factory()
        .create_initial_propertysetdef(&wrong)
        .await;
    assert!(matches!(
        wrong,
        Err(CreateInitialPropertysetdefError::MultipleExceptions(_))
    ));
    let types = [TypeCode::of::<i32>()];
    let text = service
        .factory()
        .create_constrained_propertyset(&types, &[property("a", "text")])
        .await;
    assert!(matches!(
        text,
        Err(CreateConstrainedPropertysetError::ConstraintNotSupported(_))
    ));
    let allowed = [def("a", &0_i32, PropertyModeType::FixedNormal)];
    let made = service
        .def_factory()
        .create_constrained_propertysetdef(&types, &allowed)
        .await;
    let set = made.unwrap().unwrap();
    let text = set.define_property("a", &any("text")).await;
    assert!(matches!(
        text,
        Err(DefinePropertyError::UnsupportedTypeCode(_))
    ));
    let other = set.define_property("b", &any(&1_i32)).await;
    assert!(matches!(
        other,
        Err(DefinePropertyError::UnsupportedProperty(_))
    ));
    let mode = set
        .define_property_with_mode("a", &any(&1_i32), PropertyModeType::Normal)
        .await;
    assert!(matches!(
        mode,
        Err(DefinePropertyWithModeError::UnsupportedMode(_))
    ));
    set.define_property("a", &any(&1_i32)).await.unwrap();
    let mode = set.get_property_mode("a").await.unwrap();
    assert_eq!(mode, PropertyModeType::FixedNormal);
    assert_eq!(set.get_allowed_property_types().await.unwrap(), types);
    assert_eq!(set.get_allowed_properties().await.unwrap(), allowed);
}

#[tokio::test(flavor = "multi_thread")]
async fn iterators_have_what_a_reply_had_no_room_for_and_are_bounded() {
    let mut settings = Settings::default();
    // Of which a host has half.
    settings.max_iterators = 4;
    let (_orb, service) = service(settings).await;
    let set = set(&service).await;
    let all: Vec<_> = (0..10).map(|n| property(&format!("p{n}"), &n)).collect();
    set.define_properties(&all).await.unwrap();
    let (first, rest) = set.get_all_properties(4).await.unwrap();
    assert_eq!(first, all[..4]);
    let rest = rest.unwrap();
    let (has_some, next) = rest.next_n(4).await.unwrap();
    assert!(has_some);
    assert_eq!(next, all[4..8]);
    let (has_one, ninth) = rest.next_one().await.unwrap();
    assert!(has_one);
    assert_eq!(ninth, all[8]);
    rest.reset().await.unwrap();
    assert_eq!(rest.next_n(100).await.unwrap(), (true, all[4..].to_vec()));
    assert_eq!(rest.next_n(100).await.unwrap(), (false, Vec::new()));
    assert!(!rest.next_one().await.unwrap().0);
    let zero = rest.next_n(0).await.unwrap_err();
    assert_eq!(zero.kind, SystemExceptionKind::BadParam);
    let (none, listed) = set.get_all_property_names(0).await.unwrap();
    assert!(none.is_empty());
    let listed = listed.unwrap();
    assert_eq!(
        listed.next_n(2).await.unwrap(),
        (true, names(&["p0", "p1"]))
    );
    // A third one takes the place of the one that was not used for the longest time.
    let (_, third) = set.get_all_property_names(9).await.unwrap();
    assert_eq!(
        third.unwrap().next_one().await.unwrap(),
        (true, "p9".to_owned())
    );
    let gone = rest.next_one().await.unwrap_err();
    assert_eq!(gone.kind, SystemExceptionKind::ObjectNotExist);
    listed.destroy().await.unwrap();
    let gone = listed.next_one().await.unwrap_err();
    assert_eq!(gone.kind, SystemExceptionKind::ObjectNotExist);
    let (whole, none) = set.get_all_properties(10).await.unwrap();
    assert_eq!((whole.len(), none.is_none()), (10, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn sets_properties_and_their_octets_are_bounded_and_removed_ones_make_room() {
    let mut settings = Settings::default();
    settings.max_sets = 1;
    settings.max_properties = 2;
    settings.max_octets = 1_000;
    let (_orb, service) = service(settings).await;
    let first = set(&service).await;
    let no_room = |error: &zorb::SystemException| error.kind == SystemExceptionKind::NoResources;
    let second = service.factory().create_propertyset().await;
    assert!(second.is_err_and(|error| no_room(&error)));
    let large = first
        .define_property("large", &any(&"x".repeat(2_000)[..]))
        .await;
    assert!(matches!(large, Err(DefinePropertyError::System(error)) if no_room(&error)));
    for n in 0..100 {
        let text = "x".repeat(n * 7);
        first.define_property("a", &any(&text[..])).await.unwrap();
    }
    first.define_property("b", &any(&1_i32)).await.unwrap();
    let third = first.define_property("c", &any(&1_i32)).await;
    assert!(matches!(third, Err(DefinePropertyError::System(error)) if no_room(&error)));
    let removable: RemovableSetRef = first.as_object_narrowed().await;
    removable.remove().await.unwrap();
    let gone = first.get_number_of_properties().await.unwrap_err();
    assert_eq!(gone.kind, SystemExceptionKind::ObjectNotExist);
    let other = set(&service).await;
    other
        .define_property("a", &any(&"x".repeat(700)[..]))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn constraints_count_and_each_value_is_compared_with_few_types() {
    let mut settings = Settings::default();
    settings.max_octets = 10_000;
    let (_orb, service) = service(settings).await;
    let factory = service.def_factory();
    let types = vec![TypeCode::of::<i32>(); 64];
    let kept = factory.create_constrained_propertysetdef(&types, &[]).await;
    let kept = kept.unwrap().unwrap();
    let more = vec![TypeCode::of::<i32>(); 65];
    let more = factory.create_constrained_propertysetdef(&more, &[]).await;
    assert!(matches!(
        more,
        Err(CreateConstrainedPropertysetdefError::ConstraintNotSupported(_))
    ));
    let no_room = |error: &zorb::SystemException| error.kind == SystemExceptionKind::NoResources;
    let name = "n".repeat(4_000);
    let large = [
        def(&format!("{name}1"), &1_i32, PropertyModeType::Normal),
        def(&format!("{name}2"), &1_i32, PropertyModeType::Normal),
    ];
    let first = factory.create_constrained_propertysetdef(&[], &large).await;
    let first = first.unwrap().unwrap();
    let second = factory.create_constrained_propertysetdef(&[], &large).await;
    assert!(matches!(
        second,
        Err(CreateConstrainedPropertysetdefError::System(error)) if no_room(&error)
    ));
    let first: RemovableSetRef = first.as_object().unchecked_narrow();
    first.remove().await.unwrap();
    let again = factory.create_constrained_propertysetdef(&[], &large).await;
    assert!(again.is_ok());
    kept.define_property("a", &any(&1_i32)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_property_that_is_named_again_and_again_makes_no_larger_reply() {
    let (_orb, service) = service(Settings::default()).await;
    let set = set(&service).await;
    let large = "x".repeat(1 << 20);
    set.define_property("large", &any(&large[..]))
        .await
        .unwrap();
    let (has_all, found) = set
        .get_properties(&names(&["large", "none"]))
        .await
        .unwrap();
    assert_eq!((has_all, found.len()), (false, 2));
    let often = vec!["large".to_owned(); 100_000];
    let refused = set.get_properties(&often).await.unwrap_err();
    assert_eq!(refused.kind, SystemExceptionKind::NoResources);
}

/// The set as one that can be removed.
trait Narrowed {
    async fn as_object_narrowed(&self) -> RemovableSetRef;
}

impl Narrowed for PropertySetRef {
    async fn as_object_narrowed(&self) -> RemovableSetRef {
        use zorb::Interface;
        self.as_object().narrow().await.unwrap().expect("a set")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_properties_outlive_a_kill_and_removed_sets_do_not_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let first = Daemon::start(&["--data", data]);
    let endpoint = first.endpoint();
    let orb = Orb::builder().build().await.unwrap();
    let factory = orb.string_to_object(&first.url).await.unwrap();
    let factory: PropertySetFactoryRef = factory.narrow().await.unwrap().unwrap();
    let url = first
        .url
        .replace("PropertySetFactory", "PropertySetDefFactory");
    let defs = orb.string_to_object(&url).await.unwrap();
    let defs: PropertySetDefFactoryRef = defs.narrow().await.unwrap().unwrap();
    let set = factory.create_propertyset().await.unwrap().unwrap();
    let allowed = [def("a", &0_i32, PropertyModeType::ReadOnly)];
    let constrained = defs.create_constrained_propertysetdef(&[], &allowed).await;
    let constrained: PropertySetDefRef = constrained.unwrap().unwrap();
    constrained
        .define_property("a", &any(&5_i32))
        .await
        .unwrap();
    for n in 0..50 {
        set.define_property(&format!("p{n}"), &any(&n))
            .await
            .unwrap();
    }
    set.delete_property("p7").await.unwrap();
    let removed = factory.create_propertyset().await.unwrap().unwrap();
    removed.as_object_narrowed().await.remove().await.unwrap();
    let second = Daemon::started(command(&["--data", data]));
    let Err(second) = second else {
        panic!("two have the folder");
    };
    assert_eq!(second.finish().status.code(), Some(3));
    drop(first);

    let again = Daemon::start(&["--data", data, "--listen", &endpoint]);
    assert_eq!(set.get_number_of_properties().await.unwrap(), 49);
    assert_eq!(set.get_property_value("p49").await.unwrap(), any(&49_i32));
    assert!(!set.is_property_defined("p7").await.unwrap());
    let written = constrained.define_property("a", &any(&6_i32)).await;
    assert!(matches!(
        written,
        Err(DefinePropertyError::ReadOnlyProperty(_))
    ));
    let other = constrained.define_property("b", &any(&6_i32)).await;
    assert!(matches!(
        other,
        Err(DefinePropertyError::UnsupportedProperty(_))
    ));
    let gone = removed.get_number_of_properties().await.unwrap_err();
    assert_eq!(gone.kind, SystemExceptionKind::ObjectNotExist);
    // No new set has the reference of one that was removed.
    let new = factory.create_propertyset().await.unwrap().unwrap();
    new.define_property("new", &any(&1_i32)).await.unwrap();
    assert!(removed.get_number_of_properties().await.is_err());
    let ended = again.terminate();
    assert_eq!(ended.status.code(), Some(0), "{:?}", ended.lines);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_works_from_omniorb() {
    let cell = "omniorb-zorbproperties/all";
    let program =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/interop/build/omniorb/properties");
    if !have(cell, &[&program]) {
        return;
    }
    let daemon = Daemon::start(&[]);
    let defs = daemon
        .url
        .replace("PropertySetFactory", "PropertySetDefFactory");
    let lines = Running::start(&program, &[&daemon.url, &defs]).finish();
    assert_eq!(
        lines.success(),
        [
            "defined 2",
            "conflict",
            "values 42 text",
            "names 3 and 7",
            "fixed",
            "constrained",
            "several 2"
        ]
    );
    passed(cell);
}

/// The words of a line that starts the program, with these in place of others.
fn words(line: &str, here: &[(&str, &str)]) -> Vec<String> {
    let word = |word: &str| {
        let found = here.iter().find(|(its, _)| *its == word);
        found.map_or(word, |(_, ours)| ours).to_owned()
    };
    line.split([' ', ',', '"', '[', ']'])
        .filter(|word| !word.is_empty())
        .map(word)
        .collect()
}

#[test]
fn what_the_unit_and_the_container_start_is_ready_when_it_says_so_and_ends_in_order() {
    let setting = |text: &'static str, name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name));
        value.unwrap_or_else(|| panic!("no {name}"))
    };
    let unit = include_str!("../../packaging/zorb-properties.service");
    let container = include_str!("../../packaging/Containerfile");
    for line in [
        setting(unit, "ExecStart="),
        setting(container, "ENTRYPOINT "),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let here = [
            ("/var/lib/zorb-properties", data.to_str().unwrap()),
            ("/data", data.to_str().unwrap()),
            ("iiop://0.0.0.0:11171", "iiop://127.0.0.1:0"),
        ];
        let words = words(line, &here);
        assert_eq!(words[0], "/usr/local/bin/zorb-properties");
        let socket = folder.path().join("notify");
        let listening = UnixDatagram::bind(&socket).unwrap();
        let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        let mut command = command(&args);
        command.env("NOTIFY_SOCKET", &socket);
        let daemon = Daemon::started(command).unwrap_or_else(|running| panic!("{running:?}"));
        let mut said = [0; 100];
        let length = listening.recv(&mut said).unwrap();
        assert_eq!(&said[..length], b"READY=1");
        assert!(data.join("properties.redb").exists());
        let ended = daemon.terminate();
        assert_eq!(ended.status.code(), Some(0), "{:?}", ended.lines);
    }
}
