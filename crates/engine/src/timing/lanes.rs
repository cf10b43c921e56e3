//! Rows for what overlaps.

/// The row of each span, given sorted by its beginning: the first that is free by then.
pub(super) fn lanes(spans: impl Iterator<Item = (f64, f64)>) -> Vec<usize> {
    let mut free_from: Vec<f64> = Vec::new();
    spans
        .map(|(began, ended)| {
            let row = free_from.iter().position(|end| *end <= began).unwrap_or_else(|| {
                free_from.push(0.0);
                free_from.len() - 1
            });
            free_from[row] = ended;
            row
        })
        .collect()
}
