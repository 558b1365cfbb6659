//! The `herdsim` command.

fn main() {}
