//! Chromium, driven by WebDriver (W3C), and the requests that drive it.

use crate::support::{HANG, Running};
use serde_json::{Value, json};
use std::process::Command;

/// A request, and the status and JSON of its reply; null if it has none.
pub(crate) fn http(method: &str, url: &str, body: Option<Value>) -> (u16, Value) {
    let request = ureq::http::Request::builder().method(method).uri(url);
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(HANG))
        .build()
        .into();
    let reply = match body {
        Some(body) => {
            let request = request.header("content-type", "application/json");
            agent.run(request.body(body.to_string()).expect("a request"))
        }
        None => agent.run(request.body(()).expect("a request")),
    };
    let mut reply = reply.unwrap_or_else(|error| panic!("{url}: {error}"));
    let text = reply.body_mut().read_to_string().expect("text");
    let json = serde_json::from_str(&text).unwrap_or(Value::Null);
    (reply.status().as_u16(), json)
}

/// Chromium, driven by WebDriver (W3C).
pub(crate) struct Browser {
    _driver: Running,
    session: String,
}

impl Browser {
    /// Opens a page.
    pub(crate) fn open(url: &str) -> Self {
        // With port 0 it takes one that is free for IPv6, and ends where that is not free for IPv4.
        let command = |port: u16| {
            let mut command = Command::new("chromedriver");
            command.arg(format!("--port={port}"));
            command
        };
        let is_ready = |line: &str| line.contains("started successfully").then_some(());
        let (driver, port, ()) = Running::on_a_port(command, is_ready);
        let place = format!("http://127.0.0.1:{port}/session");
        let args = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ];
        let options = json!({ "goog:chromeOptions": { "args": args } });
        let wanted = json!({ "capabilities": { "alwaysMatch": options } });
        let (_, made) = http("POST", &place, Some(wanted));
        let id = made["value"]["sessionId"].as_str();
        let session = format!("{place}/{}", id.unwrap_or_else(|| panic!("{made}")));
        let browser = Self {
            _driver: driver,
            session,
        };
        browser.command("url", json!({ "url": url }));
        browser
    }

    /// A command of the session, and its value.
    pub(crate) fn command(&self, name: &str, body: Value) -> Value {
        let (status, reply) = http("POST", &format!("{}/{name}", self.session), Some(body));
        assert_eq!(status, 200, "{reply}");
        reply["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        http("DELETE", &self.session, None);
    }
}
