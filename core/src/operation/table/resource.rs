//! `ResourceArn`: the table that an ARN names, where requests name it so.                  behaviour/tables §tags

use crate::{
    operation::{Context, Operation},
    table::{ResourceFault, TableName},
    wire::Fields,
};

/// An ARN of this service's.
#[derive(Clone, Debug)]
pub struct ResourceArn {
    text: String,
}

/// What an ARN of this account and region names.
#[derive(Clone, Debug)]
pub struct Resource {
    pub arn: String,
    pub table: TableName,
    /// The label, where it is an ARN of a stream.
    pub stream: Option<String>,
}

/// What is at fault with an ARN of somewhere else: the operations have two ways to say it.
#[derive(Clone, Copy, Debug)]
pub enum Speaker {
    Tags(Operation),
    Policies,
}

impl ResourceArn {
    /// What is looked at before the other members.
    pub fn read(fields: &Fields) -> Result<ResourceArn, ResourceFault> {
        let text = fields
            .string("ResourceArn")
            .ok_or(ResourceFault::NoArn)?
            .to_owned();
        if !text.starts_with("arn:") {
            return Err(ResourceFault::Scheme(text));
        }
        if text.split(':').nth(2) != Some("dynamodb") {
            return Err(ResourceFault::OtherService(text));
        }
        Ok(ResourceArn { text })
    }

    /// What is looked at after them.
    pub fn resolve(&self, context: &Context, speaker: Speaker) -> Result<Resource, ResourceFault> {
        let arn = || self.text.clone();
        let elsewhere = || match speaker {
            Speaker::Tags(_) => ResourceFault::Elsewhere(arn()),
            Speaker::Policies => ResourceFault::PolicyElsewhere(arn()),
        };
        let parts: Vec<&str> = self.text.splitn(6, ':').collect();
        let &[_, partition, _, region, account, resource] = parts.as_slice() else {
            return Err(elsewhere());
        };
        let path: Vec<&str> = resource.split('/').collect();
        let (name, stream) = match path.as_slice() {
            ["table", name] => (*name, None),
            ["table", name, "stream", label] => (*name, Some((*label).to_owned())),
            _ => return Err(ResourceFault::Kind(arn())),
        };
        let is_name = (3..=255).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
        if !is_name || region != context.region || !partition.starts_with("aws") {
            return Err(elsewhere());
        }
        if account != context.account.0 {
            return Err(match speaker {
                Speaker::Policies => ResourceFault::PolicyForeignAccount,
                Speaker::Tags(operation) => ResourceFault::ForeignAccount {
                    caller: format!("arn:{partition}:iam::{}:root", context.account.0),
                    operation: operation.name(),
                    arn: arn(),
                },
            });
        }
        Ok(Resource {
            arn: arn(),
            table: TableName {
                account: context.account.clone(),
                name: name.to_owned(),
            },
            stream,
        })
    }
}
