//! Answers: status and body.                                                               behaviour/wire §errors

use std::fmt::Write;

use super::{Layer, json, message};
use crate::{
    error::{Error, Exception, Fault},
    item::{
        AttributeValue, Attributes, Item, NumberSets, write_attributes, write_attributes_as, write_value,
    },
    request::{Operation, Reason, TransactionFault},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub body: String,
}

impl Answer {
    /// A success.
    pub fn ok(body: String) -> Answer {
        Answer { status: 200, body }
    }
}

/// The answer for an error. `layer` is the operation's own (`Layer::of`).
pub fn answer_error(error: &Error, operation: Operation, layer: Layer) -> Answer {
    let text = message(error, operation, layer);
    let body = Object::body(|body| {
        write_error(error.exception, text.as_deref(), body);
        if let Some(item) = &error.item {
            body.item("Item", item);
        }
        if let Fault::Transaction(TransactionFault::Canceled(reasons)) = &error.fault {
            body.objects("CancellationReasons", reasons, write_reason);
        }
    });
    Answer {
        status: error.exception.status(),
        body,
    }
}

/// The body of an error by its parts, for errors that no operation raised (signatures, unknown operations).
pub fn error_body(exception: Exception, text: Option<&str>) -> String {
    Object::body(|body| write_error(exception, text, body))
}

fn write_error(exception: Exception, text: Option<&str>, body: &mut Object<'_>) {
    body.string(
        "__type",
        &format!("{}#{}", exception.namespace(), exception.name()),
    );
    if let Some(text) = text {
        body.string(exception.text_member(), text);
    }
}

fn write_reason(reason: &Reason, object: &mut Object<'_>) {
    object.string("Code", reason.code());
    if let Some(text) = reason.message() {
        object.string("Message", text);
    }
    if let Reason::ConditionFailed(Some(item)) = reason {
        object.hashed_item("Item", item);
    }
}

/// Appends the members of a JSON object.
#[derive(Debug)]
pub struct Object<'o> {
    out: &'o mut String,
    is_empty: bool,
}

impl Object<'_> {
    /// A whole body.
    pub fn body(members: impl FnOnce(&mut Object<'_>)) -> String {
        let mut out = String::new();
        Object::append(&mut out, members);
        out
    }

    /// An object at the end of a text.
    pub fn append(out: &mut String, members: impl FnOnce(&mut Object<'_>)) {
        out.push('{');
        members(&mut Object { out, is_empty: true });
        out.push('}');
    }

    /// A member whose JSON value `value` appends.
    pub fn member(&mut self, name: &str, value: impl FnOnce(&mut String)) {
        if !self.is_empty {
            self.out.push(',');
        }
        self.is_empty = false;
        json::write_string(name, self.out);
        self.out.push(':');
        value(self.out);
    }

    pub fn string(&mut self, name: &str, value: &str) {
        self.member(name, |out| json::write_string(value, out));
    }

    pub fn integer(&mut self, name: &str, value: impl Into<i128>) {
        let value = value.into();
        self.member(name, |out| out.push_str(&value.to_string()));
    }

    pub fn double(&mut self, name: &str, value: f64) {
        self.member(name, |out| write_double(value, out));
    }

    pub fn boolean(&mut self, name: &str, value: bool) {
        self.member(name, |out| out.push_str(if value { "true" } else { "false" }));
    }

    /// Seconds since the epoch, with milliseconds.
    pub fn timestamp(&mut self, name: &str, ms: u64) {
        self.member(name, |out| {
            let _ = write!(out, "{}.{:03}", ms / 1000, ms % 1000);
        });
    }

    pub fn attributes(&mut self, name: &str, attributes: &Attributes) {
        self.member(name, |out| write_attributes(attributes, out));
    }

    pub fn item(&mut self, name: &str, item: &Item) {
        self.member(name, |out| item.write_json(out));
    }

    /// As transactions answer items.
    pub fn hashed_item(&mut self, name: &str, item: &Item) {
        self.member(name, |out| item.write_json_as(NumberSets::Hashed, out));
    }

    pub fn hashed_attributes(&mut self, name: &str, attributes: &Attributes) {
        self.member(name, |out| {
            write_attributes_as(attributes, NumberSets::Hashed, out)
        });
    }

    pub fn value(&mut self, name: &str, value: &AttributeValue) {
        self.member(name, |out| write_value(value, out));
    }

    pub fn object(&mut self, name: &str, members: impl FnOnce(&mut Object<'_>)) {
        self.member(name, |out| Object::append(out, members));
    }

    /// An array; `write` appends each element.
    pub fn array<T>(
        &mut self,
        name: &str,
        elements: impl IntoIterator<Item = T>,
        write: impl FnMut(T, &mut String),
    ) {
        self.member(name, |out| write_array(elements, write, out));
    }

    pub fn strings<T: AsRef<str>>(&mut self, name: &str, elements: impl IntoIterator<Item = T>) {
        self.array(name, elements, |text, out| json::write_string(text.as_ref(), out));
    }

    /// An array of objects.
    pub fn objects<T>(
        &mut self,
        name: &str,
        elements: impl IntoIterator<Item = T>,
        mut members: impl FnMut(T, &mut Object<'_>),
    ) {
        self.array(name, elements, |element, out| {
            Object::append(out, |object| members(element, object))
        });
    }
}

fn write_array<T>(
    elements: impl IntoIterator<Item = T>,
    mut write: impl FnMut(T, &mut String),
    out: &mut String,
) {
    out.push('[');
    for (place, element) in elements.into_iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        write(element, out);
    }
    out.push(']');
}

/// As Java prints a double: `1.0`, `0.5`, `1.25E7`.
pub fn write_double(value: f64, out: &mut String) {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-3..1e7).contains(&magnitude) {
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let point = if mantissa.contains('.') { "" } else { ".0" };
        let _ = write!(out, "{mantissa}{point}E{exponent}");
    } else {
        let _ = write!(out, "{value:?}");
    }
}
