//! Local interfaces and native types.

use crate::features::two_orbs::{from_afar, in_time, orb};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use zorb::{Bytes, CompletionStatus, Native, SystemException, SystemExceptionKind as Kind, minor};

zorb::idl! {
    module Here {
        native Cookie;
        native Refusal;
        typedef sequence<octet> ObjectId;
        exception Spoilt { string why; };

        interface Plain { long count(in long by); attribute string title; };
        local interface Manager;
        typedef sequence<Manager> Managers;
        struct Entry { string key; Manager held; };

        local interface Manager {
            Cookie incarnate(in ObjectId id, in Plain adapter, inout Cookie it) raises (Spoilt);
            attribute Manager parent;
            Entry find(in Entry like, out Managers all);
        };
        local interface Special : Manager, Plain { ObjectId key(); };

        // Before local interfaces, natives stood in others.
        interface Old { Cookie take(in string what, in Cookie it); void refuse() raises (Refusal); };

        // The exception is of the language whose servant raises it.
        local interface Gate {
            void pass(in string name) raises (Spoilt, Refusal, Cookie);
            attribute long width setraises (Refusal);
        };
        valuetype Key { void turn() raises (Refusal); };
    };
}

use here::gate::{PassError, SetWidthError};
use here::manager::IncarnateError;
use here::old::RefuseError;
use here::{
    Entry, Gate, Key, KeyOperations, Manager, Old, OldRef, OldServant, Plain, PlainRef,
    PlainServant, Special, Spoilt,
};

#[derive(Default)]
struct Local {
    count: AtomicI32,
    parent: Mutex<Option<Arc<dyn Manager>>>,
}

impl Manager for Local {
    fn incarnate(
        &self,
        id: &[u8],
        adapter: Option<PlainRef>,
        it: &Native,
    ) -> Result<(Native, Native), IncarnateError> {
        if adapter.is_none() {
            return Err(Spoilt {
                why: format!("{} octets", id.len()),
            }
            .into());
        }
        Ok((Native::new(id.len()), it.clone()))
    }
    fn parent(&self) -> Result<Option<Arc<dyn Manager>>, SystemException> {
        Ok(self.parent.lock().unwrap().clone())
    }
    fn set_parent(&self, value: Option<Arc<dyn Manager>>) -> Result<(), SystemException> {
        *self.parent.lock().unwrap() = value;
        Ok(())
    }
    fn find(
        &self,
        like: &Entry,
    ) -> Result<(Entry, Vec<Option<Arc<dyn Manager>>>), SystemException> {
        Ok((like.clone(), vec![like.held.clone(), None]))
    }
}

impl Special for Local {
    // The operations that it inherits from an interface that is not local.
    fn count(&self, by: i32) -> Result<i32, SystemException> {
        Ok(self.count.fetch_add(by, Ordering::Relaxed) + by)
    }
    fn title(&self) -> Result<String, SystemException> {
        Ok("local".to_owned())
    }
    fn set_title(&self, _value: &str) -> Result<(), SystemException> {
        Err(SystemException::new(
            Kind::NoPermission,
            0,
            CompletionStatus::No,
        ))
    }
    fn key(&self) -> Result<Bytes, SystemException> {
        Ok(Bytes::from_static(b"key"))
    }
}

struct Remote;

impl Plain for Remote {
    async fn count(&self, by: i32) -> Result<i32, SystemException> {
        Ok(by)
    }
    async fn title(&self) -> Result<String, SystemException> {
        Ok(String::new())
    }
    async fn set_title(&self, _value: &str) -> Result<(), SystemException> {
        Ok(())
    }
}

impl Old for Remote {
    async fn take(&self, _: &str, it: &Native) -> Result<Native, SystemException> {
        Ok(it.clone())
    }
    async fn refuse(&self) -> Result<(), RefuseError> {
        Err(RefuseError::Refusal(Native::new("no")))
    }
}

impl Gate for Remote {
    fn pass(&self, name: &str) -> Result<(), PassError> {
        match name {
            "" => Err(PassError::Refusal(Native::new(404))),
            "Eve" => Err(PassError::Cookie(Native::new("crumbs"))),
            why => Err(Spoilt {
                why: why.to_owned(),
            })?,
        }
    }
    fn width(&self) -> Result<i32, SystemException> {
        Ok(1)
    }
    fn set_width(&self, value: i32) -> Result<(), SetWidthError> {
        Err(SetWidthError::Refusal(Native::new(value)))
    }
}

impl KeyOperations for Key {
    fn turn(&mut self) -> Result<(), here::key::TurnError> {
        Err(here::key::TurnError::Refusal(Native::new(())))
    }
}

#[tokio::test]
async fn local_objects_are_called_as_they_stand() {
    let orb = orb().await;
    let plain = orb.root_poa().activate(PlainServant::new(Remote)).unwrap();
    let special: Arc<dyn Special> = Arc::new(Local::default());
    assert_eq!(
        (special.count(2).unwrap(), special.count(3).unwrap()),
        (2, 5)
    );
    assert_eq!(&*special.key().unwrap(), b"key");
    assert_eq!(special.set_title("x").unwrap_err().kind, Kind::NoPermission);

    // A derived one is one of its local bases.
    let manager: Arc<dyn Manager> = special.clone();
    let cookie = Native::new("cookie");
    let (made, same) = manager.incarnate(b"12345", Some(plain), &cookie).unwrap();
    assert_eq!(made.downcast_ref::<usize>(), Some(&5));
    assert_eq!(same, cookie);
    let error = manager.incarnate(b"1", None, &cookie).unwrap_err();
    assert_eq!(
        error,
        IncarnateError::Spoilt(Spoilt {
            why: "1 octets".to_owned()
        })
    );

    // Structs and sequences hold references; those are equal that lead to the same object.
    special.set_parent(Some(Arc::clone(&manager))).unwrap();
    assert_eq!(special.parent().unwrap(), Some(Arc::clone(&manager)));
    assert_ne!(
        manager.parent().unwrap(),
        Some(Arc::new(Local::default()) as Arc<dyn Manager>)
    );
    let entry = Entry {
        key: "k".to_owned(),
        held: Some(Arc::clone(&manager)),
    };
    let (found, all) = manager.find(&entry).unwrap();
    assert_eq!(found, entry);
    assert_eq!(all, [Some(Arc::clone(&manager)), None]);
    assert_eq!(
        format!("{entry:?}"),
        r#"Entry { key: "k", held: Some(Manager) }"#
    );
    special.set_parent(None).unwrap();
}

#[tokio::test]
async fn what_is_native_cannot_be_sent() {
    let (server, client) = (orb().await, orb().await);
    let old = server.root_poa().activate(OldServant::new(Remote)).unwrap();
    let old: OldRef = from_afar(&client, &old).await;
    let error = in_time(old.take("it", &Native::new(1))).await.unwrap_err();
    assert_eq!(
        (error.kind, error.minor, error.completed),
        (Kind::Marshal, minor::LOCAL_OBJECT, CompletionStatus::No)
    );
    let error = in_time(old.refuse()).await.unwrap_err();
    let RefuseError::System(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!(
        (error.kind, error.minor),
        (Kind::Marshal, minor::LOCAL_OBJECT)
    );
}

#[test]
fn a_native_type_is_raised_as_the_value_it_is() {
    let gate: Arc<dyn Gate> = Arc::new(Remote);
    let error = gate.pass("").unwrap_err();
    assert_eq!(error.to_string(), "Refusal");
    let PassError::Refusal(refusal) = error else {
        panic!("{error}");
    };
    assert_eq!(refusal.downcast_ref::<i32>(), Some(&404));
    assert!(matches!(gate.pass("Eve"), Err(PassError::Cookie(_))));
    assert_eq!(
        gate.pass("mud").unwrap_err().to_string(),
        r#"Spoilt why="mud""#
    );
    assert!(matches!(gate.set_width(3), Err(SetWidthError::Refusal(_))));
    let mut key = zorb::Value::new(Key {});
    assert_eq!(key.turn().unwrap_err().to_string(), "Refusal");
}
