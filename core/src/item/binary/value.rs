//! One value in binary form: a tag, then the content, which ends itself.
//!
//! | type | content |
//! |---|---|
//! | NULL, BOOL | none: the tag says it |
//! | N | the number's key encoding |
//! | S, B | length, bytes |
//! | SS, BS | body length, then each member as length, bytes |
//! | NS | body length, then each member's key encoding |
//! | L | body length, then the elements |
//! | M | body length, then each member as length, name, value |
//!
//! Lengths are LEB128 in its shortest form; body lengths are four bytes, big-endian, so that they can be written
//! after the body.

use crate::item::{
    AttributeValue, Number, ValueType,
    size::{CONTAINER_BYTES, MEMBER_BYTES},
};

mod tag {
    pub const NULL: u8 = 0;
    pub const FALSE: u8 = 1;
    pub const TRUE: u8 = 2;
    pub const N: u8 = 3;
    pub const S: u8 = 4;
    pub const B: u8 = 5;
    pub const SS: u8 = 6;
    pub const NS: u8 = 7;
    pub const BS: u8 = 8;
    pub const L: u8 = 9;
    pub const M: u8 = 10;
}

/// The bytes that [`write`] will append.
pub fn length(value: &AttributeValue) -> usize {
    let body = |length: usize| 1 + 4 + length;
    match value {
        AttributeValue::Null | AttributeValue::Bool(_) => 1,
        AttributeValue::N(number) => 1 + number.encoded_length(),
        AttributeValue::S(text) => 1 + marked_length(text.len()),
        AttributeValue::B(bytes) => 1 + marked_length(bytes.len()),
        AttributeValue::Ss(members) => body(members.iter().map(|m| marked_length(m.len())).sum()),
        AttributeValue::Ns(members) => body(members.iter().map(Number::encoded_length).sum()),
        AttributeValue::Bs(members) => body(members.iter().map(|m| marked_length(m.len())).sum()),
        AttributeValue::L(elements) => body(elements.iter().map(length).sum()),
        AttributeValue::M(members) => body(
            members
                .iter()
                .map(|(name, v)| marked_length(name.len()) + length(v))
                .sum(),
        ),
    }
}

/// Appends a value.
pub fn write(value: &AttributeValue, out: &mut Vec<u8>) {
    match value {
        AttributeValue::Null => out.push(tag::NULL),
        AttributeValue::Bool(false) => out.push(tag::FALSE),
        AttributeValue::Bool(true) => out.push(tag::TRUE),
        AttributeValue::N(number) => {
            out.push(tag::N);
            number.encode(out);
        }
        AttributeValue::S(text) => {
            out.push(tag::S);
            write_marked(text.as_bytes(), out);
        }
        AttributeValue::B(bytes) => {
            out.push(tag::B);
            write_marked(bytes, out);
        }
        AttributeValue::Ss(members) => {
            write_body(tag::SS, members, out, |member, out| {
                write_marked(member.as_bytes(), out)
            });
        }
        AttributeValue::Ns(members) => write_body(tag::NS, members, out, Number::encode),
        AttributeValue::Bs(members) => {
            write_body(tag::BS, members, out, |member, out| write_marked(member, out))
        }
        AttributeValue::L(elements) => write_body(tag::L, elements, out, write),
        AttributeValue::M(members) => write_body(tag::M, members, out, |(name, value), out| {
            write_marked(name.as_bytes(), out);
            write(value, out);
        }),
    }
}

fn write_body<T>(
    tag: u8,
    members: impl IntoIterator<Item = T>,
    out: &mut Vec<u8>,
    write_member: impl Fn(T, &mut Vec<u8>),
) {
    out.push(tag);
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    for member in members {
        write_member(member, out);
    }
    let length = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

fn write_marked(bytes: &[u8], out: &mut Vec<u8>) {
    let mut length = bytes.len();
    while length > 0x7f {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(bytes);
}

fn marked_length(length: usize) -> usize {
    let bits = usize::BITS - length.leading_zeros();
    bits.div_ceil(7).max(1) as usize + length
}

/// A value seen in place. Its tag and its outer length were checked, what is inside was not.
#[derive(Clone, Copy)]
pub enum View<'a> {
    Null,
    Bool(bool),
    N(Number),
    /// UTF-8, once checked: [`text`].
    S(&'a [u8]),
    B(&'a [u8]),
    Ss(&'a [u8]),
    Ns(&'a [u8]),
    Bs(&'a [u8]),
    L(&'a [u8]),
    M(&'a [u8]),
}

/// Takes a value off the front of the bytes.
pub fn take_value<'a>(bytes: &mut &'a [u8]) -> Option<View<'a>> {
    let (&tag, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(match tag {
        tag::NULL => View::Null,
        tag::FALSE => View::Bool(false),
        tag::TRUE => View::Bool(true),
        tag::N => View::N(take_number(bytes)?),
        tag::S => View::S(take_marked(bytes)?),
        tag::B => View::B(take_marked(bytes)?),
        tag::SS => View::Ss(take_body(bytes)?),
        tag::NS => View::Ns(take_body(bytes)?),
        tag::BS => View::Bs(take_body(bytes)?),
        tag::L => View::L(take_body(bytes)?),
        tag::M => View::M(take_body(bytes)?),
        _ => return None,
    })
}

pub fn take_number(bytes: &mut &[u8]) -> Option<Number> {
    let (number, length) = Number::decode(bytes)?;
    *bytes = bytes.get(length..)?;
    Some(number)
}

/// Takes bytes behind their length. A length that is not in its shortest form is `None`.
pub fn take_marked<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let mut length = 0usize;
    for shift in [0, 7, 14, 21, 28] {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        length |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            if byte == 0 && shift > 0 {
                return None;
            }
            let (content, rest) = bytes.split_at_checked(length)?;
            *bytes = rest;
            return Some(content);
        }
    }
    None
}

fn take_body<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (body, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    *bytes = rest;
    Some(body)
}

/// How many bytes the value takes whose first few these are; where they do not say, enough to say it.
pub fn content_length(bytes: &[u8]) -> usize {
    const LONGEST_HEAD: usize = 1 + 5;
    const LONGEST_NUMBER: usize = 1 + 2 + 19 + 1;
    let Some((tag, content)) = bytes.split_first() else {
        return LONGEST_HEAD;
    };
    match *tag {
        tag::NULL | tag::FALSE | tag::TRUE => 1,
        tag::N => LONGEST_NUMBER,
        tag::S | tag::B => {
            let mut length = 0;
            for (i, byte) in content.iter().take(5).enumerate() {
                length |= usize::from(byte & 0x7f) << (7 * i);
                if *byte < 0x80 {
                    return 1 + marked_length(length);
                }
            }
            LONGEST_HEAD
        }
        _ => match content.first_chunk::<4>() {
            Some(length) => 1 + 4 + u32::from_be_bytes(*length) as usize,
            None => 1 + 4,
        },
    }
}

pub fn take_member<'a>(bytes: &mut &'a [u8]) -> Option<(&'a [u8], View<'a>)> {
    Some((take_marked(bytes)?, take_value(bytes)?))
}

/// Bytes that were checked to be UTF-8.
pub fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap_or_default()
}

/// The members of a body, each taken off its front.
pub fn each<'a, T>(mut body: &'a [u8], take: impl Fn(&mut &'a [u8]) -> Option<T>) -> impl Iterator<Item = T> {
    std::iter::from_fn(move || take(&mut body))
}

impl View<'_> {
    pub fn kind(&self) -> ValueType {
        match self {
            Self::Null => ValueType::Null,
            Self::Bool(_) => ValueType::Bool,
            Self::N(_) => ValueType::N,
            Self::S(_) => ValueType::S,
            Self::B(_) => ValueType::B,
            Self::Ss(_) => ValueType::Ss,
            Self::Ns(_) => ValueType::Ns,
            Self::Bs(_) => ValueType::Bs,
            Self::L(_) => ValueType::L,
            Self::M(_) => ValueType::M,
        }
    }

    pub fn decode(self) -> AttributeValue {
        match self {
            Self::Null => AttributeValue::Null,
            Self::Bool(value) => AttributeValue::Bool(value),
            Self::N(number) => AttributeValue::N(number),
            Self::S(bytes) => AttributeValue::S(text(bytes).to_owned()),
            Self::B(bytes) => AttributeValue::B(bytes.to_owned()),
            Self::Ss(body) => {
                AttributeValue::Ss(each(body, take_marked).map(|m| text(m).to_owned()).collect())
            }
            Self::Ns(body) => AttributeValue::Ns(each(body, take_number).collect()),
            Self::Bs(body) => AttributeValue::Bs(each(body, take_marked).map(<[u8]>::to_owned).collect()),
            Self::L(body) => AttributeValue::L(each(body, take_value).map(View::decode).collect()),
            Self::M(body) => AttributeValue::M(
                each(body, take_member)
                    .map(|(name, value)| (text(name).to_owned(), value.decode()))
                    .collect(),
            ),
        }
    }

    /// DynamoDB's size, as `value_size` has it.
    pub fn size(self) -> usize {
        match self {
            Self::Null | Self::Bool(_) => 1,
            Self::N(number) => number.size(),
            Self::S(bytes) | Self::B(bytes) => bytes.len(),
            Self::Ss(body) | Self::Bs(body) => each(body, take_marked).map(<[u8]>::len).sum(),
            Self::Ns(body) => each(body, take_number).map(|n| n.size()).sum(),
            Self::L(body) => {
                CONTAINER_BYTES
                    + each(body, take_value)
                        .map(|v| MEMBER_BYTES + v.size())
                        .sum::<usize>()
            }
            Self::M(body) => {
                let members = each(body, take_member);
                CONTAINER_BYTES
                    + members
                        .map(|(name, v)| MEMBER_BYTES + name.len() + v.size())
                        .sum::<usize>()
            }
        }
    }
}
