//! `fixed` and `long double`: arithmetic, text, octets.

use crate::common::*;
use proptest::prelude::*;
use zorb_cdr::{
    BigEndian, ByteOrder, Decode, DecodeErrorKind, Decoder, EncodeErrorKind, Encoder, Fixed,
    FixedError, LittleEndian, LongDouble, cdr_struct,
};

/// Octets, digits and scale of the type, and the text of the number.
macro_rules! packed {
    ($($d:literal, $s:literal: $text:literal = $octets:expr;)*) => {$(
        let number: Fixed<$d, $s> = $text.parse().unwrap();
        assert_eq!(big(&number), $octets, "{number}");
        assert_eq!(little(&number), $octets, "{number}");
        assert_eq!(decode::<BigEndian, Fixed<$d, $s>>(&$octets, modern()), Ok(number));
    )*};
}

#[test]
fn a_fixed_is_packed_digits_and_a_sign() {
    packed! {
        5, 2: "123.45" = [0x12, 0x34, 0x5c];
        4, 2: "-12.34" = [0x01, 0x23, 0x4d];
        1, 0: "7" = [0x7c];
        1, 1: "-.7" = [0x7d];
        2, 0: "-7" = [0x00, 0x7d];
        3, 3: "0" = [0x00, 0x0c];
        31, 10: "123456789012345678901.0123456789" = [
            0x12, 0x34, 0x56, 0x78, 0x90, 0x12, 0x34, 0x56, 0x78, 0x90, 0x10, 0x12, 0x34, 0x56, 0x78, 0x9c,
        ];
    }
}

#[test]
fn leading_zeros_may_be_missing() {
    // JacORB's 0.05, 1.20 and 12.34 as fixed<5,2> and fixed<4,2>.
    let read = |octets: &[u8]| decode::<BigEndian, Fixed<5, 2>>(octets, modern()).unwrap();
    assert_eq!(read(&[0x5c]).to_string(), "0.05");
    assert_eq!(read(&[0x12, 0x0d]).to_string(), "-1.20");
    assert_eq!(read(&[0x01, 0x23, 0x4c]).to_string(), "12.34");
    let read = |octets: &[u8]| decode::<BigEndian, Fixed<4, 2>>(octets, modern()).unwrap();
    assert_eq!(read(&[0x5c]).to_string(), "0.05");
    assert_eq!(read(&[0x12, 0x3c]).to_string(), "1.23");
    // The octets behind are not touched.
    let octets = [0x5c, 0x12, 0x34, 0x5c, 7];
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    assert_eq!(d.get::<Fixed<5, 2>>().unwrap().unscaled(), 5);
    assert_eq!(d.get::<Fixed<5, 2>>().unwrap().unscaled(), 12345);
    assert_eq!(d.read_u8(), Ok(7));
    // Negative zero is zero.
    assert_eq!(read(&[0x0d]), Fixed::ZERO);
}

#[test]
fn octets_that_are_no_fixed_are_refused() {
    use DecodeErrorKind::{InvalidDecimal, TooManyDigits, Truncated};
    type Even = Fixed<4, 2>;
    type Odd = Fixed<5, 2>;
    let bad = |found| InvalidDecimal { found };
    assert_eq!(fault::<Odd>(&[0xa2, 0x34, 0x5c]), (bad(0xa2), 0));
    assert_eq!(fault::<Odd>(&[0x12, 0x3a, 0x5c]), (bad(0x3a), 1));
    assert_eq!(fault::<Odd>(&[0x12, 0x34, 0x5b]), (bad(0x5b), 2));
    assert_eq!(fault::<Odd>(&[0x12, 0x34, 0x56]), (bad(0x56), 2));
    assert_eq!(fault::<Odd>(&[0xcc]), (bad(0xcc), 0));
    assert_eq!(
        fault::<Even>(&[0x11, 0x23, 0x4c]),
        (TooManyDigits { digits: 4 }, 3)
    );
    let truncated = Truncated { needed: 1, left: 0 };
    assert_eq!(fault::<Odd>(&[0x12, 0x34]), (truncated, 2));
    assert_eq!(fault::<Odd>(&[]), (truncated, 0));
}

#[test]
fn too_many_digits_are_not_written() {
    let mut e = Encoder::<BigEndian>::new(modern());
    let kind = |result: Result<(), zorb_cdr::EncodeError>| result.unwrap_err().kind();
    for (units, digits) in [
        (100, 2),
        (-100, 2),
        (1, 0),
        (i128::MAX, 31),
        (1, 32),
        (1, 255),
    ] {
        let kind = kind(e.write_fixed(units, digits));
        assert_eq!(kind, EncodeErrorKind::TooManyDigits { digits });
    }
    assert_eq!(e.position(), 0);
    // Nor are types read that there are none of.
    let digits = [0x11; 40];
    assert!(
        Decoder::<BigEndian>::from_slice(&digits, modern())
            .read_fixed(255)
            .is_err()
    );
}

#[test]
fn text_is_taken_as_idl_and_people_write_it() {
    let parse = |text: &str| text.parse::<Fixed<6, 2>>();
    for (text, printed) in [
        ("1", "1.00"),
        ("-1.5", "-1.50"),
        ("+0001.50", "1.50"),
        (".5d", "0.50"),
        ("7.D", "7.00"),
        ("-0", "0.00"),
        ("0.500000", "0.50"),
        ("9999.99", "9999.99"),
    ] {
        assert_eq!(parse(text).unwrap().to_string(), printed, "{text}");
    }
    for text in [
        "", "-", ".", "d", "1e3", " 1", "1,5", "1.5.5", "--1", "0x1", "1_0", "١",
    ] {
        assert_eq!(parse(text), Err(FixedError::NotANumber), "{text:?}");
    }
    let many = "1".repeat(1000);
    for text in ["10000", "-10000.00", many.as_str()] {
        let error = FixedError::TooManyDigits {
            digits: 6,
            scale: 2,
        };
        assert_eq!(parse(text), Err(error), "{text}");
    }
    assert_eq!(
        parse("0.001"),
        Err(FixedError::Inexact {
            digits: 6,
            scale: 2
        })
    );
    assert_eq!(
        format!(
            "{:>9}|{:+}|{:09}",
            Fixed::<4, 2>::MAX,
            Fixed::<4, 2>::MAX,
            Fixed::<4, 2>::MIN
        ),
        "    99.99|+99.99|-00099.99"
    );
    assert_eq!(
        format!("{:?}", Fixed::<31, 31>::MIN),
        format!("-0.{}", "9".repeat(31))
    );
}

#[test]
fn results_have_the_digits_that_are_asked_for() {
    let price: Fixed<7, 2> = "-19.99".parse().unwrap();
    let rate: Fixed<5, 4> = "0.1900".parse().unwrap();
    assert_eq!(
        price.checked_mul::<5, 4, 9, 2>(rate).unwrap().to_string(),
        "-3.79"
    );
    assert_eq!(
        price.checked_mul::<5, 4, 12, 6>(rate).unwrap().to_string(),
        "-3.798100"
    );
    assert_eq!(price.checked_mul::<5, 4, 1, 1>(rate), None);
    assert_eq!(
        price.checked_div::<5, 4, 12, 3>(rate).unwrap().to_string(),
        "-105.210"
    );
    assert_eq!(price.checked_div::<5, 4, 31, 29>(rate), None);
    assert_eq!(price.checked_div::<7, 2, 7, 2>(Fixed::ZERO), None);
    assert_eq!(
        Fixed::<2, 0>::MAX.checked_add(Fixed::from_unscaled(1).unwrap()),
        None
    );
    assert_eq!(
        Fixed::<2, 0>::MIN.checked_sub(Fixed::from_unscaled(1).unwrap()),
        None
    );
    assert_eq!((-Fixed::<2, 1>::MIN).to_string(), "9.9");
    assert_eq!(price.round::<7, 1>().unwrap().to_string(), "-20.0");
    assert_eq!(price.truncate::<7, 1>().unwrap().to_string(), "-19.9");
    assert_eq!(price.trunc(), -19);
    assert_eq!(Fixed::<5, 1>::from(-7_i8).to_string(), "-7.0");
    assert_eq!(
        Fixed::<5, 1>::try_from(100_000_i128)
            .unwrap_err()
            .to_string(),
        "expected a number of fixed<5,1>, found more digits before the point"
    );
}

#[test]
fn doubles_are_rounded_to_the_nearest_fixed() {
    let fixed = |number: f64| Fixed::<5, 2>::try_from(number).map(|fixed| fixed.to_string());
    assert_eq!(fixed(1.005).unwrap(), "1.00"); // a little less than that, as a double
    assert_eq!(fixed(-2.5).unwrap(), "-2.50");
    assert_eq!(fixed(999.994).unwrap(), "999.99");
    assert!(fixed(999.995).is_err());
    assert_eq!(fixed(f64::NAN), Err(FixedError::NotANumber));
    assert!(fixed(f64::MAX).is_err());
    assert_eq!(f64::from(Fixed::<5, 2>::MIN), -999.99);
}

/// Decimal digits of any number of them, the slow way.
fn school_product(a: i128, b: i128) -> Vec<u8> {
    let digits = |n: i128| -> Vec<u32> {
        n.unsigned_abs()
            .to_string()
            .bytes()
            .rev()
            .map(|d| u32::from(d - b'0'))
            .collect()
    };
    let (a, b) = (digits(a), digits(b));
    let mut product = vec![0_u32; a.len() + b.len()];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            product[i + j] += x * y;
        }
    }
    for i in 0..product.len() - 1 {
        product[i + 1] += product[i] / 10;
        product[i] %= 10;
    }
    product
        .iter()
        .rev()
        .map(|d| u8::try_from(*d).unwrap() + b'0')
        .collect()
}

fn units(digits: u32) -> impl Strategy<Value = i128> {
    // Of all lengths, not mostly of the longest.
    (0..=digits, any::<i128>()).prop_map(|(n, units)| units % 10_i128.pow(n))
}

#[derive(Debug, PartialEq, Clone)]
struct Account {
    open: bool,
    balance: Fixed<18, 4>,
    exact: LongDouble,
    rest: Vec<LongDouble>,
}
cdr_struct!(Account { open: bool, balance: Fixed<18, 4>, exact: LongDouble, rest: Vec<LongDouble> });

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_fixed_comes_back(a in units(31), b in units(5), c in units(1)) {
        fn check<const D: u8, const S: u8>(units: i128) {
            let fixed = Fixed::<D, S>::from_unscaled(units).unwrap();
            let octets = big(&fixed);
            assert_eq!(octets.len(), (usize::from(D) + 2) / 2);
            assert_eq!(decode::<LittleEndian, Fixed<D, S>>(&octets, modern()), Ok(fixed));
            // As text, too.
            assert_eq!(fixed.to_string().parse(), Ok(fixed));
            // And without leading zeros: as many octets as its digits and the sign need.
            let digits = units.unsigned_abs().to_string().len();
            let short = &octets[octets.len() - (digits + 2) / 2..];
            assert_eq!(decode::<BigEndian, Fixed<D, S>>(short, modern()), Ok(fixed));
        }
        check::<31, 0>(a);
        check::<31, 31>(a);
        check::<5, 2>(b);
        check::<6, 3>(b);
        check::<1, 1>(c);
    }

    #[test]
    fn products_are_those_of_school(a in units(31), b in units(31)) {
        let (x, y) = (Fixed::<31, 20>::from_unscaled(a).unwrap(), Fixed::<31, 11>::from_unscaled(b).unwrap());
        let product = school_product(a, b);
        // 31 digits behind the point, of which 11 are kept: the last 20 are dropped.
        let kept: String = product[..product.len().saturating_sub(20)].iter().map(|d| char::from(*d)).collect();
        let kept: Option<i128> = if kept.is_empty() { Some(0) } else { kept.parse().ok() };
        let sign = if (a < 0) == (b < 0) { 1 } else { -1 };
        let expected = kept.and_then(|kept| Fixed::<31, 11>::from_unscaled(kept * sign));
        prop_assert_eq!(x.checked_mul(y), expected);
    }

    #[test]
    fn a_quotient_times_its_divisor_is_just_below_the_dividend(a in units(20), b in units(9)) {
        let (x, y) = (Fixed::<20, 4>::from_unscaled(a).unwrap(), Fixed::<9, 4>::from_unscaled(b).unwrap());
        match x.checked_div::<9, 4, 31, 3>(y) {
            None => prop_assert_eq!(b, 0),
            Some(q) => {
                // q = a / b with three digits behind the point: |a * 1000 / b| down to a whole.
                prop_assert_eq!(q.unscaled(), a * 1000 / b);
                // And with fewer digits than the dividend has.
                let whole: Fixed<31, 0> = x.checked_div(Fixed::<9, 0>::from_unscaled(b).unwrap()).unwrap();
                prop_assert_eq!(whole.unscaled(), a / (b * 10_000));
            }
        }
    }

    #[test]
    fn sums_and_order_are_those_of_the_units(a in units(30), b in units(30)) {
        let (x, y) = (Fixed::<31, 7>::from_unscaled(a).unwrap(), Fixed::<31, 7>::from_unscaled(b).unwrap());
        prop_assert_eq!(x.checked_add(y).map(Fixed::unscaled), Some(a + b));
        prop_assert_eq!(x.checked_sub(y).map(Fixed::unscaled), Some(a - b));
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
    }

    #[test]
    fn structs_with_such_numbers_travel(
        units in units(18),
        bits in any::<u64>().prop_map(f64::from_bits).prop_filter("not a number", |d| !d.is_nan()),
        start in 0..8_usize,
    ) {
        fn check<O: ByteOrder>(account: &Account, start: usize) {
            let octets = encode_at::<O>(account, start, modern()).unwrap();
            let mut whole = vec![0; start];
            whole.extend(octets);
            let mut d = Decoder::<O>::from_slice(&whole, modern());
            d.take(start).unwrap();
            assert_eq!(&d.get::<Account>().unwrap(), account);
            assert_eq!(d.remaining(), 0);
        }
        let number = LongDouble::from(bits);
        let account = Account {
            open: true,
            balance: Fixed::from_unscaled(units).unwrap(),
            exact: number,
            rest: vec![-number, number, LongDouble::INFINITY],
        };
        check::<BigEndian>(&account, start);
        check::<LittleEndian>(&account, start);
    }

    #[test]
    fn damaged_numbers_cause_no_panic(octets in proptest::collection::vec(any::<u8>(), 0..40)) {
        let _ = decode::<BigEndian, Fixed<31, 4>>(&octets, modern());
        let _ = decode::<BigEndian, Vec<Fixed<2, 1>>>(&octets, modern());
        let _ = decode::<LittleEndian, Account>(&octets, modern());
    }

    #[test]
    fn a_double_survives_being_a_long_double(bits in prop_oneof![any::<u64>(), any::<u64>().prop_map(|b| b & 0x800f_ffff_ffff_ffff)]) {
        let double = f64::from_bits(bits);
        let long = LongDouble::from(double);
        prop_assert_eq!(long.is_nan(), double.is_nan());
        prop_assert_eq!(long.is_finite(), double.is_finite());
        if double.is_nan() {
            prop_assert!(f64::from(long).is_nan());
        } else {
            prop_assert_eq!(f64::from(long).to_bits(), bits);
        }
    }

    #[test]
    fn long_doubles_compute_as_exactly_as_doubles_do(a in any::<i32>(), b in any::<i32>()) {
        let (x, y) = (LongDouble::from(a), LongDouble::from(b));
        let (c, d) = (f64::from(a), f64::from(b));
        prop_assert_eq!(f64::from(x + y), c + d);
        prop_assert_eq!(f64::from(x - y), c - d);
        // 64 bits of product, which a double cannot hold.
        prop_assert_eq!((x * y).to_string().parse::<LongDouble>(), Ok(x * y));
        if b != 0 {
            prop_assert_eq!(x * y / y, x);
        }
        prop_assert_eq!(x.partial_cmp(&y), c.partial_cmp(&d));
    }

    #[test]
    fn every_long_double_is_the_text_of_itself(bits in any::<u128>()) {
        let number = LongDouble::from_bits(bits);
        let again: LongDouble = number.to_string().parse().unwrap();
        prop_assert!(again.is_nan() && number.is_nan() || again.to_bits() == bits);
    }
}

#[test]
fn a_long_double_is_sixteen_octets_aligned_to_eight() {
    // 1.5: exponent 0x3fff, fraction 0x8000…
    let number = LongDouble::from(1.5);
    let mut octets = vec![0x3f, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(big(&number), octets);
    assert_eq!(
        encode_at::<BigEndian>(&number, 4, modern()).unwrap().len(),
        20
    );
    octets.reverse();
    assert_eq!(little(&number), octets);
    assert_eq!(
        decode::<LittleEndian, LongDouble>(&octets, modern()),
        Ok(number)
    );
    assert_eq!(<LongDouble as Decode>::LAYOUT.size_at(1), Some(23));
    // Every bit travels, of NaNs too.
    let odd = LongDouble::from_bits(0xffff_0123_4567_89ab_cdef_0123_4567_89ab);
    let read: LongDouble = decode::<BigEndian, _>(&big(&odd), modern()).unwrap();
    assert_eq!(read.to_bits(), odd.to_bits());
    let rest: Vec<LongDouble> =
        decode::<LittleEndian, _>(&little(&vec![odd, number]), modern()).unwrap();
    assert_eq!(rest[0].to_bits(), odd.to_bits());
    assert_eq!(rest[1], number);
}

#[test]
fn long_doubles_know_what_is_no_number() {
    assert!(LongDouble::NAN.is_nan() && !LongDouble::NAN.is_finite());
    assert!(!LongDouble::INFINITY.is_nan() && !LongDouble::INFINITY.is_finite());
    assert!(LongDouble::ZERO == -LongDouble::ZERO && LongDouble::ZERO.is_finite());
    assert!(LongDouble::NAN.partial_cmp(&LongDouble::ZERO).is_none());
    assert!((LongDouble::from(1.0) / LongDouble::ZERO).to_bits() == LongDouble::INFINITY.to_bits());
    assert_eq!(
        f64::from("1e4000".parse::<LongDouble>().unwrap()),
        f64::INFINITY
    );
    assert_eq!(
        "1e4000".parse::<LongDouble>().unwrap().to_string(),
        "1.00000000000000000000000000000000004E+4000"
    );
    assert!("".parse::<LongDouble>().is_err());
    assert!("1.5x".parse::<LongDouble>().is_err());
}
