//! Contexts of Real-time CORBA as peers write them, octet by octet.

use super::*;
use std::io::{Read, Write};
use std::net::TcpStream;
use zorb::Interface;

/// A GIOP 1.2 request in big-endian order, without arguments, with these contexts.
fn request(id: u32, key: &[u8], operation: &str, contexts: &[(u32, &[u8])]) -> Vec<u8> {
    let mut body: Vec<u8> = Vec::new();
    fn align(body: &mut Vec<u8>, to: usize) {
        // The header of 12 octets counts.
        while !(body.len() + 12).is_multiple_of(to) {
            body.push(0);
        }
    }
    fn long(body: &mut Vec<u8>, value: u32) {
        align(body, 4);
        body.extend(value.to_be_bytes());
    }
    fn octets(body: &mut Vec<u8>, value: &[u8]) {
        long(body, u32::try_from(value.len()).unwrap());
        body.extend(value);
    }
    long(&mut body, id);
    body.extend([3, 0, 0, 0]);
    body.extend([0, 0]);
    octets(&mut body, key);
    octets(&mut body, format!("{operation}\0").as_bytes());
    long(&mut body, u32::try_from(contexts.len()).unwrap());
    for (id, data) in contexts {
        long(&mut body, *id);
        octets(&mut body, data);
    }
    let mut message = b"GIOP\x01\x02\x00\x00".to_vec();
    message.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
    message.extend(body);
    message
}

/// Sends a request and reads the reply: its status and what stands behind its header.
fn call(stream: &mut TcpStream, message: &[u8]) -> (u32, Vec<u8>) {
    stream.write_all(message).unwrap();
    let mut header = [0; 12];
    stream.read_exact(&mut header).unwrap();
    let little = header[6] & 1 == 1;
    let number = |octets: &[u8]| {
        let octets: [u8; 4] = octets.try_into().unwrap();
        match little {
            true => u32::from_le_bytes(octets),
            false => u32::from_be_bytes(octets),
        }
    };
    let mut body = vec![0; number(&header[8..]) as usize];
    stream.read_exact(&mut body).unwrap();
    (number(&body[4..8]), body)
}

const MARSHAL: &str = "IDL:omg.org/CORBA/MARSHAL:1.0";
const DATA_CONVERSION: &str = "IDL:omg.org/CORBA/DATA_CONVERSION:1.0";
const NO_RESOURCES: &str = "IDL:omg.org/CORBA/NO_RESOURCES:1.0";
const INV_POLICY: &str = "IDL:omg.org/CORBA/INV_POLICY:1.0";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_and_doubled_contexts_are_refused_and_the_lane_goes_on() {
    let server = server().await;
    let pool = lanes(&server, &[10, 40]).await;
    let poa = poa(&server, "propagated", propagated(10).threadpool(&pool)).unwrap();
    let object: ProbeRef = poa.activate(Teller::new(&server)).unwrap();
    let key = object.as_object().ior().profiles[0].object_key().unwrap();
    let (_, endpoint) = pool.endpoints().remove(0);
    let (host, port) = (
        endpoint.host().unwrap().to_owned(),
        endpoint.port().unwrap(),
    );
    let calls = move || {
        let mut stream = TcpStream::connect((host, port)).unwrap();
        let ten: (u32, &[u8]) = (10, &[0, 0, 0, 10]);
        let range: (u32, &[u8]) = (11, &[0, 0, 0, 5, 0, 20]);
        let good = |operation: &str| match operation {
            "place" => vec![ten],
            _ => vec![range],
        };
        for (operation, contexts, expected) in [
            // Cut short, empty, and twice, with one value and with two.
            ("place", vec![(10, &[0, 0, 0][..])], Some(MARSHAL)),
            ("place", vec![(10, &[][..])], Some(MARSHAL)),
            ("place", vec![ten, ten], Some(MARSHAL)),
            ("place", vec![ten, (10, &[0, 0, 0, 40][..])], Some(MARSHAL)),
            // Below 0, of no lane, in the other byte order.
            (
                "place",
                vec![(10, &[0, 0, 0xff, 0xff][..])],
                Some(DATA_CONVERSION),
            ),
            ("place", vec![(10, &[0, 0, 0, 11][..])], Some(NO_RESOURCES)),
            ("place", vec![(10, &[1, 0, 40, 0][..])], None),
            ("_bind_priority_band", vec![], Some(MARSHAL)),
            ("_bind_priority_band", vec![range, range], Some(MARSHAL)),
            (
                "_bind_priority_band",
                vec![(11, &[0, 0, 0, 5][..])],
                Some(MARSHAL),
            ),
            (
                "_bind_priority_band",
                vec![(11, &[0, 0, 0, 9, 0, 5][..])],
                Some(MARSHAL),
            ),
            (
                "_bind_priority_band",
                vec![(11, &[0, 0, 0, 11, 0, 20][..])],
                Some(INV_POLICY),
            ),
        ] {
            let (status, body) = call(&mut stream, &request(5, &key, operation, &contexts));
            let text = String::from_utf8_lossy(&body);
            match expected {
                Some(exception) => {
                    assert_eq!(status, 2, "{operation} {contexts:?}");
                    assert!(text.contains(exception), "{operation} {contexts:?}: {text}");
                }
                None => assert_eq!(status, 0, "{operation} {contexts:?}: {text}"),
            }
            // The lane goes on, and the reply has the priority's context.
            let (status, body) = call(&mut stream, &request(6, &key, operation, &good(operation)));
            assert_eq!(status, 0, "{}", String::from_utf8_lossy(&body));
            if operation == "place" {
                // A count of contexts, and the id of the first.
                let [count, id] = [8, 12].map(|at| body[at] | body[at + 3]);
                assert_eq!((count, id), (1, 10));
            }
        }
        // The connection is bound to 5 to 20 now: another priority is not its own, although a lane has it.
        for (priority, expected) in [(10, None), (40, Some(NO_RESOURCES)), (10, None)] {
            let message = request(7, &key, "place", &[(10, &[0, 0, 0, priority])]);
            let (status, body) = call(&mut stream, &message);
            let text = String::from_utf8_lossy(&body);
            assert_eq!(status == 2, expected.is_some(), "{priority}: {text}");
            assert!(text.contains(expected.unwrap_or_default()), "{text}");
        }
        // It may be bound anew. A request without a priority has that of the POA, 10, whatever the band.
        for (band, expected) in [((5, 20), 0), ((21, 40), 2), ((5, 40), 0)] {
            let (low, high) = band;
            let range = [(11, &[0, 0, 0, low, 0, high][..])];
            let bound = request(8, &key, "_bind_priority_band", &range);
            assert_eq!(call(&mut stream, &bound).0, 0);
            let (status, body) = call(&mut stream, &request(9, &key, "place", &[]));
            assert_eq!(status, expected, "{band:?}");
            let text = String::from_utf8_lossy(&body);
            assert_eq!(text.contains(NO_RESOURCES), expected == 2, "{text}");
        }
        let message = request(9, &key, "place", &[(10, &[0, 0, 0, 40])]);
        assert_eq!(call(&mut stream, &message).0, 0);
    };
    tokio::task::spawn_blocking(calls).await.unwrap();
    server.shutdown(true).await.unwrap();
}
