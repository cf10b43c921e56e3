//! Inputs made of nothing but a few parameters, the same on every machine.
//!
//! They have the proportions of real ones (how many versions, dependencies, files, and of which sizes), counted by hand in
//! documents and tarballs of a public registry, but none of their text.

mod packuments;
mod project;
mod tarballs;
mod words;

pub use packuments::{Form, Shape, UnknownName, packuments};
pub use project::project;
pub use tarballs::tarballs;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_the_same_every_time() {
        assert_eq!(tarballs(3), tarballs(3));
        assert_eq!(project(100), project(100));
        assert_eq!(packuments(Shape::React, Form::Full, 10), packuments(Shape::React, Form::Full, 10));
    }

    #[test]
    fn documents_have_the_proportions_of_the_real_ones() {
        for (shape, form, versions, least, most) in [
            (Shape::Typescript, Form::Abbreviated, 3_478, 5_000_000, 6_500_000),
            (Shape::Typescript, Form::Full, 3_478, 8_500_000, 14_000_000),
            (Shape::TypesNode, Form::Abbreviated, 2_346, 800_000, 1_600_000),
            (Shape::React, Form::Abbreviated, 2_963, 1_200_000, 2_500_000),
        ] {
            let size = packuments(shape, form, versions).size();
            assert!((least..=most).contains(&size), "{shape:?} {form:?}: {size}");
        }
    }
}
