//! Recursive and inherited structs, and anonymous types.

use crate::features::two_orbs::{from_afar, in_time, orb};
use zorb::SystemException;

zorb::idl! {
    module Structs {
        struct Empty {};
        struct Chain { long link; sequence<Chain> next; };
        union Tree switch (boolean) { case TRUE: sequence<Tree, 2> both; default: long leaf; };

        struct Plainly {
            sequence<sequence<short, 3> > grid;
            string<5> tag;
            long cube[2][3];
            wstring<4> wide;
            sequence<string<3>, 2> tags;
            Empty nothing;
            octet last;
        };

        struct Point { long x; double y; };
        struct Place : Point { string name; };
        struct Home : Place { sequence<Place> others; };
        typedef sequence<Empty> Voids;

        interface Echo {
            Chain take_chain(in Chain it, inout Tree at);
            Plainly take_plainly(in Plainly it, in Empty nothing, out Voids many);
            Home take_home(in Home it, in Voids many);
        };
    };
}

use structs::{Chain, Echo, EchoRef, EchoServant, Empty, Home, Place, Plainly, Point, Tree};

struct Servant;

impl Echo for Servant {
    async fn take_chain(&self, it: &Chain, tree: &Tree) -> Result<(Chain, Tree), SystemException> {
        Ok((it.clone(), Tree::Both(vec![tree.clone(), Tree::Leaf(1)])))
    }
    async fn take_plainly(
        &self,
        it: &Plainly,
        _: &Empty,
    ) -> Result<(Plainly, Vec<Empty>), SystemException> {
        Ok((it.clone(), vec![Empty; 3]))
    }
    async fn take_home(&self, it: &Home, voids: &[Empty]) -> Result<Home, SystemException> {
        let mut home = it.clone();
        home.base.base.x += i32::try_from(voids.len()).unwrap();
        home.others.push(it.base.clone());
        Ok(home)
    }
}

#[tokio::test]
async fn structs_that_hold_themselves_or_nothing_or_others_travel() {
    let (server, client) = (orb().await, orb().await);
    let echo = server
        .root_poa()
        .activate(EchoServant::new(Servant))
        .unwrap();
    let echo: EchoRef = from_afar(&client, &echo).await;

    let leaf = |link| Chain { link, next: vec![] };
    let chain = Chain {
        link: 1,
        next: vec![
            leaf(2),
            Chain {
                link: 3,
                next: vec![leaf(4)],
            },
        ],
    };
    let (again, tree) = in_time(echo.take_chain(&chain, &Tree::Leaf(7)))
        .await
        .unwrap();
    assert_eq!(again, chain);
    assert_eq!(tree, Tree::Both(vec![Tree::Leaf(7), Tree::Leaf(1)]));
    // An anonymous bound holds: three are too many.
    let many = Tree::Both(vec![Tree::Leaf(0), Tree::Leaf(0), Tree::Leaf(0)]);
    let error = in_time(echo.take_chain(&chain, &many)).await.unwrap_err();
    assert_eq!(error.kind, zorb::SystemExceptionKind::BadParam);

    let plainly = Plainly {
        grid: vec![vec![1, 2, 3], vec![], vec![-1]],
        tag: "tag".to_owned(),
        cube: [[1, 2, 3], [4, 5, 6]],
        wide: "Ж".to_owned(),
        tags: vec!["a".to_owned(), "bcd".to_owned()],
        nothing: Empty,
        last: 9,
    };
    let (again, voids) = in_time(echo.take_plainly(&plainly, &Empty)).await.unwrap();
    assert_eq!((again, voids.len()), (plainly.clone(), 3));
    let mut long = plainly;
    long.grid[0].push(4);
    let error = in_time(echo.take_plainly(&long, &Empty)).await.unwrap_err();
    assert_eq!(error.kind, zorb::SystemExceptionKind::BadParam);

    let place = Place {
        base: Point { x: 1, y: 2.5 },
        name: "here".to_owned(),
    };
    let home = Home {
        base: place.clone(),
        others: vec![place.clone()],
    };
    let again = in_time(echo.take_home(&home, &[Empty, Empty]))
        .await
        .unwrap();
    assert_eq!(again.base.base.x, 3);
    assert_eq!(again.others, [place.clone(), place]);
}
