//! Processors without instructions for many bytes, or with such that have not been measured.

pub(in super::super) use super::super::container::by_table as skip_container;
