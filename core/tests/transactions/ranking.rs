//! Which fault answers: every row twice, and nothing is changed unless it succeeds.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use crate::{
    notation::{Fixture, cases, expanded, run_all},
    served::{call_in, context},
};

#[derive(Deserialize)]
pub struct Ranking {
    #[serde(flatten)]
    pub fixture: Fixture,
    pub members: BTreeMap<String, String>,
    row: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    row: String,
    /// Of a TransactWriteItems.
    #[serde(default)]
    members: Vec<String>,
    operation: Option<String>,
    request: Option<String>,
    answer: String,
}

impl Ranking {
    /// The table, read once.
    pub fn read() -> &'static Ranking {
        static READ: LazyLock<Ranking> = LazyLock::new(|| cases("transactions-ranking.toml"));
        &READ
    }

    /// The request of these members.
    pub fn transaction<'m>(&self, members: impl IntoIterator<Item = &'m str>) -> String {
        let members = members.into_iter().map(|code| {
            let member = self.members.get(code);
            member
                .unwrap_or_else(|| panic!("no member is named {code}"))
                .as_str()
        });
        let members: Vec<&str> = members.collect();
        expanded(&format!("{{\"TransactItems\":[{}]}}", members.join(",")))
    }

    fn fault(&self, row: &Row) -> Option<String> {
        let (operation, request) = match (&row.operation, &row.request) {
            (Some(operation), Some(request)) => (operation.as_str(), expanded(request)),
            _ => {
                let members = row.members.iter().map(String::as_str);
                ("TransactWriteItems", self.transaction(members))
            }
        };
        let store = self.fixture.store();
        let before = self.fixture.items(&store);
        for time in ["first", "second"] {
            let answer = call_in(&context(), &store, operation, &request);
            if let Some(fault) = self.fixture.fault(&row.answer, &answer) {
                return Some(format!("the {time} time: {fault}"));
            }
            if row.answer != "OK" && self.fixture.items(&store) != before {
                return Some(format!("the {time} time something was written"));
            }
        }
        None
    }
}

#[test]
fn every_row_answers_as_written() {
    let table = Ranking::read();
    run_all(table.row.iter().map(|row| {
        let run: Box<dyn Fn() -> Option<String>> = Box::new(|| table.fault(row));
        (row.row.as_str(), run)
    }));
}
