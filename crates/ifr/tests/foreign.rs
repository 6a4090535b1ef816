//! Repositories that lie: what they say of each definition is made up here, and their reader ends with an error or without what is
//! not there.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use zorb::{
    Any, DynamicReply, DynamicRequest, DynamicServant, DynamicSkeleton, IdUniqueness, IdlType,
    Interface, Orb, Poa, PoaCurrent, Policies, RequestError, RequestProcessing, SystemException,
    TypeCode,
};
use zorb_dynamic::IdlTypes;
use zorb_ifr::ir::corba::{
    ContainedRef, DefinitionKind as Kind, ModuleDescription, RepositoryRef, TypeDescription,
    contained, interface_def::FullInterfaceDescription,
};
use zorb_ifr::{MAX_CONTAINERS, ReadError};

/// What a repository says.
type Contents = fn(&str) -> Vec<Option<String>>;
type Describe = fn(&str) -> Result<(Kind, Any), SystemException>;

struct Lying {
    contents: Contents,
    describe: Describe,
    /// The bases of each interface.
    bases: fn(&str) -> Vec<String>,
    poa: OnceLock<Poa>,
    asked: Arc<AtomicUsize>,
}

fn any<T: IdlType + ?Sized>(value: &T) -> Any {
    Any::new(value).expect("it has a form on the wire")
}

impl DynamicServant for Lying {
    async fn invoke(&self, request: &DynamicRequest<'_>) -> Result<DynamicReply, RequestError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let id = PoaCurrent::get_object_id().expect("in an upcall");
        let of = String::from_utf8_lossy(id.as_ref()).into_owned();
        let reply = |value| Ok(DynamicReply::new(Some(value), Vec::new()));
        match &*request.operation() {
            "contents" => {
                let poa = self.poa.get().expect("it was set");
                let one = |id: String| -> ContainedRef {
                    let object =
                        poa.create_reference_of_interface(&*id, ContainedRef::REPOSITORY_ID);
                    object.expect("a reference").unchecked_narrow()
                };
                let all: Vec<Option<ContainedRef>> = (self.contents)(&of)
                    .into_iter()
                    .map(|it| it.map(one))
                    .collect();
                reply(any(&all))
            }
            "describe" => {
                let (kind, value) = (self.describe)(&of)?;
                reply(any(&contained::Description { kind, value }))
            }
            "describe_interface" => reply(any(&FullInterfaceDescription {
                name: of.clone(),
                id: id_of(&of),
                defined_in: String::new(),
                version: "1.0".to_owned(),
                operations: Vec::new(),
                attributes: Vec::new(),
                base_interfaces: (self.bases)(&of),
                type_: TypeCode::interface(&id_of(&of), &of),
            })),
            other => panic!("{other}"),
        }
    }

    fn is_a(&self, _: &zorb::ObjectId, _: &str) -> bool {
        true
    }
}

fn id_of(name: &str) -> String {
    format!("IDL:{name}:1.0")
}

fn module(name: &str) -> (Kind, Any) {
    let value = any(&ModuleDescription {
        name: name.to_owned(),
        id: id_of(name),
        defined_in: String::new(),
        version: "1.0".to_owned(),
    });
    (Kind::DkModule, value)
}

fn definition(name: &str, kind: Kind, type_: TypeCode) -> (Kind, Any) {
    let value = any(&TypeDescription {
        name: name.to_owned(),
        id: id_of(name),
        defined_in: String::new(),
        version: "1.0".to_owned(),
        type_,
    });
    (kind, value)
}

/// What comes of reading such a repository, and how many requests that took.
async fn read(contents: Contents, describe: Describe) -> (Result<IdlTypes, ReadError>, usize) {
    read_with(contents, describe, |_| Vec::new()).await
}

async fn read_with(
    contents: Contents,
    describe: Describe,
    bases: fn(&str) -> Vec<String>,
) -> (Result<IdlTypes, ReadError>, usize) {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    let root = server.root_poa();
    let policies = Policies::PERSISTENT.with_id_uniqueness(IdUniqueness::Multiple);
    let policies = policies.with_request_processing(RequestProcessing::DefaultServant);
    let poa = root
        .create_poa_with("lies", policies, Some(root.the_poa_manager()))
        .unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let servant = Arc::new(Lying {
        contents,
        describe,
        bases,
        poa: OnceLock::from(poa.clone()),
        asked: Arc::clone(&asked),
    });
    poa.set_servant(DynamicSkeleton::from_arc("", servant))
        .unwrap();
    root.the_poa_manager().activate().unwrap();
    let reference = poa.create_reference_of_interface("root", RepositoryRef::REPOSITORY_ID);
    let text = server.object_to_string(&reference.unwrap());
    let client = Orb::builder().build().await.unwrap();
    let repository = client.string_to_object(&text).await.unwrap();
    let repository: RepositoryRef = repository.unchecked_narrow();
    let limit = std::time::Duration::from_secs(60);
    let read = tokio::time::timeout(limit, zorb_ifr::read(&repository));
    let read = read.await.expect("it hangs");
    (read, asked.load(Ordering::Relaxed))
}

fn only(of: &str, inner: &[&str]) -> Vec<Option<String>> {
    match of {
        "root" => inner.iter().map(|it| Some((*it).to_owned())).collect(),
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn entries_that_are_nil_or_of_no_kind_are_left_out() {
    let (read, _) = read(
        |of| match of {
            "root" => vec![None, Some("A".to_owned()), None, Some("B".to_owned())],
            _ => Vec::new(),
        },
        |of| match of {
            "A" => Ok((Kind::DkNone, Any::default())),
            _ => Ok(definition(
                "B",
                Kind::DkEnum,
                TypeCode::enumeration("IDL:B:1.0", "B", &["b"]),
            )),
        },
    )
    .await;
    let read = read.unwrap();
    assert!(read.by_id("IDL:B:1.0").is_some() && read.by_id("IDL:A:1.0").is_none());
}

#[tokio::test]
async fn a_description_of_another_type_than_its_kind_is_an_error() {
    for kind in [
        Kind::DkStruct,
        Kind::DkModule,
        Kind::DkConstant,
        Kind::DkException,
    ] {
        static KIND: std::sync::Mutex<Kind> = std::sync::Mutex::new(Kind::DkNone);
        *KIND.lock().unwrap() = kind;
        let (read, _) = read(
            |of| only(of, &["A"]),
            |_| Ok((*KIND.lock().unwrap(), any(&7))),
        )
        .await;
        let refused = read.unwrap_err();
        assert!(matches!(refused, ReadError::Description(_)), "{refused}");
    }
    // The TypeCode is of another kind than the definition.
    let (read, _) = read(
        |of| only(of, &["A"]),
        |_| Ok(definition("A", Kind::DkStruct, TypeCode::of::<i32>())),
    )
    .await;
    let refused = read.unwrap_err();
    assert!(matches!(refused, ReadError::Unnamed(_)), "{refused}");
}

#[tokio::test]
async fn the_exceptions_of_a_repository_are_its_reader_s() {
    let (read, _) = read(
        |of| only(of, &["A"]),
        |_| Err(SystemException::no_permission("not this one")),
    )
    .await;
    let refused = read.unwrap_err();
    assert!(matches!(refused, ReadError::Call(_)), "{refused}");
}

#[tokio::test]
async fn containers_within_themselves_and_without_end_are_read_in_bounded_work() {
    // A module in itself.
    let (read_once, asked) = read(|_| vec![Some("M".to_owned())], |of| Ok(module(of))).await;
    read_once.unwrap();
    assert!(asked < 10, "{asked}");
    // A new one in each.
    let (refused, asked) = read(|of| vec![Some(format!("{of}x"))], |of| Ok(module(of))).await;
    assert!(matches!(refused, Err(ReadError::TooLarge)));
    assert!(asked < 4 * MAX_CONTAINERS, "{asked}");
    // The same definition again and again.
    let (read, asked) = read(
        |of| match of {
            "root" => vec![Some("M".to_owned()); 500],
            _ => Vec::new(),
        },
        |of| Ok(module(of)),
    )
    .await;
    read.unwrap();
    assert!(asked < 600, "{asked}");
}

#[tokio::test]
async fn definitions_that_refer_to_what_is_not_there_are_refused() {
    let missing = |read: Result<IdlTypes, ReadError>| {
        let refused = read.unwrap_err();
        assert!(matches!(refused, ReadError::Missing(_)), "{refused}");
    };
    let (read_type, _) = read(
        |of| only(of, &["A"]),
        |_| {
            let other = TypeCode::interface("IDL:Other:1.0", "Other");
            let alias = TypeCode::alias("IDL:A:1.0", "A", &other);
            Ok(definition("A", Kind::DkAlias, alias))
        },
    )
    .await;
    missing(read_type);
    let (read_base, _) = read_with(
        |of| only(of, &["I"]),
        |_| Ok((Kind::DkInterface, Any::default())),
        |_| vec![id_of("Gone")],
    )
    .await;
    missing(read_base);
}

#[tokio::test]
async fn definitions_that_never_close_are_refused() {
    let contradiction = |read: Result<IdlTypes, ReadError>| {
        let refused = read.unwrap_err();
        assert!(matches!(refused, ReadError::Contradiction(_)), "{refused}");
    };
    // A struct that has itself for a member.
    let (itself, _) = read(
        |of| only(of, &["S"]),
        |_| {
            let inner = TypeCode::recursive("IDL:S:1.0");
            let endless = TypeCode::structure("IDL:S:1.0", "S", &[("s", inner)]);
            Ok(definition("S", Kind::DkStruct, endless))
        },
    )
    .await;
    contradiction(itself);
    // Two structs of each other, by arrays.
    let (each_other, _) = read(
        |of| only(of, &["A", "B"]),
        |of| {
            let other = if of == "A" { "B" } else { "A" };
            let inner = TypeCode::structure(&id_of(other), other, &[("n", TypeCode::of::<i32>())]);
            let two = TypeCode::array(&inner, 2);
            let ty = TypeCode::structure(&id_of(of), of, &[("two", two)]);
            Ok(definition(of, Kind::DkStruct, ty))
        },
    )
    .await;
    contradiction(each_other);
    // Two typedefs of each other.
    let (aliases, _) = read(
        |of| only(of, &["A", "B"]),
        |of| {
            let other = if of == "A" { "B" } else { "A" };
            let other = TypeCode::alias(&id_of(other), other, &TypeCode::of::<i32>());
            let ty = TypeCode::alias(&id_of(of), of, &other);
            Ok(definition(of, Kind::DkAlias, ty))
        },
    )
    .await;
    contradiction(aliases);
    // An interface that is its own base, and two that are each other's.
    for names in [&["I"][..], &["I", "J"]] {
        let contents: Contents = match names.len() {
            1 => |of| only(of, &["I"]),
            _ => |of| only(of, &["I", "J"]),
        };
        let bases: fn(&str) -> Vec<String> = match names.len() {
            1 => |of| vec![id_of(of)],
            _ => |of| vec![id_of(if of == "I" { "J" } else { "I" })],
        };
        let describe: Describe = |_| Ok((Kind::DkInterface, Any::default()));
        contradiction(read_with(contents, describe, bases).await.0);
    }
}

#[tokio::test]
async fn two_definitions_of_one_name_are_refused() {
    let (read, _) = read(
        |of| only(of, &["A", "B"]),
        |of| {
            let ty = TypeCode::enumeration(&id_of(of), "Same", &["x"]);
            let (kind, _) = definition("Same", Kind::DkEnum, ty.clone());
            let value = any(&TypeDescription {
                name: "Same".to_owned(),
                id: id_of(of),
                defined_in: String::new(),
                version: "1.0".to_owned(),
                type_: ty,
            });
            Ok((kind, value))
        },
    )
    .await;
    let refused = read.unwrap_err();
    assert!(matches!(refused, ReadError::Contradiction(_)), "{refused}");
}
