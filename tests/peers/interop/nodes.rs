//! The small objects that both the server and the client host: nodes and the family.

use crate::interop::idl::interop::{
    Base, BaseRef, BaseServant, Diamond, DiamondRef, DiamondServant, Left, LeftRef, LeftServant,
    LoudNode, LoudNodeServant, Node, NodeRef, NodeServant, Right, RightRef, RightServant,
};
use crate::interop::rules::Value;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use zorb::{CompletionStatus, Interface, Orb, SystemException, SystemExceptionKind};

type Raises<T> = Result<T, SystemException>;

pub(crate) fn bad_param(minor: u32) -> SystemException {
    SystemException::new(SystemExceptionKind::BadParam, minor, CompletionStatus::No)
}

/// Hosts a node, and gives its reference and the node itself. A loud one says that it is a
/// `LoudNode` to who asks, and by the id in its reference.
pub(crate) fn host_node(orb: &Orb, name: &str, loud: bool) -> (NodeRef, Arc<Hosted>) {
    let node = named_node(name);
    let servant = Arc::clone(&node);
    let poa = orb.root_poa();
    let reference: NodeRef = if loud {
        poa.activate(LoudNodeServant::from_arc(servant))
            .expect("the ORB listens")
            .into()
    } else {
        poa.activate(NodeServant::from_arc(servant))
            .expect("the ORB listens")
    };
    let this = reference.clone();
    node.this.set(this).expect("the node is not shared yet");
    (reference, node)
}

/// A node without a host, which knows no reference of its own.
pub(crate) fn named_node(name: &str) -> Arc<Hosted> {
    Arc::new(Hosted {
        name: name.to_owned(),
        bounced: AtomicU32::new(0),
        this: OnceLock::new(),
    })
}

/// The name of a node, asked now; "-" for nil.
pub(crate) async fn name_of(node: Option<&NodeRef>) -> Raises<String> {
    match node {
        Some(node) => node.name().await,
        None => Ok("-".to_owned()),
    }
}

/// A node, loud or not: that is for its skeleton to decide.
pub(crate) struct Hosted {
    name: String,
    pub(crate) bounced: AtomicU32,
    this: OnceLock<NodeRef>,
}

impl Node for Hosted {
    async fn name(&self) -> Raises<String> {
        Ok(self.name.clone())
    }

    async fn bounced(&self) -> Raises<u32> {
        Ok(self.bounced.load(Ordering::Relaxed))
    }

    async fn bounce(&self, depth: i32, back: Option<NodeRef>) -> Raises<i32> {
        self.bounced.fetch_add(1, Ordering::Relaxed);
        if depth <= 0 {
            return Ok(0);
        }
        let back = back.ok_or_else(|| bad_param(7))?;
        Ok(1 + back.bounce(depth - 1, self.this.get().cloned()).await?)
    }
}

impl LoudNode for Hosted {
    async fn shout(&self, text: &str) -> Raises<String> {
        Ok(text.twisted() + "!")
    }
}

/// A member of the family; its skeleton decides which.
struct Relative {
    kind: &'static str,
    weight: AtomicI32,
}

impl Base for Relative {
    async fn kind(&self) -> Raises<String> {
        Ok(self.kind.to_owned())
    }

    async fn base_op(&self, s: &str) -> Raises<String> {
        Ok(format!("{}:base:{s}", self.kind))
    }
}

impl Left for Relative {
    async fn weight(&self) -> Raises<i32> {
        Ok(self.weight.load(Ordering::Relaxed))
    }

    async fn set_weight(&self, value: i32) -> Raises<()> {
        self.weight.store(value, Ordering::Relaxed);
        Ok(())
    }

    async fn left_op(&self, s: &str) -> Raises<String> {
        Ok(format!("{}:left:{s}", self.kind))
    }
}

impl Right for Relative {
    async fn right_op(&self, n: i32) -> Raises<String> {
        Ok(format!("{}:right:{n}", self.kind))
    }
}

impl Diamond for Relative {
    async fn diamond_op(&self) -> Raises<String> {
        Ok(format!("{}:diamond", self.kind))
    }
}

/// A new member of the family; `None` when there is no such kind.
pub(crate) fn host_relative(orb: &Orb, kind: &str) -> Result<Option<BaseRef>, zorb::Error> {
    let poa = orb.root_poa();
    let new = |kind| Relative {
        kind,
        weight: AtomicI32::new(0),
    };
    Ok(Some(match kind {
        "Base" => poa.activate(BaseServant::new(new("Base")))?,
        "Left" => poa.activate(LeftServant::new(new("Left")))?.into(),
        "Right" => poa.activate(RightServant::new(new("Right")))?.into(),
        "Diamond" => poa.activate(DiamondServant::new(new("Diamond")))?.into(),
        _ => return Ok(None),
    }))
}

/// The expected result of `Families::walk`.
pub(crate) async fn walk(who: &BaseRef) -> Raises<String> {
    let mut steps = vec![who.base_op("w").await?];
    let who = who.as_object();
    if let Some(left) = who.narrow::<LeftRef>().await? {
        steps.push(left.left_op("w").await?);
    }
    if let Some(right) = who.narrow::<RightRef>().await? {
        steps.push(right.right_op(7).await?);
    }
    if let Some(diamond) = who.narrow::<DiamondRef>().await? {
        steps.push(diamond.diamond_op().await?);
    }
    Ok(steps.join("|"))
}
