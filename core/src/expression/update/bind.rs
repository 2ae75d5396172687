//! An update with its placeholders resolved, and the checks that need them.      behaviour/updates §static-checks

use crate::{
    expression::{
        Path, Placeholders,
        fault::Body,
        lexer::MAX_OPERATORS,
        path::{WrittenPath, check_apart},
    },
    item::{AttributeValue, ValueType},
};

use super::{
    ast::{Action, Operand, Verb},
    syntax::{self, Function, Written},
};

type Bound = syntax::Operand<Path, AttributeValue>;

/// All names, then all values, then the targets against each other, then what ADD and DELETE take, then functions and
/// arithmetic, then the number of operators.
pub(super) fn bind(written: &Written, placeholders: &Placeholders) -> Result<Vec<Action>, Body> {
    let mut binder = Binder {
        placeholders,
        undefined: None,
    };
    let actions = written
        .actions
        .iter()
        .map(|action| binder.action(action))
        .collect::<Result<Vec<_>, _>>()?;
    if let Some(value) = binder.undefined {
        return Err(Body::UndefinedValue(value));
    }
    check_apart(&actions.iter().map(|action| &action.target).collect::<Vec<_>>())?;
    for action in &actions {
        check_operand_of_action(&action.verb)?;
    }
    let actions = actions.into_iter().map(settle_action).collect::<Result<_, _>>()?;
    if written.operators > MAX_OPERATORS {
        return Err(Body::TooManyOperators(MAX_OPERATORS + 1));
    }
    Ok(actions)
}

struct Binder<'a> {
    placeholders: &'a Placeholders,
    /// The first value that is not defined. It answers only when every name is.
    undefined: Option<String>,
}

impl Binder<'_> {
    fn action(
        &mut self,
        action: &syntax::Action<WrittenPath, String>,
    ) -> Result<syntax::Action<Path, AttributeValue>, Body> {
        use syntax::Verb::{Add, Delete, Remove, Set};
        let target = action.target.bind(self.placeholders)?;
        let verb = match &action.verb {
            Set(operand) => Set(self.operand(operand)?),
            Remove => Remove,
            Add(value) => Add(self.value(value)),
            Delete(value) => Delete(self.value(value)),
        };
        Ok(syntax::Action { target, verb })
    }

    fn operand(&mut self, operand: &syntax::Operand<WrittenPath, String>) -> Result<Bound, Body> {
        use syntax::Operand as Written;
        Ok(match operand {
            Written::Value(value) => Bound::Value(self.value(value)),
            Written::Path(path) => Bound::Path(path.bind(self.placeholders)?),
            Written::Function { function, operands } => {
                // Not collected: functions nest, and an iterator's frames would be on the stack at each level.
                let mut bound = Vec::with_capacity(operands.len());
                for operand in operands {
                    bound.push(self.operand(operand)?);
                }
                Bound::Function {
                    function: *function,
                    operands: bound,
                }
            }
            Written::Arithmetic { operator, operands } => Bound::Arithmetic {
                operator: *operator,
                operands: Box::new([self.operand(&operands[0])?, self.operand(&operands[1])?]),
            },
        })
    }

    fn value(&mut self, reference: &str) -> AttributeValue {
        self.placeholders.value(reference).cloned().unwrap_or_else(|| {
            self.undefined.get_or_insert_with(|| reference.to_owned());
            AttributeValue::Null // never seen: the update is refused
        })
    }
}

fn check_operand_of_action(verb: &syntax::Verb<Path, AttributeValue>) -> Result<(), Body> {
    let (action, operand, number_fits) = match verb {
        syntax::Verb::Add(value) => ("ADD", value.kind(), true),
        syntax::Verb::Delete(value) => ("DELETE", value.kind(), false),
        syntax::Verb::Set(_) | syntax::Verb::Remove => return Ok(()),
    };
    match operand {
        ValueType::Ss | ValueType::Ns | ValueType::Bs => Ok(()),
        ValueType::N if number_fits => Ok(()),
        _ => Err(Body::ActionOperandType { action, operand }),
    }
}

fn settle_action(action: syntax::Action<Path, AttributeValue>) -> Result<Action, Body> {
    let verb = match action.verb {
        syntax::Verb::Set(operand) => Verb::Set(settle(operand)?),
        syntax::Verb::Remove => Verb::Remove,
        syntax::Verb::Add(value) => Verb::Add(value),
        syntax::Verb::Delete(value) => Verb::Delete(value),
    };
    Ok(Action {
        target: action.target,
        verb,
    })
}

/// Functions and arithmetic with operands that suit them; of several faults the one that stands first in the text.
fn settle(operand: Bound) -> Result<Operand, Body> {
    match operand {
        Bound::Value(value) => Ok(Operand::Value(value)),
        Bound::Path(path) => Ok(Operand::Path(path)),
        Bound::Arithmetic { operator, operands } => {
            let [left, right] = *operands;
            let literals = check_literals(operator.symbol(), ValueType::N, [&left, &right]);
            let left = settle(left)?;
            literals?;
            Ok(Operand::Arithmetic {
                operator,
                operands: Box::new([left, settle(right)?]),
            })
        }
        Bound::Function { function, operands } => {
            let count = operands.len();
            let Ok([first, second]) = <[Bound; 2]>::try_from(operands) else {
                return Err(Body::OperandCount {
                    function: function.name().into(),
                    count,
                });
            };
            match function {
                Function::IfNotExists => {
                    let Bound::Path(path) = first else {
                        return Err(Body::PathRequired(function.name()));
                    };
                    Ok(Operand::IfNotExists {
                        path,
                        otherwise: Box::new(settle(second)?),
                    })
                }
                Function::ListAppend => {
                    check_literals(function.name(), ValueType::L, [&first, &second])?;
                    Ok(Operand::ListAppend(Box::new([settle(first)?, settle(second)?])))
                }
            }
        }
    }
}

/// Only a literal's type is known before the item is.
fn check_literals(operator: &'static str, wanted: ValueType, operands: [&Bound; 2]) -> Result<(), Body> {
    for operand in operands {
        match operand {
            Bound::Value(value) if value.kind() != wanted => {
                return Err(Body::OperandType {
                    operator,
                    operand: value.kind().code(),
                });
            }
            _ => {}
        }
    }
    Ok(())
}
