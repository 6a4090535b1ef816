//! Big-endian requests of ours, by a [`Caller`].

use crate::caller::Caller;
use crate::interop::idl::interop::types::{Bundle, Inner, Odd, Outer, WideBundle};
use crate::interop::jacorb::JACORB;
use crate::interop::omniorb::OMNIORB;
use crate::interop::rules::Value;
use crate::interop::samples::{Dice, Sample, bundle, wide_bundle};
use crate::matrix::Talk;
use crate::peers::{Brand, Over, Way};
use crate::support::passed;
use zorb_cdr::{CharSet, Decode, Encode};

fn sequences<T>(caller: &mut Caller, operation: &str)
where
    T: Sample + Value<Owned = T> + Clone,
    Vec<T>: Value<Owned = Vec<T>> + Encode + for<'de> Decode<'de>,
{
    let mut d = Dice(7);
    for (n, m) in [(0, 0), (1, 0), (2, 1), (8, 7), (33, 32), (500, 3)] {
        let (a, b): (Vec<T>, Vec<T>) = (d.many(n, T::sample), d.many(m, T::sample));
        caller.echo(operation, &a, &b);
    }
}

type Cell = (&'static str, fn(&mut Caller));

const CELLS: [Cell; 5] = [
    ("basic", |caller| {
        for v in [0, 1, 0x1234_5678, i32::MIN, -1] {
            caller.echo("echo_long", &v, &!v);
            caller.echo("echo_double", &f64::from(v), &0.1);
            caller.echo("echo_longlong", &(i64::from(v) << 20), &i64::MAX);
        }
        caller.echo("echo_short", &0x1234_i16, &-2);
        caller.echo("echo_float", &1.5_f32, &-0.0);
        caller.echo("echo_boolean", &true, &false);
    }),
    ("strings", |caller| {
        let text = |text: &str| text.to_owned();
        caller.echo("echo_string", &text("The quick brown fox"), &text(""));
        caller.echo("echo_string", &text("naïve café"), &text("ÄÖÜß"));
        sequences::<String>(caller, "echo_strings");
    }),
    ("structs", |caller| {
        let mut d = Dice(3);
        for _ in 0..8 {
            caller.echo("echo_odd", &Odd::sample(&mut d), &Odd::sample(&mut d));
            caller.echo("echo_outer", &Outer::sample(&mut d), &Outer::sample(&mut d));
        }
    }),
    ("bundles", |caller| {
        let mut d = Dice(4);
        for n in 0..9 {
            let (a, b): (Bundle, Bundle) = (bundle(&mut d, n), bundle(&mut d, n * 5 % 7));
            caller.echo("echo_bundle", &a, &b);
        }
    }),
    ("struct_sequences", |caller| {
        sequences::<Odd>(caller, "echo_odds");
        sequences::<Inner>(caller, "echo_inners");
        sequences::<Outer>(caller, "echo_outers");
    }),
];

const WIDE: Cell = ("wide_structs", |caller| {
    let mut d = Dice(23);
    for n in 0..9 {
        let (a, b): (WideBundle, WideBundle) =
            (wide_bundle(&mut d, n), wide_bundle(&mut d, n * 5 % 7));
        caller.echo("echo_wide", &a, &b);
    }
});

fn check(brand: &'static Brand, giop: &'static str, cells: &[Cell]) {
    let talk = Talk::new(giop, Over::Tcp);
    let prefix = talk.prefix(("zorb", "be"), (brand.name, brand.order));
    let Some(programs) = brand.find(&prefix) else {
        return;
    };
    let way = Way::new(brand, &programs, talk.over, talk.args_of(brand));
    let (_server, reference) = way.start();
    let mut caller = Caller::to(&reference, brand.order);
    assert!(
        giop.ends_with(&caller.version.minor.to_string()),
        "{prefix}"
    );
    if giop == "1.0" {
        assert_eq!(caller.format.char_set, CharSet::Latin1);
    }
    for (name, cell) in cells {
        cell(&mut caller);
        passed(&format!("{prefix}/{name}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_big_endian_requests_are_understood_by_omniorb() {
    check(&OMNIORB, "1.0", &CELLS);
    check(&OMNIORB, "1.1", &CELLS);
    check(&OMNIORB, "1.2", &[&CELLS[..], &[WIDE]].concat());
}

/// But for text beyond ASCII, for which an `Orb` knows in which set JacORB answers.
#[tokio::test(flavor = "multi_thread")]
async fn our_big_endian_requests_are_understood_by_jacorb() {
    let cells = CELLS.into_iter().filter(|(name, _)| *name != "strings");
    let cells: Vec<Cell> = cells.chain([WIDE]).collect();
    check(&JACORB, "1.2", &cells);
}
