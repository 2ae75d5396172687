//! The order of a Java HashSet of BigDecimals, in which some answers have the members of number sets.   behaviour/items §order

use super::Number;

/// Puts numbers that ascend into the order of such a set.
pub fn hash_order(ascending: &mut [Number]) {
    let mut buckets = 16;
    while ascending.len() * 4 > buckets * 3 {
        buckets *= 2;
    }
    // Stable: the members of one bucket still ascend.
    ascending.sort_by_key(|number| bucket(number, buckets));
}

fn bucket(number: &Number, buckets: usize) -> usize {
    let hash = 31_i32
        .wrapping_mul(unscaled_hash(number))
        .wrapping_sub(number.exponent.into());
    let hash = hash.cast_unsigned();
    (hash ^ (hash >> 16)) as usize & (buckets - 1)
}

/// Java's hash of an integer: its 32-bit words from the first that counts, each beside 31 times those before it. A BigDecimal
/// that fits 64 bits comes to the same.
fn unscaled_hash(number: &Number) -> i32 {
    let words = [96, 64, 32, 0].map(|shift| (number.digits >> shift) as u32);
    let hash = words
        .iter()
        .fold(0_u32, |hash, word| hash.wrapping_mul(31).wrapping_add(*word));
    let hash = hash.cast_signed();
    if number.negative {
        hash.wrapping_neg()
    } else {
        hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(texts: &[&str]) -> Vec<String> {
        let mut numbers: Vec<Number> = texts.iter().map(|text| text.parse().unwrap()).collect();
        numbers.sort();
        hash_order(&mut numbers);
        numbers.iter().map(Number::to_string).collect()
    }

    #[test]
    fn hashes_are_those_of_java() {
        // BigDecimal("…").stripTrailingZeros().hashCode(), worked out by its definition: 31 × the integer's hash + scale.
        for (text, hash) in [
            ("0", 0),
            ("1", 31),
            ("-1", -31),
            ("20", 2 * 31 - 1),
            ("0.5", 5 * 31 + 1),
            ("4294967296", 31 * 31),
            ("-4294967297", -31 * (31 + 1)),
            // 2^64: the words 1, 0, 0.
            ("18446744073709551616", 31 * (31 * 31)),
        ] {
            let number: Number = text.parse().unwrap();
            let found = 31_i32
                .wrapping_mul(unscaled_hash(&number))
                .wrapping_sub(number.exponent.into());
            assert_eq!(found, hash, "{text}");
        }
    }

    #[test]
    fn buckets_ascend_and_so_do_their_members() {
        assert_eq!(ordered(&["1", "3", "20"]), ["3", "20", "1"]);
        // Twelve stay in sixteen buckets, the thirteenth doubles them. 31 n mod 16 is 16 - n.
        let texts: Vec<String> = (1..=12).map(|n| n.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let twelve = ordered(&texts);
        // 10 is 1 × 10, so its hash is 30: bucket 14, with 2.
        assert_eq!(
            twelve,
            ["12", "11", "9", "8", "7", "6", "5", "4", "3", "2", "10", "1"]
        );
        let mut thirteen = texts.clone();
        thirteen.push("40");
        // In 32 buckets n stands in 32 - n, 10 in 30 and 40 (4 × 31 - 1 = 123) in 27.
        assert_eq!(
            ordered(&thirteen),
            [
                "12", "11", "9", "8", "7", "6", "5", "40", "4", "3", "2", "10", "1"
            ]
        );
    }
}
