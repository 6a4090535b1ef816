//! Instructions per element, which are the same on a machine with other things to do:
//! `cargo bench -p zorb-cdr --bench counts [-- PART_OF_A_NAME]`.
//!
//! Runs itself under callgrind, which has to be installed. Everything has been done once before it is counted, so that
//! buffers have their size. What is counted is all that happens in user space, the allocator and `memcpy` included;
//! callgrind counts an instruction of a vector as one.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

mod cases;

use bytes::BytesMut;
use cases::Visit;
use std::{
    env, fs,
    hint::black_box,
    path::Path,
    process::{Command, Stdio},
};
use zorb_cdr::{
    BigEndian, ByteOrder, Codec, Decoder, Encoder, Frame, LittleEndian, Seq, WireFormat,
};

/// Set in the process that is counted.
const COUNTED: &str = "ZORB_CDR_COUNTED";

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let wanted = env::args().skip(1).find(|a| !a.starts_with("--"));
    let wanted = wanted.unwrap_or_default();
    if env::var_os(COUNTED).is_some() {
        cases::visit(&mut Counted { wanted });
        return Ok(());
    }
    let mut listed = List {
        wanted: wanted.clone(),
        cases: Vec::new(),
    };
    cases::visit(&mut listed);
    let directory = env::temp_dir().join(format!("zorb-cdr-counts-{}", std::process::id()));
    fs::create_dir_all(&directory)?;
    let counts = count(&directory, &wanted);
    fs::remove_dir_all(&directory)?;
    let mut counts = counts?.into_iter();
    println!("{:42} {:>36} {:>36}", "", "native order", "the other order");
    let heads = ["encode", "decode", "into"].map(|head| format!("{head:>12}"));
    println!(
        "{:42} {}{}",
        "instructions per element",
        heads.concat(),
        heads.concat()
    );
    for (name, elements, is_sequence) in listed.cases {
        let mut row = format!("{name:42} ");
        for _order in 0..2 {
            for _part in 0..if is_sequence { 3 } else { 2 } {
                let count = counts.next().ok_or("callgrind counted too few")?;
                row.push_str(&format!("{:12.2}", count as f64 / elements as f64));
            }
            if !is_sequence {
                row.push_str(&" ".repeat(12));
            }
        }
        println!("{row}");
    }
    Ok(())
}

/// Instructions of each call of [`counted`], in order.
fn count(directory: &Path, wanted: &str) -> Result<Vec<u64>, Failure> {
    let out = directory.join("out");
    let status = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--quiet",
            "--zero-before=*begin_of_count*",
        ])
        .args(["--dump-after=*counted_region*", "--combine-dumps=no"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(env::current_exe()?)
        .arg(wanted)
        .env(COUNTED, "1")
        .stderr(Stdio::inherit())
        .status()
        .map_err(|e| format!("valgrind is needed: {e}"))?;
    if !status.success() {
        return Err(format!("valgrind: {status}").into());
    }
    let mut counts = Vec::new();
    for part in 1.. {
        let Ok(text) = fs::read_to_string(directory.join(format!("out.{part}"))) else {
            break;
        };
        let total = text
            .lines()
            .find_map(|line| line.strip_prefix("totals: "))
            .ok_or("a dump without totals")?;
        counts.push(total.trim().parse()?);
    }
    Ok(counts)
}

/// The counted call. A call in tail position would be a jump, whose end callgrind does not see.
#[inline(never)]
fn counted_region(f: &mut dyn FnMut()) {
    begin_of_count();
    f();
    black_box(());
}

/// Where counting begins: callgrind cannot both begin and end at the same function.
#[inline(never)]
fn begin_of_count() {
    black_box(());
}

fn counted(mut f: impl FnMut()) {
    f();
    counted_region(&mut f);
}

struct List {
    wanted: String,
    cases: Vec<(String, usize, bool)>,
}

impl Visit for List {
    fn value<C: Codec>(&mut self, name: &str, elements: usize, _: &C::Borrowed) {
        if name.contains(&self.wanted) {
            self.cases.push((name.to_owned(), elements, false));
        }
    }

    fn sequence<C: Codec<Value: Clone>>(&mut self, name: &str, values: &[C::Value]) {
        if name.contains(&self.wanted) {
            self.cases.push((name.to_owned(), values.len(), true));
        }
    }
}

struct Counted {
    wanted: String,
}

impl Visit for Counted {
    fn value<C: Codec>(&mut self, name: &str, _: usize, value: &C::Borrowed) {
        if name.contains(&self.wanted) {
            both::<LittleEndian, C>(value);
            both::<BigEndian, C>(value);
        }
    }

    fn sequence<C: Codec<Value: Clone>>(&mut self, name: &str, values: &[C::Value]) {
        if name.contains(&self.wanted) {
            for_sequence::<LittleEndian, C>(values);
            for_sequence::<BigEndian, C>(values);
        }
    }
}

fn both<O: ByteOrder, C: Codec>(value: &C::Borrowed) -> Frame {
    let mut buffer = BytesMut::with_capacity(1 << 10);
    counted(|| {
        let mut e = Encoder::<O>::with_buffer(std::mem::take(&mut buffer), WireFormat::default());
        C::encode(black_box(value), &mut e).expect("encodes");
        buffer = e.finish().into_buffer();
    });
    let mut e = Encoder::<O>::new(WireFormat::default());
    C::encode(value, &mut e).expect("encodes");
    let frame = Frame::new(e.finish().into_bytes());
    counted(|| {
        let mut d = Decoder::<O>::new(black_box(&frame), WireFormat::default());
        black_box(C::decode(&mut d).expect("decodes"));
    });
    frame
}

fn for_sequence<O: ByteOrder, C: Codec<Value: Clone>>(values: &[C::Value]) {
    let frame = both::<O, Seq<C>>(values);
    let mut again = Vec::with_capacity(values.len());
    counted(|| {
        again.clear();
        let mut d = Decoder::<O>::new(black_box(&frame), WireFormat::default());
        let count = d.read_count(C::MIN_SIZE).expect("has a count");
        C::decode_into(&mut d, count, &mut again).expect("decodes");
        black_box(&mut again);
    });
}
