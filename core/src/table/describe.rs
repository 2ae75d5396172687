//! A description as CreateTable, DescribeTable and DeleteTable answer it.          behaviour/tables §descriptions
