//! The papers that experiments are from, each named in one way.

/// A paper, as the page names it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Paper {
    pub(crate) authors: &'static str,
    pub(crate) title: &'static str,
}

pub(crate) const LATENCY: Paper = Paper {
    authors: "Gokhale and Schmidt",
    title: "Measuring and Optimizing CORBA Latency and Scalability Over High-speed Networks",
};
pub(crate) const THROUGHPUT: Paper = Paper {
    authors: "Harrison and Schmidt",
    title: "Evaluating the Performance of OO Network Programming Toolkits",
};
pub(crate) const PLUGGABLE: Paper = Paper {
    authors: "O'Ryan, Kuhns, Schmidt, Othman and Parsons",
    title: "The Design and Performance of a Pluggable Protocols Framework for Real-time Distributed Object Computing \
            Middleware",
};
pub(crate) const DISSERTATION: Paper = Paper {
    authors: "Pyarali",
    title: "Patterns for Providing Real-Time Guarantees in DOC Middleware",
};

/// The parts of a paper that an experiment redoes: figures, tables and sections, by their numbers.
pub(crate) type Source = (Paper, &'static str);

/// The source of an experiment, for the page and the list.
pub(crate) fn origin(sources: &[Source]) -> String {
    if sources.is_empty() {
        return "An experiment of our own, beyond the papers' numbers.".to_owned();
    }
    let each =
        |(Paper { authors, title }, places): &Source| format!("{authors}, *{title}*, {places}");
    let all: Vec<String> = sources.iter().map(each).collect();
    format!("From {}.", all.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_experiment_of_no_paper_is_said_to_be_ours() {
        assert!(origin(&[]).contains("of our own"));
        let two = origin(&[(LATENCY, "Table 3"), (DISSERTATION, "Table 3.1")]);
        assert!(
            two.starts_with("From Gokhale and Schmidt, *Measuring"),
            "{two}"
        );
        assert!(two.ends_with("DOC Middleware*, Table 3.1."), "{two}");
    }
}
