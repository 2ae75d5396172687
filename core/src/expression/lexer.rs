//! Tokens, and the text of a syntax error.                                  behaviour/expressions §tokens, §syntax-errors
//!
//! All five kinds of expression are read through one cursor, [`Tokens`]. Reading never fails: what is no token
//! is a token of its own ([`TokenKind::Bad`]) that no grammar takes.

use super::fault::{Body, Kind};

/// What a token is; its text is a slice of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A bare name that is no keyword of the grammar at hand.
    Name,
    Keyword(Keyword),
    /// `0` or digits that do not begin with `0`.
    Integer,
    /// `#n`
    NameReference,
    /// `:v`
    ValueReference,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    Dot,
    Comma,
    Open,
    Close,
    OpenIndex,
    CloseIndex,
    /// One character that can stand nowhere.
    Bad,
}

/// Keywords are recognised in their own grammar only; in the other one they are names (and reserved words).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    And,
    Or,
    Not,
    Between,
    In,
    Set,
    Remove,
    Add,
    Delete,
}

const CONDITION_KEYWORDS: &[(&str, Keyword)] = &[
    ("AND", Keyword::And),
    ("OR", Keyword::Or),
    ("NOT", Keyword::Not),
    ("BETWEEN", Keyword::Between),
    ("IN", Keyword::In),
];

const UPDATE_KEYWORDS: &[(&str, Keyword)] = &[
    ("SET", Keyword::Set),
    ("REMOVE", Keyword::Remove),
    ("ADD", Keyword::Add),
    ("DELETE", Keyword::Delete),
];

#[derive(Clone, Copy, Debug)]
struct Token {
    kind: TokenKind,
    start: usize,
    end: usize,
}

/// The tokens of an expression and how far they have been read.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
}

/// The longest expression, in bytes of its text.                                  behaviour/expressions §limits
const MAX_BYTES: usize = 4096;

/// Operators and functions of one expression.
pub(super) const MAX_OPERATORS: usize = 300;

/// The first checks of every kind. `with_size`: the text of a fault names the size.
pub(super) fn check_length(text: &str, with_size: bool) -> Result<(), Body> {
    if text.len() > MAX_BYTES {
        return Err(Body::TooLong {
            named_bytes: with_size.then_some(text.len()),
        });
    }
    if text.is_empty() { Err(Body::Empty) } else { Ok(()) }
}

impl<'a> Tokens<'a> {
    pub fn new(kind: Kind, text: &'a str) -> Tokens<'a> {
        let keywords = match kind {
            Kind::Condition | Kind::Filter | Kind::KeyCondition => CONDITION_KEYWORDS,
            Kind::Update => UPDATE_KEYWORDS,
            Kind::Projection => &[],
        };
        let mut tokens = Vec::with_capacity(text.len() / 3 + 1);
        let mut start = 0;
        while let Some(first) = text[start..].chars().next() {
            if matches!(first, ' ' | '\t' | '\r' | '\n') {
                start += 1;
                continue;
            }
            let (kind, length) = token(&text[start..], first, keywords);
            tokens.push(Token {
                kind,
                start,
                end: start + length,
            });
            start += length;
        }
        Tokens {
            text,
            tokens,
            next: 0,
        }
    }

    /// The kind of the next token; `None` at the end.
    pub fn peek(&self) -> Option<TokenKind> {
        self.peek_at(0)
    }

    /// The kind of the token `ahead` places after the next one.
    pub fn peek_at(&self, ahead: usize) -> Option<TokenKind> {
        self.tokens.get(self.next + ahead).map(|token| token.kind)
    }

    /// The source of the next token as typed; empty at the end.
    pub fn peek_text(&self) -> &'a str {
        self.tokens.get(self.next).map_or("", |token| self.source(token))
    }

    /// Takes the next token, whatever it is, and answers its source.
    pub fn next(&mut self) -> &'a str {
        let text = self.peek_text();
        self.next += 1;
        text
    }

    /// Takes the next token if it is of this kind.
    pub fn take(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == Some(kind);
        self.next += usize::from(found);
        found
    }

    /// Takes the next token, which must be of this kind, and answers its source.
    pub fn expect(&mut self, kind: TokenKind) -> Result<&'a str, Body> {
        if self.peek() == Some(kind) {
            Ok(self.next())
        } else {
            Err(self.syntax_error())
        }
    }

    /// The next token must be the end.
    pub fn expect_end(&self) -> Result<(), Body> {
        if self.peek().is_none() {
            Ok(())
        } else {
            Err(self.syntax_error())
        }
    }

    /// The fault of an expression whose next token cannot go on: `near` reaches from the token before it to the
    /// one after it, as typed.
    pub fn syntax_error(&self) -> Body {
        let at = self.next.min(self.tokens.len());
        let Some(token) = self.tokens.get(at) else {
            let near = self.tokens.last().map_or(self.text, |last| self.source(last));
            return Body::Syntax {
                token: "<EOF>".into(),
                near: near.into(),
            };
        };
        let first = &self.tokens[at.saturating_sub(1)];
        let last = self.tokens.get(at + 1).unwrap_or(token);
        Body::Syntax {
            token: self.source(token).into(),
            near: self.text[first.start..last.end].into(),
        }
    }

    /// How many tokens were read: a place in text order.
    pub fn position(&self) -> usize {
        self.next
    }

    fn source(&self, token: &Token) -> &'a str {
        &self.text[token.start..token.end]
    }
}

/// The token at the start of `rest`, whose first character is `first`: the longest there is.
fn token(rest: &str, first: char, keywords: &[(&str, Keyword)]) -> (TokenKind, usize) {
    let run = |from: usize, within: fn(u8) -> bool| {
        from + rest.as_bytes()[from..]
            .iter()
            .take_while(|byte| within(**byte))
            .count()
    };
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let second = rest.as_bytes().get(1).copied();
    match first {
        'A'..='Z' | 'a'..='z' | '_' => {
            let length = run(1, is_word);
            let keyword = keywords
                .iter()
                .find(|(word, _)| word.eq_ignore_ascii_case(&rest[..length]));
            (
                keyword.map_or(TokenKind::Name, |(_, keyword)| TokenKind::Keyword(*keyword)),
                length,
            )
        }
        '0' => (TokenKind::Integer, 1),
        '1'..='9' => (TokenKind::Integer, run(1, |byte| byte.is_ascii_digit())),
        '#' if second.is_some_and(is_word) => (TokenKind::NameReference, run(1, is_word)),
        ':' if second.is_some_and(is_word) => (TokenKind::ValueReference, run(1, is_word)),
        '<' if second == Some(b'>') => (TokenKind::NotEqual, 2),
        '<' if second == Some(b'=') => (TokenKind::LessOrEqual, 2),
        '>' if second == Some(b'=') => (TokenKind::GreaterOrEqual, 2),
        '<' => (TokenKind::Less, 1),
        '>' => (TokenKind::Greater, 1),
        '=' => (TokenKind::Equal, 1),
        '+' => (TokenKind::Plus, 1),
        '-' => (TokenKind::Minus, 1),
        '.' => (TokenKind::Dot, 1),
        ',' => (TokenKind::Comma, 1),
        '(' => (TokenKind::Open, 1),
        ')' => (TokenKind::Close, 1),
        '[' => (TokenKind::OpenIndex, 1),
        ']' => (TokenKind::CloseIndex, 1),
        other => (TokenKind::Bad, other.len_utf8()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fault when reading stops at the token with this number.
    fn at(kind: Kind, text: &str, number: usize) -> (String, String) {
        let mut tokens = Tokens::new(kind, text);
        (0..number).for_each(|_| {
            tokens.next();
        });
        match tokens.syntax_error() {
            Body::Syntax { token, near } => (token, near),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn near_reaches_one_token_to_each_side_with_the_source_between() {
        let pair = |token: &str, near: &str| (token.to_owned(), near.to_owned());
        assert_eq!(at(Kind::Update, "ADD hits : incr", 2), pair(":", "hits : incr"));
        assert_eq!(
            at(Kind::Update, "SET  REMOVE #Options", 1),
            pair("REMOVE", "SET  REMOVE #Options")
        );
        assert_eq!(
            at(Kind::Update, "INVALID SYNTAX HERE", 0),
            pair("INVALID", "INVALID SYNTAX")
        );
        assert_eq!(at(Kind::Condition, "a AND NOT #has", 4), pair("<EOF>", "#has"));
        assert_eq!(at(Kind::Condition, "NOT #has \n", 2), pair("<EOF>", "#has"));
        assert_eq!(at(Kind::Condition, " \t ", 0), pair("<EOF>", " \t "));
        assert_eq!(at(Kind::Projection, "!!! x", 0), pair("!", "!!"));
        assert_eq!(at(Kind::Projection, "l[00]", 3), pair("0", "00]"));
        assert_eq!(at(Kind::Projection, "a, #, b", 2), pair("#", ", #,"));
        assert_eq!(at(Kind::Projection, "#x€", 1), pair("€", "#x€"));
    }

    #[test]
    fn keywords_belong_to_their_grammar_and_fold_case() {
        let kinds = |kind, text| {
            let tokens = Tokens::new(kind, text);
            (0..).map_while(|ahead| tokens.peek_at(ahead)).collect::<Vec<_>>()
        };
        use TokenKind::{Keyword as Word, Name};
        assert_eq!(
            kinds(Kind::Filter, "And bEtween set"),
            [Word(Keyword::And), Word(Keyword::Between), Name]
        );
        assert_eq!(kinds(Kind::Update, "And seT"), [Name, Word(Keyword::Set)]);
        assert_eq!(kinds(Kind::Projection, "and set"), [Name, Name]);
        assert_eq!(kinds(Kind::Projection, "a\u{a0}b"), [Name, TokenKind::Bad, Name]);
        assert_eq!(
            kinds(Kind::Projection, "#1 :_ 10"),
            [
                TokenKind::NameReference,
                TokenKind::ValueReference,
                TokenKind::Integer
            ]
        );
    }
}
