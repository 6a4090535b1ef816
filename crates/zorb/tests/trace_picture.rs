//! The example that draws a trace.

#[path = "../examples/trace.rs"]
#[expect(dead_code, reason = "its main function is the example's")]
mod example;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_draws_the_spans_of_three_services_in_their_order() {
    let picture = example::picture().await.unwrap();
    let names: Vec<&str> = picture
        .lines()
        .filter_map(|line| line.strip_prefix("<text "))
        .filter_map(|row| row.split(['>', '<']).nth(1))
        .collect();
    let expected = [
        "order",
        "Client calls place",
        "Desk.place",
        "Desk calls permits",
        "Risk.permits",
        "Risk calls balance",
        "Ledger.balance",
        "Desk calls book",
        "Ledger.book",
    ];
    assert_eq!(names, expected, "{picture}");
}
