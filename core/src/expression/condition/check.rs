//! A tree with its names and values: binding, and the checks of each leaf.       behaviour/expressions §static-checks

use std::cmp::Ordering;

use crate::item::{AttributeValue, Number, ValueType};

use super::super::{
    Placeholders,
    fault::Body,
    path::{Path, WrittenPath},
};
use super::{
    Attribute, Operand, Test,
    ast::{Call, Comparator, Function, Tree, WrittenLeaf, WrittenOperand, WrittenTest},
    evaluate::{order, size},
};

/// The candidates of one IN.
const MAX_CANDIDATES: usize = 100;

/// Binds the leaves in text order. The first leaf with any fault answers with the first class of them it has.
/// `roots` gets the top-level attributes that are mentioned, each once.
pub(super) fn bind(
    tree: &Tree,
    placeholders: &Placeholders,
    roots: &mut Vec<String>,
) -> Result<Vec<Test>, Body> {
    let mut binding = Binding {
        tree,
        placeholders,
        roots,
    };
    tree.leaves.iter().map(|leaf| binding.leaf(leaf)).collect()
}

struct Binding<'a> {
    tree: &'a Tree,
    placeholders: &'a Placeholders,
    roots: &'a mut Vec<String>,
}

impl Binding<'_> {
    fn leaf(&mut self, leaf: &WrittenLeaf) -> Result<Test, Body> {
        for reference in &self.tree.references[leaf.references.clone()] {
            self.defined(reference)?;
        }
        let calls = &self.tree.calls[leaf.calls.clone()];
        if let Some(call) = calls
            .iter()
            .find(|call| call.arguments.len() != call.function.arity())
        {
            return Err(Body::OperandCount {
                function: call.function.name().into(),
                count: call.arguments.len(),
            });
        }
        let (operator, operands) = match &leaf.test {
            WrittenTest::Compare(comparator, operands) => (comparator.symbol(), operands.as_slice()),
            WrittenTest::Between(operands) => ("BETWEEN", operands.as_slice()),
            WrittenTest::In(operands) => ("IN", operands.as_slice()),
            WrittenTest::Call(call) => {
                let call = &self.tree.calls[*call];
                (call.function.name(), call.arguments.as_slice())
            }
        };
        self.first_is_distinct(operator, operands)?;
        let mut sizes = calls.iter().filter(|call| call.function == Function::Size);
        sizes.try_for_each(|call| self.check_size(call))?;
        let mut operands = operands
            .iter()
            .map(|operand| self.operand(operand))
            .collect::<Result<Vec<_>, _>>()?;
        match leaf.test {
            WrittenTest::Compare(comparator, _) => {
                let [left, right] = exactly(operator, operands)?;
                compare(comparator, left, right)
            }
            WrittenTest::Between(_) => {
                let [value, lower, upper] = exactly(operator, operands)?;
                between(value, lower, upper)
            }
            WrittenTest::In(_) => {
                let candidates = operands.split_off(1);
                if candidates.len() > MAX_CANDIDATES {
                    return Err(Body::TooManyCandidates(candidates.len()));
                }
                let [value] = exactly(operator, operands)?;
                Ok(Test::In(value, candidates))
            }
            WrittenTest::Call(call) => function(self.tree.calls[call].function, operands),
        }
    }

    /// A placeholder must be defined.
    fn defined(&self, reference: &str) -> Result<(), Body> {
        let is_name = reference.starts_with('#');
        if is_name && self.placeholders.name(reference).is_none() {
            Err(Body::UndefinedName(reference.into()))
        } else if !is_name && self.placeholders.value(reference).is_none() {
            Err(Body::UndefinedValue(reference.into()))
        } else {
            Ok(())
        }
    }

    fn first_is_distinct(&self, operator: &'static str, operands: &[WrittenOperand]) -> Result<(), Body> {
        let Some((WrittenOperand::Path(first), others)) = operands.split_first() else {
            return Ok(());
        };
        if others
            .iter()
            .all(|other| !matches!(other, WrittenOperand::Path(_)))
        {
            return Ok(());
        }
        let first = first.bind(self.placeholders)?;
        for other in others {
            if let WrittenOperand::Path(other) = other
                && other.bind(self.placeholders)? == first
            {
                return Err(Body::SameOperand {
                    operator,
                    path: first,
                });
            }
        }
        Ok(())
    }

    /// The operand of a `size`: a literal must have a size, and a size has none itself.
    fn check_size(&self, call: &Call) -> Result<(), Body> {
        let mut innermost = &call.arguments[0];
        let mut nested = false;
        while let WrittenOperand::Call(call) = innermost {
            nested = true;
            innermost = &self.tree.calls[*call].arguments[0];
        }
        if let WrittenOperand::Value(reference) = innermost {
            let value = self.value(reference)?;
            if size(value).is_none() {
                return Err(Body::OperandType {
                    operator: "size",
                    operand: value.kind().code(),
                });
            }
        }
        if nested {
            Err(Body::OperandType {
                operator: "size",
                operand: "N",
            })
        } else {
            Ok(())
        }
    }

    fn operand(&mut self, operand: &WrittenOperand) -> Result<Operand, Body> {
        Ok(match operand {
            WrittenOperand::Path(path) => Operand::Path(self.attribute(path)?),
            WrittenOperand::Value(reference) => Operand::Value(self.value(reference)?.clone()),
            // Only `size` may be an operand, and never of another one.
            WrittenOperand::Call(call) => match &self.tree.calls[*call].arguments[0] {
                WrittenOperand::Path(path) => Operand::SizeOf(self.attribute(path)?),
                WrittenOperand::Value(reference) => {
                    Operand::Size(size(self.value(reference)?).unwrap_or(Number::ZERO))
                }
                WrittenOperand::Call(_) => {
                    return Err(Body::OperandType {
                        operator: "size",
                        operand: "N",
                    });
                }
            },
        })
    }

    fn value(&self, reference: &str) -> Result<&AttributeValue, Body> {
        self.placeholders
            .values
            .get(reference)
            .ok_or_else(|| Body::UndefinedValue(reference.into()))
    }

    fn attribute(&mut self, path: &WrittenPath) -> Result<Attribute, Body> {
        Ok(Attribute::new(path.bind(self.placeholders)?, self.roots))
    }
}

/// The operands of an operator that takes so many.
fn exactly<const COUNT: usize>(operator: &str, operands: Vec<Operand>) -> Result<[Operand; COUNT], Body> {
    operands
        .try_into()
        .map_err(|operands: Vec<Operand>| Body::OperandCount {
            function: operator.into(),
            count: operands.len(),
        })
}

impl Operand {
    /// The type, where it is known without an item.
    fn known_type(&self) -> Option<ValueType> {
        match self {
            Self::Path(_) => None,
            Self::Value(value) => Some(value.kind()),
            Self::SizeOf(_) | Self::Size(_) => Some(ValueType::N),
        }
    }

    fn check_type(&self, operator: &'static str, allowed: &[ValueType]) -> Result<(), Body> {
        match self.known_type() {
            Some(kind) if !allowed.contains(&kind) => Err(Body::OperandType {
                operator,
                operand: kind.code(),
            }),
            _ => Ok(()),
        }
    }
}

const ORDERED: &[ValueType] = &[ValueType::S, ValueType::N, ValueType::B];
const PREFIXED: &[ValueType] = &[ValueType::S, ValueType::B];

/// How the type of a path is printed where a literal is required.
const ANY_TYPE: &str = "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}";

fn compare(comparator: Comparator, left: Operand, right: Operand) -> Result<Test, Body> {
    if !matches!(comparator, Comparator::Equal | Comparator::NotEqual) {
        left.check_type(comparator.symbol(), ORDERED)?;
        right.check_type(comparator.symbol(), ORDERED)?;
    }
    Ok(Test::Compare(comparator, left, right))
}

fn between(value: Operand, lower: Operand, upper: Operand) -> Result<Test, Body> {
    for operand in [&value, &lower, &upper] {
        operand.check_type("BETWEEN", ORDERED)?;
    }
    if let (Operand::Value(low), Operand::Value(high)) = (&lower, &upper) {
        let bounds = || Box::new([low.clone(), high.clone()]);
        match order(low, high) {
            None => return Err(Body::BetweenTypes(bounds())),
            Some(Ordering::Greater) => return Err(Body::BetweenOrder(bounds())),
            Some(_) => {}
        }
    }
    Ok(Test::Between(value, lower, upper))
}

fn function(function: Function, operands: Vec<Operand>) -> Result<Test, Body> {
    let name = function.name();
    let path = |operand| match operand {
        Operand::Path(attribute) => Ok(attribute),
        _ => Err(Body::PathRequired(name)),
    };
    match function {
        Function::AttributeExists => {
            let [operand] = exactly(name, operands)?;
            Ok(Test::Exists(path(operand)?))
        }
        Function::AttributeNotExists => {
            let [operand] = exactly(name, operands)?;
            Ok(Test::NotExists(path(operand)?))
        }
        Function::AttributeType => {
            let [operand, kind] = exactly(name, operands)?;
            let attribute = path(operand)?;
            match kind {
                Operand::Value(AttributeValue::S(code)) => match named_type(&code) {
                    Some(kind) => Ok(Test::Type(attribute, kind)),
                    None => Err(Body::UnknownType(code)),
                },
                other => Err(Body::OperandType {
                    operator: name,
                    operand: other.known_type().map_or(ANY_TYPE, ValueType::code),
                }),
            }
        }
        Function::BeginsWith => {
            let [whole, prefix] = exactly(name, operands)?;
            whole.check_type(name, PREFIXED)?;
            prefix.check_type(name, PREFIXED)?;
            Ok(Test::BeginsWith(whole, prefix))
        }
        Function::Contains => {
            let [container, part] = exactly(name, operands)?;
            Ok(Test::Contains(container, part))
        }
        // Refused by the parser: a size is no condition.
        Function::Size => Err(Body::MisusedFunction(name.into())),
    }
}

fn named_type(code: &str) -> Option<ValueType> {
    use ValueType::{B, Bool, Bs, L, M, N, Ns, Null, S, Ss};
    [S, N, B, Bool, Null, Ss, Ns, Bs, L, M]
        .into_iter()
        .find(|kind| kind.code() == code)
}

impl Attribute {
    fn new(path: Path, roots: &mut Vec<String>) -> Attribute {
        let root = roots
            .iter()
            .position(|root| root == path.root())
            .unwrap_or_else(|| {
                roots.push(path.root().to_owned());
                roots.len() - 1
            });
        Attribute { path, root }
    }
}
