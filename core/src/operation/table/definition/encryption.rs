//! The KMS key that a table is said to be encrypted with. Encryption at rest is the database's and the disk's; what a request
//! asks for is kept and shown.                                                 behaviour/tables §encryption

use sha2::{Digest, Sha256};

use crate::{operation::table::create_table::uuid, request::Context};

/// The key that the service makes for an account.
const OF_THE_SERVICE: &str = "alias/aws/dynamodb";

/// The ARN of the key that is named: by its ARN, by its id, by an alias or, by nothing, the service's for the account. The key
/// of an alias has an id of its own, always the same.
pub fn key_arn(named: Option<&str>, context: &Context) -> String {
    let named = named.unwrap_or(OF_THE_SERVICE);
    let resource = match named.splitn(6, ':').nth(5) {
        Some(resource) if resource.starts_with("alias/") => resource,
        Some(_) => return named.to_owned(),
        None => named,
    };
    let id = match resource.starts_with("alias/") {
        false => resource.to_owned(),
        true => {
            let digest = Sha256::digest(format!("{} {resource}", context.account.0));
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&digest[..16]);
            uuid(bytes)
        }
    };
    format!("arn:aws:kms:{}:{}:key/{id}", context.region, context.account.0)
}
