//! Legacy conditions against the expressions that say the same; what no row of `core/cases/legacy.toml` can say.

use crate::{
    error::Family,
    expression::{Condition, Kind, Placeholders},
    item::{AttributeValue, Attributes, Item, Number, ValueType},
};

use super::{comparison::Operator, *};

fn n(number: u64) -> AttributeValue {
    AttributeValue::N(Number::from(number))
}

fn s(text: &str) -> AttributeValue {
    AttributeValue::S(text.into())
}

fn compare(attribute: &str, operator: &str, values: &[AttributeValue]) -> WrittenComparison {
    WrittenComparison {
        attribute: attribute.into(),
        operator: operator.into(),
        values: values.to_vec(),
    }
}

fn values() -> Vec<AttributeValue> {
    vec![
        n(1),
        n(2),
        s(""),
        s("a"),
        s("ab"),
        s("2"),
        AttributeValue::B(b"a".into()),
        AttributeValue::B(b"ab".into()),
        AttributeValue::Bool(true),
        AttributeValue::Bool(false),
        AttributeValue::Null,
        AttributeValue::Ss(vec!["a".into(), "b".into()]),
        AttributeValue::Ns(vec![Number::from(1_u64), Number::from(2_u64)]),
        AttributeValue::Bs(vec![b"a".into()]),
        AttributeValue::L(vec![s("a"), n(2), AttributeValue::Null]),
        AttributeValue::M(Attributes::from([("a".into(), n(1))])),
    ]
}

/// Every stored value, and none, under every operator with every operand that it takes.
#[test]
fn operators_mean_what_the_expressions_mean() {
    let items: Vec<Item> = values()
        .into_iter()
        .map(|value| Item::encode(&Attributes::from([("a1".into(), value)])))
        .chain([Item::encode(&Attributes::from([("other".into(), n(1))]))])
        .collect();
    let rows = [
        ("EQ", "a1 = :v"),
        ("NE", "a1 <> :v"),
        ("LE", "a1 <= :v"),
        ("LT", "a1 < :v"),
        ("GE", "a1 >= :v"),
        ("GT", "a1 > :v"),
        ("BETWEEN", "a1 BETWEEN :v AND :v"),
        ("BEGINS_WITH", "begins_with(a1, :v)"),
        ("CONTAINS", "contains(a1, :v)"),
        ("NOT_CONTAINS", "NOT contains(a1, :v)"),
        ("IN", "a1 IN (:v)"),
        ("NOT_NULL", "attribute_exists(a1)"),
        ("NULL", "attribute_not_exists(a1)"),
    ];
    let mut compared = 0;
    for (operator, text) in rows {
        for operand in values() {
            let operands = match operator {
                "BETWEEN" => vec![operand.clone(), operand.clone()],
                "NULL" | "NOT_NULL" => vec![],
                _ => vec![operand.clone()],
            };
            let Ok(comparisons) = check_comparisons(vec![compare("a1", operator, &operands)]) else {
                continue;
            };
            let legacy = condition(comparisons, Join::And).expect("there is one");
            let placeholders = Placeholders::new(Default::default(), [(":v".to_owned(), operand)].into());
            let expression = Condition::parse(Kind::Condition, text, &placeholders, false);
            let expression = expression.expect("the operand suits it");
            for item in items.iter().map(Some).chain([None]) {
                assert_eq!(
                    legacy.holds(item),
                    expression.holds(item),
                    "{operator} on {item:?}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 1500, "{compared}");
}

/// All truth values of up to four conditions, each plain or turned about.
#[test]
fn a_join_holds_for_all_or_for_one() {
    for count in 1..=4_usize {
        for bits in 0..1_usize << (2 * count) {
            let truths: Vec<bool> = (0..count).map(|place| bits >> place & 1 == 1).collect();
            let written = truths.iter().enumerate().map(|(place, truth)| {
                // `p` is "ab": it contains "a" and not "x".
                let negated = bits >> (count + place) & 1 == 1;
                let (operator, part) = match (negated, truth) {
                    (false, true) => ("CONTAINS", "a"),
                    (false, false) => ("CONTAINS", "x"),
                    (true, true) => ("NOT_CONTAINS", "x"),
                    (true, false) => ("NOT_CONTAINS", "a"),
                };
                compare(&format!("p{place}"), operator, &[s(part)])
            });
            let comparisons = check_comparisons(written.collect()).expect("nothing is wrong");
            let item: Attributes = (0..count).map(|place| (format!("p{place}"), s("ab"))).collect();
            let item = Item::encode(&item);
            let holds = |join| {
                let condition = condition(comparisons.clone(), join).expect("there are some");
                condition.holds(Some(&item))
            };
            assert_eq!(holds(Join::And), truths.iter().all(|truth| *truth), "{truths:?}");
            assert_eq!(holds(Join::Or), truths.iter().any(|truth| *truth), "{truths:?}");
        }
    }
}

#[test]
fn nothing_written_is_no_condition_and_no_update() {
    assert_eq!(condition(vec![], Join::Or), None);
    assert_eq!(expectations(vec![]), Ok(vec![]));
    assert_eq!(update(vec![]), Ok(None));
}

#[test]
fn names_are_literal() {
    let comparisons = check_comparisons(vec![compare("a.b[0]#c", "EQ", &[n(1)])]).expect("nothing is wrong");
    let condition = condition(comparisons, Join::And).expect("there is one");
    let paths = condition.paths();
    assert_eq!(
        (paths.len(), paths[0].root(), paths[0].is_root()),
        (1, "a.b[0]#c", true)
    );
}

#[test]
fn an_expectation_without_a_value_says_why_it_needs_one() {
    let entry = |exists| Expectation {
        attribute: "a".into(),
        exists,
        ..Expectation::default()
    };
    let fault = |exists| expectations(vec![entry(exists)]).map(|_| ());
    let no_value = |exists| {
        Err(LegacyFault::NoValue {
            exists,
            attribute: "a".into(),
        })
    };
    assert_eq!(fault(None), no_value(None));
    assert_eq!(fault(Some(true)), no_value(Some(true)));
    assert_eq!(fault(Some(false)), Ok(()));
}

#[test]
fn only_what_attribute_updates_and_keys_say_has_no_prefix() {
    let bare = [
        LegacyFault::KeyConditionCount,
        LegacyFault::OnlyDelete,
        LegacyFault::DeleteType(ValueType::N),
        LegacyFault::AddType(ValueType::S),
    ];
    let request = [
        LegacyFault::UnknownAction,
        LegacyFault::UnknownJoin,
        LegacyFault::UnknownOperator,
        LegacyFault::ArgumentCount(Operator::Equal),
        LegacyFault::BetweenOrder,
    ];
    assert!(bare.iter().all(|fault| fault.family() == Family::Bare));
    assert!(request.iter().all(|fault| fault.family() == Family::Request));
}
