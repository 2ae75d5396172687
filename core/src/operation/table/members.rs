//! Reading the members of table operations: each read checks its constraints, in the order in which the reads are
//! written, so that a reading function is the service's order of faults. behaviour/tables §member-constraints

use crate::wire::{Constraint, Fields, Members};

/// Of tables and indexes.
pub(super) const NAME: &[Constraint] = &[
    Constraint::NAME_PATTERN,
    Constraint::LengthAtLeast(3),
    Constraint::LengthAtMost(255),
];
pub(super) const ATTRIBUTE_NAME: &[Constraint] =
    &[Constraint::LengthAtLeast(1), Constraint::LengthAtMost(255)];

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
        Structure {
            fields: fields.clone(),
            place: String::new(),
            members,
        }
    }

    pub(super) fn string(&mut self, member: &str, constraints: &[Constraint]) -> Option<String> {
        let value = self.fields.string(member)?.to_owned();
        self.check_string(&self.path(member), &value, constraints);
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
        for constraint in constraints {
            let broken = match *constraint {
                Constraint::ValueAtLeast(least) => value < least,
                Constraint::ValueAtMost(most) => value > most,
                _ => false,
            };
            if broken {
                self.members.fault(&self.path(member), value, constraint);
            }
        }
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
        Some(read(Structure {
            fields,
            place,
            members: self.members,
        }))
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
            read(Structure {
                fields,
                place: format!("{path}.{number}.member."),
                members: self.members,
            })
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
        let values: Vec<String> = self
            .fields
            .strings(member)?
            .into_iter()
            .map(str::to_owned)
            .collect();
        let path = self.path(member);
        self.check_list(&path, values.len(), || values.join(", "), length);
        for (number, value) in (1..).zip(&values) {
            self.check_string(&format!("{path}.{number}.member"), value, each);
        }
        Some(values)
    }

    pub(super) fn required_strings(&mut self, member: &str) -> Vec<String> {
        self.strings(member, &[], &[]).unwrap_or_else(|| {
            self.missing(member);
            Vec::new()
        })
    }

    /// The length of a key schema. Too long, it is reported at `keySchema`, whatever list it stands in.
    pub(super) fn check_key_schema_length(&mut self, at_most: u64) {
        let Some(elements) = self.fields.structures("KeySchema") else {
            return;
        };
        let printed = |element: &Fields| {
            let [name, kind] = ["AttributeName", "KeyType"]
                .map(|member| element.string(member).unwrap_or("null").to_owned());
            format!("KeySchemaElement(attributeName={name}, keyType={kind})")
        };
        let printed = || elements.iter().map(printed).collect::<Vec<_>>().join(", ");
        let path = self.path("KeySchema");
        self.check_list(&path, elements.len(), printed, &[Constraint::LengthAtLeast(1)]);
        self.check_list(
            "keySchema",
            elements.len(),
            printed,
            &[Constraint::LengthAtMost(at_most)],
        );
    }

    /// That a list of structures which may be absent is not empty.
    pub(super) fn check_not_empty(&mut self, member: &str) {
        self.check_structures_length(member, &[Constraint::LengthAtLeast(1)]);
    }

    /// The length of a list of structures which may be absent. Its elements are not printed.
    pub(super) fn check_structures_length(&mut self, member: &str, constraints: &[Constraint]) {
        if let Some(elements) = self.fields.structures(member) {
            self.check_list(&self.path(member), elements.len(), String::new, constraints);
        }
    }

    fn missing(&mut self, member: &str) {
        self.members.required(&self.path(member), false);
    }

    fn check_string(&mut self, path: &str, value: &str, constraints: &[Constraint]) {
        for constraint in constraints {
            let broken = match constraint {
                Constraint::Enum(values) => !values.contains(&value),
                Constraint::Pattern(_) => value.is_empty() || !value.chars().all(is_name_character),
                constraint => is_length_broken(constraint, value.encode_utf16().count()),
            };
            if broken {
                self.members.fault(path, value, constraint);
            }
        }
    }

    fn check_list(
        &mut self,
        path: &str,
        length: usize,
        printed: impl Fn() -> String,
        constraints: &[Constraint],
    ) {
        for constraint in constraints
            .iter()
            .filter(|constraint| is_length_broken(constraint, length))
        {
            self.members.fault(path, format!("[{}]", printed()), constraint);
        }
    }

    /// Member names with the first letter lowered.
    fn path(&self, member: &str) -> String {
        let mut letters = member.chars();
        let first = letters.next().map(|first| first.to_ascii_lowercase());
        format!(
            "{}{}{}",
            self.place,
            first.map(String::from).unwrap_or_default(),
            letters.as_str()
        )
    }
}

/// Names of tables and indexes are all that table operations have patterns for.
fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

fn is_length_broken(constraint: &Constraint, length: usize) -> bool {
    match *constraint {
        Constraint::LengthAtLeast(least) => (length as u64) < least,
        Constraint::LengthAtMost(most) => length as u64 > most,
        _ => false,
    }
}
