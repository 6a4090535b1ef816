//! `--page`: names and metrics over HTTP, which change nothing.

use crate::common::{Daemon, client_orb, object};
use zorb::naming::cos_naming::NameComponent;

/// Where the page of a daemon is.
pub(crate) fn page(daemon: &Daemon) -> String {
    let at = daemon.ready.find("page at ").expect("it says where");
    daemon.ready[at + "page at ".len()..].trim().to_owned()
}

/// A request, and the status, the policy of contents and the text of its reply.
fn get(url: &str, host: Option<&str>, method: &str) -> (u16, String, String) {
    let mut request = ureq::http::Request::builder().method(method).uri(url);
    if let Some(host) = host {
        request = request.header("host", host);
    }
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(crate::support::HANG))
        .build()
        .into();
    let mut reply = agent.run(request.body(()).unwrap()).unwrap();
    let policy = reply.headers().get("content-security-policy");
    let policy = policy
        .map_or("", |policy| policy.to_str().unwrap())
        .to_owned();
    let text = reply.body_mut().read_to_string().unwrap();
    (reply.status().as_u16(), policy, text)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_all_names_escaped_and_changes_none() {
    let daemon = Daemon::start(&["--page", "127.0.0.1:0"]);
    let url = page(&daemon);
    let (orb, names) = (client_orb().await, daemon.client().await);
    let account = object(&orb, 1).await;
    for n in 0..450 {
        let name = format!("many/name{n:03}");
        names.bind(&name, &account).await.unwrap();
    }
    let odd = NameComponent {
        id: "<script>alert('&\"/.\u{7}".to_owned(),
        kind: String::new(),
    };
    let odd = zorb::naming::Name(vec![odd]).to_string();
    names.bind_new_context(&odd).await.unwrap();

    let (status, policy, root) = get(&url, None, "GET");
    assert_eq!(status, 200);
    assert!(policy.contains("default-src 'none'"), "{policy}");
    assert!(!root.contains("<script"), "{root}");
    assert!(
        root.contains("&lt;script&gt;alert(&#39;&amp;&quot;"),
        "{root}"
    );
    // The way into the context is a link, as odd as its name is.
    let link = root
        .split("href=\"")
        .find(|link| link.starts_with("?name=%3Cscript"));
    let link = link.expect("a link").split('"').next().unwrap();
    assert_eq!(get(&format!("{url}{link}"), None, "GET").0, 200);

    // Page by page each name once.
    let (mut next, mut found) = (Some("?name=many".to_owned()), Vec::new());
    while let Some(link) = next {
        let (status, _, text) = get(&format!("{url}{link}"), None, "GET");
        assert_eq!(status, 200, "{text}");
        found.extend(
            text.split("<tr><td>name")
                .skip(1)
                .map(|row| row[..3].to_owned()),
        );
        let more = text.split("<a id=more href=\"").nth(1);
        next = more.map(|more| more.split('"').next().unwrap().replace("&amp;", "&"));
    }
    let all: Vec<String> = (0..450).map(|n| format!("{n:03}")).collect();
    assert_eq!(found, all);

    for (path, status) in [
        ("?name=none", 404),
        ("?name=many/name001", 404),
        ("?name=a//b", 404),
        ("?after=k!!", 404),
        ("?after=r1", 404),
        ("nothing", 404),
    ] {
        assert_eq!(
            get(&format!("{url}{path}"), None, "GET").0,
            status,
            "{path}"
        );
    }
    for method in ["POST", "PUT", "DELETE"] {
        assert_eq!(get(&url, None, method).0, 405, "{method}");
    }
    // A name that a foreign page has given to this host.
    for host in [
        "evil.example",
        "evil.example:2880",
        "localhost.evil.example",
    ] {
        assert_eq!(get(&url, Some(host), "GET").0, 421, "{host}");
        assert_eq!(
            get(&format!("{url}metrics"), Some(host), "GET").0,
            421,
            "{host}"
        );
    }
    assert_eq!(get(&url, Some("localhost:2880"), "GET").0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_count_what_clients_do() {
    let daemon = Daemon::start(&["--page", "127.0.0.1:0"]);
    let (orb, names) = (client_orb().await, daemon.client().await);
    for n in 0..7 {
        names
            .bind(&format!("a{n}"), &object(&orb, n).await)
            .await
            .unwrap();
    }
    names.bind("a1", &object(&orb, 1).await).await.unwrap_err();
    let (status, _, text) = get(&format!("{}metrics", page(&daemon)), None, "GET");
    assert_eq!(status, 200);
    for line in [
        "zorb_named_store_total{operation=\"bind\",outcome=\"done\"} 7",
        "zorb_named_store_total{operation=\"bind\",outcome=\"already_bound\"} 1",
        "zorb_named_store_seconds_count{operation=\"bind\"} 8",
        "outcome=\"user_exception\"} 1",
        "zorb_named_iterators 0",
    ] {
        assert!(text.contains(line), "no {line} in\n{text}");
    }
}
