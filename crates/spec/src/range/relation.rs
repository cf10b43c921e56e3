//! `intersects` and `subset` of `semver`. Both reason about bounds, not about the versions that exist, and both have
//! answers of their own for prereleases; npm's answers rest on them, so they are followed and not improved.

use std::cmp::Ordering;

use super::{Comparator, Comparators, Operator, Prereleases, holds};
use crate::version::Version;

/// Whether some alternative of each, neither of them contradictory in itself, overlap.
pub(super) fn intersects(left: &[Comparators], right: &[Comparators], prereleases: Prereleases) -> bool {
    left.iter().filter(|comparators| is_satisfiable(comparators, prereleases)).any(|left| {
        right.iter().filter(|comparators| is_satisfiable(comparators, prereleases)).any(|right| {
            if right.is_empty() {
                // `*` overlaps everything, except that an exact version asks whether `*` holds it.
                return left
                    .iter()
                    .all(|left| left.operator != Operator::Equal || holds(right, &left.version, prereleases));
            }
            left.iter().all(|left| right.iter().all(|right| overlap(left, right, prereleases)))
        })
    })
}

/// Whether each two comparators overlap.
fn is_satisfiable(comparators: &[Comparator], prereleases: Prereleases) -> bool {
    // Later comparators ask the earlier ones, as in `semver`; the question is not symmetric for exact prereleases.
    comparators
        .iter()
        .enumerate()
        .all(|(index, later)| comparators[..index].iter().all(|earlier| overlap(later, earlier, prereleases)))
}

fn overlap(left: &Comparator, right: &Comparator, prereleases: Prereleases) -> bool {
    if left.operator == Operator::Equal {
        return holds(std::slice::from_ref(right), &left.version, prereleases);
    }
    if right.operator == Operator::Equal {
        return holds(std::slice::from_ref(left), &right.version, prereleases);
    }
    if is_below_everything(left, prereleases) || is_below_everything(right, prereleases) {
        return false;
    }
    if left.operator.is_lower_bound() == right.operator.is_lower_bound() {
        return true;
    }
    let inclusive =
        |comparator: &Comparator| matches!(comparator.operator, Operator::GreaterOrEqual | Operator::LessOrEqual);
    match left.version.precedence(&right.version) {
        Ordering::Equal => inclusive(left) && inclusive(right),
        Ordering::Less => left.operator.is_lower_bound(),
        Ordering::Greater => left.operator.is_upper_bound(),
    }
}

/// `<0.0.0-0`; with prereleases named only, `<0.0.0` with any prerelease.
fn is_below_everything(comparator: &Comparator, prereleases: Prereleases) -> bool {
    match prereleases {
        Prereleases::Included => comparator.is_nothing(),
        Prereleases::Named => {
            comparator.operator == Operator::Less && comparator.version.has_same_numbers(&Version::new([0; 3], None))
        }
    }
}

/// Whether each alternative on the left is within some alternative on the right. Contradictory alternatives (`>2 <1`)
/// are passed over, but only before the first one that is not.
pub(super) fn is_subset(left: &[Comparators], right: &[Comparators], prereleases: Prereleases) -> bool {
    if left == right {
        return true;
    }
    let mut saw_versions = false;
    for smaller in left {
        let within = right.iter().any(|larger| match is_simple_subset(smaller, larger, prereleases) {
            Some(within) => {
                saw_versions = true;
                within
            }
            None => false,
        });
        if !within && saw_versions {
            return false;
        }
    }
    true
}

/// The tightest bounds of a list of comparators.
struct Bounds<'a> {
    lower: Option<&'a Comparator>,
    upper: Option<&'a Comparator>,
    exact: Option<&'a Version>,
}

impl<'a> Bounds<'a> {
    /// `None` if two exact versions exclude each other.
    fn new(comparators: &'a [Comparator]) -> Option<Bounds<'a>> {
        let mut bounds = Bounds { lower: None, upper: None, exact: None };
        for comparator in comparators {
            match comparator.operator {
                Operator::Equal if bounds.exact.is_some() => return None,
                Operator::Equal => bounds.exact = Some(&comparator.version),
                Operator::Greater | Operator::GreaterOrEqual => {
                    bounds.lower = Some(bounds.lower.map_or(comparator, |lower| higher(lower, comparator)));
                }
                Operator::Less | Operator::LessOrEqual => {
                    bounds.upper = Some(bounds.upper.map_or(comparator, |upper| lower(upper, comparator)));
                }
            }
        }
        Some(bounds)
    }
}

/// `None` if the left holds nothing at all.
fn is_simple_subset(left: &[Comparator], right: &[Comparator], prereleases: Prereleases) -> Option<bool> {
    if left == right {
        return Some(true);
    }
    let everything = [Comparator {
        operator: Operator::GreaterOrEqual,
        version: Version::new([0; 3], (prereleases == Prereleases::Included).then_some("0")),
    }];
    let left = if left.is_empty() { &everything } else { left };
    let right = match (right.is_empty(), prereleases) {
        (true, Prereleases::Included) => return Some(true),
        (true, Prereleases::Named) => &everything,
        (false, _) => right,
    };
    let bounds = Bounds::new(left)?;
    let between = match (bounds.lower, bounds.upper) {
        (Some(lower), Some(upper)) => Some(lower.version.precedence(&upper.version)),
        _ => None,
    };
    if let (Some(order), Some(lower), Some(upper)) = (between, bounds.lower, bounds.upper) {
        let closed = lower.operator == Operator::GreaterOrEqual && upper.operator == Operator::LessOrEqual;
        if order.is_gt() || (order.is_eq() && !closed) {
            return None;
        }
    }
    if let Some(exact) = bounds.exact {
        let inside = |comparator: &Comparator| holds(std::slice::from_ref(comparator), exact, prereleases);
        if !bounds.lower.is_none_or(inside) || !bounds.upper.is_none_or(inside) {
            return None;
        }
        return Some(right.iter().all(inside));
    }
    Some(bounds_are_within(&bounds, between, right, prereleases))
}

fn bounds_are_within(
    bounds: &Bounds<'_>,
    between: Option<Ordering>,
    right: &[Comparator],
    prereleases: Prereleases,
) -> bool {
    let is_point = between == Some(Ordering::Equal);
    let names = |bound: &Comparator| {
        right.iter().any(|other| other.version.is_prerelease() && other.version.has_same_numbers(&bound.version))
    };
    for other in right {
        if let Some(bound) = bounds.lower {
            let outside = if other.operator.is_lower_bound() {
                !std::ptr::eq(higher(bound, other), bound)
            } else {
                bound.operator == Operator::GreaterOrEqual && !other.accepts(&bound.version)
            };
            if outside {
                return false;
            }
        }
        if let Some(bound) = bounds.upper {
            let outside = if other.operator.is_upper_bound() {
                !std::ptr::eq(lower(bound, other), bound)
            } else {
                bound.operator == Operator::LessOrEqual && !other.accepts(&bound.version)
            };
            if outside {
                return false;
            }
        }
        if other.operator == Operator::Equal && !is_point {
            return false;
        }
    }
    // A bound on one side only cannot be within a bound on the other side.
    let has_lower = right.iter().any(|other| other.operator.is_lower_bound());
    let has_upper = right.iter().any(|other| other.operator.is_upper_bound());
    if bounds.lower.is_some() && has_upper && bounds.upper.is_none() {
        return false;
    }
    if bounds.upper.is_some() && has_lower && bounds.lower.is_none() {
        return false;
    }
    // A bound with a prerelease admits prereleases of its three numbers, so the right must name one of them too.
    // `<1.2.3-0` admits none.
    let needs_name = |bound: &Comparator| {
        prereleases == Prereleases::Named
            && bound.version.is_prerelease()
            && !(bound.operator == Operator::Less && bound.version.has_lowest_prerelease())
    };
    [bounds.lower, bounds.upper].into_iter().flatten().all(|bound| !needs_name(bound) || names(bound))
}

/// The stricter of two lower bounds; the first if they are equal.
fn higher<'a>(first: &'a Comparator, second: &'a Comparator) -> &'a Comparator {
    match first.version.precedence(&second.version) {
        Ordering::Greater => first,
        Ordering::Less => second,
        Ordering::Equal if second.operator == Operator::Greater && first.operator == Operator::GreaterOrEqual => second,
        Ordering::Equal => first,
    }
}

/// The stricter of two upper bounds; the first if they are equal.
fn lower<'a>(first: &'a Comparator, second: &'a Comparator) -> &'a Comparator {
    match first.version.precedence(&second.version) {
        Ordering::Less => first,
        Ordering::Greater => second,
        Ordering::Equal if second.operator == Operator::Less && first.operator == Operator::LessOrEqual => second,
        Ordering::Equal => first,
    }
}
