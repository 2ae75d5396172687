//! `Select`, and what of each item is answered.                                    behaviour/operations §select

use crate::{
    expression::{Condition, Projection},
    operation::{KeyFault, ParameterFault, keys},
};

use super::source::Source;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Select {
    All,
    Projected,
    Specific,
    Count,
}

impl Select {
    /// `None` where the member is absent; its enum is checked with the members.
    pub fn parse(text: Option<&str>) -> Option<Select> {
        match text? {
            "ALL_ATTRIBUTES" => Some(Select::All),
            "ALL_PROJECTED_ATTRIBUTES" => Some(Select::Projected),
            "SPECIFIC_ATTRIBUTES" => Some(Select::Specific),
            "COUNT" => Some(Select::Count),
            _ => None,
        }
    }

    /// As the texts name it.
    fn name(self) -> &'static str {
        match self {
            Select::All => "ALL_ATTRIBUTES",
            Select::Projected => "ALL_PROJECTED_ATTRIBUTES",
            Select::Specific => "SPECIFIC_ATTRIBUTES",
            Select::Count => "only the Count",
        }
    }
}

/// What the request alone says. `projection` is the parameter that names attributes, if one does.
pub fn check_request(
    select: Option<Select>,
    projection: Option<&'static str>,
    has_index: bool,
) -> Result<(), ParameterFault> {
    match (select, projection) {
        (Some(select), Some(parameter)) if select != Select::Specific => Err(ParameterFault::SelectWith {
            parameter,
            select: select.name(),
        }),
        (Some(Select::Specific), None) => Err(ParameterFault::SelectSpecific),
        (Some(Select::Projected), _) if !has_index => Err(ParameterFault::SelectProjectedWithoutIndex),
        _ => Ok(()),
    }
}

/// ALL_ATTRIBUTES on a global index that does not hold them.
pub fn check_all_attributes(select: Option<Select>, source: &Source<'_>) -> Result<(), ParameterFault> {
    match source.index {
        Some(index) if select == Some(Select::All) && source.is_global() && !source.projects_all() => {
            Err(ParameterFault::SelectAllOnIndex(index.name.clone()))
        }
        _ => Ok(()),
    }
}

/// Attributes that a global index does not hold cannot be asked of it.
pub fn check_projected(projection: Option<&Projection>, source: &Source<'_>) -> Result<(), ParameterFault> {
    let (Some(projection), Some(index)) = (projection, source.index.filter(|_| source.is_global())) else {
        return Ok(());
    };
    let mut attributes: Vec<String> = Vec::new();
    for path in &projection.paths {
        if !source.projects(path.root()) && !attributes.iter().any(|name| name == path.root()) {
            attributes.push(path.root().to_owned());
        }
    }
    if attributes.is_empty() {
        return Ok(());
    }
    Err(ParameterFault::NotProjected {
        index: index.name.clone(),
        attributes,
    })
}

/// Paths into keys, in the filter and then in the projection.
pub fn check_key_paths(
    filter: Option<&Condition>,
    projection: Option<&Projection>,
    source: &Source<'_>,
) -> Result<(), KeyFault> {
    let filter = filter.map(Condition::paths).unwrap_or_default();
    let projection = projection
        .map(|projection| projection.paths.iter().collect())
        .unwrap_or_default();
    for path in filter.into_iter().chain::<Vec<_>>(projection) {
        keys::check_key_path(source.table, path)?;
    }
    Ok(())
}

/// Whether entries of a local index do not suffice, so that their items are read too.
pub fn needs_items(
    select: Option<Select>,
    filter: Option<&Condition>,
    projection: Option<&Projection>,
    source: &Source<'_>,
) -> bool {
    if source.index.is_none() || source.is_global() || source.projects_all() {
        return false;
    }
    let unprojected = |root: &str| !source.projects(root);
    select == Some(Select::All)
        || projection.is_some_and(|projection| projection.paths.iter().any(|path| unprojected(path.root())))
        || filter.is_some_and(|filter| filter.paths().iter().any(|path| unprojected(path.root())))
}
