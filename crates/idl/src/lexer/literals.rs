//! Literals, by nom: numbers, characters, strings.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while_m_n};
use nom::character::complete::{char, digit0, digit1, none_of, one_of};
use nom::combinator::{map, map_opt, map_res, opt, recognize, value};
use nom::multi::fold_many0;
use nom::sequence::{delimited, pair, preceded};
use nom::{IResult, Parser};

use super::Kind;
use crate::limits::MAX_NUMBER_CHARS;
use crate::real::{Precision, Real};

pub(super) fn narrow_literal(i: &str) -> IResult<&str, Kind> {
    let text = fold_many0(
        map_opt(part("\"\\\n", false), char::from_u32),
        String::new,
        |mut text, c| {
            text.push(c);
            text
        },
    );
    alt((
        map(map_opt(character(false), char::from_u32), Kind::Char),
        map(quoted(text), |text| Kind::Str(text.into())),
    ))
    .parse(i)
}

/// A wide literal. In a wide string, surrogates have to come in pairs; a wide character may be a single one.
pub(super) fn wide_literal(i: &str) -> IResult<&str, Kind> {
    let units = fold_many0(part("\"\\\n", true), Vec::new, |mut units, code| {
        match char::from_u32(code) {
            Some(c) => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
            None => units.extend(u16::try_from(code)),
        }
        units
    });
    preceded(
        char('L'),
        alt((
            map(character(true), Kind::WideChar),
            map(
                map_res(quoted(units), |units| String::from_utf16(&units)),
                |text| Kind::WideStr(text.into()),
            ),
        )),
    )
    .parse(i)
}

/// One character other than those of `end`, or an escape, as a code.
fn part<'a>(
    end: &'static str,
    wide: bool,
) -> impl Parser<&'a str, Output = u32, Error = nom::error::Error<&'a str>> {
    alt((escape(wide), map(none_of(end), u32::from)))
}

fn character<'a>(
    wide: bool,
) -> impl Parser<&'a str, Output = u32, Error = nom::error::Error<&'a str>> {
    delimited(char('\''), part("'\\\n", wide), char('\''))
}

fn quoted<'a, T>(
    text: impl Parser<&'a str, Output = T, Error = nom::error::Error<&'a str>>,
) -> impl Parser<&'a str, Output = T, Error = nom::error::Error<&'a str>> {
    delimited(char('"'), text, char('"'))
}

/// An escape: `\n` and the like, `\ooo`, `\xhh` and, in wide literals, `\uhhhh`.
fn escape<'a>(
    wide: bool,
) -> impl Parser<&'a str, Output = u32, Error = nom::error::Error<&'a str>> {
    move |i: &'a str| {
        let (i, _) = char('\\')(i)?;
        let simple = map(
            alt((
                value('\n', char('n')),
                value('\t', char('t')),
                value('\u{b}', char('v')),
                value('\u{8}', char('b')),
                value('\r', char('r')),
                value('\u{c}', char('f')),
                value('\u{7}', char('a')),
                one_of("\\?'\""),
            )),
            u32::from,
        );
        let octal = code(8, take_while_m_n(1, 3, |c: char| c.is_digit(8)), wide);
        let hex = preceded(
            char('x'),
            code(
                16,
                take_while_m_n(1, 2, |c: char| c.is_ascii_hexdigit()),
                wide,
            ),
        );
        let unicode = preceded(
            char('u'),
            code(
                16,
                take_while_m_n(1, 4, |c: char| c.is_ascii_hexdigit()),
                wide,
            ),
        );
        match wide {
            true => alt((simple, octal, hex, unicode)).parse(i),
            false => alt((simple, octal, hex)).parse(i),
        }
    }
}

fn code<'a>(
    radix: u32,
    mut digits: impl Parser<&'a str, Output = &'a str, Error = nom::error::Error<&'a str>>,
    wide: bool,
) -> impl Parser<&'a str, Output = u32, Error = nom::error::Error<&'a str>> {
    move |i: &'a str| {
        let (rest, digits) = digits.parse(i)?;
        let most = if wide { 0xffff } else { 0xff };
        let found = u32::from_str_radix(digits, radix)
            .ok()
            .filter(|&code| code <= most);
        match found {
            Some(c) => Ok((rest, c)),
            None => Err(nom::Err::Error(nom::error::make_error(
                i,
                nom::error::ErrorKind::Char,
            ))),
        }
    }
}

pub(super) fn number(i: &str) -> IResult<&str, Kind> {
    let (rest, kind) = alt((hexadecimal, real, integer)).parse(i)?;
    // `12abc` and `0x1g` are one broken number, and not two tokens.
    match rest.chars().next() {
        Some(c) if c.is_ascii_alphanumeric() || c == '_' => Err(nom::Err::Error(
            nom::error::make_error(i, nom::error::ErrorKind::Digit),
        )),
        _ => Ok((rest, kind)),
    }
}

fn hexadecimal(i: &str) -> IResult<&str, Kind> {
    let digits = take_while(|c: char| c.is_ascii_hexdigit());
    let literal = preceded(alt((tag("0x"), tag("0X"))), digits);
    map_res(literal, |digits: &str| {
        u64::from_str_radix(digits, 16).map(Kind::Integer)
    })
    .parse(i)
}

fn integer(i: &str) -> IResult<&str, Kind> {
    let parse = |digits: &str| match digits.strip_prefix('0') {
        Some(octal) if !octal.is_empty() => u64::from_str_radix(octal, 8).map(Kind::Integer),
        _ => digits.parse().map(Kind::Integer),
    };
    map_res(digit1, parse).parse(i)
}

fn real(i: &str) -> IResult<&str, Kind> {
    let exponent = || recognize((one_of("eE"), opt(one_of("+-")), digit1));
    let with_point = recognize(alt((
        recognize((digit1, char('.'), digit0)),
        recognize(pair(char('.'), digit1)),
    )));
    let (rest, _) = alt((
        recognize(pair(with_point, opt(exponent()))),
        recognize(pair(digit1, exponent())),
        recognize(pair(digit1, nom::combinator::peek(one_of("dD")))),
    ))
    .parse(i)?;
    let text = &i[..i.len() - rest.len()];
    if let Ok((rest, _)) = one_of::<_, _, nom::error::Error<&str>>("dD")(rest) {
        return Ok((rest, Kind::Fixed(text.into())));
    }
    let small = text.parse().is_ok_and(f64::is_finite) && text.len() <= MAX_NUMBER_CHARS;
    match small || Real::parse(text, Precision::Quad).is_some() {
        true => Ok((rest, Kind::Float(text.into()))),
        false => Err(nom::Err::Error(nom::error::make_error(
            i,
            nom::error::ErrorKind::Float,
        ))),
    }
}
