//! Faults inside attribute values: texts, order, wrappers, prefixes.                  behaviour/wire §values

use super::*;
use crate::{
    error::Error,
    item::{AttributeValue, Attributes},
    request::Operation::{self, *},
};

const V1: &str = "1 validation error detected: ";
const PV: &str = "One or more parameter values were invalid: ";
const EMPTY: &str = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";
const SEVERAL: &str = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes";
const LONG: &str = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit";

/// The values under `Item`, `Key`, … read at a position, settled, as the operation answers.
fn read_at(position: Position, operation: Operation, own: Layer, map: &str) -> Result<Attributes, String> {
    let body = format!(r#"{{"Item":{map}}}"#);
    let text = |error: Error| message(&error, operation, own).unwrap_or_else(|| "bare".into());
    let (request, layer) = decode(&body, &REQUEST, own).map_err(|fault| text(fault.into()))?;
    let raw = request.attributes("Item").expect("the map is there");
    let read = raw.read(position, operation, layer).map_err(text)?;
    read.settle().map_err(text)
}

/// The fault of one value under `a` of PutItem's Item.
fn put(value: &str) -> String {
    match read_at(
        Position::Item,
        PutItem,
        Layer::New,
        &format!(r#"{{"a":{value}}}"#),
    ) {
        Ok(_) => "-".into(),
        Err(text) => text,
    }
}

/// The same on the old layer.
fn old(value: &str) -> String {
    match read_at(
        Position::Item,
        BatchWriteItem,
        Layer::Old,
        &format!(r#"{{"a":{value}}}"#),
    ) {
        Ok(_) => "-".into(),
        Err(text) => text,
    }
}

/// The same of `:k` in ExpressionAttributeValues.
fn eav(operation: Operation, layer: Layer, value: &str) -> String {
    match read_at(
        Position::ExpressionAttributeValues,
        operation,
        layer,
        &format!(r#"{{":k":{value}}}"#),
    ) {
        Ok(_) => "-".into(),
        Err(text) => text,
    }
}

fn nested(levels: usize) -> String {
    format!(
        "{}{}{}",
        r#"{"L":["#.repeat(levels),
        r#"{"S":"x"}"#,
        "]}".repeat(levels)
    )
}

#[test]
fn kinds_of_faults() {
    for (value, text) in [
        ("{}", EMPTY.to_owned()),
        (r#"{"Q":"x"}"#, EMPTY.into()),
        (r#"{"S":null}"#, EMPTY.into()),
        (r#"{"L":[null]}"#, EMPTY.into()),
        (r#"{"M":{"b":{}}}"#, EMPTY.into()),
        (r#"{"S":"x","B":""}"#, SEVERAL.into()),
        (r#"{"S":"x","Q":""}"#, "-".into()),
        (
            r#"{"NULL":false}"#,
            format!("{V1}{PV}Null attribute value types must have the value of true"),
        ),
        (
            r#"{"NULL":"no"}"#,
            format!("{PV}Null attribute value types must have the value of true"),
        ),
        (
            r#"{"NULL":"maybe"}"#,
            "Unexpected token received from parser".into(),
        ),
        (
            r#"{"BOOL":"maybe"}"#,
            "Unexpected token received from parser".into(),
        ),
        (r#"{"SS":[]}"#, format!("{V1}{PV}An string set  may not be empty")),
        (r#"{"NS":[]}"#, format!("{V1}{PV}An number set  may not be empty")),
        (r#"{"BS":[]}"#, format!("{V1}{PV}Binary sets should not be empty")),
        (
            r#"{"SS":[null]}"#,
            format!("{V1}{PV}An string set may not have a null string as a member"),
        ),
        (
            r#"{"NS":["1",null]}"#,
            format!("{V1}{PV}An number set may not have a null string as a member"),
        ),
        (
            r#"{"BS":[null]}"#,
            format!("{V1}{PV}Binary sets may not contain null values"),
        ),
        (
            r#"{"SS":["b","a","b","C"]}"#,
            format!(r#"{V1}{PV}Input collection ["a", "b", "b", "C"] contains duplicates."#),
        ),
        (
            r#"{"BS":["Yg==","YQ==","Yg=="]}"#,
            format!(r#"{V1}{PV}Input collection ["YQ==","Yg==","Yg=="]of type BS contains duplicates."#),
        ),
        (
            r#"{"NS":["1","1.0"]}"#,
            format!("{V1}{PV}Input collection contains duplicates."),
        ),
        (r#"{"M":{"":{"S":"x"}}}"#, format!("{V1}Empty attribute name")),
    ] {
        assert_eq!(put(value), text, "{value}");
    }
    for (value, text) in [
        (
            r#"{"SS":["b","a","b","C"]}"#,
            format!("{PV}Input collection [b, a, b, C] contains duplicates."),
        ),
        (
            r#"{"BS":["Yg==","YQ==","Yg=="]}"#,
            format!("{PV}Input collection [Yg==, YQ==, Yg==]of type BS contains duplicates."),
        ),
        (
            r#"{"NS":["1","1.0"]}"#,
            "Input collection contains duplicates".into(),
        ),
        (r#"{"SS":[]}"#, format!("{PV}An string set  may not be empty")),
        (r#"{"M":{"":{"S":"x"}}}"#, "Empty attribute name".into()),
        (
            r#"{"NULL":false}"#,
            format!("{PV}Null attribute value types must have the value of true"),
        ),
        ("{}", EMPTY.into()),
        (r#"{"S":"x","N":"1"}"#, SEVERAL.into()),
    ] {
        assert_eq!(old(value), text, "{value}");
    }
}

#[test]
fn numbers() {
    let grammar = "The parameter cannot be converted to a numeric value";
    let overflow = "Number overflow. Attempting to store a number with magnitude larger than supported range";
    let underflow =
        "Number underflow. Attempting to store a number with magnitude smaller than supported range";
    let digits = "Attempting to store more than 38 significant digits in a Number";
    let long = "1".repeat(39);
    for (number, new, old_text) in [
        ("", format!("{grammar}: "), grammar.to_owned()),
        (" 5", format!("{grammar}:  5"), format!("{grammar}:  5")),
        ("0x5", format!("{grammar}: 0x5"), format!("{grammar}: 0x5")),
        ("1e126", overflow.into(), overflow.into()),
        ("1e-131", underflow.into(), underflow.into()),
        (&long, digits.into(), digits.into()),
        // An exponent beyond 32 bits is no number to the old layer; beyond 64 to neither.
        (
            "1e2147483648",
            overflow.into(),
            format!("{grammar}: 1e2147483648"),
        ),
        (
            "1e-2147483649",
            underflow.into(),
            format!("{grammar}: 1e-2147483649"),
        ),
        (
            "1.5e-2147483648",
            underflow.into(),
            format!("{grammar}: 1.5e-2147483648"),
        ),
        ("1e2147483647", overflow.into(), underflow.into()),
        ("1e2147483646", overflow.into(), overflow.into()),
        (
            "1e9223372036854775808",
            format!("{grammar}: 1e9223372036854775808"),
            format!("{grammar}: 1e9223372036854775808"),
        ),
    ] {
        assert_eq!(
            put(&format!(r#"{{"N":"{number}"}}"#)),
            format!("{V1}{new}"),
            "{number}"
        );
        assert_eq!(
            put(&format!(r#"{{"NS":["1","{number}"]}}"#)),
            format!("{V1}{new}"),
            "{number}"
        );
        assert_eq!(old(&format!(r#"{{"N":"{number}"}}"#)), old_text, "{number}");
    }
}

#[test]
fn order_within_one_value() {
    // Each value has two faults; the one before answers. Several types put the request on the old layer.
    for (value, text) in [
        (
            r#"{"SS":[],"BOOL":"maybe"}"#,
            "Unexpected token received from parser".to_owned(),
        ),
        (
            r#"{"N":"x","SS":[]}"#,
            format!("{PV}An string set  may not be empty"),
        ),
        (
            r#"{"NULL":false,"N":"x"}"#,
            "The parameter cannot be converted to a numeric value: x".into(),
        ),
        (
            r#"{"NULL":false,"NS":["x"]}"#,
            "The parameter cannot be converted to a numeric value: x".into(),
        ),
        (
            r#"{"SS":["a","a"],"NULL":false}"#,
            format!("{PV}Null attribute value types must have the value of true"),
        ),
        (
            r#"{"L":[{}],"SS":["a","a"]}"#,
            format!("{PV}Input collection [a, a] contains duplicates."),
        ),
        (r#"{"L":[{}],"S":"x"}"#, EMPTY.into()),
        (r#"{"M":{"":{"S":"x"}},"S":"x"}"#, "Empty attribute name".into()),
        (
            r#"{"S":"x","N":"y"}"#,
            "The parameter cannot be converted to a numeric value: y".into(),
        ),
        (r#"{"S":"x","N":"1"}"#, SEVERAL.into()),
    ] {
        assert_eq!(put(value), text, "{value}");
    }
}

#[test]
fn values_are_read_in_the_order_of_the_request() {
    let fault = |map: &str| read_at(Position::Item, PutItem, Layer::New, map).unwrap_err();
    assert_eq!(
        fault(r#"{"z":{"N":"x"},"a":{}}"#),
        format!("{V1}The parameter cannot be converted to a numeric value: x")
    );
    assert_eq!(fault(r#"{"z":{},"a":{"N":"x"}}"#), EMPTY);
    assert_eq!(
        fault(r#"{"z":{"SS":[]},"":{"S":"x"}}"#),
        format!("{V1}{PV}An string set  may not be empty")
    );
    assert_eq!(fault(r#"{"":{"SS":[]}}"#), format!("{V1}Empty attribute name"));
    let long = "n".repeat(65_536);
    let too_large = format!("{V1}Attribute name is too large, must be less than 65536 bytes");
    assert_eq!(fault(&format!(r#"{{"{long}":{{"S":"x"}}}}"#)), too_large);
    assert_eq!(
        fault(&format!(r#"{{"a":{{"M":{{"{long}":{{"S":"x"}}}}}}}}"#)),
        too_large
    );
    assert!(
        read_at(
            Position::Item,
            PutItem,
            Layer::New,
            &format!(r#"{{"{}":{{"S":"x"}}}}"#, &long[1..])
        )
        .is_ok()
    );
}

/// Sets and nesting of other positions than PutItem's Item give way to what answers at once.
#[test]
fn faults_that_wait() {
    let map = format!(
        r#"{{"a":{{"SS":[]}},"b":{{"SS":["x","x"]}},"c":{},"d":{{"N":"x"}}}}"#,
        nested(40)
    );
    let number = "The parameter cannot be converted to a numeric value: x";
    let set = format!("{PV}An string set  may not be empty");
    for (position, operation, text) in [
        (Position::Item, PutItem, format!("{V1}{set}")),
        (Position::Key, UpdateItem, format!("{V1}{number}")),
        (
            Position::ExpressionAttributeValues,
            PutItem,
            format!("{V1}{number}"),
        ),
        (Position::Expected, PutItem, format!("{V1}{number}")),
        (Position::AttributeUpdates, UpdateItem, format!("{V1}{number}")),
        (Position::Filter, Query, number.into()),
        (Position::ExclusiveStartKey, Query, number.into()),
    ] {
        assert_eq!(
            read_at(position, operation, Layer::New, &map),
            Err(text),
            "{position:?}"
        );
    }
    let body = r#"{"Item":{"b":{"SS":["x","x"]},"a":{"SS":[]}}}"#;
    let (request, layer) = fields(body);
    let read = request
        .attributes("Item")
        .unwrap()
        .read(Position::Key, GetItem, layer)
        .unwrap();
    let text = message(&read.settle().unwrap_err(), GetItem, Layer::New).unwrap();
    assert_eq!(
        text,
        format!(r#"{PV}Input collection ["x", "x"] contains duplicates."#)
    );
    // Of ExpressionAttributeValues the first key, as everywhere in the maps.
    let text = read_at(
        Position::ExpressionAttributeValues,
        Query,
        Layer::New,
        r#"{":b":{"SS":["x","x"]},":a":{"SS":[]}}"#,
    );
    assert_eq!(
        text,
        Err(format!(
            "ExpressionAttributeValues contains invalid value: {set} for key :a"
        ))
    );
}

#[test]
fn empty_sets_carry_the_prefix_by_position() {
    let set = format!("{PV}An string set  may not be empty");
    for (position, operation, prefix) in [
        (Position::Item, PutItem, V1),
        (Position::Expected, PutItem, V1),
        (Position::Key, DeleteItem, ""),
        (Position::AttributeUpdates, UpdateItem, ""),
        (Position::Key, GetItem, ""),
        (Position::Filter, Scan, ""),
    ] {
        let answer = read_at(position, operation, Layer::New, r#"{"a":{"SS":[]}}"#);
        assert_eq!(answer, Err(format!("{prefix}{set}")), "{position:?}");
    }
    // The switch takes every one of them away.
    assert_eq!(
        read_at(Position::Item, PutItem, Layer::Old, r#"{"a":{"SS":[]}}"#),
        Err(set)
    );
}

#[test]
fn the_wrapper_of_expression_attribute_values() {
    let wrapped = |text: &str| format!("ExpressionAttributeValues contains invalid value: {text} for key :k");
    let empty_set = format!("{PV}An string set  may not be empty");
    for operation in [PutItem, UpdateItem, DeleteItem] {
        assert_eq!(
            eav(operation, Layer::New, r#"{"SS":[]}"#),
            format!("{V1}{}", wrapped(&empty_set))
        );
    }
    assert_eq!(eav(Scan, Layer::New, r#"{"SS":[]}"#), wrapped(&empty_set));

    for (operation, is_wrapped) in [
        (PutItem, false),
        (UpdateItem, false),
        (DeleteItem, true),
        (Query, true),
        (Scan, false),
    ] {
        let text = if is_wrapped { wrapped(EMPTY) } else { EMPTY.into() };
        assert_eq!(eav(operation, Layer::New, "{}"), text, "{operation:?}");
        assert_eq!(eav(operation, Layer::New, r#"{"L":[{}]}"#), text, "{operation:?}");
    }
    for (operation, is_wrapped) in [
        (PutItem, false),
        (UpdateItem, true),
        (DeleteItem, true),
        (Query, false),
        (Scan, false),
    ] {
        let text = if is_wrapped {
            wrapped(SEVERAL)
        } else {
            SEVERAL.into()
        };
        assert_eq!(
            eav(operation, Layer::New, r#"{"S":"x","N":"1"}"#),
            text,
            "{operation:?}"
        );
    }
    let null = format!("{PV}Null attribute value types must have the value of true");
    for (operation, is_wrapped) in [
        (PutItem, false),
        (UpdateItem, true),
        (DeleteItem, true),
        (Query, true),
        (Scan, false),
    ] {
        let text = if is_wrapped { wrapped(&null) } else { null.clone() };
        assert_eq!(
            eav(operation, Layer::New, r#"{"NULL":"no"}"#),
            text,
            "{operation:?}"
        );
    }
    assert_eq!(
        eav(UpdateItem, Layer::New, r#"{"NULL":false}"#),
        format!("{V1}{null}")
    );
    assert_eq!(eav(Query, Layer::New, r#"{"NULL":false}"#), null);

    let number = "The parameter cannot be converted to a numeric value: x";
    assert_eq!(
        eav(UpdateItem, Layer::New, r#"{"N":"x"}"#),
        format!("{V1}{number}")
    );
    assert_eq!(eav(Query, Layer::New, r#"{"N":"x"}"#), number);
    assert_eq!(eav(Query, Layer::Old, r#"{"N":"x"}"#), wrapped(number));
    // A request that was coerced is read on the old layer.
    assert_eq!(
        eav(UpdateItem, Layer::New, r#"{"S":"x","N":"x"}"#),
        wrapped(number)
    );
    assert_eq!(
        eav(Query, Layer::New, r#"{"SS":["a","a"]}"#),
        format!(r#"{PV}Input collection ["a", "a"] contains duplicates."#)
    );
    assert_eq!(
        eav(Query, Layer::Old, r#"{"SS":["a","a"]}"#),
        wrapped(&format!("{PV}Input collection [a, a] contains duplicates."))
    );
}

#[test]
fn nesting() {
    let at = |position, operation, levels| {
        let name = if position == Position::ExpressionAttributeValues {
            ":k"
        } else {
            "a"
        };
        match read_at(
            position,
            operation,
            Layer::New,
            &format!(r#"{{"{name}":{}}}"#, nested(levels)),
        ) {
            Ok(_) => "-".to_owned(),
            Err(text) => text,
        }
    };
    let starting = format!("The provided starting key is invalid: {LONG}");
    let wrapped = format!("ExpressionAttributeValues contains invalid value: {LONG} for key :k");
    let prefixed = format!("{V1}{LONG}");
    for (position, operation, deep, deepest) in [
        (Position::Item, PutItem, prefixed.as_str(), LONG),
        (Position::Key, UpdateItem, &prefixed, LONG),
        (Position::Expected, DeleteItem, &prefixed, LONG),
        (
            Position::ExpressionAttributeValues,
            UpdateItem,
            &prefixed,
            &wrapped,
        ),
        (Position::Key, GetItem, LONG, LONG),
        (Position::ExpressionAttributeValues, Query, LONG, &wrapped),
        (Position::Filter, Query, LONG, LONG),
        (Position::ExclusiveStartKey, Query, LONG, &starting),
        (Position::ExclusiveStartKey, Scan, &starting, &starting),
        (Position::ExpressionAttributeValues, Scan, LONG, &wrapped),
        (Position::Item, BatchWriteItem, LONG, LONG),
    ] {
        for (levels, text) in [
            (31, "-"),
            (32, deep),
            (62, deep),
            (63, deepest),
            (64, deepest),
            (1_000, deepest),
        ] {
            assert_eq!(
                at(position, operation, levels),
                text,
                "{position:?} {operation:?} {levels}"
            );
        }
    }
    assert_eq!(at(Position::Filter, Scan, 32), "-");
    assert_eq!(at(Position::Filter, Scan, 33), LONG);
    // Level 32 may be an empty list.
    let empty = format!(r#"{{"a":{}}}"#, nested(31).replace(r#"{"S":"x"}"#, r#"{"L":[]}"#));
    assert!(read_at(Position::Item, PutItem, Layer::New, &empty).is_ok());
}

#[test]
fn types_are_judged_at_every_depth() {
    for levels in [1, 70, 500] {
        let value = nested(levels).replace(r#"{"S":"x"}"#, r#"{"S":5}"#);
        let body = format!(r#"{{"Item":{{"a":{value}}}}}"#);
        let fault = decode(&body, &REQUEST, Layer::New).unwrap_err();
        assert_eq!(
            fault.text().as_deref(),
            Some("NUMBER_VALUE cannot be converted to String"),
            "{levels}"
        );
        let value = nested(levels).replace(r#"{"S":"x"}"#, r#"{"BOOL":"yes"}"#);
        assert_eq!(
            fields(&format!(r#"{{"Item":{{"a":{value}}}}}"#)).1,
            Layer::Old,
            "{levels}"
        );
    }
}

#[test]
fn the_starting_key() {
    let at = |operation, value: &str| {
        read_at(
            Position::ExclusiveStartKey,
            operation,
            Layer::New,
            &format!(r#"{{"pk":{value}}}"#),
        )
        .unwrap_err()
    };
    let starting = |text: &str| format!("The provided starting key is invalid: {text}");
    let null = format!("{PV}Null attribute value types must have the value of true");
    let number = "The parameter cannot be converted to a numeric value: x";
    let set = |text: &str| format!("{PV}{text}");
    for (value, query, scan) in [
        ("{}", starting(EMPTY), starting(EMPTY)),
        (r#"{"S":"x","N":"1"}"#, starting(SEVERAL), starting(SEVERAL)),
        (r#"{"NULL":false}"#, null.clone(), starting(&null)),
        (
            r#"{"SS":[]}"#,
            set("An string set  may not be empty"),
            starting(&set("An string set  may not be empty")),
        ),
        (
            r#"{"BS":[]}"#,
            set("Binary sets should not be empty"),
            starting(&set("Binary sets should not be empty")),
        ),
        (
            r#"{"NS":[]}"#,
            set("An number set  may not be empty"),
            set("An number set  may not be empty"),
        ),
        (r#"{"N":"x"}"#, number.into(), number.into()),
        (
            r#"{"M":{"":{"S":"x"}}}"#,
            "Empty attribute name".into(),
            "Empty attribute name".into(),
        ),
    ] {
        assert_eq!(at(Query, value), query, "{value}");
        assert_eq!(at(Scan, value), scan, "{value}");
    }
}

#[test]
fn what_is_read_is_canonical() {
    let item = read_at(
        Position::Item,
        PutItem,
        Layer::New,
        r#"{"b":{"B":"YQ=="},"e":{"SS":["","b","a"]},"f":{"BOOL":"yes"},"n":{"NULL":true},"l":{"L":[]},"m":{"M":{"z":{"S":""}}},"x":{"BS":["Yg==","YQ=="]}}"#,
    );
    let expected = Attributes::from([
        ("b".into(), AttributeValue::B(b"a".to_vec())),
        (
            "e".into(),
            AttributeValue::Ss(vec!["".into(), "a".into(), "b".into()]),
        ),
        ("f".into(), AttributeValue::Bool(true)),
        ("n".into(), AttributeValue::Null),
        ("l".into(), AttributeValue::L(vec![])),
        (
            "m".into(),
            AttributeValue::M(Attributes::from([("z".into(), AttributeValue::S("".into()))])),
        ),
        ("x".into(), AttributeValue::Bs(vec![b"a".to_vec(), b"b".to_vec()])),
    ]);
    assert_eq!(item, Ok(expected));
}

#[test]
fn placeholder_maps() {
    let at = |operation, body: &str| -> String {
        let (request, layer) = fields(body);
        let work = || -> Result<(), Error> {
            let names = PlaceholderNames::read(&request)?;
            let values = request
                .attributes("ExpressionAttributeValues")
                .map(|raw| raw.read(Position::ExpressionAttributeValues, operation, layer))
                .transpose()?;
            let maps = placeholders(names, values)?;
            check_unused(&maps)?;
            Ok(())
        };
        work()
            .err()
            .and_then(|error| message(&error, operation, Layer::New))
            .unwrap_or_else(|| "-".into())
    };
    let long = format!("#{}", "n".repeat(255));
    let long_value = format!(":{}", "n".repeat(255));
    let names = |key: &str, name: &str| format!(r##"{{"ExpressionAttributeNames":{{"{key}":"{name}"}}}}"##);
    let values = |key: &str| format!(r##"{{"ExpressionAttributeValues":{{"{key}":{{"S":"x"}}}}}}"##);
    for (body, prefix, text) in [
        (r#"{"ExpressionAttributeNames":{}}"#.to_owned(), V1, "ExpressionAttributeNames must not be empty".to_owned()),
        (r#"{"ExpressionAttributeValues":{}}"#.into(), V1, "ExpressionAttributeValues must not be empty".into()),
        (names(&long, "x"), "", "ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; size of key: 256".into()),
        (values(&long_value), "", "ExpressionAttributeValues contains invalid key: The expression attribute map contains a key that is too long;".into()),
        (names("a", "x"), "", r#"ExpressionAttributeNames contains invalid key: Syntax error; key: "a""#.into()),
        (names("#", "x"), "", r##"ExpressionAttributeNames contains invalid key: Syntax error; key: "#""##.into()),
        (names("", "x"), "", r#"ExpressionAttributeNames contains invalid key: Syntax error; key: """#.into()),
        (names("#a-b", "x"), "", r##"ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-b""##.into()),
        (names("#ä", "x"), V1, r##"ExpressionAttributeNames contains invalid key: Syntax error; key: "#ä""##.into()),
        (values("#a"), "", r##"ExpressionAttributeValues contains invalid key: Syntax error; key: "#a""##.into()),
        (names("#a", ""), V1, "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a".into()),
        (names("#a", &"n".repeat(65_536)), V1, "Attribute name is too large, must be less than 65536 bytes".into()),
        (names("#_9", "x"), V1, "Value provided in ExpressionAttributeNames unused in expressions: keys: {#_9}".into()),
        (values(":b"), V1, "Value provided in ExpressionAttributeValues unused in expressions: keys: {:b}".into()),
        // An empty name before all else; names before values; all keys of the values before their content.
        (r##"{"ExpressionAttributeValues":{"v":{"SS":[]}},"ExpressionAttributeNames":{"a":""}}"##.into(), V1, "ExpressionAttributeNames contains invalid value: Empty attribute name for key a".into()),
        (r##"{"ExpressionAttributeValues":{},"ExpressionAttributeNames":{}}"##.into(), V1, "ExpressionAttributeNames must not be empty".into()),
        (r##"{"ExpressionAttributeValues":{":a":{"SS":[]},"v":{"S":"x"}}}"##.into(), "", r#"ExpressionAttributeValues contains invalid key: Syntax error; key: "v""#.into()),
        (r##"{"ExpressionAttributeNames":{"#b":"x","#a":"y"}}"##.into(), V1, "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a, #b}".into()),
    ] {
        assert_eq!(at(UpdateItem, &body), format!("{prefix}{text}"), "{body}");
        assert_eq!(at(Query, &body), text, "{body}");
    }
}
