//! `ddb.items` and `ddb.query_items`: whole tables and queries as sets. Pages are read as the rows are taken, so a
//! LIMIT above `SELECT ddb.items(…)` reads no further than it must.

use extenddb_core::{item::Item, operation::Operation};
use pgrx::pg_sys;

use crate::{
    call::{Call, Returned, item_datum, sql_functions},
    raise::Raise,
};

use super::{
    items::{Request, item_in, items_in},
    operations::serve,
};

sql_functions! {
    "ddb_items" => items;
    "ddb_query_items" => query_items;
}

/// `ddb.items(table_name, index_name)`.
fn items(call: &Call) -> Returned {
    call.rows(|| {
        let mut request = Request::new(call)?;
        if let Some(index) = call.text(1)? {
            request.string("IndexName", index);
        }
        Ok(Walk::new(Operation::Scan, request))
    })
}

/// `ddb.query_items(table_name, key_condition, names, expression_values, index_name, filter, forward)`.
fn query_items(call: &Call) -> Returned {
    call.rows(|| {
        let mut request = Request::new(call)?;
        request.string("KeyConditionExpression", call.required_text(1, "key_condition")?);
        request.placeholders(call, 2)?;
        if let Some(index) = call.text(4)? {
            request.string("IndexName", index);
        }
        if let Some(filter) = call.text(5)? {
            request.string("FilterExpression", filter);
        }
        if call.boolean(6) == Some(false) {
            request.json("ScanIndexForward", "false");
        }
        Ok(Walk::new(Operation::Query, request))
    })
}

/// Goes through the pages of a Query or Scan.
struct Walk {
    operation: Operation,
    request: Request,
    page: std::vec::IntoIter<Item>,
    next: Next,
}

enum Next {
    First,
    After(Item),
    End,
}

impl Walk {
    fn new(operation: Operation, request: Request) -> Walk {
        Walk {
            operation,
            request,
            page: Vec::new().into_iter(),
            next: Next::First,
        }
    }

    /// Reads the next page; false when there is none.
    fn turn(&mut self) -> Result<bool, Raise> {
        let mut request = self.request.clone();
        match &self.next {
            Next::First => {}
            Next::After(key) => request.item("ExclusiveStartKey", key),
            Next::End => return Ok(false),
        }
        let body = serve(self.operation, &request.finish())?;
        self.page = items_in(&body)?.into_iter();
        self.next = item_in(&body, "LastEvaluatedKey")?.map_or(Next::End, Next::After);
        Ok(true)
    }
}

impl Iterator for Walk {
    type Item = Result<pg_sys::Datum, Raise>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.page.next() {
                return Some(Ok(item_datum(&item)));
            }
            match self.turn() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(raise) => return Some(Err(raise)),
            }
        }
    }
}
