//! What an UpdateItem is charged with by its statement alone. The service refuses a request by this sum before it
//! reads the item; nothing that is stored enters it.                               behaviour/updates §request-charge

use crate::{
    expression::{Element, Path},
    item::value_size,
};

use super::ast::{Action, Operand, Operator, Verb};

pub(super) fn of_statement(actions: &[Action]) -> usize {
    3 + actions.iter().map(of_action).sum::<usize>()
}

fn of_action(action: &Action) -> usize {
    let target = of_target(&action.target);
    match &action.verb {
        Verb::Set(operand) => 19 + target + of_operand(operand),
        Verb::Add(value) => 19 + target + value_size(value),
        Verb::Remove | Verb::Delete(_) => 1 + target,
    }
}

fn of_target(path: &Path) -> usize {
    path.0.iter().map(of_element).sum::<usize>() + 4 * (path.0.len() - 1)
}

fn of_operand(operand: &Operand) -> usize {
    match operand {
        Operand::Value(value) => value_size(value),
        Operand::Path(path) => of_read(path),
        Operand::Arithmetic { operator, operands } => {
            let own = match operator {
                Operator::Plus => 34,
                Operator::Minus => 37,
            };
            own + operands.iter().map(of_operand).sum::<usize>()
        }
        Operand::IfNotExists { path, otherwise } => 39 + of_read(path) + of_operand(otherwise),
        Operand::ListAppend(operands) => 37 + operands.iter().map(of_operand).sum::<usize>(),
    }
}

fn of_read(path: &Path) -> usize {
    1 + path
        .0
        .iter()
        .map(|element| 14 + of_element(element))
        .sum::<usize>()
}

/// The bytes of a name, the digits of an index.
fn of_element(element: &Element) -> usize {
    match element {
        Element::Name(name) => name.len(),
        Element::Index(index) => index.checked_ilog10().unwrap_or(0) as usize + 1,
    }
}
