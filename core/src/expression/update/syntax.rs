//! The grammar of update expressions, up to everything that the text alone decides.  behaviour/updates §update-grammar
//!
//! `update = section { section }`, where a section is a keyword and its actions, joined by commas. Parentheses stand
//! only around the right side of a SET action and around one operand.

use crate::expression::{
    Kind,
    fault::Body,
    lexer::{Keyword, TokenKind, Tokens},
    path::WrittenPath,
};

use super::ast::Operator;

/// An update as written: no placeholder is resolved yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Written {
    pub actions: Vec<WrittenAction>,
    /// Functions, `+` and `-`.
    pub operators: usize,
}

/// With paths and values as written (`:v`), or resolved.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Action<P, V> {
    pub target: P,
    pub verb: Verb<P, V>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verb<P, V> {
    Set(Operand<P, V>),
    Remove,
    Add(V),
    Delete(V),
}

/// What the grammar lets stand; whether a function can have these operands is not its question.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand<P, V> {
    Value(V),
    Path(P),
    Function {
        function: Function,
        operands: Vec<Operand<P, V>>,
    },
    Arithmetic {
        operator: Operator,
        operands: Box<[Operand<P, V>; 2]>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    IfNotExists,
    ListAppend,
}

impl Function {
    const ALL: [Function; 2] = [Function::IfNotExists, Function::ListAppend];

    pub fn name(self) -> &'static str {
        match self {
            Self::IfNotExists => "if_not_exists",
            Self::ListAppend => "list_append",
        }
    }
}

/// Functions within functions. More than 300 operators are refused in any case, so this bounds every recursion over what is
/// read and takes nothing away.
const MAX_DEPTH: usize = 300;

/// Reads the whole text: syntax, then reserved words, then function names, then sections that stand twice.
pub(super) fn parse(text: &str) -> Result<Written, Body> {
    let mut parser = Parser {
        tokens: Tokens::new(Kind::Update, text),
        sections: Vec::new(),
        actions: Vec::new(),
        operators: 0,
        reserved: None,
        unknown: None,
    };
    parser.section()?;
    while parser.tokens.peek().is_some() {
        parser.section()?;
    }
    if let Some(word) = parser.reserved {
        return Err(Body::ReservedWord(word));
    }
    if let Some(function) = parser.unknown {
        return Err(Body::UnknownFunction(function));
    }
    for (place, section) in parser.sections.iter().enumerate() {
        if parser.sections[..place].contains(section) {
            return Err(Body::RepeatedSection(section));
        }
    }
    Ok(Written {
        actions: parser.actions,
        operators: parser.operators,
    })
}

type WrittenAction = Action<WrittenPath, String>;
type WrittenOperand = Operand<WrittenPath, String>;

struct Parser<'a> {
    tokens: Tokens<'a>,
    /// Keywords in upper case, in text order.
    sections: Vec<&'static str>,
    actions: Vec<WrittenAction>,
    operators: usize,
    /// The first of each in the text; they answer only once the syntax is known to be right.
    reserved: Option<String>,
    unknown: Option<String>,
}

/// A function whose operands are being read.
struct Call {
    function: Function,
    operands: Vec<WrittenOperand>,
    /// It stands in parentheses.
    grouped: bool,
}

impl Parser<'_> {
    fn section(&mut self) -> Result<(), Body> {
        let (name, action): (_, fn(&mut Self) -> _) = match self.tokens.peek() {
            Some(TokenKind::Keyword(Keyword::Set)) => ("SET", Self::set),
            Some(TokenKind::Keyword(Keyword::Remove)) => ("REMOVE", Self::remove),
            Some(TokenKind::Keyword(Keyword::Add)) => ("ADD", Self::add),
            Some(TokenKind::Keyword(Keyword::Delete)) => ("DELETE", Self::delete),
            _ => return Err(self.tokens.syntax_error()),
        };
        self.tokens.next();
        self.sections.push(name);
        loop {
            let action = action(self)?;
            self.actions.push(action);
            if !self.tokens.take(TokenKind::Comma) {
                return Ok(());
            }
        }
    }

    fn set(&mut self) -> Result<WrittenAction, Body> {
        let target = self.path()?;
        self.tokens.expect(TokenKind::Equal)?;
        Ok(Action {
            target,
            verb: Verb::Set(self.right_side()?),
        })
    }

    fn remove(&mut self) -> Result<WrittenAction, Body> {
        Ok(Action {
            target: self.path()?,
            verb: Verb::Remove,
        })
    }

    fn add(&mut self) -> Result<WrittenAction, Body> {
        let target = self.path()?;
        Ok(Action {
            target,
            verb: Verb::Add(self.value()?),
        })
    }

    fn delete(&mut self) -> Result<WrittenAction, Body> {
        let target = self.path()?;
        Ok(Action {
            target,
            verb: Verb::Delete(self.value()?),
        })
    }

    /// A sum, or one in parentheses. `(` may also open the sum's first operand: what follows its `)` tells.
    fn right_side(&mut self) -> Result<WrittenOperand, Body> {
        if !self.tokens.take(TokenKind::Open) {
            return self.sum();
        }
        if self.tokens.peek() == Some(TokenKind::Open) {
            // `((a) + b)`: the outer pair is the sum's, the inner the operand's. `((a))` is both as well.
            let sum = self.sum()?;
            self.tokens.expect(TokenKind::Close)?;
            return Ok(sum);
        }
        let first = self.term()?;
        if self.operator().is_some() {
            let sum = self.sum_after(first)?;
            self.tokens.expect(TokenKind::Close)?;
            return Ok(sum);
        }
        self.tokens.expect(TokenKind::Close)?;
        self.sum_after(first)
    }

    /// One operand, or two with one operator between them.
    fn sum(&mut self) -> Result<WrittenOperand, Body> {
        let first = self.operand()?;
        self.sum_after(first)
    }

    fn sum_after(&mut self, first: WrittenOperand) -> Result<WrittenOperand, Body> {
        let Some(operator) = self.operator() else {
            return Ok(first);
        };
        self.tokens.next();
        self.operators += 1;
        let second = self.operand()?;
        Ok(Operand::Arithmetic {
            operator,
            operands: Box::new([first, second]),
        })
    }

    fn operator(&self) -> Option<Operator> {
        match self.tokens.peek()? {
            TokenKind::Plus => Some(Operator::Plus),
            TokenKind::Minus => Some(Operator::Minus),
            _ => None,
        }
    }

    /// A term, or one in parentheses. Functions within functions wait on a stack of their own.
    fn operand(&mut self) -> Result<WrittenOperand, Body> {
        let mut calls: Vec<Call> = Vec::new();
        loop {
            let grouped = self.tokens.take(TokenKind::Open);
            if self.tokens.peek() == Some(TokenKind::Name) && self.tokens.peek_at(1) == Some(TokenKind::Open)
            {
                calls.push(self.open_call(grouped)?);
                if calls.len() > MAX_DEPTH {
                    return Err(Body::TooManyOperators(calls.len()));
                }
                continue;
            }
            let mut done = self.leaf()?;
            self.close_group(grouped)?;
            loop {
                let Some(mut call) = calls.pop() else {
                    return Ok(done);
                };
                call.operands.push(done);
                if self.tokens.take(TokenKind::Comma) {
                    calls.push(call);
                    break;
                }
                self.tokens.expect(TokenKind::Close)?;
                self.close_group(call.grouped)?;
                done = Operand::Function {
                    function: call.function,
                    operands: call.operands,
                };
            }
        }
    }

    /// A term that follows a `(`.
    fn term(&mut self) -> Result<WrittenOperand, Body> {
        if self.tokens.peek() == Some(TokenKind::Open) {
            return Err(self.tokens.syntax_error());
        }
        self.operand()
    }

    fn open_call(&mut self, grouped: bool) -> Result<Call, Body> {
        let name = self.tokens.next();
        self.tokens.expect(TokenKind::Open)?;
        self.operators += 1;
        let known = Function::ALL.into_iter().find(|function| function.name() == name);
        if known.is_none() {
            self.unknown.get_or_insert_with(|| name.to_owned());
        }
        // What an unknown function stands for is never looked at: its name is the fault.
        let function = known.unwrap_or(Function::IfNotExists);
        Ok(Call {
            function,
            operands: Vec::new(),
            grouped,
        })
    }

    fn close_group(&mut self, grouped: bool) -> Result<(), Body> {
        if grouped {
            self.tokens.expect(TokenKind::Close)?;
        }
        Ok(())
    }

    fn leaf(&mut self) -> Result<WrittenOperand, Body> {
        match self.tokens.peek() {
            Some(TokenKind::ValueReference) => Ok(Operand::Value(self.value()?)),
            _ => Ok(Operand::Path(self.path()?)),
        }
    }

    fn path(&mut self) -> Result<WrittenPath, Body> {
        let path = WrittenPath::parse(&mut self.tokens)?;
        if self.reserved.is_none() {
            self.reserved = path.reserved_word().map(str::to_owned);
        }
        Ok(path)
    }

    fn value(&mut self) -> Result<String, Body> {
        self.tokens.expect(TokenKind::ValueReference).map(str::to_owned)
    }
}
