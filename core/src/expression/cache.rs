//! Expressions that were parsed before. Requests repeat their expressions with other values, so what depends on
//! the text alone is kept, each thread its own: no lock, and a PostgreSQL backend is one thread.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

use super::fault::Body;

/// Trees of recent texts. Emptied when full: a working set that does not fit gains nothing from an order of eviction.
pub(super) struct Cache<T>(RefCell<Entries<T>>);

struct Entries<T> {
    trees: HashMap<String, Arc<T>>,
    text_bytes: usize,
}

/// A tree takes some tens of bytes for each byte of its text.
const MAX_TEXT_BYTES: usize = 64 * 1024;

impl<T> Cache<T> {
    pub fn new() -> Self {
        Cache(RefCell::new(Entries {
            trees: HashMap::new(),
            text_bytes: 0,
        }))
    }

    /// The tree of this text; faults are not kept.
    pub fn get_or_parse(
        &self,
        text: &str,
        parse: impl FnOnce(&str) -> Result<T, Body>,
    ) -> Result<Arc<T>, Body> {
        if let Some(tree) = self.0.borrow().trees.get(text) {
            return Ok(Arc::clone(tree));
        }
        let tree = Arc::new(parse(text)?);
        let mut entries = self.0.borrow_mut();
        if entries.text_bytes + text.len() > MAX_TEXT_BYTES {
            entries.trees.clear();
            entries.text_bytes = 0;
        }
        entries.text_bytes += text.len();
        entries.trees.insert(text.to_owned(), Arc::clone(&tree));
        Ok(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_parsed_once_and_the_cache_stays_small() {
        let cache = Cache::new();
        let first = cache.get_or_parse("a", |_| Ok(1)).unwrap();
        assert!(Arc::ptr_eq(
            &first,
            &cache.get_or_parse("a", |_| panic!("parsed again")).unwrap()
        ));
        assert_eq!(cache.get_or_parse("b", |_| Err(Body::Empty)), Err(Body::Empty));
        for number in 0..100 {
            cache
                .get_or_parse(&format!("{number}{}", "x".repeat(4000)), |_| Ok(2))
                .unwrap();
            assert!(cache.0.borrow().trees.len() <= 17);
        }
    }
}
