//! Three services and a trace through them, drawn as a picture.
//!
//! An order goes to a desk, which asks for its risk and books it; the risk takes a look at the ledger, too. Each is an ORB of its
//! own with a connection to the others, as it would be in a process of its own: the trace context in each request links the spans.
//!
//! ```text
//! cargo run --package zorb --example trace > trace.svg
//! ```

use opentelemetry::trace::{SpanId, SpanKind, TracerProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use std::fmt::Write;
use std::time::{Duration, SystemTime};
use tracing::Instrument;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use zorb::skeleton::InterfaceSkeleton;
use zorb::{Interface, Orb, SystemException};

zorb::idl! {
    module Market {
        interface Ledger {
            long long balance(in string customer);
            void book(in string customer, in long amount);
        };
        interface Risk {
            boolean permits(in string customer, in long amount);
        };
        interface Desk {
            boolean place(in string customer, in long amount);
        };
    };
}

use market::{
    Desk, DeskRef, DeskServant, Ledger, LedgerRef, LedgerServant, Risk, RiskRef, RiskServant,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Stands for a look at a database.
async fn looks(milliseconds: u64) {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}

struct Books;

impl Ledger for Books {
    async fn balance(&self, _: &str) -> Result<i64, SystemException> {
        looks(3).await;
        Ok(1_000)
    }

    async fn book(&self, _: &str, _: i32) -> Result<(), SystemException> {
        looks(5).await;
        Ok(())
    }
}

struct Limits(LedgerRef);

impl Risk for Limits {
    async fn permits(&self, customer: &str, amount: i32) -> Result<bool, SystemException> {
        looks(2).await;
        Ok(self.0.balance(customer).await? >= i64::from(amount))
    }
}

struct Trades {
    risk: RiskRef,
    ledger: LedgerRef,
}

impl Desk for Trades {
    async fn place(&self, customer: &str, amount: i32) -> Result<bool, SystemException> {
        let permitted = self.risk.permits(customer, amount).await?;
        if permitted {
            self.ledger.book(customer, amount).await?;
        }
        Ok(permitted)
    }
}

/// Starts a service; its clients know it by its reference as text.
async fn serve<S: InterfaceSkeleton<Ref: Interface>>(
    servant: S,
    orb: &Orb,
) -> Result<String, Failure> {
    let poa = orb.root_poa();
    let service = poa.activate(servant)?;
    poa.the_poa_manager().activate()?;
    Ok(service.as_object().to_string())
}

async fn orb() -> Result<Orb, Failure> {
    Ok(Orb::builder().listen("iiop://127.0.0.1:0").build().await?)
}

async fn narrow<R: Interface>(orb: &Orb, text: &str) -> Result<R, Failure> {
    Ok(orb
        .string_to_object(text)
        .await?
        .narrow()
        .await?
        .ok_or("another interface")?)
}

#[expect(clippy::print_stdout, reason = "the picture is its output")]
#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Failure> {
    println!("{}", picture().await?);
    Ok(())
}

/// Has an order placed, and draws its trace.
pub(crate) async fn picture() -> Result<String, Failure> {
    // A program exports to a collector; this one keeps its spans.
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    let wanted = Targets::new()
        .with_target("zorb::call", tracing::Level::DEBUG)
        .with_target("zorb::upcall", tracing::Level::DEBUG)
        .with_target("trace", tracing::Level::INFO);
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("market"));
    tracing::subscriber::set_global_default(
        tracing_subscriber::registry().with(wanted).with(layer),
    )?;

    let (ledger_orb, risk_orb, desk_orb, client) =
        (orb().await?, orb().await?, orb().await?, orb().await?);
    let ledger = serve(LedgerServant::new(Books), &ledger_orb).await?;
    let risk = RiskServant::new(Limits(narrow(&risk_orb, &ledger).await?));
    let risk = serve(risk, &risk_orb).await?;
    let desk = DeskServant::new(Trades {
        risk: narrow(&desk_orb, &risk).await?,
        ledger: narrow(&desk_orb, &ledger).await?,
    });
    let desk: DeskRef = narrow(&client, &serve(desk, &desk_orb).await?).await?;
    // What `narrow` asked is no part of it.
    exporter.reset();

    let order = tracing::info_span!(target: "trace", "order");
    desk.place("Ada", 250).instrument(order).await?;
    for orb in [client, desk_orb, risk_orb, ledger_orb] {
        orb.shutdown(true).await?;
    }
    Ok(draw(&exporter.get_finished_spans()?))
}

/// The spans in the order of a trace: each before those within it, by their beginnings.
fn in_order(spans: &[SpanData]) -> Vec<(usize, &SpanData)> {
    let mut ordered = Vec::with_capacity(spans.len());
    let mut waiting: Vec<(usize, &SpanData)> = spans
        .iter()
        .filter(|span| span.parent_span_id == SpanId::INVALID)
        .map(|root| (0, root))
        .collect();
    while let Some((depth, span)) = waiting.pop() {
        ordered.push((depth, span));
        let id = span.span_context.span_id();
        let mut within: Vec<_> = spans
            .iter()
            .filter(|span| span.parent_span_id == id)
            .collect();
        within.sort_by_key(|span| std::cmp::Reverse(span.start_time));
        waiting.extend(within.into_iter().map(|span| (depth + 1, span)));
    }
    ordered
}

/// The width of the names, of the time, and the height of a row, in pixels.
const NAMES: f64 = 210.0;
const TIME: f64 = 600.0;
const ROW: f64 = 24.0;

fn draw(spans: &[SpanData]) -> String {
    let begin = spans
        .iter()
        .map(|span| span.start_time)
        .min()
        .unwrap_or(SystemTime::UNIX_EPOCH);
    let since = |at: SystemTime| at.duration_since(begin).unwrap_or_default().as_secs_f64() * 1e3;
    let total = spans
        .iter()
        .map(|span| since(span.end_time))
        .fold(0.1, f64::max);
    let height = ROW * (spans.len() as f64 + 1.5);
    let width = NAMES + TIME + 90.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    // The service that a call is made in: that of the upcall around it.
    let mut services: Vec<(SpanId, String)> = Vec::new();
    for (row, (depth, span)) in in_order(spans).into_iter().enumerate() {
        let attribute = |name| {
            let found = span.attributes.iter().find(|one| one.key.as_str() == name);
            found.map(|one| one.value.to_string())
        };
        let around = services.iter().find(|(id, _)| *id == span.parent_span_id);
        let service = match attribute("rpc.service") {
            // IDL:Market/Desk:1.0
            Some(id) => id.split(['/', ':']).nth(2).unwrap_or(&id).to_owned(),
            None => around.map_or_else(|| "Client".to_owned(), |(_, service)| service.clone()),
        };
        services.push((span.span_context.span_id(), service.clone()));
        let colour = match service.as_str() {
            "Desk" => "#4477aa",
            "Risk" => "#cc6677",
            "Ledger" => "#228833",
            _ => "#888888",
        };
        let (y, opacity) = (
            ROW * (row as f64 + 0.5),
            if span.span_kind == SpanKind::Client {
                0.45
            } else {
                1.0
            },
        );
        let (x, length) = (
            since(span.start_time) / total * TIME,
            (since(span.end_time) - since(span.start_time)) / total * TIME,
        );
        let (text, indent) = (y + ROW * 0.68, 8.0 + 12.0 * depth as f64);
        let what = match span.span_kind {
            SpanKind::Client => format!("{service} calls {}", span.name),
            SpanKind::Server => format!("{service}.{}", span.name),
            _ => span.name.to_string(),
        };
        let lasts = since(span.end_time) - since(span.start_time);
        let _ = writeln!(
            svg,
            "<text x=\"{indent:.0}\" y=\"{text:.1}\">{what}</text>\
             <rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"2\" fill=\"{colour}\" fill-opacity=\"{opacity}\"/>\
             <text x=\"{:.1}\" y=\"{text:.1}\" fill=\"#555555\">{lasts:.1} ms</text>",
            NAMES + x,
            y + 3.0,
            length.max(1.0),
            ROW - 6.0,
            NAMES + x + length.max(1.0) + 6.0,
        );
    }
    svg + "</svg>"
}
