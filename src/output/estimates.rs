//! `estimates`: one row per metric and key.

use super::column::Column;
use super::results::{Estimate, Results};
use super::table::{Rows, Table, fields};
use crate::theory::Kind;
use std::io;

pub(super) const TABLE: Table<Results> = Table { name: "estimates", fields: || fields(&columns()), rows };

fn columns() -> Vec<Column<Estimate>> {
    vec![
        Column::text("metric", |estimate| estimate.metric.name()),
        Column::text("key", |estimate| &estimate.key),
        Column::real_or_missing("estimate", |estimate| estimate.estimate),
        Column::real_or_missing("low", |estimate| estimate.low),
        Column::real_or_missing("high", |estimate| estimate.high),
        Column::real_or_missing("std_error", |estimate| estimate.std_error),
        Column::integer("replications", |estimate| estimate.replications),
        Column::real_or_missing("theory", |estimate| estimate.theory),
        Column::text_or_missing("theory_kind", |estimate| estimate.theory_kind.map(Kind::name)),
    ]
}

fn rows(results: &Results, rows: &mut Rows<'_>) -> io::Result<()> {
    let columns = columns();
    results.estimates.iter().try_for_each(|estimate| rows.add(&columns, estimate))
}
