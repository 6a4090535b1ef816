//! A page to browse the names, and metrics, over HTTP. Nothing can be changed there.

use axum::extract::{Query, Request, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use axum::{Router, middleware, routing::get};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use core::fmt::Write;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use zorb::Orb;
use zorb::naming::Name;
use zorb::naming::cos_naming::BindingType;
use zorb_named::NamingService;
use zorb_named::store::{ContextId, Found, Key, PageLimits, Place, Store, StoreError, Target};
use zorb_service::Metrics;

/// Names on a page.
const NAMES_ON_A_PAGE: PageLimits = PageLimits {
    names: 200,
    octets: 256 * 1024,
};
/// Requests that are answered at a time; others wait.
const MAX_REQUESTS: usize = 8;
/// No script, nothing from elsewhere, in no frame.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE: &str = "body{font:15px/1.5 sans-serif;margin:2em;max-width:70em}table{border-collapse:collapse}\
    td,th{text-align:left;padding:.2em 1.2em .2em 0;border-bottom:1px solid #ddd;overflow-wrap:anywhere}";

struct Pages<S> {
    service: NamingService<S>,
    orb: Orb,
    recorder: Metrics,
    turns: tokio::sync::Semaphore,
}

/// Serves the pages at an address from now on; gives the one it has.
///
/// # Errors
/// The address is in use.
pub(crate) async fn serve(
    service: NamingService<impl Store>,
    orb: &Orb,
    address: SocketAddr,
    recorder: Metrics,
) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let pages = Arc::new(Pages {
        service,
        orb: orb.clone(),
        recorder,
        turns: tokio::sync::Semaphore::new(MAX_REQUESTS),
    });
    let mut app = Router::new()
        .route("/", get(names))
        .route("/metrics", get(metrics))
        .with_state(pages);
    if address.ip().is_loopback() {
        app = app.layer(middleware::from_fn(only_this_host));
    }
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, app).await {
            tracing::error!(%error, "the page is no longer offered");
        }
    });
    Ok(address)
}

/// Refuses requests to a name that some page has given to this host: its script would read the names.
async fn only_this_host(headers: HeaderMap, request: Request, next: Next) -> Response {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = host.unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_address = host.parse::<SocketAddr>().is_ok()
        || name
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok();
    match is_address || name == "localhost" {
        true => next.run(request).await,
        false => StatusCode::MISDIRECTED_REQUEST.into_response(),
    }
}

async fn metrics<S: Store>(State(pages): State<Arc<Pages<S>>>) -> Response {
    pages.orb.publish_metrics();
    let iterators = u32::try_from(pages.service.iterators()).unwrap_or(u32::MAX);
    metrics::gauge!("zorb_named_iterators").set(f64::from(iterators));
    let text = pages.recorder.text();
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

/// The page of a context: `?name=bank/branches`, and from a place on: `&after=…`.
async fn names<S: Store>(
    State(pages): State<Arc<Pages<S>>>,
    Query(query): Query<HashMap<String, String>>,
) -> Response {
    let Ok(_turn) = pages.turns.acquire().await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let name = query.get("name").map_or("", String::as_str);
    let after = query.get("after").map(String::as_str);
    let (status, body) = match pages.page(name, after).await {
        Ok(Some(body)) => (StatusCode::OK, body),
        Ok(None) => (
            StatusCode::NOT_FOUND,
            "<p>There is no such context.".to_owned(),
        ),
        Err(error) => {
            tracing::warn!(%error, "a page fails, as the store does");
            let body = "<p>The store does not answer.".to_owned();
            (StatusCode::SERVICE_UNAVAILABLE, body)
        }
    };
    let page = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Names</title><style>{STYLE}</style><h1>{}</h1>{body}</html>",
        path(name)
    );
    (status, [(CONTENT_SECURITY_POLICY, POLICY)], Html(page)).into_response()
}

/// Text as HTML.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            // A name may turn the direction of what follows.
            c if c.is_control()
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
            {
                html.push('\u{fffd}');
            }
            c => html.push(c),
        }
    }
    html
}

/// Text in a query.
fn in_query(text: &str) -> String {
    let mut query = String::new();
    for octet in text.bytes() {
        match octet {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                query.push(char::from(octet));
            }
            octet => {
                // A string takes everything.
                let _ = write!(query, "%{octet:02X}");
            }
        }
    }
    query
}

/// The way to a context, each step a link.
fn path(name: &str) -> String {
    let mut html = "<a href=\"?\">names</a>".to_owned();
    let Ok(name) = name.parse::<Name>() else {
        return html;
    };
    for (at, component) in name.iter().enumerate() {
        let to = Name(name.iter().take(at.saturating_add(1)).cloned().collect());
        let one = Name(vec![component.clone()]);
        html.push_str(&format!(
            " / <a href=\"?name={}\">{}</a>",
            in_query(&to.to_string()),
            escaped(&one.to_string())
        ));
    }
    html
}

/// A place as it stands in a query.
fn place_text(place: &Place) -> String {
    match place {
        Place::Revision(revision) => format!("r{revision}"),
        Place::Key(key) => format!("k{}", URL_SAFE_NO_PAD.encode(key.as_octets())),
        _ => String::new(),
    }
}

fn place(text: &str) -> Option<Place> {
    if let Some(revision) = text.strip_prefix('r') {
        return Some(Place::Revision(revision.parse().ok()?));
    }
    let octets = URL_SAFE_NO_PAD.decode(text.strip_prefix('k')?).ok()?;
    Key::from_octets(&octets).map(Place::Key)
}

impl<S: Store> Pages<S> {
    /// The context of a name; `None` if it leads to none of this service.
    async fn context(&self, name: &Name) -> Result<Option<ContextId>, StoreError> {
        let store = self.service.store();
        let mut context = store.root();
        for component in name.iter() {
            let Some(key) = Key::of(component) else {
                return Ok(None);
            };
            match store.get(context, &key).await? {
                Found::Bound(binding) if binding.binding_type == BindingType::Ncontext => {
                    match binding.target {
                        Target::Context(next) => context = next,
                        Target::Reference(_) => return Ok(None),
                    }
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(context))
    }

    async fn page(&self, text: &str, after: Option<&str>) -> Result<Option<String>, StoreError> {
        let name = match text {
            "" => Some(Name::default()),
            text => text.parse::<Name>().ok(),
        };
        let after = match after {
            None => None,
            Some(text) => match place(text) {
                Some(place) => Some(place),
                None => return Ok(None),
            },
        };
        let Some(name) = name.filter(|name| name.len() <= zorb_named::MAX_COMPONENTS) else {
            return Ok(None);
        };
        let Some(context) = self.context(&name).await? else {
            return Ok(None);
        };
        let store = self.service.store();
        let page = match store.list(context, after.as_ref(), NAMES_ON_A_PAGE).await {
            Ok(Some(page)) => page,
            // A place of another store.
            Ok(None) | Err(StoreError::Malformed) => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut html = "<table><thead><tr><th>Name<th>Bound as<th>Type</thead><tbody>".to_owned();
        for (key, _) in &page.names {
            let (Some(component), Found::Bound(binding)) =
                (key.component(), store.get(context, key).await?)
            else {
                continue;
            };
            let one = Name(vec![component.clone()]).to_string();
            let is_context = binding.binding_type == BindingType::Ncontext;
            let shown = match binding.target {
                Target::Context(_) if is_context => {
                    let to = Name([name.as_slice(), &[component]].concat()).to_string();
                    format!("<a href=\"?name={}\">{}</a>", in_query(&to), escaped(&one))
                }
                _ => escaped(&one),
            };
            let object = self.service.object(&binding.target).ok().flatten();
            let (type_id, where_it_is) = object.map_or_else(
                || ("nil".to_owned(), String::new()),
                |object| (object.type_id().to_owned(), format!("{object:?}")),
            );
            let bound_as = if is_context { "context" } else { "object" };
            html.push_str(&format!(
                "<tr><td>{shown}<td>{bound_as}<td title=\"{}\">{}</tr>",
                escaped(&where_it_is),
                escaped(&type_id)
            ));
        }
        html.push_str("</tbody></table>");
        if page.has_more
            && let Some(end) = page.end()
        {
            let (name, after) = (in_query(text), place_text(&end));
            html.push_str(&format!(
                "<p><a id=more href=\"?name={name}&amp;after={after}\">More</a>"
            ));
        }
        Ok(Some(html))
    }
}
