//! Changes that keep an input's form: JSON stays JSON, an expression stays words. What changes bytes alone seldom gets past
//! a parser.

use serde_json::{Map, Value, json};

/// Numbers without a clock or a device: the same seed, the same changes.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub fn pick<'a, T: ?Sized>(&mut self, among: &[&'a T]) -> &'a T {
        among[self.below(among.len())]
    }
}

/// A line of JSON among the lines, or of an expression, changed in one place.
pub fn lines(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return "PutItem {}".into();
    }
    let at = random.below(lines.len());
    let line = &lines[at];
    let start = line.find(['{', '[']).unwrap_or(0);
    let (head, body) = line.split_at(start);
    match serde_json::from_str::<Value>(body) {
        Ok(value) => {
            let head = match random.below(16) {
                0 => format!("{} ", random.pick(OPERATIONS)),
                1 => match head.strip_prefix('-') {
                    Some(head) => head.to_owned(),
                    None => format!("-{head}"),
                },
                _ => head.to_owned(),
            };
            lines[at] = head + &json(value, random).to_string();
        }
        Err(_) => lines[at] = words(line, random),
    }
    if random.below(16) == 0 {
        let again = lines[random.below(lines.len())].clone();
        lines.push(again);
    }
    lines.join("\n")
}

/// One node changed: replaced, removed, doubled, moved, wrapped, renamed.
pub fn json(mut root: Value, random: &mut Random) -> Value {
    let count = nodes(&root);
    let other = node(&mut root, random.below(count)).clone();
    let target = node(&mut root, random.below(count));
    match random.below(8) {
        0 => *target = other,
        1 => *target = interesting(random),
        2 => *target = json!([target.take()]),
        3 => {
            let name = random.pick(NAMES);
            *target = json!({ name: target.take() });
        }
        4 => match target {
            Value::Object(members) => {
                if let Some(name) = members.keys().nth(random.below(members.len())).cloned() {
                    members.remove(&name);
                }
            }
            Value::Array(elements) if !elements.is_empty() => {
                elements.remove(random.below(elements.len()));
            }
            other => *other = Value::Null,
        },
        5 => match target {
            Value::Object(members) => {
                members.insert(random.pick(NAMES).into(), interesting(random));
            }
            Value::Array(elements) => elements.push(other),
            other => *other = interesting(random),
        },
        6 => {
            if let Value::Object(members) = target
                && let Some(name) = members.keys().nth(random.below(members.len())).cloned()
                && let Some(member) = members.remove(&name)
            {
                members.insert(random.pick(NAMES).into(), member);
            }
        }
        _ => {
            if let Value::String(text) = target {
                *text = words(text, random);
            }
        }
    }
    root
}

fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Object(members) => members.values().map(nodes).sum::<usize>(),
        Value::Array(elements) => elements.iter().map(nodes).sum(),
        _ => 0,
    }
}

/// The node at a place in the order of the text; the root where there is none.
fn node(root: &mut Value, mut at: usize) -> &mut Value {
    if at == 0 || at >= nodes(root) {
        return root;
    }
    at -= 1;
    let children: Vec<&mut Value> = match root {
        Value::Object(members) => members.values_mut().collect(),
        Value::Array(elements) => elements.iter_mut().collect(),
        _ => vec![],
    };
    for child in children {
        let size = nodes(child);
        if at < size {
            return node(child, at);
        }
        at -= size;
    }
    unreachable!("the place was counted")
}

/// A word of the text changed, removed, doubled or put in; words are names, numbers and single marks.
fn words(text: &str, random: &mut Random) -> String {
    let mut words: Vec<String> = vec![];
    let mut last = ' ';
    for mark in text.chars() {
        let within = |mark: char| mark.is_alphanumeric() || matches!(mark, '_' | '#' | ':');
        match words.last_mut() {
            Some(word) if within(mark) && within(last) => word.push(mark),
            _ => words.push(mark.to_string()),
        }
        last = mark;
    }
    let at = random.below(words.len());
    let word = random.pick(WORDS).to_owned();
    match random.below(5) {
        0 if !words.is_empty() => words[at] = word,
        1 if !words.is_empty() => {
            words.remove(at);
        }
        2 if !words.is_empty() => words.insert(at, words[random.below(words.len())].clone()),
        3 if !words.is_empty() => words[at] = words[at].repeat(1 + random.below(300)),
        _ => words.insert(at, word),
    }
    words.concat()
}

fn interesting(random: &mut Random) -> Value {
    match random.below(24) {
        0 => Value::Null,
        1 => json!({}),
        2 => json!([]),
        3 => json!(random.pick(TEXTS)),
        4 => json!(random.next() as i64),
        5 => json!(random.below(4)),
        6 => json!(-1.5e300),
        7 => json!(random.below(2) == 0),
        8 => json!({"S": random.pick(TEXTS)}),
        9 => json!({"N": random.pick(NUMBERS)}),
        10 => json!({"B": random.pick(TEXTS)}),
        11 => json!({"BOOL": true}),
        12 => json!({"NULL": true}),
        13 => json!({"L": [{"S": "x"}, {"N": random.pick(NUMBERS)}]}),
        14 => json!({"M": {random.pick(NAMES): {"S": random.pick(TEXTS)}}}),
        15 => json!({"SS": [random.pick(TEXTS), random.pick(TEXTS)]}),
        16 => json!({"NS": [random.pick(NUMBERS), random.pick(NUMBERS)]}),
        17 => json!({"BS": ["AQ==", random.pick(TEXTS)]}),
        18 => json!("x".repeat([64, 65, 255, 256, 1024, 1025, 2048, 2049, 4096, 4097][random.below(10)])),
        19 => json!({"S": "x".repeat([1024, 1025, 2048, 2049, 65536][random.below(5)])}),
        20 => {
            let mut nested = json!({"S": "x"});
            for _ in 0..28 + random.below(8) {
                nested = if random.below(2) == 0 {
                    json!({ "L": [nested] })
                } else {
                    json!({"M": {"m": nested}})
                };
            }
            nested
        }
        21 => json!({"N": random.next().to_string()}),
        22 => {
            let mut members = Map::new();
            for _ in 0..random.below(40) {
                members.insert(random.pick(NAMES).into(), json!({"N": random.pick(NUMBERS)}));
            }
            Value::Object(members)
        }
        _ => json!(vec![json!({"S": random.pick(TEXTS)}); random.below(130)]),
    }
}

const TEXTS: &[&str] = &[
    "",
    "a",
    "pk",
    "sk",
    "#n",
    ":v",
    "Hash1",
    "Range1",
    "Num1",
    "Multi1",
    "gsi1",
    "gsi2",
    "lsi1",
    "multi",
    "AQ==",
    "AR==",
    "é",
    "\0",
    "😀",
    "true",
    "false",
    "maybe",
    "NONE",
    "ALL_OLD",
    "ALL_NEW",
    "UPDATED_OLD",
    "UPDATED_NEW",
    "TOTAL",
    "INDEXES",
    "SIZE",
    "COUNT",
    "EQ",
    "NE",
    "IN",
    "BETWEEN",
    "NULL",
    "NOT_NULL",
    "CONTAINS",
    "BEGINS_WITH",
    "PUT",
    "ADD",
    "DELETE",
    "AND",
    "OR",
    "SPECIFIC_ATTRIBUTES",
    "ALL_PROJECTED_ATTRIBUTES",
    "ALL_ATTRIBUTES",
    "HASH",
    "RANGE",
    "S",
    "N",
    "B",
    "KEYS_ONLY",
    "INCLUDE",
    "PROVISIONED",
    "PAY_PER_REQUEST",
    "a.b[0].c",
    "SET a = :v",
    "a = :v AND size(b) > :v",
    "arn:aws:dynamodb:us-east-1:000000000000:table/Hash1",
];

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "1e125",
    "1e126",
    "-9.9999999999999999999999999999999999999E+125",
    "1e-130",
    "1e-131",
    "0.5",
    "",
    "NaN",
    "1e",
    "12345678901234567890123456789012345678",
    "123456789012345678901234567890123456789",
    "1e99999999999",
    "+5",
    ".5",
    "5.",
    "00000000000000000000000000000000000000001",
    "10000000000000000000000000000000000000000000",
    "0e9223372036854775807",
];

const NAMES: &[&str] = &[
    "pk",
    "sk",
    "lk",
    "g",
    "a",
    "b",
    "m",
    "l",
    "#n",
    "#a",
    ":v",
    ":w",
    "",
    "é",
    "S",
    "N",
    "B",
    "BOOL",
    "NULL",
    "SS",
    "NS",
    "BS",
    "L",
    "M",
    "TableName",
    "Item",
    "Key",
    "Keys",
    "IndexName",
    "ConditionExpression",
    "FilterExpression",
    "KeyConditionExpression",
    "ProjectionExpression",
    "UpdateExpression",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
    "Expected",
    "AttributeUpdates",
    "AttributesToGet",
    "ConditionalOperator",
    "KeyConditions",
    "QueryFilter",
    "ScanFilter",
    "Select",
    "Limit",
    "ExclusiveStartKey",
    "ScanIndexForward",
    "ConsistentRead",
    "ReturnValues",
    "ReturnConsumedCapacity",
    "ReturnItemCollectionMetrics",
    "ReturnValuesOnConditionCheckFailure",
    "Segment",
    "TotalSegments",
    "RequestItems",
    "PutRequest",
    "DeleteRequest",
    "Hash1",
    "Range1",
    "Num1",
    "Value",
    "Exists",
    "ComparisonOperator",
    "AttributeValueList",
    "Action",
    "AttributeDefinitions",
    "KeySchema",
    "AttributeName",
    "AttributeType",
    "KeyType",
    "GlobalSecondaryIndexes",
    "GlobalSecondaryIndexUpdates",
    "LocalSecondaryIndexes",
    "Projection",
    "ProjectionType",
    "NonKeyAttributes",
    "ProvisionedThroughput",
    "ReadCapacityUnits",
    "WriteCapacityUnits",
    "BillingMode",
    "StreamSpecification",
    "StreamEnabled",
    "SSESpecification",
    "TimeToLiveSpecification",
    "Tags",
    "ResourceArn",
    "TagKeys",
    "Create",
    "Update",
    "Delete",
];

const WORDS: &[&str] = &[
    "a",
    "b",
    "pk",
    "sk",
    "#n",
    ":v",
    ":w",
    "(",
    ")",
    ",",
    ".",
    "[",
    "]",
    "0",
    "1",
    "99",
    "4294967296",
    "99999999999999999999",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    " AND ",
    " OR ",
    " NOT ",
    " BETWEEN ",
    " IN ",
    "size",
    "contains",
    "begins_with",
    "attribute_exists",
    "attribute_not_exists",
    "attribute_type",
    "if_not_exists",
    "list_append",
    " SET ",
    " REMOVE ",
    " ADD ",
    " DELETE ",
    "+",
    "-",
    " ",
    "#",
    ":",
    "é",
    "!",
    "\"",
    "'",
    "\t",
    "name",
    "[0]",
    "[1]",
    ".b",
    "NOT (",
    "((",
    "))",
    "-1",
    "1e5",
    "\0",
];

const OPERATIONS: &[&str] = &[
    "BatchGetItem",
    "BatchWriteItem",
    "CreateTable",
    "DeleteItem",
    "DeleteTable",
    "DescribeTable",
    "GetItem",
    "ListTables",
    "PutItem",
    "Query",
    "Scan",
    "TagResource",
    "UpdateItem",
    "UpdateTable",
    "UpdateTimeToLive",
    "UntagResource",
    "ListTagsOfResource",
    "DescribeTimeToLive",
    "UpdateContinuousBackups",
    "CreateGlobalTable",
];

/// Bytes changed in one place: a bit, a length, a count, an end, a stretch.
pub fn bytes(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    let at = random.below(bytes.len());
    match random.below(7) {
        0 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
        1 if !bytes.is_empty() => bytes[at] = random.next() as u8,
        2 => bytes.truncate(at),
        3 => bytes.insert(at, random.next() as u8),
        4 if !bytes.is_empty() => {
            bytes.remove(at);
        }
        5 => {
            let huge = [0xff, 0xff, 0xff, 0xff];
            let end = (at + 1 + random.below(4)).min(bytes.len());
            bytes.splice(at..end, huge[..end - at].iter().copied());
        }
        _ => {
            let from = random.below(bytes.len());
            let end = (from + random.below(16)).min(bytes.len());
            let part = bytes[from..end].to_vec();
            bytes.splice(at..at, part);
        }
    }
    bytes
}

/// One step of libFuzzer's: half of them keep the form, the others are `bytes_alone`. Answers the new length.
pub fn in_place(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    bytes_alone: impl Fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    let mut random = Random(seed.into());
    if random.below(2) == 0
        && let Ok(text) = str::from_utf8(&data[..size])
    {
        let changed = lines(text, &mut random);
        if changed.len() <= max_size {
            data[..changed.len()].copy_from_slice(changed.as_bytes());
            return changed.len();
        }
    }
    bytes_alone(data, size, max_size)
}
