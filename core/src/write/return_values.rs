//! `ReturnValues` of the single-item writes.                                behaviour/operations §return-values

/// Which attributes a write answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnValues {
    #[default]
    None,
    AllOld,
    UpdatedOld,
    AllNew,
    UpdatedNew,
}

impl ReturnValues {
    /// `None` for a value outside the enum.
    pub fn parse(text: Option<&str>) -> Option<Self> {
        Some(match text {
            None | Some("NONE") => Self::None,
            Some("ALL_OLD") => Self::AllOld,
            Some("UPDATED_OLD") => Self::UpdatedOld,
            Some("ALL_NEW") => Self::AllNew,
            Some("UPDATED_NEW") => Self::UpdatedNew,
            Some(_) => return None,
        })
    }
}
