//! Fixed-point numbers, `long double` and integers of 8 bits.

use crate::features::two_orbs::{from_afar, in_time, orb};
use zorb::{Fixed, LongDouble, SystemException};

zorb::idl! {
    module Numbers {
        typedef fixed<5, 2> Price;
        typedef fixed<31, 10> Huge;
        typedef fixed<1, 1> Tenth;
        typedef long double Exact;
        typedef sequence<int8> Levels;
        const fixed VAT = 19.50d;
        const Price SHIPPING = -4.9d;
        const Exact QUARTER = 0.25;
        const Exact THIRD = 1.0 / 3.0;
        const int8 LEAST = -128;

        exception Broke { Price missing; };
        struct Bill {
            octet first;
            Price cost;
            sequence<Huge> more;
            Exact size;
            sequence<long double> curve;
            int8 level;
            uint8 data[3];
            Tenth parts[2];
        };
        union ByLevel switch (int8) { case -1: Price low; default: Exact rest; };

        interface Till {
            Price add(in Price a, inout Exact b, in int8 c, out Levels d, in Levels e) raises (Broke);
            Bill turn(in Bill open, in ByLevel factor);
            attribute Huge balance;
        };
    };
}

use numbers::till::AddError;
use numbers::{Bill, Broke, ByLevel, Till, TillRef, TillServant};

struct Servant;

impl Till for Servant {
    async fn add(
        &self,
        a: Fixed<5, 2>,
        b: LongDouble,
        c: i8,
        e: &[i8],
    ) -> Result<(Fixed<5, 2>, LongDouble, Vec<i8>), AddError> {
        let sum = a.checked_add(numbers::SHIPPING).ok_or(Broke {
            missing: Fixed::MIN,
        })?;
        let levels = e.iter().map(|level| level.wrapping_add(c)).collect();
        Ok((sum, b + b, levels))
    }

    async fn turn(&self, bill: &Bill, factor: &ByLevel) -> Result<Bill, SystemException> {
        let ByLevel::Rest { value, .. } = factor else {
            return Ok(bill.clone());
        };
        let mut bill = bill.clone();
        bill.cost = -bill.cost;
        bill.more.reverse();
        bill.size = -bill.size;
        bill.curve = bill
            .curve
            .into_iter()
            .map(|number| number / *value)
            .collect();
        bill.parts.reverse();
        Ok(bill)
    }

    async fn balance(&self) -> Result<Fixed<31, 10>, SystemException> {
        Ok(Fixed::MAX)
    }

    async fn set_balance(&self, value: Fixed<31, 10>) -> Result<(), SystemException> {
        assert_eq!(value, Fixed::MIN);
        Ok(())
    }
}

#[tokio::test]
async fn exact_numbers_travel() {
    let (server, client) = (orb().await, orb().await);
    let till = server
        .root_poa()
        .activate(TillServant::new(Servant))
        .unwrap();
    let till: TillRef = from_afar(&client, &till).await;

    let third = LongDouble::from(1) / LongDouble::from(3);
    assert_eq!(numbers::THIRD.to_bits(), third.to_bits());
    let price = |text: &str| text.parse::<Fixed<5, 2>>().unwrap();
    let call = till.add(price("0.05"), third, -1, &[numbers::LEAST, 0, 127]);
    let (sum, twice, levels) = in_time(call).await.unwrap();
    assert_eq!(sum.to_string(), "-4.85");
    assert_eq!(twice, third + third);
    assert_eq!(levels, [127, -1, 126]);
    let error = in_time(till.add(Fixed::MIN, third, 0, &[]))
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "Broke missing=-999.99");

    let bill = Bill {
        first: 1,
        cost: price("12.30"),
        more: vec![Fixed::MAX, Fixed::ZERO, "-0.0000000001".parse().unwrap()],
        size: LongDouble::INFINITY,
        curve: vec![third, -third],
        level: -7,
        data: [1, 2, 3],
        parts: ["0.1".parse().unwrap(), Fixed::MIN],
    };
    let same = in_time(till.turn(&bill, &ByLevel::Low(price("1"))))
        .await
        .unwrap();
    assert_eq!(same, bill);
    let factor = ByLevel::Rest {
        discriminator: 3,
        value: numbers::QUARTER,
    };
    let turned = in_time(till.turn(&bill, &factor)).await.unwrap();
    assert_eq!(turned.cost, price("-12.3"));
    assert_eq!(turned.more.last(), Some(&Fixed::MAX));
    assert_eq!(turned.curve[0], third * LongDouble::from(4));
    assert_eq!(turned.size, -LongDouble::INFINITY);
    assert_eq!(turned.parts[0].to_string(), "-0.9");

    assert_eq!(in_time(till.balance()).await.unwrap(), Fixed::MAX);
    in_time(till.set_balance(Fixed::MIN)).await.unwrap();
    assert_eq!(numbers::VAT.to_string(), "19.5");
}
