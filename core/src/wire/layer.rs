//! The two layers of the service and the prefix `1 validation error detected: `: the only place that knows it.
//!                                                                                       behaviour/wire §layers

use crate::{
    error::{Error, Family, Fault},
    request::{CONDITION_FAILED, CONFLICT, Layer, Operation},
};

/// The text of an error as the operation answers it; `None` for answers without one. `layer` is the operation's
/// own ([`Layer::of`]), not the one a coerced request was read on: its faults know that themselves, and what is
/// said of expressions stays the same.
pub fn message(error: &Error, operation: Operation, layer: Layer) -> Option<String> {
    let (family, text) = match &error.fault {
        Fault::Shape(fault) => return fault.text(),
        Fault::Member(fault) => {
            let text = fault.text();
            return Some(match (fault.family(), fault.faults.len()) {
                (Family::Bare, _) => text,
                (_, 1) => format!("1 validation error detected: {text}"),
                (_, count) => format!("{count} validation errors detected: {text}"),
            });
        }
        Fault::Value(fault) => (fault.family(), fault.text()),
        Fault::Placeholder(fault) => (fault.family(), fault.text()),
        Fault::Parameter(fault) => (fault.family(), fault.text()),
        Fault::Legacy(fault) => (fault.family(), fault.text()),
        Fault::Expression(fault) => (fault.family(), fault.text()),
        Fault::Update(fault) => (fault.family(), fault.text()),
        Fault::Key(fault) => (fault.family(), fault.text()),
        Fault::Table(fault) => (fault.family(), fault.text()),
        Fault::Transaction(fault) => (fault.family(), fault.text()),
        Fault::ConditionFailed => (Family::Bare, CONDITION_FAILED.into()),
        Fault::Conflict | Fault::Held(_) => (Family::Bare, CONFLICT.into()),
        Fault::NotServed(member) => (Family::Bare, format!("{member} is not supported by this server")),
        Fault::Internal(_) => (Family::Bare, "Internal server error".into()),
    };
    Some(if has_prefix(family, operation, layer) {
        format!("1 validation error detected: {text}")
    } else {
        text
    })
}

fn has_prefix(family: Family, operation: Operation, layer: Layer) -> bool {
    use Operation::{DeleteItem, PutItem, Query, Scan, UpdateItem};
    match family {
        Family::Constraint => true,
        Family::Request | Family::Value => {
            layer == Layer::New && matches!(operation, PutItem | UpdateItem | DeleteItem)
        }
        Family::Select => match operation {
            Query | Scan => layer == Layer::New,
            _ => false,
        },
        Family::Bare => false,
    }
}
