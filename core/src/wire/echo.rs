//! Members of a request as constraint forms print them: as Java does, or as JSON.   behaviour/wire §constraints

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{
    Fields, RawAttributes, RawValue,
    decode::Node,
    json,
    values::{Content, Flag},
};

impl Fields<'_> {
    /// A member as Java prints it: `[a, b]`, `{k=v}`, `Shape(field=value, other=null)`.
    pub fn java_text(&self, member: &str) -> Option<String> {
        let mut out = String::new();
        java_node(self.get(member)?, &mut out);
        Some(out)
    }

    /// A member as JSON.
    pub fn json_text(&self, member: &str) -> Option<String> {
        let mut out = String::new();
        json_node(self.get(member)?, &mut out);
        Some(out)
    }
}

/// The members of an attribute value in the order in which Java prints them.
const VALUE_MEMBERS: [&str; 13] = [
    "S", "N", "B", "INT", "DECIMAL", "DOUBLE", "SS", "NS", "BS", "M", "L", "NULL", "BOOL",
];

fn java_node(node: &Node<'_>, out: &mut String) {
    match node {
        Node::String(text) => out.push_str(text),
        Node::Boolean(value) => out.push_str(&value.to_string()),
        Node::Integer(value) => out.push_str(&value.to_string()),
        Node::Value(value) => java_value(value, out),
        Node::Structure(fields) => {
            let members = fields
                .shape
                .members
                .iter()
                .map(|member| (member.name, fields.get(member.name)));
            java_structure(fields.shape.name, members, java_node, out);
        }
        Node::List(nodes) => joined(nodes, ["[", ", ", "]"], java_node, out),
        Node::Map(entries) => joined(
            entries,
            ["{", ", ", "}"],
            |(key, node), out| entry(key, node, java_node, out),
            out,
        ),
        Node::Attributes(attributes) => java_attributes(&attributes.entries, out),
    }
}

fn java_structure<'n, T: 'n>(
    name: &str,
    members: impl IntoIterator<Item = (&'static str, Option<&'n T>)>,
    write: impl Fn(&T, &mut String),
    out: &mut String,
) {
    out.push_str(name);
    let write = |(member, value): (&str, Option<&T>), out: &mut String| {
        let (first, rest) = member.split_at(1);
        out.push_str(&first.to_ascii_lowercase());
        out.push_str(rest);
        out.push('=');
        match value {
            Some(value) => write(value, out),
            None => out.push_str("null"),
        }
    };
    joined(members, ["(", ", ", ")"], write, out);
}

fn java_attributes(entries: &[(std::borrow::Cow<'_, str>, RawValue<'_>)], out: &mut String) {
    joined(
        entries,
        ["{", ", ", "}"],
        |(key, value), out| entry(key, value, java_value, out),
        out,
    );
}

fn entry<T>(key: &str, value: &T, write: impl Fn(&T, &mut String), out: &mut String) {
    out.push_str(key);
    out.push('=');
    write(value, out);
}

fn java_value(value: &RawValue<'_>, out: &mut String) {
    let members = VALUE_MEMBERS.map(|name| (name, value.contents().find(|content| content.name() == name)));
    java_structure("AttributeValue", members, java_content, out);
}

fn java_content(content: &Content<'_>, out: &mut String) {
    match content {
        Content::S(text) | Content::N(text) => out.push_str(text),
        Content::B(bytes) => java_bytes(bytes, out),
        Content::Bool(flag) | Content::Null(flag) => out.push_str(word(flag)),
        Content::Ss(members) | Content::Ns(members) => {
            joined(
                members,
                ["[", ", ", "]"],
                |text, out| out.push_str(text.as_deref().unwrap_or("null")),
                out,
            );
        }
        Content::Bs(members) => {
            joined(
                members.iter().flatten(),
                ["[", ", ", "]"],
                |bytes, out| java_bytes(bytes, out),
                out,
            );
        }
        Content::L(values) => joined(values, ["[", ", ", "]"], java_value, out),
        Content::M(entries) => java_attributes(entries, out),
    }
}

fn java_bytes(bytes: &[u8], out: &mut String) {
    out.push_str(&format!(
        "java.nio.HeapByteBuffer[pos=0 lim={0} cap={0}]",
        bytes.len()
    ));
}

fn word(flag: &Flag) -> &'static str {
    match flag.value {
        Some(true) => "true",
        Some(false) => "false",
        None => "null",
    }
}

fn json_node(node: &Node<'_>, out: &mut String) {
    match node {
        Node::String(text) => json::write_string(text, out),
        Node::Boolean(value) => out.push_str(&value.to_string()),
        Node::Integer(value) => out.push_str(&value.to_string()),
        Node::Value(value) => json_value(value, out),
        Node::Structure(fields) => {
            let members = fields
                .present()
                .filter_map(|name| Some((name, fields.get(name)?)));
            joined(
                members,
                ["{", ",", "}"],
                |(name, node), out| json_entry(name, node, json_node, out),
                out,
            );
        }
        Node::List(nodes) => joined(nodes, ["[", ",", "]"], json_node, out),
        Node::Map(entries) => {
            joined(
                entries,
                ["{", ",", "}"],
                |(key, node), out| json_entry(key, node, json_node, out),
                out,
            );
        }
        Node::Attributes(RawAttributes { entries }) => {
            joined(
                entries.iter(),
                ["{", ",", "}"],
                |(key, value), out| json_entry(key, value, json_value, out),
                out,
            );
        }
    }
}

fn json_entry<T>(key: &str, value: &T, write: impl Fn(&T, &mut String), out: &mut String) {
    json::write_string(key, out);
    out.push(':');
    write(value, out);
}

fn json_value(value: &RawValue<'_>, out: &mut String) {
    let member =
        |content: &Content<'_>, out: &mut String| json_entry(content.name(), content, json_content, out);
    joined(value.contents(), ["{", ",", "}"], member, out);
}

fn json_content(content: &Content<'_>, out: &mut String) {
    match content {
        Content::S(text) | Content::N(text) => json::write_string(text, out),
        Content::B(bytes) => json::write_string(&STANDARD.encode(bytes), out),
        Content::Bool(flag) | Content::Null(flag) => out.push_str(word(flag)),
        Content::Ss(members) | Content::Ns(members) => {
            joined(
                members.iter().flatten(),
                ["[", ",", "]"],
                |text, out| json::write_string(text, out),
                out,
            );
        }
        Content::Bs(members) => {
            let member = |bytes: &Vec<u8>, out: &mut String| json::write_string(&STANDARD.encode(bytes), out);
            joined(members.iter().flatten(), ["[", ",", "]"], member, out);
        }
        Content::L(values) => joined(values, ["[", ",", "]"], json_value, out),
        Content::M(entries) => {
            joined(
                entries,
                ["{", ",", "}"],
                |(key, value), out| json_entry(key, value, json_value, out),
                out,
            );
        }
    }
}

fn joined<T>(
    elements: impl IntoIterator<Item = T>,
    [open, between, close]: [&str; 3],
    write: impl Fn(T, &mut String),
    out: &mut String,
) {
    out.push_str(open);
    for (place, element) in elements.into_iter().enumerate() {
        if place > 0 {
            out.push_str(between);
        }
        write(element, out);
    }
    out.push_str(close);
}
