//! Operations of more parameters and results than the tuples of the codec have members.

use crate::features::two_orbs::{from_afar, in_time, orb};
use zorb::{Context, ManyResults, SystemException};

zorb::idl! {
    module Many {
        interface Wide {
            long sum(in long a0, in long a1, in long a2, in long a3, in long a4, in long a5, in long a6,
                     in long a7, in long a8, in long a9, in long a10, in long a11, in long a12, in long a13,
                     in long a14, in long a15, in long a16, in long a17, in long a18, in long a19,
                     in long a20, in long a21, in long a22, in long a23, in long a24, in long a25,
                     in long a26, in long a27, in long a28, in long a29, in long a30, in long a31,
                     in long a32, in long a33, in long a34, in long a35, in long a36, in long a37,
                     in long a38, in long a39);
            octet spread(in octet start, out octet b0, out octet b1, out octet b2, out octet b3, out octet b4, out octet b5,
                     out octet b6, out octet b7, out octet b8, out octet b9, out octet b10, out octet b11,
                     out octet b12, out octet b13, out octet b14, out octet b15, out octet b16,
                     out octet b17, out octet b18, out octet b19, out octet b20, out octet b21,
                     out octet b22, out octet b23, out octet b24, out octet b25, out octet b26,
                     out octet b27, out octet b28, out octet b29, out octet b30, out octet b31,
                     out octet b32, out octet b33, out octet b34, out octet b35, out octet b36,
                     out octet b37, out octet b38, out octet b39);
            void turn(inout wstring c0, inout wstring c1, inout wstring c2, inout wstring c3,
                     inout wstring c4, inout wstring c5, inout wstring c6, inout wstring c7,
                     inout wstring c8, inout wstring c9, inout wstring c10, inout wstring c11,
                     inout wstring c12, inout wstring c13, inout wstring c14, inout wstring c15,
                     inout wstring c16, inout wstring c17, inout wstring c18, inout wstring c19,
                     inout wstring c20, inout wstring c21, inout wstring c22, inout wstring c23,
                     inout wstring c24, inout wstring c25, inout wstring c26, inout wstring c27,
                     inout wstring c28, inout wstring c29, inout wstring c30, inout wstring c31,
                     inout wstring c32)
                context ("user");
        };
        local interface Near { long sum(in long a0, in long a1, in long a2, in long a3, in long a4, in long a5, in long a6,
                     in long a7, in long a8, in long a9, in long a10, in long a11, in long a12, in long a13,
                     in long a14, in long a15, in long a16, in long a17, in long a18, in long a19,
                     in long a20, in long a21, in long a22, in long a23, in long a24, in long a25,
                     in long a26, in long a27, in long a28, in long a29, in long a30, in long a31,
                     in long a32, in long a33, in long a34, in long a35, in long a36, in long a37,
                     in long a38, in long a39); };
    };
}

use many::{Near, Wide, WideRef, WideServant};

struct Servant;

/// The results of a servant for parameters of those names.
macro_rules! servant {
    ([$($a:ident)*] [$($b:ident)*] [$($later:ident)*] [$c:ident $($more:ident)*] [$last:ident]) => {
        impl Near for Servant {
            fn sum(&self, $($a: i32),*) -> Result<i32, SystemException> {
                Ok(0 $(+ $a)*)
            }
        }

        impl Wide for Servant {
            async fn sum(&self, $($a: i32),*) -> Result<i32, SystemException> {
                Near::sum(self, $($a),*)
            }

            async fn spread(
                &self,
                mut start: u8,
            ) -> Result<
                (ManyResults<(u8, $(servant!(u8 $b)),*)>, ($(servant!(u8 $later)),*)),
                SystemException,
            > {
                let first = start;
                $(start += 1; let $b = start;)*
                $(start += 1; let $later = start;)*
                Ok((ManyResults((first, $($b),*)), ($($later),*)))
            }

            async fn turn(
                &self,
                $c: &str,
                $($more: &str,)*
                $last: &str,
                context: &Context,
            ) -> Result<(ManyResults<(String, $(servant!(String $more)),*)>, String), SystemException> {
                let user = context.get("user").unwrap_or_default();
                let first = format!("{user}{}", $c);
                let turned = |text: &str| text.chars().rev().collect();
                Ok((ManyResults((first, $(turned($more)),*)), turned($last)))
            }
        }
    };
    ($type:ident $name:ident) => { $type };
}

servant! {
    [a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15 a16 a17 a18 a19 a20 a21 a22 a23 a24 a25 a26 a27
    a28 a29 a30 a31 a32 a33 a34 a35 a36 a37 a38 a39]
    [b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 b10 b11 b12 b13 b14 b15 b16 b17 b18 b19 b20 b21 b22 b23 b24 b25 b26 b27
    b28 b29 b30] [b31 b32 b33 b34 b35 b36 b37 b38 b39]
    [c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 c10 c11 c12 c13 c14 c15 c16 c17 c18 c19 c20 c21 c22 c23 c24 c25 c26 c27
    c28 c29 c30 c31] [c32]
}

#[tokio::test]
async fn an_operation_may_have_more_parameters_than_a_tuple_has_members() {
    let (server, client) = (orb().await, orb().await);
    let wide = server
        .root_poa()
        .activate(WideServant::new(Servant))
        .unwrap();
    let wide: WideRef = from_afar(&client, &wide).await;

    // Each argument has its place: powers of two up to the width of the type.
    let sum = in_time(wide.sum(
        1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072,
        262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864,
        134217728, 268435456, 536870912, -30, -31, -32, -33, -34, -35, -36, -37, -38, -39,
    ));
    assert_eq!(sum.await.unwrap(), (1 << 30) - 1 - (30..40).sum::<i32>());

    let results = in_time(wide.spread(7)).await.unwrap();
    let (ManyResults((first, second, .., before)), (next, .., last)) = results;
    assert_eq!((first, second, before, next, last), (7, 8, 38, 39, 47));

    let user: Context = [("user", "ada"), ("home", "no")].into_iter().collect();
    let turned = wide.turn(
        "00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14",
        "15", "16", "17", "18", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28", "29",
        "30", "31", "32", &user,
    );
    let (turned, last) = in_time(turned).await.unwrap();
    let ManyResults(turned) = turned;
    assert_eq!(
        (&*turned.0, &*turned.1, &*turned.12, &*last),
        ("ada00", "10", "21", "23")
    );
}
