//! Text to tree, with every fault that the text alone shows.     behaviour/expressions §conditions, §static-checks
//!
//! A `(` may open a condition or an operand, which only what follows tells; and 4 KB hold 4,000 of them. So the
//! parser keeps its own stack of open frames, joins conditions by operator precedence, and never recurses.

use super::super::{
    fault::{Body, Kind},
    lexer::{Keyword, MAX_OPERATORS, TokenKind, Tokens},
    path::WrittenPath,
};
use super::ast::{Call, Comparator, Function, Step, Tree, WrittenLeaf, WrittenOperand, WrittenTest};

pub(super) fn parse(kind: Kind, text: &str) -> Result<Tree, Body> {
    let mut parser = Parser::new(Tokens::new(kind, text));
    parser.condition()?;
    parser.finish()
}

/// What is open around the token that is read.
enum Frame {
    /// `(` where a condition may stand, or the whole text (at the bottom of the stack). `operators`: how many
    /// were pending when it opened; `leaf` and `position`: where its content starts.
    Group {
        operators: usize,
        leaf: usize,
        position: usize,
    },
    /// `(` where only an operand may stand.
    OperandGroup,
    /// The arguments of a call.
    Call(usize),
    /// The right side of a comparator.
    Compare(Comparator, WrittenOperand),
    /// The lower bound of BETWEEN, then the upper one.
    Lower(WrittenOperand),
    Upper(WrittenOperand, WrittenOperand),
    /// The value and the candidates of IN.
    In(Vec<WrittenOperand>),
}

/// A complete thing that a frame has just got. `grouped`: it is a group as a whole.
struct Term {
    what: What,
    grouped: bool,
}

enum What {
    Operand(WrittenOperand),
    Condition,
}

/// An operator that waits for the end of its right side; And and Or know their step.
enum Pending {
    Not,
    And(usize),
    Or(usize),
}

struct WrittenCall<'a> {
    name: &'a str,
    arguments: Vec<WrittenOperand>,
    as_condition: bool,
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    frames: Vec<Frame>,
    operators: Vec<Pending>,
    steps: Vec<Step>,
    leaves: Vec<WrittenLeaf>,
    calls: Vec<WrittenCall<'a>>,
    references: Vec<String>,
    operator_count: usize,
    redundant_parentheses: bool,
    reserved_word: Option<String>,
    /// Position of the group or NOT in the text, whether it is a NOT (at the same place, the OR is above it),
    /// and the leaf.
    first_refused: Option<(usize, bool, usize)>,
}

impl<'a> Parser<'a> {
    fn new(tokens: Tokens<'a>) -> Self {
        Parser {
            tokens,
            frames: vec![Frame::Group {
                operators: 0,
                leaf: 0,
                position: 0,
            }],
            operators: vec![],
            steps: vec![],
            leaves: vec![],
            calls: vec![],
            references: vec![],
            operator_count: 0,
            redundant_parentheses: false,
            reserved_word: None,
            first_refused: None,
        }
    }

    /// Reads the whole text.
    fn condition(&mut self) -> Result<(), Body> {
        loop {
            let Some(mut term) = self.open()? else { continue };
            // Give the term to the innermost frame until that wants something new to be read.
            loop {
                term = match self.close(term)? {
                    Closed::Term(term) => term,
                    Closed::ReadOn => break,
                    Closed::End => return Ok(()),
                };
            }
        }
    }

    /// Reads on where a condition or operand must start: the term, or none if a frame or NOT was opened first.
    fn open(&mut self) -> Result<Option<Term>, Body> {
        let in_group = matches!(self.frames.last(), Some(Frame::Group { .. }));
        let operand = match self.tokens.peek() {
            Some(TokenKind::Keyword(Keyword::Not)) if in_group => {
                self.refuse_in_keys(self.tokens.position(), true, self.leaves.len());
                self.tokens.next();
                self.operator_count += 1;
                self.operators.push(Pending::Not);
                return Ok(None);
            }
            Some(TokenKind::Open) => {
                self.tokens.next();
                self.frames.push(if in_group {
                    Frame::Group {
                        operators: self.operators.len(),
                        leaf: self.leaves.len(),
                        position: self.tokens.position(),
                    }
                } else {
                    Frame::OperandGroup
                });
                return Ok(None);
            }
            Some(TokenKind::Name) if self.tokens.peek_at(1) == Some(TokenKind::Open) => {
                let name = self.tokens.next();
                self.tokens.next();
                self.operator_count += 1;
                self.frames.push(Frame::Call(self.calls.len()));
                self.calls.push(WrittenCall {
                    name,
                    arguments: vec![],
                    as_condition: false,
                });
                return Ok(None);
            }
            Some(TokenKind::ValueReference) => {
                let reference = self.tokens.next();
                self.references.push(reference.into());
                WrittenOperand::Value(reference.into())
            }
            _ => {
                let path = WrittenPath::parse(&mut self.tokens)?;
                self.note(&path, 0);
                WrittenOperand::Path(path)
            }
        };
        Ok(Some(Term {
            what: What::Operand(operand),
            grouped: false,
        }))
    }

    /// Gives a term to the innermost frame.
    fn close(&mut self, mut term: Term) -> Result<Closed, Body> {
        if let Term {
            what: What::Operand(WrittenOperand::Path(path)),
            grouped: true,
        } = &mut term
            && matches!(self.tokens.peek(), Some(TokenKind::Dot | TokenKind::OpenIndex))
        {
            // `(a.b).c`
            let known = path.len();
            path.parse_rest(&mut self.tokens)?;
            self.note(path, known);
            term.grouped = false;
        }
        let Some(frame) = self.frames.pop() else {
            return Err(self.tokens.syntax_error());
        };
        match (frame, term.what) {
            (
                Frame::Group {
                    operators,
                    leaf,
                    position,
                },
                what,
            ) => {
                self.frames.push(Frame::Group {
                    operators,
                    leaf,
                    position,
                });
                self.in_group(
                    Term {
                        what,
                        grouped: term.grouped,
                    },
                    operators,
                )
            }
            // No frame but a group can hold a condition: one is only made in a group.
            (_, What::Condition) => Err(self.tokens.syntax_error()),
            (Frame::OperandGroup, What::Operand(operand)) => {
                self.tokens.expect(TokenKind::Close)?;
                self.redundant_parentheses |= term.grouped;
                Ok(Closed::Term(Term {
                    what: What::Operand(operand),
                    grouped: true,
                }))
            }
            (Frame::Call(call), What::Operand(operand)) => {
                self.calls[call].arguments.push(operand);
                if self.tokens.take(TokenKind::Comma) {
                    self.frames.push(Frame::Call(call));
                    return Ok(Closed::ReadOn);
                }
                self.tokens.expect(TokenKind::Close)?;
                Ok(Closed::Term(Term {
                    what: What::Operand(WrittenOperand::Call(call)),
                    grouped: false,
                }))
            }
            (Frame::Compare(comparator, left), What::Operand(right)) => {
                Ok(self.leaf(WrittenTest::Compare(comparator, [left, right])))
            }
            (Frame::Lower(value), What::Operand(lower)) => {
                self.tokens.expect(TokenKind::Keyword(Keyword::And))?;
                self.frames.push(Frame::Upper(value, lower));
                Ok(Closed::ReadOn)
            }
            (Frame::Upper(value, lower), What::Operand(upper)) => {
                Ok(self.leaf(WrittenTest::Between([value, lower, upper])))
            }
            (Frame::In(mut operands), What::Operand(operand)) => {
                operands.push(operand);
                if self.tokens.take(TokenKind::Comma) {
                    self.frames.push(Frame::In(operands));
                    return Ok(Closed::ReadOn);
                }
                self.tokens.expect(TokenKind::Close)?;
                Ok(self.leaf(WrittenTest::In(operands)))
            }
        }
    }

    /// A term directly in a group (or in the whole text): what may follow decides what it is.
    fn in_group(&mut self, term: Term, operators: usize) -> Result<Closed, Body> {
        let next = self.tokens.peek();
        let alone = self.operators.len() == operators;
        let nested = self.frames.len() > 1;
        let operand = match term.what {
            What::Condition => return self.after_condition(term.grouped, operators),
            What::Operand(operand) => operand,
        };
        let frame = match next {
            Some(TokenKind::Equal) => Frame::Compare(Comparator::Equal, operand),
            Some(TokenKind::NotEqual) => Frame::Compare(Comparator::NotEqual, operand),
            Some(TokenKind::Less) => Frame::Compare(Comparator::Less, operand),
            Some(TokenKind::LessOrEqual) => Frame::Compare(Comparator::LessOrEqual, operand),
            Some(TokenKind::Greater) => Frame::Compare(Comparator::Greater, operand),
            Some(TokenKind::GreaterOrEqual) => Frame::Compare(Comparator::GreaterOrEqual, operand),
            Some(TokenKind::Keyword(Keyword::Between)) => Frame::Lower(operand),
            Some(TokenKind::Keyword(Keyword::In)) => {
                self.tokens.next();
                self.tokens.expect(TokenKind::Open)?;
                self.operator_count += 1;
                self.frames.push(Frame::In(vec![operand]));
                return Ok(Closed::ReadOn);
            }
            // The group may still be an operand, whatever is in it.
            Some(TokenKind::Close) if alone && nested => {
                self.tokens.next();
                self.frames.pop();
                self.redundant_parentheses |= term.grouped;
                return Ok(Closed::Term(Term {
                    what: What::Operand(operand),
                    grouped: true,
                }));
            }
            _ => {
                let WrittenOperand::Call(call) = operand else {
                    return Err(self.tokens.syntax_error());
                };
                self.calls[call].as_condition = true;
                self.leaf(WrittenTest::Call(call));
                return self.after_condition(term.grouped, operators);
            }
        };
        self.tokens.next();
        self.operator_count += 1;
        self.frames.push(frame);
        Ok(Closed::ReadOn)
    }

    fn after_condition(&mut self, grouped: bool, operators: usize) -> Result<Closed, Body> {
        match self.tokens.peek() {
            Some(TokenKind::Keyword(Keyword::And)) => {
                self.reduce(operators, |pending| !matches!(pending, Pending::Or(_)));
                self.operators.push(Pending::And(self.steps.len()));
                self.steps.push(Step::And { end: 0 });
            }
            Some(TokenKind::Keyword(Keyword::Or)) => {
                if let Some(&Frame::Group { leaf, position, .. }) = self.frames.last() {
                    self.refuse_in_keys(position, false, leaf);
                }
                self.reduce(operators, |_| true);
                self.operators.push(Pending::Or(self.steps.len()));
                self.steps.push(Step::Or { end: 0 });
            }
            Some(TokenKind::Close) if self.frames.len() > 1 => {
                self.tokens.next();
                self.redundant_parentheses |= grouped && self.operators.len() == operators;
                self.reduce(operators, |_| true);
                self.frames.pop();
                return Ok(Closed::Term(Term {
                    what: What::Condition,
                    grouped: true,
                }));
            }
            None if self.frames.len() == 1 => {
                self.reduce(operators, |_| true);
                return Ok(Closed::End);
            }
            _ => return Err(self.tokens.syntax_error()),
        }
        self.tokens.next();
        self.operator_count += 1;
        Ok(Closed::ReadOn)
    }

    /// Completes the innermost pending operators of the group that bind as tightly as `binds` says.
    fn reduce(&mut self, operators: usize, binds: impl Fn(&Pending) -> bool) {
        while self.operators.len() > operators
            && let Some(pending) = self.operators.pop_if(|pending| binds(pending))
        {
            let end = self.steps.len();
            match pending {
                Pending::Not => self.steps.push(Step::Not),
                Pending::And(step) => self.steps[step] = Step::And { end },
                Pending::Or(step) => self.steps[step] = Step::Or { end },
            }
        }
    }

    fn leaf(&mut self, test: WrittenTest) -> Closed {
        let (calls, references) = self
            .leaves
            .last()
            .map_or((0, 0), |leaf| (leaf.calls.end, leaf.references.end));
        self.steps.push(Step::Leaf(self.leaves.len()));
        self.leaves.push(WrittenLeaf {
            test,
            calls: calls..self.calls.len(),
            references: references..self.references.len(),
        });
        Closed::Term(Term {
            what: What::Condition,
            grouped: false,
        })
    }

    /// Notes what the elements of a path from `first` on refer to.
    fn note(&mut self, path: &WrittenPath, first: usize) {
        self.references.extend(path.references(first).map(str::to_owned));
        if self.reserved_word.is_none() {
            self.reserved_word = path.reserved_word().map(str::to_owned);
        }
    }

    fn refuse_in_keys(&mut self, position: usize, is_not: bool, leaf: usize) {
        let found = (position, is_not, leaf);
        self.first_refused = Some(self.first_refused.map_or(found, |first| first.min(found)));
    }

    /// The checks that follow a whole text, in the service's order.
    fn finish(self) -> Result<Tree, Body> {
        if self.redundant_parentheses {
            return Err(Body::RedundantParentheses);
        }
        if self.operator_count > MAX_OPERATORS {
            return Err(Body::TooManyOperators(MAX_OPERATORS + 1));
        }
        if let Some(call) = self
            .calls
            .iter()
            .find(|call| Function::named(call.name).is_none())
        {
            return Err(Body::UnknownFunction(call.name.into()));
        }
        // `size` is an operand and no condition, every other function a condition and no operand.
        if let Some(call) = self
            .calls
            .iter()
            .find(|call| call.as_condition == (call.name == "size"))
        {
            return Err(Body::MisusedFunction(call.name.into()));
        }
        if let Some(word) = self.reserved_word {
            return Err(Body::ReservedWord(word));
        }
        let calls = self.calls.into_iter().filter_map(|call| {
            Some(Call {
                function: Function::named(call.name)?,
                arguments: call.arguments,
            })
        });
        Ok(Tree {
            steps: self.steps,
            leaves: self.leaves,
            calls: calls.collect(),
            references: self.references,
            first_refused_in_keys: self
                .first_refused
                .map(|(_, is_not, leaf)| (leaf, if is_not { "NOT" } else { "OR" })),
        })
    }
}

enum Closed {
    /// The frame is complete, and this is what it amounts to.
    Term(Term),
    /// The frame wants another operand or condition.
    ReadOn,
    /// The whole text is read.
    End,
}
