//! Operations that are about something else than data: state, exceptions, references, waiting.

use super::{Gate, Peer, Raises, WaitedFor};
use crate::interop::idl::interop::failures::FailError;
use crate::interop::idl::interop::families::MakeFamilyError;
use crate::interop::idl::interop::types::Suit;
use crate::interop::idl::interop::words::ForError;
use crate::interop::idl::interop::{
    self, BaseRef, Completion, FailKind, LoudNodeRef, NodeRef, PeerRef,
};
use crate::interop::idl::interop::{
    Detailed, Empty, Let, Loop, NamedNode, NoSuchKind, Refused, Unsafe,
};
use crate::interop::idl::shapes::{Broken, Colour, Point};
use crate::interop::nodes::{bad_param, host_node, host_relative, name_of, walk};
use crate::interop::rules::{Value, digest};
use std::sync::atomic::Ordering;
use zorb::{CompletionStatus, Interface, ObjectRef, OctetsRef};
use zorb::{SystemException, SystemExceptionKind};

impl interop::Peer for Peer {}

macro_rules! attributes {
    ($($get:ident: $type:ty = |$a:ident| $read:expr, $set:ident($in:ty) = |$b:ident, $value:ident| $write:expr;)+) => {$(
        async fn $get(&self) -> Raises<$type> {
            let $a = self.attributes.lock().unwrap();
            Ok($read)
        }
        async fn $set(&self, $value: $in) -> Raises<()> {
            let mut $b = self.attributes.lock().unwrap();
            $write;
            $b.revision += 1;
            Ok(())
        }
    )+};
}

impl interop::Attributes for Peer {
    attributes! {
        number: i32 = |a| a.number, set_number(i32) = |a, value| a.number = value;
        title: String = |a| a.title.clone(), set_title(&str) = |a, value| a.title = value.to_owned();
        ready: bool = |a| a.ready, set_ready(bool) = |a, value| a.ready = value;
        list: Vec<i32> = |a| a.list.clone(), set_list(&[i32]) = |a, value| a.list = value.to_vec();
        where_: Point = |a| a.position.clone().unwrap_or(Point { x: 0, y: 0.0 }),
            set_where(&Point) = |a, value| a.position = Some(value.clone());
        companion: Option<NodeRef> = |a| a.companion.clone(),
            set_companion(Option<NodeRef>) = |a, value| a.companion = value;
    }

    async fn revision(&self) -> Raises<u32> {
        Ok(self.attributes.lock().unwrap().revision)
    }
}

impl interop::Failures for Peer {
    async fn fail(&self, kind: FailKind, code: i32, text: &str) -> Result<i32, FailError> {
        let quarter = usize::try_from(code % 4).expect("code is not negative");
        let why = text.to_owned();
        Err(match kind {
            FailKind::FailNot => return Ok(!code),
            FailKind::FailEmpty => Empty.into(),
            FailKind::FailDetailed => Detailed {
                level: code.to_le_bytes()[0],
                code: -1_000_003 * i64::from(code),
                text: text.twisted(),
                where_: Point {
                    x: i16::try_from(code).expect("code is small"),
                    y: f64::from(code) / 2.0,
                },
                trail: vec![code, code + 1, code + 2],
                suit: [Suit::Clubs, Suit::Diamonds, Suit::Hearts, Suit::Spades][quarter],
                last: true,
            }
            .into(),
            FailKind::FailBroken => {
                let shades = [Colour::Red, Colour::Green, Colour::Blue, Colour::DeepPurple];
                Broken {
                    why,
                    shade: shades[quarter],
                }
                .into()
            }
            FailKind::FailRefused => Refused {
                why,
                by: Some(self.home.clone()),
            }
            .into(),
        })
    }

    async fn fail_system(&self, name: &str, minor: u32, completed: Completion) -> Raises<()> {
        let kind = SystemExceptionKind::ALL
            .iter()
            .find(|kind| kind.name() == name);
        let completed = match completed {
            Completion::CompletedYes => CompletionStatus::Yes,
            Completion::CompletedNo => CompletionStatus::No,
            Completion::CompletedMaybe => CompletionStatus::Maybe,
        };
        Err(match kind {
            Some(kind) => SystemException::new(*kind, minor, completed),
            None => bad_param(1),
        })
    }

    async fn fail_undeclared(&self) -> Raises<()> {
        panic!("on purpose: the client has to get UNKNOWN")
    }
}

impl interop::Oneways for Peer {
    async fn note(&self, id: i32, text: &str) -> Raises<()> {
        self.noted(digest!(id, text));
        Ok(())
    }

    async fn note_octets(&self, data: OctetsRef<'_>) -> Raises<()> {
        self.noted(digest!(data));
        Ok(())
    }

    async fn notes(&self, count: u32) -> Raises<u64> {
        self.until(|it| {
            let enough = it.notes >= count;
            enough.then(|| {
                it.notes = 0;
                std::mem::take(&mut it.total)
            })
        })
        .await
    }
}

impl Peer {
    fn noted(&self, digest: u64) {
        self.waited_for.send_modify(|it| {
            it.notes += 1;
            it.total = it.total.wrapping_add(digest);
        });
    }

    fn kept(&self) -> Option<NodeRef> {
        self.kept.lock().unwrap().clone()
    }
}

async fn kind_of(object: Option<&ObjectRef>) -> Raises<&'static str> {
    let Some(object) = object else {
        return Ok("nil");
    };
    Ok(if object.narrow::<PeerRef>().await?.is_some() {
        "Peer"
    } else if object.narrow::<LoudNodeRef>().await?.is_some() {
        "LoudNode"
    } else if object.narrow::<NodeRef>().await?.is_some() {
        "Node"
    } else {
        "other"
    })
}

impl interop::References for Peer {
    async fn own_node(&self) -> Raises<Option<NodeRef>> {
        Ok(Some(self.home.clone()))
    }

    async fn make_node(&self, name: &str, loud: bool) -> Raises<Option<NodeRef>> {
        Ok(Some(host_node(&self.orb, name, loud).0))
    }

    async fn destroy_node(&self, victim: Option<NodeRef>) -> Raises<()> {
        let victim = victim.ok_or_else(|| bad_param(0))?;
        Ok(self.orb.root_poa().deactivate_object(&victim)?)
    }

    async fn pass_node(
        &self,
        a: Option<NodeRef>,
        b: Option<NodeRef>,
    ) -> Raises<(Option<NodeRef>, Option<NodeRef>, Option<NodeRef>, String)> {
        let names = format!(
            "{},{}",
            name_of(a.as_ref()).await?,
            name_of(b.as_ref()).await?
        );
        Ok((Some(self.home.clone()), a, b, names))
    }

    async fn turn(&self, list: &[Option<NodeRef>]) -> Raises<(Vec<Option<NodeRef>>, String)> {
        let mut names = Vec::new();
        for node in list {
            names.push(name_of(node.as_ref()).await?);
        }
        let mut turned = list.to_vec();
        turned.rotate_left(usize::from(!list.is_empty()));
        Ok((turned, names.join(",")))
    }

    async fn pass_named(
        &self,
        a: &NamedNode,
        b: &NamedNode,
    ) -> Raises<(NamedNode, NamedNode, NamedNode)> {
        let result = NamedNode {
            pad: a.pad ^ 0xff,
            ref_: b.ref_.clone(),
            label: format!("{}:{}", name_of(a.ref_.as_ref()).await?, a.label),
        };
        Ok((result, a.clone(), b.clone()))
    }

    async fn pass_object(
        &self,
        a: Option<ObjectRef>,
        b: Option<ObjectRef>,
    ) -> Raises<(
        Option<ObjectRef>,
        Option<ObjectRef>,
        Option<ObjectRef>,
        String,
    )> {
        let kinds = format!(
            "{},{}",
            kind_of(a.as_ref()).await?,
            kind_of(b.as_ref()).await?
        );
        Ok((None, a, b, kinds))
    }

    async fn shout_at(&self, who: Option<NodeRef>, text: &str) -> Raises<String> {
        let who = who.ok_or_else(|| bad_param(0))?;
        match who.as_object().narrow::<LoudNodeRef>().await? {
            Some(loud) => loud.shout(text).await,
            None => Ok("quiet".to_owned()),
        }
    }

    async fn ring(&self, back: Option<NodeRef>, depth: i32) -> Raises<i32> {
        let back = back.ok_or_else(|| bad_param(0))?;
        Ok(1 + back.bounce(depth, &self.home).await?)
    }

    async fn keep(&self, it: Option<NodeRef>) -> Raises<()> {
        *self.kept.lock().unwrap() = it;
        Ok(())
    }

    async fn call_kept(&self) -> Raises<String> {
        name_of(self.kept().as_ref()).await
    }
}

impl interop::Families for Peer {
    async fn make_family(&self, kind: &str) -> Result<Option<BaseRef>, MakeFamilyError> {
        match host_relative(&self.orb, kind)? {
            Some(relative) => Ok(Some(relative)),
            None => Err(NoSuchKind {
                kind: kind.to_owned(),
            }
            .into()),
        }
    }

    async fn walk(&self, who: Option<BaseRef>) -> Raises<String> {
        walk(&who.ok_or_else(|| bad_param(0))?).await
    }
}

impl interop::Words for Peer {
    async fn use_(&self) -> Raises<i32> {
        Ok(self.used.load(Ordering::Relaxed))
    }

    async fn set_use(&self, value: i32) -> Raises<()> {
        self.used.store(value, Ordering::Relaxed);
        Ok(())
    }

    async fn attribute(&self) -> Raises<i16> {
        Ok(77)
    }

    async fn type_(&self, match_: i32, ref_: i32) -> Raises<(i32, i32, i32)> {
        Ok((!match_, match_, ref_))
    }

    async fn match_(&self, where_: &str, self_: &str) -> Raises<String> {
        Ok(format!("{where_}/{self_}"))
    }

    async fn interface(&self, in_: i32) -> Raises<(i32, i32)> {
        Ok((!in_, in_))
    }

    async fn move_(&self, impl_: &Loop) -> Raises<Loop> {
        Ok(impl_.twisted())
    }

    async fn async_(&self, await_: Let) -> Raises<Let> {
        Ok(await_.twisted())
    }

    async fn for_(&self, while_: i32, if_: i32) -> Result<i32, ForError> {
        if while_ == if_ {
            let super_ = "equal".to_owned();
            return Err(Unsafe {
                crate_: while_,
                super_,
            }
            .into());
        }
        Ok(while_ - if_)
    }

    async fn union(&self, any: u8) -> Raises<u8> {
        Ok(any ^ 0xff)
    }

    async fn clone_(&self, box_: bool) -> Raises<bool> {
        Ok(!box_)
    }

    async fn drop(&self, self_: i32, trait_: i32, become_: i32, yield_: i32) -> Raises<i32> {
        Ok(self_ - trait_ + become_ - yield_)
    }
}

impl interop::Gates for Peer {
    async fn wait(&self, gate: &str) -> Raises<bool> {
        let mut mine = 0;
        self.waited_for.send_modify(|it| {
            let gate = it.gates.entry(gate.to_owned()).or_default();
            gate.waiting += 1;
            mine = gate.opened;
        });
        let let_go = |it: &mut WaitedFor| (it.gates[gate].opened != mine).then_some(());
        if self.until(let_go).await.is_ok() {
            return Ok(true);
        }
        let mut opened = false;
        self.waited_for.send_modify(|it| {
            if let Some(gate) = it.gates.get_mut(gate) {
                opened = gate.opened != mine;
                // The call that opens a gate has counted us already.
                gate.waiting -= u32::from(!opened);
            }
        });
        Ok(opened)
    }

    async fn open(&self, gate: &str, callers: u32) -> Raises<u32> {
        self.until(|it| {
            let Gate { waiting, opened } = it.gates.entry(gate.to_owned()).or_default();
            (*waiting >= callers).then(|| {
                *opened += 1;
                std::mem::take(waiting)
            })
        })
        .await
    }

    async fn waiting(&self, gate: &str) -> Raises<u32> {
        Ok(self
            .waited_for
            .borrow()
            .gates
            .get(gate)
            .map_or(0, |gate| gate.waiting))
    }
}

impl interop::Control for Peer {
    async fn orb_name(&self) -> Raises<String> {
        Ok("zorb".to_owned())
    }

    async fn die(&self) -> Raises<()> {
        std::process::exit(0)
    }

    async fn shutdown(&self) -> Raises<()> {
        self.orb.shutdown(false).await
    }
}
