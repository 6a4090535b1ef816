//! Operations with more results than Rust's tuples have traits for.

use zorb::{ManyResults, Orb, SystemException};

zorb::idl! {
    module Many {
        interface Source {
            long thirteen(out long a2, out long a3, out long a4, out long a5, out long a6, out long a7, out long a8, out long a9, out long a10, out long a11, out long a12, out long a13);
            long thirty_three(out long a2, out long a3, out long a4, out long a5, out long a6, out long a7, out long a8, out long a9, out long a10, out long a11, out long a12, out long a13, out long a14, out long a15, out long a16, out long a17, out long a18, out long a19, out long a20, out long a21, out long a22, out long a23, out long a24, out long a25, out long a26, out long a27, out long a28, out long a29, out long a30, out long a31, out long a32, out long a33);
        };
    };
}

use many::{Source, SourceRef, SourceServant};

type Thirteen = ManyResults<(
    i32,
    i32,
    i32,
    i32,
    i32,
    i32,
    i32,
    i32,
    i32,
    i32,
    i32,
    i32,
    i32,
)>;

const THIRTEEN: Thirteen = ManyResults((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13));

/// Results of 33 values: the first 32 of them, and the last one.
type ThirtyThree = (
    ManyResults<(
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
    )>,
    i32,
);

const THIRTY_THREE: ThirtyThree = (
    ManyResults((
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
        26, 27, 28, 29, 30, 31, 32,
    )),
    33,
);

struct Numbers;

impl Source for Numbers {
    async fn thirteen(&self) -> Result<Thirteen, SystemException> {
        Ok(THIRTEEN)
    }

    async fn thirty_three(&self) -> Result<ThirtyThree, SystemException> {
        Ok(THIRTY_THREE)
    }
}

#[tokio::test]
async fn more_results_than_twelve_can_be_compared_and_printed_from_near_and_far() {
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    let poa = server.root_poa();
    let near: SourceRef = poa.activate(SourceServant::new(Numbers)).unwrap();
    poa.the_poa_manager().activate().unwrap();
    let client = Orb::builder().build().await.unwrap();
    let far = client.string_to_object(&near.to_string()).await.unwrap();
    let far: SourceRef = far.unchecked_narrow();
    for source in [near, far] {
        let results = source.thirteen().await.unwrap();
        assert_eq!(results, THIRTEEN);
        let text = format!("{results:?}");
        assert_eq!(text, "(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)");
        let ManyResults((first, .., last)) = results;
        assert_eq!((first, last), (1, 13));
        let all = source.thirty_three().await.unwrap();
        assert_eq!(all, THIRTY_THREE);
        let text = format!("{all:?}");
        assert!(
            text.starts_with("((1, 2, 3, ") && text.ends_with(", 32), 33)"),
            "{text}"
        );
        let (ManyResults((first, .., before_last)), last) = all;
        assert_eq!((first, before_last, last), (1, 32, 33));
    }
    server.shutdown(true).await.unwrap();
}
