//! The values of constant expressions.

use proptest::prelude::*;
use zorb_idl::{Options, compile_str};

/// The value of `const TYPE X = EXPRESSION;` in the generated code, without blanks, or the first message. `before`:
/// declarations before it.
fn value(before: &str, ty: &str, expression: &str) -> Result<String, String> {
    let text = format!("{before} const {ty} X = {expression};");
    let tokens = match compile_str("constant.idl", &text, &Options::default()) {
        Ok(output) => output.tokens.to_string(),
        Err(diagnostics) => return Err(diagnostics.iter().next().unwrap().message.clone()),
    };
    let (_, rest) = tokens.split_once("pub const X :").unwrap();
    let (_, rest) = rest.split_once('=').unwrap();
    let (value, _) = rest.split_once(';').unwrap();
    Ok(value.replace(' ', ""))
}

fn assert_values(before: &str, cases: &[(&str, &str, &str)]) {
    for (ty, expression, expected) in cases {
        let found = value(before, ty, expression);
        assert_eq!(found.as_deref(), Ok(*expected), "{ty}: {expression}");
    }
}

#[test]
fn integers_have_the_values_of_the_book() {
    assert_values(
        "",
        &[
            ("long", "1 | 6 & 3 ^ 4", "7"),
            ("long", "1 + 2 * 3 - 8 / 2 % 3", "6"),
            ("long", "10 - 4 - 3", "3"),
            ("long", "100 / 10 / 5", "2"),
            ("long", "1 << 2 + 1", "8"),
            ("long", "(1 << 2) + 1", "5"),
            ("long", "-7 / 2", "-3"),
            ("long", "-7 % 3", "-1"),
            ("long", "-8 >> 1", "-4"),
            ("long", "~5", "-6"),
            ("long", "~0xffffffff", "0"),
            ("long", "~0 & 0xff", "255"),
            ("unsigned long", "~0", "4294967295"),
            ("unsigned long", "~0x0f & 0xff", "240"),
            ("unsigned short", "~0", "65535"),
            ("octet", "~1", "254"),
            ("unsigned long long", "~0", "18446744073709551615"),
            ("long long", "-9223372036854775808", "-9223372036854775808"),
            ("unsigned long long", "1 << 63", "9223372036854775808"),
            ("short", "70000 - 40000", "30000"),
            ("long", "010 + 0x10", "24"),
            ("long", "1 - -1", "2"),
            ("int8", "-128", "-128"),
        ],
    );
}

#[test]
fn other_numbers_have_the_values_of_the_book() {
    assert_values(
        "",
        &[
            ("double", "1.5 + 2.5 * 2.0 / 4.0 - 1.0", "1.75"),
            ("double", "-(.5)", "-0.5"),
            ("double", "1e3 + 2.", "1002.0"),
            ("float", "1.0 / 3.0", "0.33333334"),
            ("double", "-0.0", "-0.0"),
        ],
    );
}

#[test]
fn long_doubles_are_computed_in_all_their_bits() {
    let before =
        "const double TENTH = 0.1; const long double THIRD = 1.0 / 3.0; const float SINGLE = 0.1;";
    assert_values(
        before,
        &[
            ("double", "1.0 / 3.0", "0.3333333333333333"),
            ("double", "THIRD", "0.3333333333333333"),
            ("double", "TENTH - 1e-20", "0.1"),
            ("double", "SINGLE", "0.10000000149011612"),
            ("float", "THIRD", "0.33333334"),
        ],
    );
    let bits = |expression| {
        let found = value(before, "long double", expression).unwrap();
        let bits = found.strip_prefix("::zorb::LongDouble::from_bits(0x");
        bits.map(|bits| bits.trim_end_matches(')').replace('_', ""))
    };
    for (expression, expected) in [
        ("THIRD", "3ffd5555555555555555555555555555"),
        ("-THIRD", "bffd5555555555555555555555555555"),
        ("1e400", "452fb4ec7f91973ff3cb1ccf26fbc178"),
        ("1e-4950", "000000000000000000057c9647e1a018"),
        ("0.1", "3ffb999999999999999999999999999a"),
        ("1.0 + 1e-34", "3fff0000000000000000000000000001"),
        (
            "2.0 - THIRD * 3.0 - 1e-34",
            "3ffeffffffffffffffffffffffffffff",
        ),
    ] {
        assert_eq!(bits(expression).as_deref(), Some(expected), "{expression}");
    }
    // A number that a double holds exactly is written as one.
    assert_values(
        before,
        &[
            ("long double", "TENTH", "::zorb::LongDouble::from_f64(0.1)"),
            (
                "long double",
                "THIRD * 3.0 * 0.25",
                "::zorb::LongDouble::from_f64(0.25)",
            ),
        ],
    );
    let refused = value(before, "long double", "1e4932 * 10.0").unwrap_err();
    assert_eq!(refused, "the result is too large");
}

#[test]
fn fixed_point_numbers_are_cut_and_not_rounded() {
    let before = "typedef fixed<4, 2> Money; const fixed THIRD = 1d / 3d;";
    for (ty, expression, units) in [
        ("fixed", "0012.500d", "125"),
        ("fixed", "1.5d * -1.5d", "-225"),
        ("fixed", "2d / 3d", "6666666666666666666666666666666"),
        ("fixed", "THIRD * 3d", "9999999999999999999999999999999"),
        ("Money", "1.567d", "156"),
        ("Money", "-99.999d", "-9999"),
        ("Money", "5d", "500"),
    ] {
        let found = value(before, ty, expression).unwrap();
        let (_, found) = found.split_once('(').unwrap();
        assert_eq!(found.trim_end_matches(')'), units, "{ty}: {expression}");
    }
}

#[test]
fn text_has_the_characters_that_were_meant() {
    assert_values(
        "enum Colour { red, green }; const Colour SAME = green;",
        &[
            ("string", r#""\x41" "1""#, r#""A1""#),
            ("string", r#""a" "b" "c""#, r#""abc""#),
            ("string", r#""\101\060""#, r#""A0""#),
            ("wstring", r#"L"\u20ac" L"x""#, "\"\u{20ac}x\""),
            ("boolean", "(TRUE)", "true"),
            ("Colour", "SAME", "Colour::Green"),
            ("Colour", "::red", "Colour::Red"),
        ],
    );
}

/// An expression as a tree.
#[derive(Debug, Clone)]
enum Tree {
    Number(u32),
    Unary(char, Box<Self>),
    Binary(&'static str, Box<Self>, Box<Self>),
}

/// The operators with their precedences, the lowest first.
const OPERATORS: [(&str, u8); 10] = [
    ("|", 0),
    ("^", 1),
    ("&", 2),
    ("<<", 3),
    (">>", 3),
    ("+", 4),
    ("-", 4),
    ("*", 5),
    ("/", 5),
    ("%", 5),
];

impl Tree {
    fn binding(&self) -> u8 {
        match self {
            Self::Number(_) => 7,
            Self::Unary(..) => 6,
            Self::Binary(op, ..) => OPERATORS.iter().find(|(name, _)| name == op).unwrap().1,
        }
    }

    /// Writes the expression, in parentheses if its precedence is below `least`.
    fn write(&self, least: u8, out: &mut String) {
        let parentheses = self.binding() < least;
        if parentheses {
            out.push('(');
        }
        match self {
            Self::Number(number) => out.push_str(&number.to_string()),
            Self::Unary(op, operand) => {
                out.push(*op);
                operand.write(7, out);
            }
            Self::Binary(op, left, right) => {
                left.write(self.binding(), out);
                out.push_str(&format!(" {op} "));
                right.write(self.binding() + 1, out);
            }
        }
        if parentheses {
            out.push(')');
        }
    }

    /// The value; `None` if a step is out of range or has no value.
    fn value(&self) -> Option<i128> {
        let value = match self {
            Self::Number(number) => i128::from(*number),
            Self::Unary('-', operand) => -operand.value()?,
            Self::Unary('~', operand) => {
                let operand = operand.value()?;
                if operand > i128::from(i64::MAX) {
                    i128::from(u64::MAX) - operand
                } else {
                    -operand - 1
                }
            }
            Self::Unary(_, operand) => operand.value()?,
            Self::Binary(op, left, right) => {
                let (left, right) = (left.value()?, right.value()?);
                match *op {
                    "|" => left | right,
                    "^" => left ^ right,
                    "&" => left & right,
                    "<<" | ">>" if !(0..64).contains(&right) => return None,
                    "<<" => left.checked_mul(1 << right)?,
                    ">>" => left.div_euclid(1 << right),
                    "+" => left + right,
                    "-" => left - right,
                    "*" => left.checked_mul(right)?,
                    "/" => left.checked_div(right)?,
                    _ => left.checked_rem(right)?,
                }
            }
        };
        let range = i128::from(i64::MIN)..=i128::from(u64::MAX);
        range.contains(&value).then_some(value)
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![0..5_u32, any::<u32>()].prop_map(Tree::Number);
    leaf.prop_recursive(5, 24, 2, |inner| {
        let operators = prop::sample::select(&OPERATORS[..]);
        prop_oneof![
            1 => (prop::sample::select(&['-', '~', '+'][..]), inner.clone())
                .prop_map(|(op, operand)| Tree::Unary(op, Box::new(operand))),
            4 => (operators, inner.clone(), inner)
                .prop_map(|((op, _), left, right)| Tree::Binary(op, Box::new(left), Box::new(right))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_expression_has_the_value_of_its_tree(tree in tree()) {
        let mut text = String::new();
        tree.write(0, &mut text);
        let expected = tree.value().filter(|value| i64::try_from(*value).is_ok());
        let found = value("", "long long", &text);
        match expected {
            Some(expected) => prop_assert_eq!(found, Ok(expected.to_string()), "{}", text),
            None => prop_assert!(found.is_err(), "{} is {:?}", text, found),
        }
    }
}
