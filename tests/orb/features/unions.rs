//! Unions.

use crate::features::two_orbs::{from_afar, in_time, orb};
use zorb::{Char, CompletionStatus, Interface, Orb, SystemException, SystemExceptionKind as Kind};

zorb::idl! {
    module Unions {
        enum Suit { clubs, diamonds, hearts, spades };
        struct Point { short x; double y; };
        typedef sequence<octet> Blob;

        union ByLong switch (long) {
            case 1:
            case -7:  string<8> text;
            case 100: Point at;
            default:  Blob other;
        };
        union ByChar switch (char) { case 'a': long small; };
        union BySuit switch (Suit) {
            case clubs: case spades: octet black;
            case hearts: wstring heart;
            default: Object thing;
        };
        union Maybe switch (boolean) { case TRUE: ByLong some; };
        union ByBig switch (unsigned long long) { case 0xfedcba9876543210: string far_; };
        union Own switch (enum Which { mine, yours }) { case mine: Which it; };
        typedef sequence<ByLong> All;

        union Expr;
        typedef sequence<Expr> Exprs;
        enum Op { number, negate, add };
        union Expr switch (Op) {
            case number: double value;
            case negate: case add: Exprs all;
        };

        exception Refused { Maybe why; };
        interface Echo {
            ByLong by_long(in ByLong a, inout ByChar b, out BySuit c, in Maybe d) raises (Refused);
            All reverse(in All list, in ByBig big);
            double evaluate(in Expr it) raises (Refused);
            attribute Own owner;
            BySuit twice(in BySuit it);
        };
    };
}

use unions::echo::{ByLongError, EvaluateError};
use unions::{
    ByBig, ByChar, ByLong, BySuit, Echo, EchoRef, EchoServant, Expr, Maybe, Op, Own, Point,
    Refused, Suit, own,
};

#[derive(Default)]
struct Servant {
    owner: std::sync::Mutex<Option<Own>>,
}

fn value(it: &Expr) -> Result<f64, EvaluateError> {
    let all = |all: &[Expr]| all.iter().map(value).sum::<Result<f64, _>>();
    match it {
        Expr::Value(number) => Ok(*number),
        Expr::All {
            discriminator: Op::Add,
            value,
        } => all(value),
        Expr::All { value, .. } if value.len() == 1 => Ok(-all(value)?),
        Expr::All { .. } => Err(Refused { why: Maybe::Unset }.into()),
    }
}

impl Echo for Servant {
    async fn by_long(
        &self,
        a: &ByLong,
        b: &ByChar,
        d: &Maybe,
    ) -> Result<(ByLong, ByChar, BySuit), ByLongError> {
        if let Maybe::Some(_) = d {
            return Err(Refused { why: d.clone() }.into());
        }
        let (b, c) = match b {
            ByChar::Small(n) => {
                let (discriminator, value) = (Suit::Spades, u8::try_from(*n).unwrap());
                (
                    ByChar::Small(-n),
                    BySuit::Black {
                        discriminator,
                        value,
                    },
                )
            }
            unset => (unset.clone(), BySuit::Heart("♥".to_owned())),
        };
        Ok((a.clone(), b, c))
    }
    async fn reverse(&self, all: &[ByLong], big: &ByBig) -> Result<Vec<ByLong>, SystemException> {
        assert!(
            matches!(big, ByBig::Far(text) if text == "far")
                || *big == ByBig::Unset { discriminator: 3 }
        );
        Ok(all.iter().rev().cloned().collect())
    }
    async fn evaluate(&self, it: &Expr) -> Result<f64, EvaluateError> {
        value(it)
    }
    async fn twice(&self, it: &BySuit) -> Result<BySuit, SystemException> {
        match it {
            BySuit::Thing(Some(object)) => {
                let echo: EchoRef = object.unchecked_narrow();
                echo.twice(&BySuit::Thing(None)).await?;
                Ok(it.clone())
            }
            it => Ok(it.clone()),
        }
    }
    async fn owner(&self) -> Result<Own, SystemException> {
        Ok(self.owner.lock().unwrap().clone().unwrap_or(Own::Unset))
    }
    async fn set_owner(&self, value: &Own) -> Result<(), SystemException> {
        *self.owner.lock().unwrap() = Some(value.clone());
        Ok(())
    }
}

async fn echo() -> (Orb, Orb, EchoRef) {
    let (server, client) = (orb().await, orb().await);
    let servant = EchoServant::new(Servant::default());
    let echo = server.root_poa().activate(servant).unwrap();
    let echo = from_afar(&client, &echo).await;
    (server, client, echo)
}

#[tokio::test]
async fn unions_travel_as_parameters_results_and_members() {
    let (_server, _client, echo) = echo().await;
    for a in [
        ByLong::Text {
            discriminator: -7,
            value: "text".to_owned(),
        },
        ByLong::Text {
            discriminator: 1,
            value: String::new(),
        },
        ByLong::At(Point { x: -1, y: 0.5 }),
        ByLong::Other {
            discriminator: 0,
            value: vec![7; 100_000].into(),
        },
    ] {
        let b = ByChar::Small(200);
        let (again, b, c) = in_time(echo.by_long(&a, &b, &Maybe::Unset)).await.unwrap();
        assert_eq!(again, a);
        assert_eq!(b, ByChar::Small(-200));
        assert_eq!(
            c,
            BySuit::Black {
                discriminator: Suit::Spades,
                value: 200
            }
        );
        let b = ByChar::Unset {
            discriminator: Char(b'b'),
        };
        let (_, b, c) = in_time(echo.by_long(&a, &b, &Maybe::Unset)).await.unwrap();
        assert_eq!(
            b,
            ByChar::Unset {
                discriminator: Char(b'b')
            }
        );
        assert_eq!(c, BySuit::Heart("♥".to_owned()));
        // In an exception, too.
        let why = Maybe::Some(a.clone());
        let error = in_time(echo.by_long(&a, &b, &why)).await.unwrap_err();
        assert_eq!(error, ByLongError::Refused(Refused { why }));
    }
    let all = vec![
        ByLong::At(Point { x: 1, y: 2.0 }),
        ByLong::Other {
            discriminator: 5,
            value: "x".into(),
        },
    ];
    for big in [
        ByBig::Far("far".to_owned()),
        ByBig::Unset { discriminator: 3 },
    ] {
        let mut reversed = in_time(echo.reverse(&all, &big)).await.unwrap();
        reversed.reverse();
        assert_eq!(reversed, all);
    }
    let mine = Own::It(own::Which::Yours);
    in_time(echo.set_owner(&mine)).await.unwrap();
    assert_eq!(in_time(echo.owner()).await.unwrap(), mine);
}

#[tokio::test]
async fn a_union_that_contains_itself_travels() {
    let (_server, _client, echo) = echo().await;
    let number = Expr::Value;
    let all = |discriminator, value| Expr::All {
        discriminator,
        value,
    };
    let it = all(
        Op::Add,
        vec![
            number(1.5),
            all(Op::Negate, vec![all(Op::Add, vec![number(4.0)])]),
            all(Op::Add, vec![]),
        ],
    );
    assert_eq!(in_time(echo.evaluate(&it)).await.unwrap(), -2.5);
    let nothing = in_time(echo.evaluate(&all(Op::Negate, vec![])))
        .await
        .unwrap_err();
    assert_eq!(
        nothing,
        EvaluateError::Refused(Refused { why: Maybe::Unset })
    );
    // Deeper than the limit: the server raises an exception, and serves on.
    let mut deep = number(1.0);
    for _ in 0..200 {
        deep = all(Op::Negate, vec![deep]);
    }
    match in_time(echo.evaluate(&deep)).await.unwrap_err() {
        EvaluateError::System(e) => {
            assert_eq!((e.kind, e.completed), (Kind::Marshal, CompletionStatus::No))
        }
        other => panic!("{other}"),
    }
    assert_eq!(in_time(echo.evaluate(&number(2.0))).await.unwrap(), 2.0);
}

#[tokio::test]
async fn a_discriminator_that_selects_something_else_is_bad_param() {
    let (_server, _client, echo) = echo().await;
    for wrong in [
        ByLong::Text {
            discriminator: 2,
            value: String::new(),
        },
        ByLong::Other {
            discriminator: 100,
            value: "".into(),
        },
    ] {
        let error = in_time(echo.reverse(&[wrong], &ByBig::Unset { discriminator: 3 }))
            .await
            .unwrap_err();
        assert_eq!(
            (error.kind, error.completed),
            (Kind::BadParam, CompletionStatus::No)
        );
        assert!(
            error
                .to_string()
                .contains("expected a discriminator that selects"),
            "{error}"
        );
    }
    let wrong = ByBig::Unset {
        discriminator: 0xfedc_ba98_7654_3210,
    };
    let error = in_time(echo.reverse(&[], &wrong)).await.unwrap_err();
    assert_eq!(error.kind, Kind::BadParam);
    // Bounds of members hold as elsewhere.
    let long = ByLong::Text {
        discriminator: 1,
        value: "123456789".to_owned(),
    };
    let error = in_time(echo.reverse(&[long], &ByBig::Unset { discriminator: 3 }))
        .await
        .unwrap_err();
    assert_eq!(error.kind, Kind::BadParam);
}

#[tokio::test]
async fn references_travel_in_unions() {
    let (_server, _client, echo) = echo().await;
    let suit = BySuit::Thing(Some(echo.as_object().clone()));
    assert_eq!(suit.discriminator(), Suit::Diamonds);
    // The servant calls whom it finds in there.
    assert_eq!(in_time(echo.twice(&suit)).await.unwrap(), suit);
    let nil = BySuit::Thing(None);
    assert_eq!(in_time(echo.twice(&nil)).await.unwrap(), nil);
}
