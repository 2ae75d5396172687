//! JSON types and coercions.                                                          behaviour/wire §types

use super::*;

const S1: &str = "Start of structure or map found where not expected";
const S2: &str = "only base-64-encoded strings are convertible to bytes";
const S3: &str = "Unexpected field type";
const S4: &str = "Unexpected value type in payload";
const S5: &str = "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader 'bootstrap')";

/// `-`: accepted; `bare`: refused without a text.
fn refused(body: &str, text: &str) {
    let answer = match decode(body, &REQUEST, Layer::New) {
        Ok(_) => "-".to_owned(),
        Err(fault) => fault.text().unwrap_or_else(|| "bare".into()),
    };
    assert_eq!(answer, text, "{body}");
}

/// One place of a request, and what it answers to each JSON value.
fn row(place: &str, answers: [&str; 8]) {
    let values = [r#""text""#, "5", "5.0", "5e0", "true", "false", "[]", "{}"];
    for (value, text) in values.into_iter().zip(answers) {
        refused(&place.replace('@', value), text);
    }
}

#[test]
fn strings_take_strings() {
    let texts = [
        "-",
        "NUMBER_VALUE cannot be converted to String",
        "DECIMAL_VALUE cannot be converted to String",
        "DECIMAL_VALUE cannot be converted to String",
        "TRUE_VALUE cannot be converted to String",
        "FALSE_VALUE cannot be converted to String",
        "Unrecognized collection type class java.lang.String",
        S1,
    ];
    row(r#"{"TableName":@}"#, texts);
    row(r#"{"AttributesToGet":["a",@]}"#, texts);
    row(r##"{"ExpressionAttributeNames":{"#a":@}}"##, texts);
    row(r#"{"Item":{"a":{"S":@}}}"#, texts);
    row(r#"{"Item":{"a":{"N":@}}}"#, texts);
    row(r#"{"Item":{"a":{"SS":[@]}}}"#, texts);
    row(r#"{"Item":{"a":{"NS":[@]}}}"#, texts);
    row(r#"{"QueryFilter":{"a":{"ComparisonOperator":@}}}"#, texts);
    refused(
        r#"{"TableName":-0}"#,
        "NUMBER_VALUE cannot be converted to String",
    );
}

#[test]
fn booleans_take_some_strings() {
    let texts = [
        "Unexpected token received from parser",
        "NUMBER_VALUE cannot be converted to Boolean",
        "DECIMAL_VALUE cannot be converted to Boolean",
        "DECIMAL_VALUE cannot be converted to Boolean",
        "-",
        "-",
        "Unrecognized collection type class java.lang.Boolean",
        S1,
    ];
    row(r#"{"ConsistentRead":@}"#, texts);
    row(r#"{"Reads":{"t":{"ConsistentRead":@}}}"#, texts);
    // In an attribute value a string is judged with its content, and a list has no text.
    let texts = ["-", texts[1], texts[2], texts[3], "-", "-", "bare", S1];
    row(r#"{"Item":{"a":{"BOOL":@}}}"#, texts);
    row(r#"{"Item":{"a":{"NULL":@}}}"#, texts);

    for (text, value) in [
        ("true", true),
        ("T", true),
        ("yes", true),
        ("Y", true),
        ("1", true),
    ]
    .into_iter()
    .chain([
        ("FALSE", false),
        ("f", false),
        ("No", false),
        ("n", false),
        ("0", false),
    ]) {
        let body = format!(r#"{{"ConsistentRead":"{text}"}}"#);
        let (request, layer) = fields(&body);
        assert_eq!(
            (request.boolean("ConsistentRead"), layer),
            (Some(value), Layer::New),
            "{text}"
        );
    }
    refused(
        r#"{"ConsistentRead":""}"#,
        "Unexpected token received from parser",
    );
    refused(
        r#"{"ConsistentRead":" true"}"#,
        "Unexpected token received from parser",
    );
}

#[test]
fn integers_saturate_and_truncate() {
    let texts = |class: &str| {
        [
            format!("STRING_VALUE cannot be converted to {class}"),
            "-".into(),
            "-".into(),
            "-".into(),
            format!("TRUE_VALUE cannot be converted to {class}"),
            format!("FALSE_VALUE cannot be converted to {class}"),
            format!("Unrecognized collection type class java.lang.{class}"),
            S1.into(),
        ]
    };
    row(r#"{"Limit":@}"#, texts("Integer").each_ref().map(String::as_str));
    row(
        r#"{"ProvisionedThroughput":{"ReadCapacityUnits":@}}"#,
        texts("Long").each_ref().map(String::as_str),
    );

    for (written, limit, layer) in [
        ("7", 7, Layer::New),
        ("-0", 0, Layer::New),
        ("7.0", 7, Layer::New),
        ("7e1", 70, Layer::New),
        ("7.9", 7, Layer::Old),
        ("-7.9", -7, Layer::Old),
        ("0.5", 0, Layer::Old),
        ("2147483647", 2_147_483_647, Layer::New),
        ("2147483648", 2_147_483_647, Layer::Old),
        ("-2147483649", -2_147_483_648, Layer::Old),
        ("99999999999999999999999", 2_147_483_647, Layer::Old),
        ("-99999999999999999999999", -2_147_483_648, Layer::Old),
        ("1e400", 2_147_483_647, Layer::Old),
    ] {
        let body = format!(r#"{{"Limit":{written}}}"#);
        let (request, read_on) = fields(&body);
        assert_eq!(
            (request.integer("Limit"), read_on),
            (Some(limit), layer),
            "{written}"
        );
    }
    for (written, units) in [
        ("9223372036854775807", i64::MAX),
        ("9223372036854775808", i64::MAX),
        ("-9223372036854775809", i64::MIN),
        ("1e19", i64::MAX),
        ("4294967296", 4_294_967_296),
    ] {
        let body = format!(r#"{{"ProvisionedThroughput":{{"ReadCapacityUnits":{written}}}}}"#);
        let throughput = fields(&body).0.structure("ProvisionedThroughput").unwrap();
        assert_eq!(throughput.integer("ReadCapacityUnits"), Some(units), "{written}");
    }
}

#[test]
fn binaries_take_padded_base64() {
    let texts = [
        "-",
        S2,
        S2,
        S2,
        S2,
        S2,
        "Unrecognized collection type class java.nio.ByteBuffer",
        S1,
    ];
    row(r#"{"Item":{"a":{"B":@}}}"#, texts);
    row(r#"{"Item":{"a":{"BS":[@]}}}"#, texts);
    let character = "Invalid last non-pad Base64 character dectected";
    let length = |n| format!("Base64 encoded length is expected a multiple of 4 bytes but found: {n}");
    for (base64, text) in [
        ("", "-"),
        ("YQ==", "-"),
        ("YWI=", "-"),
        ("YWJj", "-"),
        ("+/8=", "-"),
        ("YQ", &length(2)),
        ("YQ=", &length(3)),
        ("YWJjY", &length(5)),
        ("YR==", character),
        ("-_8=", character),
        ("Y Q=", character),
        ("=AAA", character),
        ("YQ=a", character),
    ] {
        refused(&format!(r#"{{"Item":{{"a":{{"B":"{base64}"}}}}}}"#), text);
    }
}

#[test]
fn lists_take_lists() {
    let texts = [S3, S3, S3, S3, S3, S3, "-", S1];
    for place in [
        r#"{"AttributesToGet":@}"#,
        r#"{"WriteList":@}"#,
        r#"{"Item":{"a":{"SS":@}}}"#,
        r#"{"Item":{"a":{"NS":@}}}"#,
        r#"{"Item":{"a":{"BS":@}}}"#,
        r#"{"Item":{"a":{"L":@}}}"#,
        r#"{"QueryFilter":{"a":{"AttributeValueList":@}}}"#,
        r#"{"Reads":{"t":{"Keys":@}}}"#,
    ] {
        row(place, texts);
    }
    row(r#"{"Writes":{"t":@}}"#, [S5, S5, S5, S5, S5, S5, "-", S1]);
}

#[test]
fn maps_take_objects() {
    let texts = |array| [S3, S3, S3, S3, S3, S3, array, "-"];
    let values = "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>";
    row(r#"{"Item":@}"#, texts(values));
    row(r#"{"Item":{"a":{"M":@}}}"#, texts(values));
    row(
        r#"{"ExpressionAttributeNames":@}"#,
        texts("Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>"),
    );
    row(
        r#"{"Expected":@}"#,
        texts(
            "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.ExpectedAttributeValue>",
        ),
    );
    row(
        r#"{"Writes":@}"#,
        texts(
            "Unrecognized collection type java.util.Map<java.lang.String, java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>>",
        ),
    );
    row(
        r#"{"Reads":{"t":{"Keys":[@]}}}"#,
        [S5, S5, S5, S5, S5, S5, values, "-"],
    );
}

#[test]
fn structures_take_objects() {
    let class =
        |name: &str| format!("Unrecognized collection type class com.amazonaws.dynamodb.v20120810.{name}");
    for (place, name) in [
        (r#"{"ProvisionedThroughput":@}"#, "ProvisionedThroughput"),
        (r#"{"Expected":{"a":{"Value":@}}}"#, "AttributeValue"),
        (r#"{"WriteList":[{"PutRequest":@}]}"#, "PutRequest"),
    ] {
        row(place, [S3, S3, S3, S3, S3, S3, &class(name), "-"]);
    }
    for (place, name) in [
        (r#"{"Item":{"a":@}}"#, "AttributeValue"),
        (r#"{"Item":{"a":{"L":[@]}}}"#, "AttributeValue"),
        (r#"{"Item":{"a":{"M":{"b":@}}}}"#, "AttributeValue"),
        (
            r#"{"QueryFilter":{"a":{"AttributeValueList":[@]}}}"#,
            "AttributeValue",
        ),
        (r#"{"Expected":{"a":@}}"#, "ExpectedAttributeValue"),
        (r#"{"QueryFilter":{"a":@}}"#, "Condition"),
        (r#"{"WriteList":[@]}"#, "WriteRequest"),
        (r#"{"Writes":{"t":[@]}}"#, "WriteRequest"),
        (r#"{"Reads":{"t":@}}"#, "KeysAndAttributes"),
    ] {
        row(place, [S4, S4, S4, S4, S4, S4, &class(name), "-"]);
    }
}

#[test]
fn containers_come_before_scalars() {
    let number = "NUMBER_VALUE cannot be converted to String";
    for (body, text) in [
        (r#"{"TableName":5,"Item":"x"}"#, S3),
        (r#"{"Item":"x","TableName":5}"#, S3),
        (
            r#"{"TableName":5,"Item":{"a":{"S":true}}}"#,
            "TRUE_VALUE cannot be converted to String",
        ),
        (
            r#"{"Limit":true,"TableName":5}"#,
            "TRUE_VALUE cannot be converted to Integer",
        ),
        (r#"{"TableName":5,"Limit":true}"#, number),
        (r#"{"Item":{"a":{"S":5,"SS":5}}}"#, S3),
        (r#"{"Item":{"a":{"BOOL":5,"M":{"b":"x"}}}}"#, S4),
        (
            r#"{"Item":[],"Key":"x"}"#,
            "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>",
        ),
        (r#"{"Key":"x","Item":[]}"#, S3),
        (r#"{"Expected":{"a":{"Exists":5,"Value":"x"}}}"#, S3),
    ] {
        refused(body, text);
    }
}

#[test]
fn nulls_are_absent_and_the_unknown_is_ignored() {
    let (request, _) = fields(
        r#"{"TableName":null,"Item":{"a":{"S":"x","N":null,"Q":5},"b":null},"New":{"a":[1]},"ProvisionedThroughput":{"x":1}}"#,
    );
    assert!(!request.has("TableName"));
    assert_eq!(
        request.present().collect::<Vec<_>>(),
        ["Item", "ProvisionedThroughput"]
    );
    let item = request.attributes("Item").unwrap();
    assert_eq!(item.names().collect::<Vec<_>>(), ["a"]);
    refused(r#"{"TableName":null,"Item":{"a":{"BOOL":null}}}"#, "-");
}

#[test]
fn the_last_of_equal_names_counts() {
    let (request, layer) = fields(
        r##"{"TableName":5,"TableName":"a","Limit":1,"Limit":null,"ExpressionAttributeNames":{"#a":"x","#b":"y","#a":"z"},"Item":{"a":{"S":"x","S":"y"}}}"##,
    );
    assert_eq!(request.string("TableName"), Some("a"));
    assert!(!request.has("Limit"));
    assert_eq!(
        request.string_map("ExpressionAttributeNames"),
        Some(vec![("#b", "y"), ("#a", "z")])
    );
    assert_eq!(layer, Layer::New);
}

#[test]
fn what_is_coerced_is_read_on_the_old_layer() {
    for (body, layer) in [
        (r#"{"Item":{"a":{"BOOL":true}}}"#, Layer::New),
        (r#"{"Item":{"a":{"BOOL":"true"}}}"#, Layer::Old),
        (r#"{"Item":{"a":{"L":[{"NULL":"yes"}]}}}"#, Layer::Old),
        (r#"{"Expected":{"a":{"Exists":"no"}}}"#, Layer::Old),
        (r#"{"Expected":{"a":{"Exists":false}}}"#, Layer::New),
        (r#"{"Item":{"a":{"S":"x","N":"1"}}}"#, Layer::Old),
        (r#"{"Item":{"a":{"S":"x","N":null}}}"#, Layer::New),
        (r#"{"Item":{"a":{"S":"x","Q":"1"}}}"#, Layer::New),
        (r#"{"ConsistentRead":"true"}"#, Layer::New),
    ] {
        assert_eq!(fields(body).1, layer, "{body}");
    }
}

#[test]
fn bodies_that_are_no_object_are_refused_bare() {
    for body in [
        "",
        " ",
        "5",
        "[]",
        "null",
        r#""x""#,
        "{",
        r#"{"TableName":"\ud800"}"#,
    ] {
        refused(body, "bare");
    }
    refused("{}", "-");
    refused(" {} ", "-");

    assert_eq!(RequestBody::check(b""), Ok(RequestBody::Empty));
    assert_eq!(RequestBody::check(b"[]"), Ok(RequestBody::NoObject));
    assert_eq!(RequestBody::check(b"{}"), Ok(RequestBody::Object("{}")));
    assert_eq!(RequestBody::check(b"{"), Err(ShapeFault::Bare));
    assert_eq!(RequestBody::check(b"{\"a\":\"\xff\"}"), Err(ShapeFault::Bare));
    assert_eq!(RequestBody::Empty.object(), Err(ShapeFault::Bare));
    assert_eq!(RequestBody::NoObject.object(), Err(ShapeFault::Bare));
}

/// As deep as JSON is read at all, on the stack of a thread.
#[test]
fn the_deepest_value_fits_a_two_megabyte_stack() {
    let work = || {
        for (open, close) in [(r#"{"L":["#, "]}"), (r#"{"M":{"a":"#, "}}")] {
            let levels = 1_990;
            let value = format!(
                "{}{}{}",
                open.repeat(levels),
                r#"{"S":"x"}"#,
                close.repeat(levels)
            );
            let body = format!(r#"{{"Item":{{"a":{value}}}}}"#);
            let (request, layer) = fields(&body);
            let item = request.attributes("Item").unwrap();
            assert!(
                item.read(Position::Item, crate::request::Operation::PutItem, layer)
                    .is_err()
            );
        }
    };
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap();
}
