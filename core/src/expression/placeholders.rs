//! ExpressionAttributeNames and ExpressionAttributeValues, and which of them an expression used.
//!                                                                       behaviour/expressions §placeholders

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use crate::item::Attributes;

/// The two maps of one request (or of one member of a batch), checked, and which entries its expressions mention.
#[derive(Debug, Default)]
pub struct Placeholders {
    /// `#n` → attribute name.
    pub names: BTreeMap<String, String>,
    /// `:v` → value.
    pub values: Attributes,
    used: RefCell<Used>,
}

#[derive(Debug, Default)]
pub struct Used {
    pub names: BTreeSet<String>,
    pub values: BTreeSet<String>,
}

impl Placeholders {
    pub fn new(names: BTreeMap<String, String>, values: Attributes) -> Self {
        Placeholders {
            names,
            values,
            used: RefCell::default(),
        }
    }

    /// The name behind `#n`, marked as used.
    pub fn name(&self, placeholder: &str) -> Option<&str> {
        let name = self.names.get(placeholder)?;
        mark(&mut self.used.borrow_mut().names, placeholder);
        Some(name)
    }

    /// The value behind `:v`, marked as used.
    pub fn value(&self, placeholder: &str) -> Option<&crate::item::AttributeValue> {
        let value = self.values.get(placeholder)?;
        mark(&mut self.used.borrow_mut().values, placeholder);
        Some(value)
    }

    /// Names, then values, that no expression mentioned; sorted.
    pub fn unused_names(&self) -> Vec<String> {
        let used = self.used.borrow();
        self.names
            .keys()
            .filter(|name| !used.names.contains(*name))
            .cloned()
            .collect()
    }

    pub fn unused_values(&self) -> Vec<String> {
        let used = self.used.borrow();
        self.values
            .keys()
            .filter(|name| !used.values.contains(*name))
            .cloned()
            .collect()
    }
}

fn mark(used: &mut BTreeSet<String>, placeholder: &str) {
    if !used.contains(placeholder) {
        used.insert(placeholder.to_owned());
    }
}
