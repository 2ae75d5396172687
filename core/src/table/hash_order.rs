//! The order in which the service prints bracketed attribute lists: that of Java's hash collections.
//!                                                                              behaviour/tables §bracketed-lists

/// The buckets that a collection starts with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    /// The next power of two at or above the number of names.
    Fitted,
    Sixteen,
}

/// The names, each once, as `a, b, c` in the order of a hash collection that they were put into in this order.
pub(super) fn printed<'a>(names: impl IntoIterator<Item = &'a str>, start: Start) -> String {
    let mut unique: Vec<&str> = Vec::new();
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    let mut capacity = match start {
        Start::Fitted => unique.len().next_power_of_two(),
        Start::Sixteen => 16,
    };
    while unique.len() * 4 > capacity * 3 {
        capacity *= 2;
    }
    unique.sort_by_key(|name| bucket(name, capacity)); // stable: insertion order within a bucket
    unique.join(", ")
}

fn bucket(name: &str, capacity: usize) -> usize {
    let hash = name.encode_utf16().fold(0_u32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(unit.into())
    });
    (hash ^ (hash >> 16)) as usize & (capacity - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists as the service printed them (eu-west-2 and us-east-1, 2026-10-09; the last two us-west-2 2026-10-08).
    #[test]
    fn recorded_lists() {
        assert_eq!(
            printed(["PK", "h", "a", "unused"], Start::Fitted),
            "h, a, unused, PK"
        );
        assert_eq!(
            printed(["PK", "a", "b", "c", "d", "u1"], Start::Fitted),
            "a, b, PK, c, d, u1"
        );
        assert_eq!(printed(["h", "a", "zz"], Start::Fitted), "h, zz, a");
        assert_eq!(
            printed(["pk", "sk", "gpk", "gsk"], Start::Sixteen),
            "gpk, sk, pk, gsk"
        );
        assert_eq!(
            printed(["pk", "sk", "a", "b", "c"], Start::Fitted),
            "sk, a, b, pk, c"
        );
        assert_eq!(printed(["pk", "sk", "pk", "a"], Start::Sixteen), "a, sk, pk");
    }
}
