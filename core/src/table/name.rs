//! Names of tables, bare or as ARNs.                                                 behaviour/tables §names

use crate::{
    error::Error,
    wire::MemberFault,
};

use super::{AccountId, TableFault, TableName};

/// Why a `TableName` names no table that the caller could have.
#[derive(Clone, Debug, PartialEq)]
pub enum NameFault {
    /// The ARN is not one of a table of this region.
    Arn(MemberFault),
    /// The ARN is one of a table of another account: as if there were none.
    OtherAccount(String),
}

impl TableName {
    /// The table that a `TableName` member names: a bare name, or an ARN. A bare name's form is the caller's to
    /// check, since the operations word it differently.
    pub fn resolve(value: &str, account: &AccountId, region: &str) -> Result<TableName, NameFault> {
        let name = match is_arn(value) {
            true => from_arn(value, account, region)?,
            false => value,
        };
        Ok(TableName { account: account.clone(), name: name.into() })
    }
}

impl From<NameFault> for Error {
    /// As item operations answer it.
    fn from(fault: NameFault) -> Error {
        match fault {
            NameFault::Arn(fault) => fault.into(),
            NameFault::OtherAccount(_) => TableFault::NotFound.into(),
        }
    }
}

/// Whether a `TableName` is read as an ARN.
pub fn is_arn(value: &str) -> bool {
    value.starts_with("arn:")
}

fn from_arn<'a>(arn: &'a str, account: &AccountId, region: &str) -> Result<&'a str, NameFault> {
    let refuse = |detail: &str| {
        Err(NameFault::Arn(MemberFault {
            faults: vec![format!("Value '{arn}' at 'tableName' failed to satisfy constraint: {detail}")],
        }))
    };
    let parts: Vec<&str> = arn.splitn(6, ':').collect();
    let [_, partition, "dynamodb", in_region, of_account, resource] = parts[..] else {
        return refuse(FORMAT);
    };
    let Some((kind, name)) = resource.split_once('/') else {
        return refuse(FORMAT);
    };
    if partition != "aws" {
        return refuse(&format!("Invalid AWS partition in '{arn}'"));
    }
    if in_region != region {
        return refuse(&format!("Invalid AWS region in '{arn}'"));
    }
    if kind != "table" {
        return refuse("Invalid resource type");
    }
    if !name.chars().all(is_name_character) || name.len() > 255 {
        return refuse(FORMAT);
    }
    if name.len() < 3 {
        return refuse("Table name of ARN must have length greater than or equal to 3");
    }
    if of_account != account.0 {
        return Err(NameFault::OtherAccount(name.into()));
    }
    Ok(name)
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

const FORMAT: &str = "Valid ARN format is \
    'arn:<awsPartition>:<vendor>:<region>:<subscriber>:resourceType/resourceName', \
    where Resource name must have length less than or equal to 255, \
    Resource name must have length greater than or equal to 3, \
    Resource name must satisfy regular expression pattern: [a-zA-Z0-9_.-]+";

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(value: &str) -> Result<String, String> {
        match TableName::resolve(value, &AccountId::default(), "us-east-1") {
            Ok(name) => Ok(name.name),
            Err(NameFault::Arn(fault)) => Err(fault.faults.concat()),
            Err(NameFault::OtherAccount(name)) => Err(format!("other account: {name}")),
        }
    }

    fn refused(arn: &str, detail: &str) {
        let text = format!("Value '{arn}' at 'tableName' failed to satisfy constraint: {detail}");
        assert_eq!(resolve(arn), Err(text));
    }

    #[test]
    fn a_bare_name_and_an_arn_name_the_same_table() {
        assert_eq!(resolve("Music").unwrap(), "Music");
        assert_eq!(resolve("arn:aws:dynamodb:us-east-1:000000000000:table/Music").unwrap(), "Music");
    }

    #[test]
    fn arns_that_name_no_table_here() {
        refused("arn:aws:dynamodb:us-east-1:000000000000:backup/Music", "Invalid resource type");
        refused(
            "arn:aws:dynamodb:us-east-1:000000000000:table/ab",
            "Table name of ARN must have length greater than or equal to 3",
        );
        let format = "Valid ARN format is 'arn:<awsPartition>:<vendor>:<region>:<subscriber>:resourceType/resourceName', where Resource name must have length less than or equal to 255, Resource name must have length greater than or equal to 3, Resource name must satisfy regular expression pattern: [a-zA-Z0-9_.-]+";
        refused("arn:aws:dynamodb", format);
        refused("arn:aws:dynamodb:us-east-1:000000000000:table/Music/index/gsi", format);
        refused("arn:aws:dynamodb:us-east-1:000000000000:table/Mu$ic", format);
        refused(&format!("arn:aws:dynamodb:us-east-1:000000000000:table/{}", "a".repeat(256)), format);
        let elsewhere = "arn:aws:dynamodb:eu-west-2:000000000000:table/Music";
        refused(elsewhere, &format!("Invalid AWS region in '{elsewhere}'"));
        let partition = "arn:aws-cn:dynamodb:us-east-1:000000000000:table/Music";
        refused(partition, &format!("Invalid AWS partition in '{partition}'"));
        assert_eq!(
            resolve("arn:aws:dynamodb:us-east-1:123456789012:table/Music"),
            Err("other account: Music".into())
        );
    }
}
