//! Member constraints and TableName.                       behaviour/wire §constraints, §table-names

use super::*;
use crate::{
    operation::{
        Context,
        Operation::{self, *},
    },
    table::AccountId,
    write::Timestamp,
};

fn context() -> Context {
    Context {
        account: AccountId::default(),
        region: "us-east-1".into(),
        now: Timestamp(0),
        random: [0; 16],
        layer: Layer::New,
    }
}

fn text(collect: impl FnOnce(&mut Members), layer: Layer) -> String {
    let mut members = Members::new(layer);
    collect(&mut members);
    match members.finish() {
        Ok(()) => "-".into(),
        Err(fault) => message(&fault.into(), PutItem, Layer::New).unwrap(),
    }
}

#[test]
fn forms() {
    for layer in [Layer::New, Layer::Old] {
        assert_eq!(
            text(|members| members.required("key", false), layer),
            "1 validation error detected: Value null at 'key' failed to satisfy constraint: Member must not be null"
        );
        assert_eq!(
            text(|members| members.return_consumed_capacity(Some("X")), layer),
            "1 validation error detected: Value 'X' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
        );
    }
    let limit = |members: &mut Members| members.range("Limit", Some(0), 1, i64::MAX);
    assert_eq!(
        text(limit, Layer::New),
        "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1"
    );
    assert_eq!(
        text(limit, Layer::Old),
        "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1"
    );
    assert_eq!(
        text(
            |members| members.range("Segment", Some(1_000_000), 0, 999_999),
            Layer::Old
        ),
        "1 validation error detected: Value '1000000' at 'segment' failed to satisfy constraint: Member must have value less than or equal to 999999"
    );
    let keys = |members: &mut Members| {
        members.renewed(
            "RequestItems.My.Table.member.Keys",
            "[]",
            &Constraint::LengthAtLeast(1),
        );
    };
    assert_eq!(
        text(keys, Layer::New),
        "1 validation error detected: Value at 'RequestItems.My.Table.member.Keys' failed to satisfy constraint: Member must have length greater than or equal to 1"
    );
    assert_eq!(
        text(keys, Layer::Old),
        "1 validation error detected: Value '[]' at 'requestItems.My.Table.member.keys' failed to satisfy constraint: Member must have length greater than or equal to 1"
    );
    assert_eq!(
        text(
            |members| members.fault("requestItems", "{}", &Constraint::TABLE_KEYS),
            Layer::New
        ),
        "1 validation error detected: Value '{}' at 'requestItems' failed to satisfy constraint: Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
    );
    assert_eq!(
        text(
            |members| members.one_of("select", Some("COUNT"), enums::SELECT),
            Layer::New
        ),
        "-"
    );
    assert_eq!(
        text(
            |members| members.one_of("select", Some("count"), enums::SELECT),
            Layer::New
        ),
        "1 validation error detected: Value 'count' at 'select' failed to satisfy constraint: Member must satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]"
    );
}

#[test]
fn a_bad_return_values_has_neither_value_nor_path() {
    let bad = |members: &mut Members| members.return_values(Some("X"));
    assert_eq!(
        text(bad, Layer::New),
        "1 validation error detected: Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
    );
    assert_eq!(
        text(bad, Layer::Old),
        "1 validation error detected: Value 'X' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
    );
    assert_eq!(
        text(|members| members.return_values(Some("UPDATED_NEW")), Layer::New),
        "-"
    );
}

#[test]
fn several_are_counted_and_ten_are_reported() {
    let two = |members: &mut Members| {
        members.required("item", false);
        members.return_values(Some("X"));
    };
    assert_eq!(
        text(two, Layer::New),
        "2 validation errors detected: Value null at 'item' failed to satisfy constraint: Member must not be null; Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
    );
    let twelve = text(
        |members| (0..12).for_each(|_| members.required("key", false)),
        Layer::New,
    );
    assert!(twelve.starts_with("10 validation errors detected: "));
    assert_eq!(twelve.matches("Value null at 'key'").count(), 10);
}

#[test]
fn update_item_answers_two_of_them_without_their_count() {
    let mut members = Members::new(Layer::New);
    members.return_values_on_condition_check_failure(Some("X"));
    let fault = members.finish_bare().unwrap_err();
    assert_eq!(
        message(&fault.into(), UpdateItem, Layer::New).unwrap(),
        "Value 'X' at 'returnValuesOnConditionCheckFailure' failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, NONE]"
    );
}

#[test]
fn long_echoes_are_cut() {
    let long = "x".repeat(2 << 20);
    let text = text(
        |members| members.fault("requestItems", &long, &Constraint::NotNull),
        Layer::New,
    );
    assert!(text.contains("...' at 'requestItems'"));
    assert!(text.len() < (1 << 20) + 200);
}

fn name(value: Option<&str>, operation: Operation, layer: Layer) -> String {
    match table_name(value, operation, layer, &context()) {
        Ok(table) => table.name,
        Err(fault) => message(&MemberFault::from(fault).into(), operation, layer).unwrap(),
    }
}

#[test]
fn table_names() {
    const PATTERN: &str = "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+";
    const LEAST: &str = "Member must have length greater than or equal to";
    let long = "n".repeat(256);
    let one = |value: &str, constraint: &str| {
        format!(
            "1 validation error detected: Value '{value}' at 'tableName' failed to satisfy constraint: {constraint}"
        )
    };
    let two = |value: &str, constraint: &str| {
        format!(
            "2 validation errors detected: Value '{value}' at 'tableName' failed to satisfy constraint: {PATTERN}; Value '{value}' at 'tableName' failed to satisfy constraint: {constraint}"
        )
    };
    for (value, operation, answer) in [
        (Some("abc"), PutItem, "abc".to_owned()),
        (Some("a.B-9_"), PutItem, "a.B-9_".into()),
        (None, PutItem, "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null".into()),
        (Some(""), PutItem, format!("1 validation error detected: Value at 'TableName' failed to satisfy constraint: {LEAST} 1")),
        (Some("ab"), PutItem, one("ab", &format!("{LEAST} 3"))),
        (Some(&long), PutItem, one(&long, "Member must have length less than or equal to 255")),
        (Some("abc;"), PutItem, one("abc;", PATTERN)),
        (Some("a;"), PutItem, one("a;", &format!("{LEAST} 3"))),
        (Some("a;"), UpdateItem, two("a;", &format!("{LEAST} 3"))),
        (Some("abc;"), UpdateItem, one("abc;", PATTERN)),
        (None, CreateTable, "The parameter 'TableName' is required but was not present in the request".into()),
        (Some(""), CreateTable, two("", &format!("{LEAST} 3"))),
        (Some("a;"), DescribeTable, two("a;", &format!("{LEAST} 3"))),
        (Some("ab"), DeleteTable, one("ab", &format!("{LEAST} 3"))),
    ] {
        assert_eq!(name(value, operation, Layer::of(operation, Layer::New)), answer, "{value:?} {operation:?}");
    }
    assert_eq!(
        name(Some(""), PutItem, Layer::Old),
        one("", &format!("{LEAST} 1"))
    );
    assert_eq!(
        name(Some(""), DescribeTable, Layer::Old),
        one("", &format!("{LEAST} 1"))
    );

    let alone = |value| {
        table_name(value, PutItem, Layer::New, &context())
            .unwrap_err()
            .alone()
            .is_some()
    };
    assert!(alone(Some("")));
    assert!(!alone(None));
    assert!(!alone(Some("ab")));
}

#[test]
fn arns() {
    const FORMAT: &str = "Valid ARN format is 'arn:<awsPartition>:<vendor>:<region>:<subscriber>:resourceType/resourceName', where Resource name must have length less than or equal to 255, Resource name must have length greater than or equal to 3, Resource name must satisfy regular expression pattern: [a-zA-Z0-9_.-]+";
    let here = "arn:aws:dynamodb:us-east-1:000000000000:";
    let fault = |arn: &str, detail: &str| {
        format!(
            "1 validation error detected: Value '{arn}' at 'tableName' failed to satisfy constraint: {detail}"
        )
    };
    let long = "n".repeat(256);
    for (resource, detail) in [
        ("stream/abc", "Invalid resource type"),
        (
            "table/ab",
            "Table name of ARN must have length greater than or equal to 3",
        ),
        ("table/abc/index/i", FORMAT),
        ("table/abc;", FORMAT),
        (&format!("table/{long}"), FORMAT),
        ("abc", FORMAT),
    ] {
        let arn = format!("{here}{resource}");
        assert_eq!(name(Some(&arn), GetItem, Layer::New), fault(&arn, detail));
    }
    assert_eq!(
        name(Some("arn:aws:dynamodb"), GetItem, Layer::New),
        fault("arn:aws:dynamodb", FORMAT)
    );
    assert_eq!(
        name(Some(&format!("{here}table/abc")), GetItem, Layer::New),
        "abc"
    );
    // Elsewhere: no table here has such a name.
    for arn in [
        "arn:aws:dynamodb:eu-west-2:000000000000:table/abc",
        "arn:aws:dynamodb:us-east-1:111111111111:table/abc",
    ] {
        assert_eq!(name(Some(arn), GetItem, Layer::New), arn);
    }
    assert_eq!(
        table_of_key(&format!("{here}table/abc"), &context())
            .map(|table| table.name)
            .as_deref(),
        Some("abc")
    );
    assert_eq!(table_of_key("ab", &context()), None);
    assert_eq!(table_of_key("a b c", &context()), None);
}

#[test]
fn echoes() {
    let body = r##"{"ProvisionedThroughput":{"WriteCapacityUnits":0},"AttributesToGet":["a","b"],"ExpressionAttributeNames":{"#a":"x"},"Writes":{"t":[{"PutRequest":{"Item":{"pk":{"S":"a"}}}}]},"Reads":{"t":{"Keys":[{"pk":{"B":"YQ==","N":null}}],"ConsistentRead":true}}}"##;
    let (request, _) = fields(body);
    let java = |member| request.java_text(member).unwrap();
    assert_eq!(
        java("ProvisionedThroughput"),
        "ProvisionedThroughput(readCapacityUnits=null, writeCapacityUnits=0)"
    );
    assert_eq!(java("AttributesToGet"), "[a, b]");
    assert_eq!(java("ExpressionAttributeNames"), "{#a=x}");
    let writes = java("Writes");
    let head = "{t=[WriteRequest(putRequest=PutRequest(item={pk=AttributeValue(s=a, n=null, b=null, iNT=null, dECIMAL=null, dOUBLE=null, sS=null, ";
    assert!(
        writes.starts_with(head) && writes.ends_with("=null)}))]}"),
        "{writes}"
    );
    assert_eq!(
        request.json_text("Reads").unwrap(),
        r#"{"t":{"Keys":[{"pk":{"B":"YQ=="}}],"ConsistentRead":true}}"#
    );
    assert_eq!(request.json_text("Limit"), None);
}
