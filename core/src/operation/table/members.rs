//! Reading the members of table operations: each read checks its constraints, in the order in which the reads are
//! written, so that a reading function is the service's order of faults. behaviour/tables §member-constraints

use crate::wire::{Constraint, Fields, Members};

pub(super) const NAME: &[Constraint] = &[
    Constraint::Pattern("[a-zA-Z0-9_.-]+"),
    Constraint::LengthAtLeast(3),
    Constraint::LengthAtMost(255),
];
pub(super) const INDEX_NAME: &[Constraint] = NAME;
pub(super) const ATTRIBUTE_NAME: &[Constraint] = &[Constraint::LengthAtLeast(1), Constraint::LengthAtMost(255)];

/// A structure of the request and its place in it. What stands for a member at fault is a default that nobody
/// looks at, since the faults answer first.
pub(super) struct Structure<'m, 'f> {
    fields: Fields<'f>,
    /// `globalSecondaryIndexes.1.member.`
    place: String,
    members: &'m mut Members,
}

impl<'m, 'f> Structure<'m, 'f> {
    pub(super) fn root(fields: &Fields<'f>, members: &'m mut Members) -> Self {
        Structure { fields: fields.clone(), place: String::new(), members }
    }

    pub(super) fn string(&mut self, member: &str, constraints: &[Constraint]) -> Option<String> {
        let value = self.fields.string(member)?.to_owned();
        self.members.string(&self.path(member), Some(&value), constraints);
        Some(value)
    }

    pub(super) fn required_string(&mut self, member: &str, constraints: &[Constraint]) -> String {
        self.string(member, constraints).unwrap_or_else(|| {
            self.missing(member);
            String::new()
        })
    }

    pub(super) fn boolean(&self, member: &str) -> Option<bool> {
        self.fields.boolean(member)
    }

    pub(super) fn required_boolean(&mut self, member: &str) -> Option<bool> {
        let value = self.boolean(member);
        if value.is_none() {
            self.missing(member);
        }
        value
    }

    pub(super) fn integer(&self, member: &str) -> Option<i64> {
        self.fields.integer(member)
    }

    pub(super) fn checked_integer(&mut self, member: &str, constraints: &[Constraint]) -> Option<i64> {
        let value = self.integer(member)?;
        self.members.integer(&self.path(member), Some(value), constraints);
        Some(value)
    }

    pub(super) fn required_integer(&mut self, member: &str, constraints: &[Constraint]) -> i64 {
        self.checked_integer(member, constraints).unwrap_or_else(|| {
            self.missing(member);
            0
        })
    }

    pub(super) fn structure<T>(
        &mut self,
        member: &str,
        read: impl FnOnce(Structure<'_, 'f>) -> T,
    ) -> Option<T> {
        let fields = self.fields.structure(member)?;
        let place = format!("{}.", self.path(member));
        Some(read(Structure { fields, place, members: self.members }))
    }

    pub(super) fn required_structure<T>(
        &mut self,
        member: &str,
        read: impl FnOnce(Structure<'_, 'f>) -> T,
    ) -> Option<T> {
        let value = self.structure(member, read);
        if value.is_none() {
            self.missing(member);
        }
        value
    }

    pub(super) fn structures<T>(
        &mut self,
        member: &str,
        mut read: impl FnMut(Structure<'_, 'f>) -> T,
    ) -> Option<Vec<T>> {
        let elements = self.fields.structures(member)?;
        let path = self.path(member);
        let element = |(number, fields)| {
            read(Structure { fields, place: format!("{path}.{number}.member."), members: self.members })
        };
        Some((1..).zip(elements).map(element).collect())
    }

    pub(super) fn required_structures<T>(
        &mut self,
        member: &str,
        read: impl FnMut(Structure<'_, 'f>) -> T,
    ) -> Vec<T> {
        self.structures(member, read).unwrap_or_else(|| {
            self.missing(member);
            Vec::new()
        })
    }

    /// A list of strings: its length, then each.
    pub(super) fn strings(
        &mut self,
        member: &str,
        length: &[Constraint],
        each: &[Constraint],
    ) -> Option<Vec<String>> {
        let values: Vec<String> = self.fields.strings(member)?.into_iter().map(str::to_owned).collect();
        let path = self.path(member);
        self.members.list(&path, Some((values.len(), format!("[{}]", values.join(", ")))), length);
        for (number, value) in (1..).zip(&values) {
            self.members.string(&format!("{path}.{number}.member"), Some(value), each);
        }
        Some(values)
    }

    /// The length of a key schema. Too long, it is reported at `keySchema`, whatever list it stands in.
    pub(super) fn check_key_schema_length(&mut self, at_most: u64) {
        let Some(elements) = self.fields.structures("KeySchema") else { return };
        let printed = |element: &Fields| {
            let [name, kind] = ["AttributeName", "KeyType"].map(|member| element.string(member).unwrap_or("null").to_owned());
            format!("KeySchemaElement(attributeName={name}, keyType={kind})")
        };
        let printed: Vec<String> = elements.iter().map(printed).collect();
        let list = (elements.len(), format!("[{}]", printed.join(", ")));
        self.members.list(&self.path("KeySchema"), Some(list.clone()), &[Constraint::LengthAtLeast(1)]);
        self.members.list("keySchema", Some(list), &[Constraint::LengthAtMost(at_most)]);
    }

    /// That a list of structures which may be absent is not empty.
    pub(super) fn check_not_empty(&mut self, member: &str) {
        if self.fields.structures(member).is_some_and(|elements| elements.is_empty()) {
            self.members.list(&self.path(member), Some((0, "[]".into())), &[Constraint::LengthAtLeast(1)]);
        }
    }

    fn missing(&mut self, member: &str) {
        self.members.string(&self.path(member), None, &[Constraint::NotNull]);
    }

    /// Member names with the first letter lowered.
    fn path(&self, member: &str) -> String {
        let mut letters = member.chars();
        let first = letters.next().map(|first| first.to_ascii_lowercase());
        format!("{}{}{}", self.place, first.map(String::from).unwrap_or_default(), letters.as_str())
    }
}
