//! Is this the binary form of some item? Nothing in the bytes is believed before it was compared.

use crate::item::size::{CONTAINER_BYTES, MEMBER_BYTES};

use super::{
    Corrupt, LARGE_BYTES, Layout,
    value::{View, take_marked, take_member, take_number, take_value},
};

/// Levels of a value; also bounds the recursion here and of every reader.                  behaviour/items §nesting
const MAX_LEVELS: usize = 32;

/// Of an attribute's name, at the top and in maps.
const NAME_MAX_BYTES: usize = 65_535;

fn is_name(name: &[u8]) -> bool {
    (1..=NAME_MAX_BYTES).contains(&name.len())
}

/// One pass over the bytes, no allocation.
pub fn check(bytes: &[u8]) -> Result<(), Corrupt> {
    let layout = Layout::of(bytes).ok_or(Corrupt)?;
    let mut size = 0;
    let mut last_name: Option<&str> = None;
    let mut small_end = 0;
    let mut large: Option<(usize, usize)> = None;
    let mut name_start = 0;
    for i in 0..layout.count {
        let (name_end, start) = layout.entry(i).ok_or(Corrupt)?;
        let name = layout.names.get(name_start..name_end).ok_or(Corrupt)?;
        let name = str::from_utf8(name).map_err(|_| Corrupt)?;
        name_start = name_end;
        if last_name.is_some_and(|last| last >= name) || !is_name(name.as_bytes()) {
            return Err(Corrupt);
        }
        last_name = Some(name);

        let mut rest = layout.values.get(start..).ok_or(Corrupt)?;
        let before = rest.len();
        let value = take_value(&mut rest).ok_or(Corrupt)?;
        size += name.len() + check_value(value, 1)?;
        let end = start + before - rest.len();
        // The small values come first, then the large ones, both in the order of the names and without gaps.
        let expected = if end - start <= LARGE_BYTES {
            std::mem::replace(&mut small_end, end)
        } else {
            let (first, expected) = large.unwrap_or((start, start));
            large = Some((first, end));
            expected
        };
        if start != expected {
            return Err(Corrupt);
        }
    }
    let (large_start, end) = large.unwrap_or((small_end, small_end));
    let whole = name_start == layout.names.len() && large_start == small_end && end == layout.values.len();
    let narrowest =
        layout.wide == Layout::must_be_wide(layout.count, layout.names.len(), layout.values.len());
    if whole && narrowest && size == layout.size {
        Ok(())
    } else {
        Err(Corrupt)
    }
}

/// Answers DynamoDB's size of the value.
pub fn check_value(value: View<'_>, level: usize) -> Result<usize, Corrupt> {
    if level > MAX_LEVELS {
        return Err(Corrupt);
    }
    match value {
        View::Null | View::Bool(_) => Ok(1),
        View::N(number) => Ok(number.size()),
        View::S(bytes) => str::from_utf8(bytes).map(str::len).map_err(|_| Corrupt),
        View::B(bytes) => Ok(bytes.len()),
        View::Ss(body) => check_set(body, take_marked, |member| {
            str::from_utf8(member).map(str::len).map_err(|_| Corrupt)
        }),
        View::Ns(body) => check_set(body, take_number, |number| Ok(number.size())),
        View::Bs(body) => check_set(body, take_marked, |member| Ok(member.len())),
        View::L(mut body) => {
            let mut size = CONTAINER_BYTES;
            while !body.is_empty() {
                let element = take_value(&mut body).ok_or(Corrupt)?;
                size += MEMBER_BYTES + check_value(element, level + 1)?;
            }
            Ok(size)
        }
        View::M(mut body) => {
            let mut size = CONTAINER_BYTES;
            let mut last_name: Option<&[u8]> = None;
            while !body.is_empty() {
                let (name, member) = take_member(&mut body).ok_or(Corrupt)?;
                if last_name.is_some_and(|last| last >= name)
                    || !is_name(name)
                    || str::from_utf8(name).is_err()
                {
                    return Err(Corrupt);
                }
                last_name = Some(name);
                size += MEMBER_BYTES + name.len() + check_value(member, level + 1)?;
            }
            Ok(size)
        }
    }
}

/// Not empty, ascending, no duplicates.
fn check_set<'a, T: Copy + Ord>(
    mut body: &'a [u8],
    take: impl Fn(&mut &'a [u8]) -> Option<T>,
    check_member: impl Fn(T) -> Result<usize, Corrupt>,
) -> Result<usize, Corrupt> {
    let mut last = take(&mut body).ok_or(Corrupt)?;
    let mut size = check_member(last)?;
    while !body.is_empty() {
        let member = take(&mut body).ok_or(Corrupt)?;
        if last >= member {
            return Err(Corrupt);
        }
        size += check_member(member)?;
        last = member;
    }
    Ok(size)
}
