//! The tree of a condition as its text says it, before names and values are known. Flat: no node owns
//! another, so neither checking, evaluating nor dropping a deep one recurses.

use std::ops::Range;

use super::super::path::WrittenPath;

/// A condition that has passed every check that needs no placeholder.
#[derive(Debug)]
pub(super) struct Tree {
    /// How the leaves are joined.
    pub steps: Vec<Step>,
    /// In text order.
    pub leaves: Vec<WrittenLeaf>,
    /// In text order: a call before those among its arguments.
    pub calls: Vec<Call>,
    /// Every `#n` and `:v`, in text order.
    pub references: Vec<String>,
    /// The first OR or NOT met from the top of the tree down and left to right, and the first leaf under it.
    pub first_refused_in_keys: Option<(usize, &'static str)>,
}

/// One step over the truth found so far. AND and OR jump over their right side when the left one decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// The truth becomes that of the leaf.
    Leaf(usize),
    Not,
    /// AND: on false, goes on at the step `end`.
    And {
        end: usize,
    },
    /// OR: on true, goes on at the step `end`.
    Or {
        end: usize,
    },
}

/// A leaf, and the pieces of [`Tree::calls`] and [`Tree::references`] that belong to it.
#[derive(Debug)]
pub(super) struct WrittenLeaf {
    pub test: WrittenTest,
    pub calls: Range<usize>,
    pub references: Range<usize>,
}

#[derive(Debug)]
pub(super) enum WrittenTest {
    Compare(Comparator, [WrittenOperand; 2]),
    /// Value, lower bound, upper bound.
    Between([WrittenOperand; 3]),
    /// Value, then the candidates.
    In(Vec<WrittenOperand>),
    /// A place in [`Tree::calls`].
    Call(usize),
}

#[derive(Debug, PartialEq)]
pub(super) enum WrittenOperand {
    Path(WrittenPath),
    /// `:v`
    Value(String),
    /// A place in [`Tree::calls`].
    Call(usize),
}

#[derive(Debug)]
pub(super) struct Call {
    pub function: Function,
    pub arguments: Vec<WrittenOperand>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Comparator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparator {
    /// The same comparison with its operands changed about.
    pub fn swapped(self) -> Comparator {
        match self {
            Self::Equal | Self::NotEqual => self,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }

    pub fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    AttributeExists,
    AttributeNotExists,
    AttributeType,
    BeginsWith,
    Contains,
    Size,
}

impl Function {
    /// Names are case-sensitive.
    pub fn named(name: &str) -> Option<Function> {
        Some(match name {
            "attribute_exists" => Self::AttributeExists,
            "attribute_not_exists" => Self::AttributeNotExists,
            "attribute_type" => Self::AttributeType,
            "begins_with" => Self::BeginsWith,
            "contains" => Self::Contains,
            "size" => Self::Size,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::AttributeExists => "attribute_exists",
            Self::AttributeNotExists => "attribute_not_exists",
            Self::AttributeType => "attribute_type",
            Self::BeginsWith => "begins_with",
            Self::Contains => "contains",
            Self::Size => "size",
        }
    }

    pub fn arity(self) -> usize {
        match self {
            Self::AttributeExists | Self::AttributeNotExists | Self::Size => 1,
            Self::AttributeType | Self::BeginsWith | Self::Contains => 2,
        }
    }
}
