//! tshark reads what we and others said to each other.

use crate::support::{Running, have, passed};
use crate::tap::{FIRST_CLIENT_PORT, Heard, Recording, SERVER_PORT, Side, Stream};
use std::collections::BTreeMap;
use std::path::Path;

/// Whether there is a tshark; fails where there has to be one.
pub(crate) fn found(cell: &str) -> bool {
    have(cell, &[Path::new("tshark")])
}

/// That tshark sees the messages that we counted, of the same kinds, in the same order, and finds
/// none malformed.
pub(crate) fn agrees(cell: &str, recording: &Recording) {
    if !found(cell) {
        return;
    }
    let ours = recording.messages();
    let count: usize = ours.values().map(Vec::len).sum();
    assert!(count > 0, "{cell}: nothing was said");
    let folder = tempfile::tempdir().expect("a folder for a capture file");
    let file = folder.path().join("giop.pcap");
    recording.write_pcap(&file).expect("a file can be written");
    // Fragments of 1.1 have no request id, and tshark puts them together with whatever comes next.
    let reassemble = !ours.values().flatten().any(|m| m.minor == 1 && m.more);
    let theirs = decode(&file, reassemble);
    assert_eq!(theirs, ours, "{cell}: tshark's messages beside ours");
    passed(cell);
}

/// How many contexts of security tshark finds in what was said; it does not look into them.
pub(crate) fn security_contexts(recording: &Recording) -> usize {
    let folder = tempfile::tempdir().expect("a folder for a capture file");
    let file = folder.path().join("giop.pcap");
    recording.write_pcap(&file).expect("a file can be written");
    let (file, giop) = (
        file.display().to_string(),
        format!("tcp.port=={SERVER_PORT},giop"),
    );
    let args = ["-r", &file, "-n", "-d", &giop, "-V"];
    let lines = Running::start(Path::new("tshark"), &args).finish();
    let found = |line: &&String| line.contains("SCID: SecurityAttributeService");
    lines.success().iter().filter(found).count()
}

/// The messages that tshark finds in a capture file.
fn decode(file: &Path, reassemble: bool) -> BTreeMap<Stream, Vec<Heard>> {
    let mut args = vec!["-r".to_owned(), file.display().to_string(), "-n".to_owned()];
    let giop = format!("tcp.port=={SERVER_PORT},giop");
    // Every frame with a message, or with something wrong.
    args.extend(["-d", &giop, "-Y", "giop || _ws.malformed", "-T", "fields"].map(str::to_owned));
    args.extend(
        [
            "-E",
            "occurrence=a",
            "-E",
            "aggregator=,",
            "-E",
            "separator=;",
        ]
        .map(str::to_owned),
    );
    let reassemble = reassemble.to_string().to_uppercase();
    args.extend(["-o".to_owned(), format!("giop.reassemble:{reassemble}")]);
    let fields = [
        "tcp.srcport",
        "tcp.dstport",
        "_ws.malformed",
        "giop.minor_version",
        "giop.type",
        "giop.flags.little_endian",
        "giop.flags.fragment",
        "giop.len",
    ];
    for field in fields {
        args.extend(["-e".to_owned(), field.to_owned()]);
    }
    let lines = Running::start(Path::new("tshark"), &args)
        .finish()
        .success();
    let mut streams: BTreeMap<Stream, Vec<Heard>> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.contains(';')) {
        let values: Vec<Vec<&str>> = line.split(';').map(|v| v.split(',').collect()).collect();
        let [
            source,
            destination,
            malformed,
            minors,
            kinds,
            littles,
            mores,
            sizes,
        ] = &values[..]
        else {
            panic!("not the fields that were asked for: {line}");
        };
        assert_eq!(malformed, &[""], "tshark finds something malformed: {line}");
        let (source, destination) = (number(source[0]), number(destination[0]));
        let stream = if destination == u32::from(SERVER_PORT) {
            (source, Side::Client)
        } else {
            (destination, Side::Server)
        };
        let connection = stream.0 - u32::from(FIRST_CLIENT_PORT);
        let stream = (u16::try_from(connection).expect("one of ours"), stream.1);
        let messages = streams.entry(stream).or_default();
        for (n, kind) in kinds.iter().enumerate() {
            messages.push(Heard {
                minor: u8::try_from(number(minors[n])).expect("an octet"),
                kind: u8::try_from(number(kind)).expect("an octet"),
                little: truth(littles[n]),
                // 1.0 does not have that flag.
                more: mores.get(n).is_some_and(|more| truth(more)),
                size: number(sizes[n]),
            });
        }
    }
    streams
}

/// The values of a field in the packets of a capture of TLS; `more`: further arguments.
pub(crate) fn fields(file: &Path, field: &str, more: &[&str]) -> Vec<String> {
    let (file, port) = (file.display().to_string(), SERVER_PORT);
    let tls = format!("tcp.port=={port},tls");
    let fixed = ["-r", &file, "-n", "-d", &tls, "-Y", field];
    let shown = ["-T", "fields", "-e", field, "-E", "aggregator=,"];
    let args = [&fixed[..], &shown, more].concat();
    let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
    let lines = Running::start(Path::new("tshark"), &args)
        .finish()
        .success();
    let is_value = |line: &&String| line.chars().all(|c| c.is_ascii_digit() || c == ',');
    let values = lines
        .iter()
        .filter(is_value)
        .flat_map(|line| line.split(','));
    values.map(str::to_owned).collect()
}

/// Some versions of tshark write 1 and 0, others words.
fn truth(text: &str) -> bool {
    match text {
        "1" | "True" => true,
        "" | "0" | "False" => false,
        other => panic!("neither true nor false: {other:?}"),
    }
}

/// As tshark writes them: decimal or hexadecimal.
fn number(text: &str) -> u32 {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.unwrap_or_else(|error| panic!("{text:?}: {error}"))
}
