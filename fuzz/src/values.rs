//! Value types by themselves: graphs with what is shared and what goes round in them, derived and truncated types, chunks,
//! boxes, and marshalling by hand. What was read can be looked at and sent, reads the same again, and never costs much more
//! memory than the octets that it came in.

use crate::memory;
use bytes::Bytes;
use std::collections::HashMap;
use zorb::{CustomMarshal, DataInput, DataOutput, MarshalError, Value};
use zorb_cdr::{
    BigEndian, ByteOrder, Decode, Decoder, Encode, Encoder, Frame, LittleEndian, WireFormat,
};

zorb::idl! {
    module Valued {
        valuetype Node {
            public string name;
            public Node left;
            public Node right;
        };
        valuetype Leaf : truncatable Node { public double weight; };
        valuetype Twig : truncatable Leaf { public sequence<Node> more; };
        valuetype Branch : Node { public Twig end; };
        custom valuetype Secret { public string text; public Node about; };
        valuetype Names sequence<string>;
        valuetype Count long;

        struct Mixed {
            Node first;
            Twig second;
            Secret third;
            Names list;
            Count number;
            Node again;
        };
        typedef sequence<Node> Nodes;
        struct Chain { Nodes them; };
        struct Hidden { sequence<Secret> them; };
        struct Boxed { sequence<Names> lists; sequence<Count> numbers; };
    };
}

use valued::{Boxed, Branch, Chain, Hidden, Leaf, Mixed, Node, Secret, Twig};

/// How many values of one message are compared at most; those behind them are not.
const MOST: usize = 4096;

/// Text, a value and an octet that has to be there.
impl CustomMarshal for Secret {
    fn marshal(&self, output: &mut DataOutput<'_>) -> Result<(), MarshalError> {
        output.write(&self.text)?;
        output.write_value(self.about.as_ref())?;
        output.write(&7_u8)
    }

    fn unmarshal(input: &mut DataInput<'_, '_>) -> Result<Self, MarshalError> {
        let text = input.read()?;
        let about = input.read_value()?;
        match input.read::<u8>()? {
            7 => Ok(Self { text, about }),
            _ => Err(MarshalError::expected("a seven")),
        }
    }
}

/// A graph as it is compared: each value by what it is, with the numbers of those that it holds.
#[derive(Debug, Default)]
struct Graph {
    numbers: HashMap<Value<Node>, usize>,
    nodes: Vec<Value<Node>>,
    facts: Vec<String>,
}

impl Graph {
    /// Notes a value, which is looked at later.
    fn enter(&mut self, value: Option<&Value<Node>>) -> String {
        let Some(value) = value else {
            return "null".to_owned();
        };
        let next = self.nodes.len();
        let number = *self.numbers.entry(value.clone()).or_insert(next);
        if number == next {
            self.nodes.push(value.clone());
        }
        number.to_string()
    }

    /// Notes what else was read.
    fn fact(&mut self, fact: impl Into<String>) {
        self.facts.push(fact.into());
    }

    fn secret(&mut self, secret: Option<&Value<Secret>>) {
        let Some(secret) = secret else {
            return self.fact("no secret");
        };
        let Some(state) = secret.try_read() else {
            return self.fact("a secret without state");
        };
        let about = self.enter(state.about.as_ref());
        self.fact(format!("secret {:?} about {about}", state.text));
    }

    /// Looks at all values that can be reached.
    fn walk(&mut self) {
        let mut at = 0;
        while let Some(value) = self.nodes.get(at).cloned()
            && at < MOST
        {
            at += 1;
            let mut fact = value.repository_id().to_owned();
            let Some(state) = value.try_read() else {
                self.fact("without state");
                continue;
            };
            let (left, right) = (state.left.clone(), state.right.clone());
            fact.push_str(&format!(" {:?}", state.name));
            drop(state);
            for part in [left, right] {
                fact.push_str(&format!(" {}", self.enter(part.as_ref())));
            }
            if let Some(leaf) = value.downcast::<Leaf>() {
                fact.push_str(&format!(" {:x}", leaf.read().weight.to_bits()));
            }
            if let Some(twig) = value.downcast::<Twig>() {
                let more = twig.read().more.clone();
                for part in more {
                    fact.push_str(&format!(" {}", self.enter(part.as_ref())));
                }
            }
            if let Some(branch) = value.downcast::<Branch>() {
                let twig = branch.read().end.clone();
                let twig = twig.map(|twig| twig.upcast());
                fact.push_str(&format!(" {}", self.enter(twig.as_ref())));
            }
            self.fact(fact);
        }
    }

    /// Takes cycles apart, as a program has to that keeps what it was sent.
    fn take_apart(&self) {
        for value in &self.nodes {
            if let Some(mut state) = value.try_write() {
                (state.left, state.right) = (None, None);
            }
            if let Some(twig) = value.downcast::<Twig>() {
                twig.write().more.clear();
            }
            if let Some(branch) = value.downcast::<Branch>() {
                branch.write().end = None;
            }
        }
    }
}

/// The types that a message may be read as.
trait Shape: Encode + for<'de> Decode<'de> {
    /// Enters all that it holds.
    fn look(&self, graph: &mut Graph);
}

impl Shape for Chain {
    fn look(&self, graph: &mut Graph) {
        for node in &self.them {
            let number = graph.enter(node.as_ref());
            graph.fact(number);
        }
    }
}

impl Shape for Hidden {
    fn look(&self, graph: &mut Graph) {
        for secret in &self.them {
            graph.secret(secret.as_ref());
        }
    }
}

impl Shape for Boxed {
    fn look(&self, graph: &mut Graph) {
        graph.fact(format!("{:?} {:?}", self.lists, self.numbers));
    }
}

impl Shape for Mixed {
    fn look(&self, graph: &mut Graph) {
        let twig = self.second.as_ref().map(Value::upcast);
        for node in [self.first.as_ref(), twig.as_ref(), self.again.as_ref()] {
            let number = graph.enter(node);
            graph.fact(number);
        }
        graph.secret(self.third.as_ref());
        graph.fact(format!("{:?} {:?}", self.list, self.number));
    }
}

fn facts<T: Shape>(read: &T) -> Graph {
    let mut graph = Graph::default();
    read.look(&mut graph);
    graph.walk();
    graph
}

fn check<T: Shape, O: ByteOrder>(octets: &Bytes, format: WireFormat) {
    let frame = Frame::new(octets.clone());
    let read = || {
        let d = Decoder::<O>::at(&frame, 0, format).ok()?;
        d.with_limits(memory::limits()).get::<T>().ok()
    };
    let Some(first) = memory::measured(frame.len(), read) else {
        return;
    };
    let graph = facts(&first);
    let mut e = Encoder::<O>::new(format);
    if first.encode(&mut e).is_ok() {
        let sent = Frame::new(e.finish().into_bytes());
        let again = Decoder::<O>::at(&sent, 0, format).and_then(|mut d| d.get::<T>());
        let again = again.expect("what was sent can be read");
        let second = facts(&again);
        assert_eq!(second.facts, graph.facts, "what was sent reads otherwise");
        second.take_apart();
    }
    graph.take_apart();
}

/// The first octet decides about the byte order (bit 0), the minor version (bits 1 and 2, at most 2) and what the rest is
/// read as (bits 3 and 4).
pub fn run(data: &[u8]) {
    let [how, octets @ ..] = data else {
        return;
    };
    let octets = Bytes::copy_from_slice(octets);
    let format = WireFormat {
        minor: (how >> 1 & 3).min(2),
        ..WireFormat::default()
    };
    match (how >> 3 & 3, how & 1) {
        (0, 0) => check::<Chain, BigEndian>(&octets, format),
        (0, _) => check::<Chain, LittleEndian>(&octets, format),
        (1, 0) => check::<Hidden, BigEndian>(&octets, format),
        (1, _) => check::<Hidden, LittleEndian>(&octets, format),
        (2, 0) => check::<Boxed, BigEndian>(&octets, format),
        (2, _) => check::<Boxed, LittleEndian>(&octets, format),
        (_, 0) => check::<Mixed, BigEndian>(&octets, format),
        _ => check::<Mixed, LittleEndian>(&octets, format),
    }
}
