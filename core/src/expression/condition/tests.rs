//! What one condition means, and what can be wrong with it. `core/cases/conditions.toml` has the same rows as
//! requests, under the same numbers. Shorthand: `5` is N, `"x"` S, `b"AQID"` B (base64), `true`, `null`,
//! `ss{"a"}`, `ns{1}`, `[…]` L, `{a:1}` M.

use base64::{Engine, prelude::BASE64_STANDARD};

use super::*;
use crate::item::Attributes;

/// Reads shorthand.
struct Shorthand<'a>(&'a str);

impl Shorthand<'_> {
    fn peek(&mut self) -> char {
        self.0 = self.0.trim_start();
        self.0.chars().next().unwrap_or('\0')
    }

    fn take(&mut self, start: &str) -> bool {
        self.0 = self.0.trim_start();
        let rest = self.0.strip_prefix(start);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn until(&mut self, end: impl Fn(char) -> bool) -> String {
        self.0 = self.0.trim_start();
        let (text, rest) = self.0.split_at(self.0.find(end).unwrap_or(self.0.len()));
        self.0 = rest;
        text.trim().to_owned()
    }

    fn quoted(&mut self) -> String {
        assert!(self.take("\""), "{}", self.0);
        let text = self.until(|c| c == '"');
        assert!(self.take("\""));
        text
    }

    fn list<T>(&mut self, end: &str, element: impl Fn(&mut Self) -> T) -> Vec<T> {
        let mut elements = vec![];
        while !self.take(end) {
            elements.push(element(self));
            self.take(",");
        }
        elements
    }

    fn number(&mut self) -> Number {
        Number::parse(&self.until(|c| ",]}".contains(c))).unwrap()
    }

    fn value(&mut self) -> AttributeValue {
        match self.peek() {
            '"' => AttributeValue::S(self.quoted()),
            _ if self.take("b\"") => {
                let text = self.until(|c| c == '"');
                assert!(self.take("\""));
                AttributeValue::B(BASE64_STANDARD.decode(text).unwrap())
            }
            _ if self.take("true") => AttributeValue::Bool(true),
            _ if self.take("false") => AttributeValue::Bool(false),
            _ if self.take("null") => AttributeValue::Null,
            _ if self.take("ss{") => {
                let mut set = self.list("}", Self::quoted);
                set.sort();
                AttributeValue::Ss(set)
            }
            _ if self.take("ns{") => {
                let mut set = self.list("}", Self::number);
                set.sort();
                AttributeValue::Ns(set)
            }
            _ if self.take("bs{") => {
                let mut set = self.list("}", |s| BASE64_STANDARD.decode(s.quoted()).unwrap());
                set.sort();
                AttributeValue::Bs(set)
            }
            _ if self.take("[") => AttributeValue::L(self.list("]", Self::value)),
            _ if self.take("{") => AttributeValue::M(self.list("}", |s| s.member(':')).into_iter().collect()),
            _ => AttributeValue::N(self.number()),
        }
    }

    fn member(&mut self, separator: char) -> (String, AttributeValue) {
        let name = self.until(|c| c == separator);
        assert!(self.take(&separator.to_string()), "{}", self.0);
        (name, self.value())
    }
}

/// `a=1, b="x"`
fn attributes(text: &str) -> Attributes {
    let mut text = Shorthand(text);
    let mut attributes = Attributes::new();
    while text.peek() != '\0' {
        attributes.extend([text.member('=')]);
        text.take(",");
    }
    attributes
}

/// `#a→b, :v=1`
fn placeholders(text: &str) -> Placeholders {
    let (names, values): (Vec<_>, Vec<_>) = text
        .split_inclusive(", ")
        .partition(|part| part.trim_start().starts_with('#'));
    let names = names.iter().map(|part| {
        let (name, attribute) = part.trim_end_matches([',', ' ']).split_once('→').unwrap();
        (name.to_owned(), attribute.to_owned())
    });
    Placeholders::new(names.collect(), attributes(&values.concat()))
}

fn condition(text: &str, maps: &str) -> Result<Condition, String> {
    Condition::parse(Kind::Condition, text, &placeholders(maps), false).map_err(|fault| {
        let text = fault.text();
        text.strip_prefix("Invalid ConditionExpression: ")
            .expect("every text names the kind")
            .to_owned()
    })
}

fn item(text: &str) -> Item {
    let mut item = attributes(text);
    item.insert("pk".into(), AttributeValue::S("k".into()));
    Item::encode(&item)
}

#[test]
fn conditions_hold_or_do_not() {
    #[rustfmt::skip]
    let rows: &[(u32, &str, &str, &str, bool)] = &[
        (1, "n=5", "n = :v", ":v=5", true),
        (2, "n=5", "n = :v", ":v=\"5\"", false),
        (3, "n=5", "n <> :v", ":v=\"5\"", true),
        (4, "", "n <> :v", ":v=5", true),
        (5, "", "n = :v", ":v=5", false),
        (6, "", "NOT n = :v", ":v=5", true),
        (7, "", "a <> b", "", true),
        (8, "", "a = b", "", false),
        (9, "n=5", "n < :v", ":v=\"9\"", false),
        (10, "n=5", "NOT n < :v", ":v=\"9\"", true),
        (11, "n=10", "n > :v", ":v=9", true),
        (12, "s=\"10\"", "s > :v", ":v=\"9\"", false),
        (13, "n=1", "n = :v", ":v=1.00", true),
        (14, "n=100", "n = :v", ":v=1E2", true),
        (15, "n=100000000000000001", "n = :v", ":v=100000000000000002", false),
        (16, "f=true", "f = :v", ":v=true", true),
        (17, "f=true", "f > :v", ":v=0", false),
        (22, "n=5", "n BETWEEN :a AND :b", ":a=5, :b=5", true),
        (25, "n=5, lo=9, hi=1", "n BETWEEN lo AND hi", "", false),
        (26, "n=5", ":v BETWEEN :a AND n", ":v=3, :a=1", true),
        (27, "s=\"b\"", "s IN (:a, :b)", ":a=\"a\", :b=\"b\"", true),
        (28, "n=1", "n IN (:a)", ":a=\"1\"", false),
        (29, "", "n IN (:a)", ":a=1", false),
        (29, "", "NOT n IN (:a)", ":a=1", true),
        (30, "s=\"x\", t=\"x\"", "s IN (u, t)", "", true),
        (32, "x=ss{\"a\",\"b\"}", "x = :v", ":v=ss{\"b\",\"a\"}", true),
        (33, "x=ns{1,2}", "x = :v", ":v=ns{1.0,2.00}", true),
        (34, "l=[1,2]", "l = :v", ":v=[2,1]", false),
        (35, "m={a:1,b:2}", "m = :v", ":v={b:2.0,a:1}", true),
        (36, "l=[\"a\"]", "l = :v", ":v=ss{\"a\"}", false),
        (37, "l=[1]", "contains(l, :v)", ":v=1.0", true),
        (38, "l=[{r:\"x\"}]", "contains(l, :v)", ":v={r:\"x\"}", true),
        (39, "s=\"hello\"", "contains(s, :v)", ":v=\"ell\"", true),
        (40, "s=\"hello\"", "contains(s, :v)", ":v=1", false),
        (41, "x=ns{10}", "contains(x, :v)", ":v=1E1", true),
        (43, "s=\"hello\"", "begins_with(s, :v)", ":v=\"he\"", true),
        (45, "n=55", "begins_with(n, :v)", ":v=\"5\"", false),
        (46, "n=1", "attribute_type(n, :t)", ":t=\"N\"", true),
        (49, "x=null", "attribute_exists(x)", "", true),
        (50, "x=null", "attribute_type(x, :t)", ":t=\"NULL\"", true),
        (51, "m={a:null}", "attribute_exists(m.a)", "", true),
        (52, "l=[1]", "attribute_exists(l[1])", "", false),
        (53, "s=\"x\"", "attribute_not_exists(s.y)", "", true),
        (54, "s=\"é\"", "size(s) = :v", ":v=1", true),
        (55, "s=\"😀\"", "size(s) = :v", ":v=2", true),
        (56, "b=b\"AQID\"", "size(b) = :v", ":v=3", true),
        (57, "n=5", "size(n) > :z", ":z=0", false),
        (58, "n=5", "size(n) <> :z", ":z=0", true),
        (59, "", "size(q) = :z", ":z=0", false),
        (70, "a=1", "(a) = (:v)", ":v=1", true),
        (73, "", ":d = :d", ":d=1", true),
        (74, "a=1, b=2, c=3", "a = :x OR b = :y AND c = :y", ":x=1, :y=0", true),
        (75, "a=1, b=2", "NOT a = :x AND b = :y", ":x=1, :y=2", false),
        // Beyond the numbered rows.
        (0, "a=1, b=2", "(a = :x OR b = :x) AND NOT (a = :y OR b = :z)", ":x=1, :y=2, :z=3", true),
        (0, "a=1, b=2", "a = :y AND a = :y OR b = :y", ":y=2", true),
        (0, "a=1, b=2", "a = :y AND (a = :y OR b = :y)", ":y=2", false),
        (0, "a=1, b=2", "a = :x OR a = :y AND b = :x", ":x=1, :y=2", true),
        (0, "a=1", "NOT NOT a = :x", ":x=1", true),
        (0, "a=1", "NOT NOT NOT a = :x", ":x=1", false),
        (0, "a=5, c=7", "a BETWEEN :x AND :y AND c = :z", ":x=1, :y=9, :z=7", true),
        (0, "m={x:{y:[1,2]}}", "(m.x).y[1] = :v", ":v=2", true),
        (0, "m={x:1}", "((m).x) = :v", ":v=1", true),
        (0, "", "attribute_not_exists(#p)", "#p→a.b", true),
        (0, "n=5", "n <= :v AND n >= :v", ":v=5.0", true),
        (0, "f=true, g=true", "f <= g", "", false),
        (0, "f=true", "f = g OR f <> g", "", true),
        (0, "x=ss{\"a\",\"b\"}", "contains(x, :v) AND size(x) = :n", ":v=\"b\", :n=2", true),
        (0, "x=bs{\"AQ==\"}", "contains(x, :v)", ":v=b\"AQ==\"", true),
        (0, "b=b\"AQID\"", "contains(b, :v) AND begins_with(b, :w)", ":v=b\"AgM=\", :w=b\"AQI=\"", true),
        (0, "p=\"b\"", "contains(:l, p)", ":l=[\"a\",\"b\"]", true),
        (0, "l=[3], s=\"abc\"", "contains(l, size(s))", "", true),
        (0, "s=\"abc\"", "size(s) BETWEEN :a AND size(:l)", ":a=1, :l=[1,2,3]", true),
        (0, "m={}, l=[]", "size(m) = :z AND size(l) = :z", ":z=0", true),
        (0, "s=\"\"", "begins_with(s, :e) AND contains(s, :e)", ":e=\"\"", true),
        (0, "s=\"b\"", "s > :a", ":a=\"B\"", true),
        (0, "b=b\"/w==\"", "b > :a", ":a=b\"fw==\"", true),
        (0, "s=\"ab\"", "s > :a", ":a=\"a\"", true),
        (0, "a=1", "a = :v and A = :v", ":v=1", false),
        (0, "a=1", "a\t=\n:v \r", ":v=1", true),
        (0, "l=[[1]]", "l [ 0 ] [ 0 ] = :v", ":v=1", true),
    ];
    for (row, stored, text, maps, expected) in rows {
        let condition = condition(text, maps).unwrap_or_else(|fault| panic!("{row} {text}: {fault}"));
        assert_eq!(condition.holds(Some(&item(stored))), *expected, "{row} {text}");
        if stored.is_empty() {
            assert_eq!(condition.holds(None), *expected, "{row} {text} on no item");
        }
    }
}

#[test]
fn faults_are_found_in_the_services_order() {
    let type_of = |function: &str, operand: &str| {
        format!(
            "Incorrect operand type for operator or function; operator or function: {function}, operand type: {operand}"
        )
    };
    let syntax = |token: &str, near: &str| format!("Syntax error; token: \"{token}\", near: \"{near}\"");
    let misuse = |function: &str| {
        format!("The function is not allowed to be used this way in an expression; function: {function}")
    };
    let path = |function: &str| {
        format!("Operator or function requires a document path; operator or function: {function}")
    };
    let count = |function: &str, count: usize| {
        format!(
            "Incorrect number of operands for operator or function; operator or function: {function}, number of operands: {count}"
        )
    };
    let same = |operator: &str, path: &str| {
        format!(
            "The first operand must be distinct from the remaining operands for this operator or function; operator: {operator}, first operand: {path}"
        )
    };
    let reserved = |word: &str| format!("Attribute name is a reserved keyword; reserved keyword: {word}");
    let name = |name: &str| {
        format!(
            "An expression attribute name used in the document path is not defined; attribute name: {name}"
        )
    };
    let value = |value: &str| {
        format!("An expression attribute value used in expression is not defined; attribute value: {value}")
    };
    let bounds = |rule: &str, lower: &str, upper: &str| {
        format!(
            "The BETWEEN operator requires {rule}; lower bound operand: AttributeValue: {lower}, upper bound operand: AttributeValue: {upper}"
        )
    };
    let order = "upper bound to be greater than or equal to lower bound";
    let types = "same data type for lower and upper bounds";
    let unknown = |function: &str| format!("Invalid function name; function: {function}");
    let redundant = || "The expression has redundant parentheses;".to_owned();
    #[rustfmt::skip]
    let rows: Vec<(u32, &str, &str, String)> = vec![
        (18, "n > :v", ":v=true", type_of(">", "BOOL")),
        (19, "attribute_not_exists(zz) OR n <= :v", ":v=ss{\"a\"}", type_of("<=", "SS")),
        (20, "NOT (n < :v)", ":v=null", type_of("<", "NULL")),
        (21, "n BETWEEN :a AND :b", ":a=true, :b=false", type_of("BETWEEN", "BOOL")),
        (23, "n BETWEEN :a AND :b", ":a=5, :b=1", bounds(order, "{N:5}", "{N:1}")),
        (24, "n BETWEEN :a AND :b", ":a=1, :b=\"a\"", bounds(types, "{N:1}", "{S:a}")),
        (0, "n BETWEEN :a AND :b", ":a=b\"AQID\", :b=b\"AQ==\"", bounds(order, "{B:AQID}", "{B:AQ==}")),
        (0, "n BETWEEN :a AND :b", ":a=1.50E1, :b=2", bounds(order, "{N:15}", "{N:2}")),
        (42, "contains(a, #a)", "#a→a", same("contains", "[a]")),
        (44, "begins_with(s, :v)", ":v=1", type_of("begins_with", "N")),
        (47, "attribute_type(n, :t)", ":t=\"X\"",
            "Invalid attribute type name found; type: X, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}".into()),
        (48, "attribute_type(n, :t)", ":t=1", type_of("attribute_type", "N")),
        (0, "attribute_type(n, t)", "", type_of("attribute_type", "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}")),
        (0, "attribute_type(:t, :t)", ":t=\"S\"", path("attribute_type")),
        (60, "size(s) > :v", ":v=true", type_of(">", "BOOL")),
        (61, "size(:v) > :z", ":v=5, :z=0", type_of("size", "N")),
        (62, "size(s)", "", misuse("size")),
        (63, "attribute_exists(a) = :v", ":v=true", misuse("attribute_exists")),
        (64, "attribute_exists(:v)", ":v=\"a\"", path("attribute_exists")),
        (65, "attribute_exists(a, b)", "", count("attribute_exists", 2)),
        (66, "Attribute_Exists(a)", "", unknown("Attribute_Exists")),
        (67, "if_not_exists(a, :v) = :v", ":v=1", unknown("if_not_exists")),
        (68, "((a = :v))", ":v=1", redundant()),
        (69, "a = ((:v))", ":v=1", redundant()),
        (0, "a = :v AND ((a = :v OR b = :v))", ":v=1", redundant()),
        (0, "contains(((a)), :v)", ":v=1", redundant()),
        (0, "((a)) = :v", ":v=1", redundant()),
        (0, "((f(a)))", "", redundant()),
        (71, "a = a", "", same("=", "[a]")),
        (72, "a.b[1] < a.b[1]", "", same("<", "[a, b, [1]]")),
        (0, "a IN (b, a)", "", same("IN", "[a]")),
        (0, "a BETWEEN b AND #x", "#x→a", same("BETWEEN", "[a]")),
        (76, "status = :v", ":v=1", reserved("status")),
        (77, "a.Name = :v", ":v=1", reserved("Name")),
        (78, "#x = :v", ":v=1", name("#x")),
        (79, "a = :w", ":v=1", value(":w")),
        (81, ":a < Abort", "", reserved("Abort")),
        (82, "a = #q AND b = b", "", name("#q")),
        (0, "b = b AND a = #q", "", same("=", "[b]")),
        (83, "", "", "The expression can not be empty;".into()),
        (83, "   ", "", syntax("<EOF>", "   ")),
        (84, "a == :v", ":v=1", syntax("=", "== :v")),
        (85, "a > 4", "", syntax("4", "> 4")),
        (86, "first-name = :v", ":v=1", syntax("-", "first-name")),
        (87, "a = \"x\"", "", syntax("\"", "= \"x")),
        (88, "s IN ()", "", syntax(")", "()")),
        (89, "a in b, c", "", syntax("b", "in b,")),
        (90, "1a = :v", ":v=1", syntax("1", "1a")),
        (91, "attribute_exists(pk) AND NOT #f", "#f→f", syntax("<EOF>", "#f")),
        // Beyond the numbered rows: syntax.
        (0, "a", "", syntax("<EOF>", "a")),
        (0, ":v", ":v=1", syntax("<EOF>", ":v")),
        (0, "if_not_exist(a, 0)", "", syntax("0", ", 0)")),
        (0, "a = :v b", ":v=1", syntax("b", ":v b")),
        (0, "a = :v = :v", ":v=1", syntax("=", ":v = :v")),
        (0, "(a = :v) = :v", ":v=1", syntax("=", ") = :v")),
        (0, "x = (a = :v)", ":v=1", syntax("=", "a = :v")),
        (0, "(a) AND b = :v", ":v=1", syntax("AND", ") AND b")),
        (0, "(a AND b = :v)", ":v=1", syntax("AND", "a AND b")),
        (0, "(NOT a)", "", syntax(")", "a)")),
        (0, "(a = :v AND b) = :v", ":v=1", syntax(")", "b) =")),
        (0, "(a = :v", ":v=1", syntax("<EOF>", ":v")),
        (0, "a = :v)", ":v=1", syntax(")", ":v)")),
        (0, "size(a).b = :v", ":v=1", syntax(".", ").b")),
        (0, "(size(a)).b = :v", ":v=1", syntax(".", ").b")),
        (0, "(:v).b = :v", ":v=1", syntax(".", ").b")),
        (0, "size() = :v", ":v=1", syntax(")", "() =")),
        (0, "a[-1] = :v", ":v=1", syntax("-", "[-1")),
        (0, "a[1.5] = :v", ":v=1", syntax(".", "1.5")),
        (0, "a[b] = :v", ":v=1", syntax("b", "[b]")),
        (0, "a[:v] = :v", ":v=1", syntax(":v", "[:v]")),
        (0, "a[] = :v", ":v=1", syntax("]", "[] =")),
        (0, "l[00] = :v", ":v=1", syntax("0", "00]")),
        (0, "and = :v", ":v=1", syntax("and", "and =")),
        (0, "a.or = :v", ":v=1", syntax("or", ".or =")),
        (0, "a = :v AND", ":v=1", syntax("<EOF>", "AND")),
        (0, "a BETWEEN :v OR :v", ":v=1", syntax("OR", ":v OR :v")),
        (0, "a != :v", ":v=1", syntax("!", "a !=")),
        (0, "#x(a)", "", syntax("(", "#x(a")),
        (0, "a = NOT b", "", syntax("NOT", "= NOT b")),
        // The order of the checks.
        (0, "((a = :v)) AND f(a)", "", redundant()),
        (0, "g(a) AND size(a) AND f(a)", "", unknown("g")),
        (0, "size(a) AND f(a)", "", unknown("f")),
        (0, "status = :v AND size(a)", "", misuse("size")),
        (0, "contains(a, contains(a, :v))", ":v=1", misuse("contains")),
        (0, "status = size(a, b)", "", reserved("status")),
        (0, "a = size(#x, b)", "", name("#x")),
        (0, ":v = #x", "", value(":v")),
        (0, "size(a, b) > :t", ":t=true", count("size", 2)),
        (0, "contains(a)", "", count("contains", 1)),
        (0, "begins_with(:v, :n)", ":v=\"a\", :n=1", type_of("begins_with", "N")),
        (0, "begins_with(a, size(b))", "", type_of("begins_with", "N")),
        (0, "size(size(a)) = :v", ":v=1", type_of("size", "N")),
        (0, "attribute_exists(size(a))", "", path("attribute_exists")),
        (0, "a = :v AND n > :t AND b = b", ":v=1, :t=true", type_of(">", "BOOL")),
        (0, ":t < :u", ":t=[1], :u={a:1}", type_of("<", "L")),
        (0, ":u >= a", ":u={a:1}", type_of(">=", "M")),
        (0, "a BETWEEN b AND :u", ":u=ns{1}", type_of("BETWEEN", "NS")),
        (0, "size = :v", ":v=1", reserved("size")),
    ];
    for (row, text, maps, expected) in rows {
        assert_eq!(condition(text, maps).map(|_| ()), Err(expected), "{row} {text}");
    }
}

#[test]
fn in_takes_a_hundred_candidates() {
    let text = |count: usize| {
        let candidates: Vec<_> = (0..count).map(|number| format!(":v{number}")).collect();
        format!("s IN ({})", candidates.join(", "))
    };
    let values = (0..101)
        .map(|number| (format!(":v{number}"), AttributeValue::Null))
        .collect();
    let placeholders = Placeholders::new(Default::default(), values);
    let parse = |count| Condition::parse(Kind::Condition, &text(count), &placeholders, false);
    assert!(parse(100).is_ok());
    assert_eq!(
        parse(101).unwrap_err().text(),
        "Invalid ConditionExpression: The IN operator is provided with too many operands; number of operands: 101"
    );
}

#[test]
fn three_hundred_operators_are_the_limit() {
    let many = "The expression contains too many operators; operator count: 301";
    let joined = |leaf: &str, count: usize| vec![leaf; count].join(" OR ");
    // 150 comparators and 149 ORs, then one NOT, then another.
    assert!(condition(&joined("a<b", 150), "").is_ok());
    assert!(condition(&format!("NOT {}", joined("a<b", 150)), "").is_ok());
    assert_eq!(
        condition(&format!("NOT NOT {}", joined("a<b", 150)), "").unwrap_err(),
        many
    );
    assert_eq!(condition(&joined("a<b", 400), "").unwrap_err(), many);
    assert_eq!(
        condition(&format!("{}a=b", "NOT ".repeat(301)), "").unwrap_err(),
        many
    );
    let filter = Condition::parse(Kind::Filter, &joined("a<b", 301), &Placeholders::default(), false);
    assert_eq!(
        filter.unwrap_err().text(),
        format!("Invalid FilterExpression: {many}")
    );
}

#[test]
fn four_kilobytes_are_the_limit() {
    let text = |bytes: usize| format!("a = b{}", " ".repeat(bytes - 5));
    assert!(condition(&text(4096), "").is_ok());
    let long = "Expression size has exceeded the maximum allowed size;";
    assert_eq!(condition(&text(4097), "").unwrap_err(), long);
    let named = Condition::parse(Kind::Filter, &text(4097), &Placeholders::default(), true);
    assert_eq!(
        named.unwrap_err().text(),
        format!("Invalid FilterExpression: {long} expression size: 4097")
    );
}

/// Whatever 4 KB can nest is answered on a small stack, in a debug build too.
#[test]
fn deep_texts_do_not_overflow_the_stack() {
    let deep = || {
        let nest = |open: &str, inner: &str, close: &str, times: usize| {
            format!("{}{inner}{}", open.repeat(times), close.repeat(times))
        };
        let eof = "Syntax error; token: \"<EOF>\", near: \"(\"";
        assert_eq!(condition(&"(".repeat(4096), "").unwrap_err(), eof);
        let redundant = "The expression has redundant parentheses;";
        assert_eq!(
            condition(&nest("(", "a=b", ")", 2000), "").unwrap_err(),
            redundant
        );
        assert_eq!(
            condition(&format!("a={}", nest("(", "b", ")", 2000)), "").unwrap_err(),
            redundant
        );
        let many = "The expression contains too many operators; operator count: 301";
        assert_eq!(
            condition(&format!("{}a=b", "NOT ".repeat(1000)), "").unwrap_err(),
            many
        );
        assert_eq!(
            condition(&format!("a={}", nest("size(", "b", ")", 600)), "").unwrap_err(),
            many
        );
        let size =
            "Incorrect operand type for operator or function; operator or function: size, operand type: N";
        assert_eq!(
            condition(&format!("a={}", nest("size(", "b", ")", 299)), "").unwrap_err(),
            size
        );
        assert!(condition(&nest("NOT (", "a=b", ")", 299), "").is_ok_and(|deep| deep.holds(None)));
        assert!(condition(&format!("{}=b", nest("(", "a", ").a", 800)), "").is_ok());
        assert!(condition(&nest("(a=b OR ", "a=b", ")", 149), "").is_ok_and(|deep| !deep.holds(None)));
    };
    std::thread::Builder::new()
        .stack_size(256 * 1024)
        .spawn(deep)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn paths_are_told_in_text_order() {
    let condition = condition(
        "NOT (z.y = :v) AND size(b[0]) IN (a, :v) OR attribute_exists(#c)",
        "#c→c.d, :v=1",
    )
    .unwrap();
    let paths: Vec<_> = condition.paths().iter().map(|path| path.to_string()).collect();
    assert_eq!(paths, ["[z, y]", "[b, [0]]", "[a]", "[c.d]"]);
}

#[test]
fn what_is_mentioned_is_used() {
    let placeholders = placeholders("#a→a, #b→b, #c→c, :v=1, :w=2");
    Condition::parse(Kind::Filter, "#a = :v OR #b.#b = :v", &placeholders, false).unwrap();
    assert_eq!(placeholders.unused_names(), ["#c"]);
    assert_eq!(placeholders.unused_values(), [":w"]);
}

#[test]
fn a_condition_can_wait_on_any_thread() {
    fn is_owned<T: Send + 'static>() {}
    is_owned::<Condition>();
}

proptest::proptest! {
    /// The token named by a syntax error is the first that cannot go on: what stands before it may at most be
    /// unfinished.
    #[test]
    fn a_syntax_error_stands_at_the_first_token_that_cannot_go_on(
        words in proptest::collection::vec(proptest::sample::select(WORDS), 0..24)
    ) {
        // One space before each word, so that a text tells where its words start.
        let text = |count: usize| words[..count].iter().map(|word| format!(" {word}")).collect::<String>();
        let syntax = |count: usize| match parse::parse(Kind::Condition, &text(count)) {
            Err(Body::Syntax { token, .. }) => Some(token),
            _ => None,
        };
        let Some(token) = syntax(words.len()) else { return Ok(()) };
        let first = (0..=words.len()).find(|count| syntax(*count).is_some_and(|token| token != "<EOF>"));
        match first {
            None => proptest::prop_assert_eq!(token, "<EOF>"),
            // The shortest text with a wrong token ends in it, and every longer one names the same.
            Some(count) => {
                for count in count..=words.len() {
                    proptest::prop_assert_eq!(syntax(count), Some(token.clone()));
                }
                proptest::prop_assert_eq!(words[count - 1], token);
            }
        }
    }
}

const WORDS: &[&str] = &[
    "a", "#n", ":v", "(", ")", "(", ")", ",", ".", "[", "]", "0", "=", "<>", "<", "AND", "OR", "NOT",
    "BETWEEN", "IN", "size", "contains", "+", "!",
];
