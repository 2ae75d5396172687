use crate::{error::Error, operation::Context, store::Store};

pub async fn run<S: Store>(_store: &S, _body: &str, _context: &Context) -> Result<String, Error> {
    todo!()
}
