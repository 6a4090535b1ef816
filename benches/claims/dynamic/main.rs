//! Measurements of dynamic invocation for `cargo xtask claims dynamic`, a line of JSON: for each operation the median
//! nanoseconds of a static call over TCP, and of a dynamic one whose request is used again. Both kinds take turns.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "its result is a line of output")]

use clap::Parser;
use serde_json::{Map, Value};
use std::time::Instant;
use zorb::{Any, OctetsRef, Orb, Request, SystemException};

zorb::idl! {
    module Dynamic {
        struct Item { long number; double weight; string name; };
        typedef sequence<Item> Elements;
        typedef sequence<octet> Data;
        interface Sink {
            void noparams();
            void octets(in Data content);
            void structs(in Elements content);
        };
    };
}

use dynamic::{DATA_TYPE_CODE, ELEMENTS_TYPE_CODE, Item, Sink, SinkRef, SinkServant};

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Parser)]
struct Options {
    /// Calls of each kind.
    #[arg(long, default_value_t = 20_000)]
    calls: usize,
    /// Octets of the sequence, and elements of the sequence of structs.
    #[arg(long, default_value_t = 1_024)]
    elements: usize,
}

struct Nothing;

impl Sink for Nothing {
    async fn noparams(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn octets(&self, _: OctetsRef<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    async fn structs(&self, _: &[Item]) -> Result<(), SystemException> {
        Ok(())
    }
}

/// The medians of two kinds of calls, which take turns.
async fn medians<S, D>(
    calls: usize,
    mut static_call: impl FnMut() -> S,
    mut dynamic_call: impl FnMut() -> D,
) -> Result<[f64; 2], Failure>
where
    S: Future<Output = Result<(), SystemException>>,
    D: Future<Output = Result<(), Failure>>,
{
    let mut times = [Vec::new(), Vec::new()];
    // The first tenth is not counted.
    for at in 0..calls + calls / 10 {
        let begun = Instant::now();
        static_call().await?;
        let between = Instant::now();
        dynamic_call().await?;
        let ended = Instant::now();
        if at >= calls / 10 {
            times[0].push(between - begun);
            times[1].push(ended - between);
        }
    }
    Ok(times.map(|mut times| {
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1e9
    }))
}

async fn dynamic(request: &Request) -> Result<(), Failure> {
    request.invoke().await?;
    Ok(())
}

async fn run(options: &Options) -> Result<Value, Failure> {
    let server = Orb::builder().listen("iiop://127.0.0.1:0").build().await?;
    server.root_poa().the_poa_manager().activate()?;
    let sink = server.root_poa().activate(SinkServant::new(Nothing))?;
    let client = Orb::builder().build().await?;
    let object = client.string_to_object(&sink.to_string()).await?;
    let sink: SinkRef = object.unchecked_narrow();

    let octets = vec![7_u8; options.elements];
    let numbers = (0_i32..).take(options.elements);
    let items: Vec<Item> = numbers
        .map(|number| Item {
            number,
            weight: f64::from(number),
            name: number.to_string(),
        })
        .collect();
    let of_octets = Any::with_type_code(&DATA_TYPE_CODE, &octets)?;
    let of_items = Any::with_type_code(&ELEMENTS_TYPE_CODE, &items)?;
    let (noparams, of_octets, of_items) = (
        object.request("noparams"),
        object.request("octets").argument(of_octets),
        object.request("structs").argument(of_items),
    );

    let mut answer = Map::new();
    let mut note = |name: &str, [of_static, of_dynamic]: [f64; 2]| {
        answer.insert(format!("{name}_static_ns"), of_static.into());
        answer.insert(format!("{name}_dynamic_ns"), of_dynamic.into());
    };
    let calls = options.calls;
    note(
        "noparams",
        medians(calls, || sink.noparams(), || dynamic(&noparams)).await?,
    );
    note(
        "octets",
        medians(calls, || sink.octets(&octets), || dynamic(&of_octets)).await?,
    );
    let calls = calls / 10;
    note(
        "structs",
        medians(calls, || sink.structs(&items), || dynamic(&of_items)).await?,
    );
    client.shutdown(true).await?;
    server.shutdown(true).await?;
    Ok(Value::Object(answer))
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    println!("{}", run(&Options::parse()).await?);
    Ok(())
}
