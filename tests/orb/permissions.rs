//! Rules of operations, and their records.

use std::sync::{Arc, Mutex};
use zorb::permissions::{AuditOutcome, AuditRecord, OperationRule, OperationRules};
use zorb::transport::Rule;
use zorb::{CompletionStatus, Orb, SystemException, SystemExceptionKind as Kind};

zorb::idl! {
    module Guarded {
        interface Shelf {
            string read();
            oneway void noted();
        };
        interface Safe : Shelf {
            void open();
            void burst();
            attribute long code;
        };
    };
}

use guarded::{Safe, SafeRef, SafeServant, Shelf};

struct Strongbox;

impl Shelf for Strongbox {
    async fn read(&self) -> Result<String, SystemException> {
        Ok("read".to_owned())
    }

    async fn noted(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

impl Safe for Strongbox {
    async fn open(&self) -> Result<(), SystemException> {
        Err(SystemException::bad_operation("jammed"))
    }

    async fn burst(&self) -> Result<(), SystemException> {
        tokio::task::yield_now().await;
        panic!("the box is gone")
    }

    async fn code(&self) -> Result<i32, SystemException> {
        Ok(7)
    }

    async fn set_code(&self, _: i32) -> Result<(), SystemException> {
        Ok(())
    }
}

type Records = Arc<Mutex<Vec<AuditRecord>>>;

/// A server with these rules, a client of it, and what is recorded.
async fn world(rules: Vec<OperationRule>) -> (Orb, SafeRef, Orb, SafeRef, Records) {
    let records = Records::default();
    let kept = Arc::clone(&records);
    let rules =
        OperationRules::new(rules).audit(move |record| kept.lock().unwrap().push(record.clone()));
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .server_interceptor(rules)
        .build()
        .await
        .unwrap();
    let own: SafeRef = server
        .root_poa()
        .activate(SafeServant::new(Strongbox))
        .unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let client = Orb::builder().build().await.unwrap();
    let safe = client.string_to_object(&own.to_string()).await.unwrap();
    let safe = safe.narrow().await.unwrap().unwrap();
    (server, own, client, safe, records)
}

fn refused<T: std::fmt::Debug>(outcome: Result<T, SystemException>) {
    let error = outcome.unwrap_err();
    assert_eq!(
        (error.kind, error.completed),
        (Kind::NoPermission, CompletionStatus::No)
    );
    assert!(!format!("{error:#}").contains("rules"), "{error:#}");
}

#[tokio::test]
async fn clients_call_what_the_rules_permit_and_each_request_is_recorded() {
    let here = || Rule::allow().network("127.0.0.0/8").unwrap();
    let elsewhere = || Rule::allow().network("10.0.0.0/8").unwrap();
    let (_server, own, _client, safe, records) = world(vec![
        OperationRule::deny().operations(["_set_code"]),
        OperationRule::allow().of(elsewhere()),
        OperationRule::allow()
            .of(elsewhere())
            .of(here())
            .operations(["read", "open", "burst"]),
        OperationRule::allow()
            .interface("IDL:Guarded/Shelf:1.0")
            .operations(["_get_code"]),
        OperationRule::allow().adapter(["elsewhere"]),
    ])
    .await;
    records.lock().unwrap().clear();
    assert_eq!(safe.read().await.unwrap(), "read");
    assert_eq!(safe.open().await.unwrap_err().kind, Kind::BadOperation);
    assert_eq!(safe.code().await.unwrap(), 7);
    assert_eq!(safe.burst().await.unwrap_err().kind, Kind::Unknown);
    refused(safe.set_code(8).await);
    // This process itself is not judged.
    own.set_code(9).await.unwrap();
    let records = records.lock().unwrap();
    let seen: Vec<_> = (records.iter())
        .map(|of| (&*of.operation, of.outcome.clone(), of.who.is_some()))
        .collect();
    let broken = "IDL:omg.org/CORBA/UNKNOWN:1.0".to_owned();
    let jammed = "IDL:omg.org/CORBA/BAD_OPERATION:1.0".to_owned();
    assert_eq!(
        seen,
        [
            ("read", AuditOutcome::Replied, true),
            ("open", AuditOutcome::Exception(jammed), true),
            ("_get_code", AuditOutcome::Replied, true),
            ("burst", AuditOutcome::Exception(broken), true),
            ("_set_code", AuditOutcome::Refused, true),
            ("_set_code", AuditOutcome::Replied, false),
        ]
    );
    assert!((records.iter()).all(|of| of.interface == "IDL:Guarded/Safe:1.0"));
    let line = records[4].to_string();
    assert!(
        line.contains("iiop://127.0.0.1:") && line.ends_with(" 0x0000000000000000 in /: refused"),
        "{line}"
    );
}

#[tokio::test]
async fn what_no_rule_speaks_of_is_refused() {
    let permitted = OperationRule::allow().operations(["_is_a"]);
    let (_server, _own, _client, safe, _records) = world(vec![permitted]).await;
    refused(safe.read().await);
    refused(safe.code().await);
}
