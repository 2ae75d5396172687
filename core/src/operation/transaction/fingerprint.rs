//! What a request is, whatever way it was written: equal fingerprints are the same request.
//!                                                                         behaviour/transactions §fingerprint

use sha2::{Digest, Sha256};

use crate::{
    expression::Placeholders,
    item::{Attributes, Item},
};

/// Hashes the parts of a request one after the other. Maps are sorted, sets and numbers canonical; each part has its
/// length before it, so that no two lists of parts meet.
pub struct Fingerprint(Sha256);

impl Fingerprint {
    pub fn new() -> Fingerprint {
        Fingerprint(Sha256::new())
    }

    pub fn bytes(&mut self, part: &[u8]) {
        self.0.update((part.len() as u64).to_be_bytes());
        self.0.update(part);
    }

    /// A member of the request that may be absent. One that is there and says what its absence says is told as absent.
    pub fn text(&mut self, part: Option<&str>) {
        self.0.update([u8::from(part.is_some())]);
        self.bytes(part.unwrap_or_default().as_bytes());
    }

    pub fn attributes(&mut self, part: &Attributes) {
        self.bytes(Item::encode(part).as_bytes());
    }

    pub fn placeholders(&mut self, placeholders: &Placeholders) {
        self.bytes(&(placeholders.names.len() as u64).to_be_bytes());
        for (placeholder, name) in &placeholders.names {
            self.bytes(placeholder.as_bytes());
            self.bytes(name.as_bytes());
        }
        self.attributes(&placeholders.values);
    }

    pub fn finish(self) -> Vec<u8> {
        self.0.finalize().to_vec()
    }
}
