//! The 573 reserved words.
