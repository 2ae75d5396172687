//! Tokens, and the text of a syntax error.
