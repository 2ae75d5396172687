//! Any members, on items of their own, some of them held by others: the answer is the one that the rules give, worked out here
//! from what each member is; and what is written is what the members write one by one.   behaviour/transactions §ranking

use extenddb_core::{
    item::{AttributeValue, ItemKey},
    store_suite::MemoryStore,
    table::TableId,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    notation::{Fixture, parsed},
    ranking::Ranking,
    served::{call, ok},
};

/// Which fault a member is, by the names of texts and reasons in the table of cases.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Supplied keys of the wrong type, told at the member.
    SuppliedType(&'static str),
    /// Supplied empty index keys, told for the whole request.
    SuppliedEmpty(&'static str),
    LiteralEmpty(&'static str),
    ComputedEmpty(&'static str),
    /// The member's own reason.
    Own(&'static str),
    Fine,
}

use Kind::*;

/// Members; `{}` is the item's key. Every item is {v: "old", e: "", eb: empty, num: 5, l: []}.
const MEMBERS: &[(Kind, &str)] = &[
    (
        Fine,
        r#"{"Put":{"TableName":"Main","Item":{"pk":{"S":"{}"},"sidx":{"S":"s"}}}}"#,
    ),
    (
        Fine,
        r#"{"Put":{"TableName":"Main","Item":{"pk":{"S":"{}-new"}},"ConditionExpression":"attribute_not_exists(pk)"}}"#,
    ),
    (Fine, r#"{"Delete":{"TableName":"Main","Key":{"pk":{"S":"{}"}}}}"#),
    (
        Fine,
        r#"{"Delete":{"TableName":"Main","Key":{"pk":{"S":"{}-new"}}}}"#,
    ),
    (
        Fine,
        r#"{"ConditionCheck":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"ConditionExpression":"attribute_exists(v)"}}"#,
    ),
    (
        Fine,
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"UpdateExpression":"SET sidx = v, nidx = num + num"}}"#,
    ),
    (
        Fine,
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}-new"}},"UpdateExpression":"SET sidx = pk"}}"#,
    ),
    (
        Fine,
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}-new"}},"UpdateExpression":"REMOVE v"}}"#,
    ),
    (
        Fine,
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"UpdateExpression":"SET num = num"}}"#,
    ),
    (
        SuppliedType("M1"),
        r#"{"Put":{"TableName":"Main","Item":{"pk":{"N":"1"},"v":{"S":"{}"}}}}"#,
    ),
    (
        SuppliedType("M2"),
        r#"{"Delete":{"TableName":"Main","Key":{"pk":{"S":"{}"},"v":{"S":"old"}}}}"#,
    ),
    (
        SuppliedType("M10"),
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"UpdateExpression":"REMOVE pk"}}"#,
    ),
    (
        SuppliedType("M3 N"),
        r#"{"Put":{"TableName":"Main","Item":{"pk":{"S":"{}"},"sidx":{"N":"1"},"bidx":{"B":""}}}}"#,
    ),
    (
        SuppliedType("M3 N"),
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"UpdateExpression":"SET sidx = :n, bidx = :e","ExpressionAttributeValues":{":n":{"N":"1"},":e":{"B":""}}}}"#,
    ),
    (
        SuppliedType("M3 L"),
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"UpdateExpression":"SET sidx = list_append(l, nope)"}}"#,
    ),
    (
        SuppliedType("M3 head"),
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"UpdateExpression":"SET sidx = num - nope","ConditionExpression":"attribute_exists(nope)"}}"#,
    ),
    (
        SuppliedEmpty("M4"),
        r#"{"Put":{"TableName":"Main","Item":{"pk":{"S":"{}"},"sidx":{"S":""}},"ConditionExpression":"attribute_exists(nope)"}}"#,
    ),
    (
        SuppliedEmpty("M5"),
        r#"{"Put":{"TableName":"Main","Item":{"pk":{"S":"{}"},"bidx":{"B":""}}}}"#,
    ),
    (
        LiteralEmpty("M6"),
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"UpdateExpression":"SET sidx = :e, bidx = eb","ConditionExpression":"attribute_exists(nope)","ExpressionAttributeValues":{":e":{"S":""}}}}"#,
    ),
    (
        LiteralEmpty("M7"),
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"UpdateExpression":"SET bidx = :e, c = nope","ExpressionAttributeValues":{":e":{"B":""}}}}"#,
    ),
    (
        ComputedEmpty("M6"),
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"UpdateExpression":"SET sidx = e"}}"#,
    ),
    (
        ComputedEmpty("M6"),
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}-new"}},"UpdateExpression":"SET sidx = if_not_exists(v, :e)","ExpressionAttributeValues":{":e":{"S":""}}}}"#,
    ),
    (
        ComputedEmpty("M7"),
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"UpdateExpression":"SET bidx = eb","ConditionExpression":"attribute_exists(v)"}}"#,
    ),
    (
        Own("C"),
        r#"{"ConditionCheck":{"TableName":"Main","Key":{"pk":{"S":"{}-new"}},"ConditionExpression":"attribute_exists(pk)"}}"#,
    ),
    (
        Own("C"),
        r#"{"Put":{"TableName":"Main","Item":{"pk":{"S":"{}"}},"ConditionExpression":"attribute_not_exists(pk)"}}"#,
    ),
    (
        Own("C"),
        r#"{"Delete":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"ConditionExpression":"v = e"}}"#,
    ),
    (
        Own("C"),
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"UpdateExpression":"SET sidx = e, c = nope","ConditionExpression":"num > num2"}}"#,
    ),
    (
        Own("C"),
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}-new"}},"UpdateExpression":"SET v = pk","ConditionExpression":"attribute_exists(pk)"}}"#,
    ),
    (
        Own("V(M3 N)"),
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"UpdateExpression":"SET sidx = num, bidx = eb"}}"#,
    ),
    (
        Own("V(M3 L)"),
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"UpdateExpression":"SET sidx = if_not_exists(nope, l)"}}"#,
    ),
    (
        Own("V(M8)"),
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"UpdateExpression":"SET sidx = e, c = nope"}}"#,
    ),
    (
        Own("V(M8a)"),
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"UpdateExpression":"SET c = v + num"}}"#,
    ),
    (
        Own("V(M8b)"),
        r#"{"Update":{"TableName":"Main","Key":{"pk":{"S":"{}"}},"UpdateExpression":"REMOVE v.a"}}"#,
    ),
];

/// A member, on an item of its own, which somebody else may hold.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    kind: Kind,
    text: &'static str,
    held: bool,
}

fn chosen() -> impl Strategy<Value = Vec<Chosen>> {
    let members = prop::sample::select(MEMBERS).prop_map(|(kind, text)| (kind, text));
    // Each class as often as the others, or supplied types would decide nearly all.
    let class = 0..6_usize;
    let one = (class, members, prop::bool::weighted(0.15)).prop_map(|(class, (kind, text), held)| {
        let of_class: Vec<_> = MEMBERS.iter().filter(|(kind, _)| place(*kind) == class).collect();
        let (kind, text) = match class {
            // What hides the others is not everywhere.
            0 | 1 => (kind, text),
            _ => *of_class[text.len() % of_class.len()],
        };
        Chosen { kind, text, held }
    });
    prop::collection::vec(one, 1..=6)
}

fn place(kind: Kind) -> usize {
    match kind {
        SuppliedType(_) => 0,
        SuppliedEmpty(_) => 1,
        LiteralEmpty(_) => 2,
        ComputedEmpty(_) => 3,
        Own(_) => 4,
        Fine => 5,
    }
}

/// The answer by the rules, in the notation of the table of cases.
fn resolved(members: &[Chosen]) -> String {
    let none = || vec!["-".to_owned(); members.len()];
    let cancelled = |reasons: Vec<String>| format!("TC[{}]", reasons.join(", "));
    for (place, member) in members.iter().enumerate() {
        match member.kind {
            SuppliedType(text) => {
                let mut reasons = none();
                reasons[place] = format!("V({text})");
                return cancelled(reasons);
            }
            SuppliedEmpty(text) => return format!("VE({text})"),
            _ => {}
        }
    }
    for member in members {
        match member.kind {
            LiteralEmpty(text) => return format!("VE({text})"),
            ComputedEmpty(text) if !member.held => return format!("VE({text})"),
            _ => {}
        }
    }
    let mut reasons = none();
    for (reason, member) in reasons.iter_mut().zip(members) {
        match member.kind {
            _ if member.held => *reason = "X".into(),
            Own(own) => *reason = own.into(),
            _ => {}
        }
    }
    if reasons.iter().all(|reason| reason == "-") {
        "200".into()
    } else {
        cancelled(reasons)
    }
}

fn requests(members: &[Chosen]) -> Vec<Value> {
    let request =
        |(place, member): (usize, &Chosen)| parsed(&member.text.replace("{}", &format!("i{place}")));
    members.iter().enumerate().map(request).collect()
}

/// The fixture with an item for each member; held ones are held, whether there is an item or not.
fn world(fixture: &Fixture, members: &[Chosen]) -> (MemoryStore, Vec<ItemKey>) {
    let store = fixture.store();
    let mut held = Vec::new();
    for (place, member) in members.iter().enumerate() {
        let pk = format!("i{place}");
        ok(
            &store,
            "PutItem",
            json!({"TableName": "Main", "Item": {"pk": {"S": pk}, "v": {"S": "old"}, "e": {"S": ""}, "eb": {"B": ""},
                "num": {"N": "5"}, "l": {"L": []}}}),
        );
        if member.held {
            held.extend([pk.clone(), format!("{pk}-new")].map(|pk| key(&store, &pk)));
        }
    }
    (store, held)
}

fn key(store: &MemoryStore, pk: &str) -> ItemKey {
    // An item that is not there is put and taken away again.
    let wanted = Some(AttributeValue::S(pk.into()));
    let find = || {
        let items = store.items(TableId(2)).into_iter();
        items
            .map(|(key, item)| (key, item.get("pk")))
            .find(|(_, found)| *found == wanted)
    };
    let item = json!({"pk": {"S": pk}});
    if find().is_none() {
        ok(store, "PutItem", json!({"TableName": "Main", "Item": item}));
        let (key, _) = find().expect("it was put");
        ok(store, "DeleteItem", json!({"TableName": "Main", "Key": item}));
        return key;
    }
    find().expect("it is there").0
}

/// The same member as a request by itself; a check writes nothing.
fn alone(store: &MemoryStore, member: &Value) {
    let (action, request) = member
        .as_object()
        .and_then(|object| object.iter().next())
        .expect("one action");
    let operation = match action.as_str() {
        "Put" => "PutItem",
        "Update" => "UpdateItem",
        "Delete" => "DeleteItem",
        _ => return,
    };
    ok(store, operation, request.clone());
}

fn indexes(store: &MemoryStore) -> Vec<(i32, Vec<u8>)> {
    let rows = store.index_rows(TableId(2)).into_iter();
    rows.map(|(index, _, item)| (index, item.as_bytes().to_vec()))
        .collect()
}

fn transact(store: &MemoryStore, members: &[Value], token: Option<&str>) -> (u16, Value) {
    let mut request = json!({"TransactItems": members});
    if let Some(token) = token {
        request["ClientRequestToken"] = token.into();
    }
    call(store, "TransactWriteItems", &request)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_answer_is_the_one_by_the_rules(members in chosen(), with_token in any::<bool>()) {
        let fixture = &Ranking::read().fixture;
        let requests = requests(&members);
        let (store, held) = world(fixture, &members);
        held.iter().for_each(|key| store.hold(key.clone()));
        let (before, rows_before) = (fixture.items(&store), indexes(&store));
        let wanted = resolved(&members);
        let answer = transact(&store, &requests, with_token.then_some("k"));
        prop_assert_eq!(fixture.fault(&wanted, &answer), None);
        if answer.0 == 200 {
            let (other, _) = world(fixture, &members);
            requests.iter().for_each(|member| alone(&other, member));
            prop_assert_eq!(fixture.items(&store), fixture.items(&other));
            prop_assert_eq!(indexes(&store), indexes(&other));
        } else {
            prop_assert_eq!(fixture.items(&store), before);
            prop_assert_eq!(indexes(&store), rows_before);
        }
    }

    /// Without supplied faults and empty keys, whatever the order of the members, each keeps its own reason.
    #[test]
    fn reasons_go_with_their_members(members in chosen(), seed in any::<prop::sample::Index>()) {
        let fixture = &Ranking::read().fixture;
        let plain = |member: &Chosen| matches!(member.kind, Own(_) | Fine);
        let members: Vec<Chosen> = members.into_iter().filter(plain).collect();
        prop_assume!(!members.is_empty());
        let (store, held) = world(fixture, &members);
        held.iter().for_each(|key| store.hold(key.clone()));
        let requests = requests(&members);
        let (status, body) = transact(&store, &requests, None);
        prop_assume!(status != 200);
        let reasons = body["CancellationReasons"].as_array().expect("reasons").clone();
        let turn = seed.index(members.len());
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.rotate_left(turn);
        order[turn / 2..].reverse();
        let permuted: Vec<Value> = order.iter().map(|place| requests[*place].clone()).collect();
        let (_, body) = transact(&store, &permuted, None);
        let wanted: Vec<Value> = order.iter().map(|place| reasons[*place].clone()).collect();
        prop_assert_eq!(&body["CancellationReasons"], &Value::from(wanted));
    }
}
