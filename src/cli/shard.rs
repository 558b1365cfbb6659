//! Which share of the cells a run is to do.

use crate::experiment::Shard;
use std::env;
use std::str::FromStr;

/// Where a job array tells the number of a task, and where it starts to count.
const INDICES: &[(&str, Option<&str>)] = &[
    ("SLURM_ARRAY_TASK_ID", Some("SLURM_ARRAY_TASK_MIN")),
    ("JOB_COMPLETION_INDEX", None),
    ("AWS_BATCH_JOB_ARRAY_INDEX", None),
];

/// Where GNU parallel tells it; it counts from 1.
const FROM_ONE: &str = "PARALLEL_SEQ";

/// Where a job array tells how many tasks there are.
const COUNT: &str = "SLURM_ARRAY_TASK_COUNT";

/// `2/5`, `auto/5` or `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShardArgument {
    /// From 1; from the job array if it is not given.
    number: Option<u64>,
    of: Option<u64>,
}

impl FromStr for ShardArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "must be i/n with 1 <= i <= n, such as 2/5, or auto, or auto/n".to_owned();
        let (number, of) = text.split_once('/').map_or((text, None), |(number, of)| (number, Some(of)));
        let of = of.map(|of| of.parse::<u64>().ok().filter(|&of| of >= 1).ok_or_else(wrong)).transpose()?;
        if number == "auto" {
            return Ok(Self { number: None, of });
        }
        let number = number.parse::<u64>().ok().filter(|&number| number >= 1 && of.is_some_and(|of| number <= of));
        Ok(Self { number: Some(number.ok_or_else(wrong)?), of })
    }
}

impl ShardArgument {
    /// The share, with what the job array tells.
    pub(super) fn shard(self) -> Result<Shard, String> {
        let told = |name: &str| env::var(name).ok().and_then(|text| text.trim().parse::<u64>().ok());
        let of = self.of.or_else(|| told(COUNT)).ok_or_else(|| {
            format!(
                "--shard auto: {COUNT} is not set; in a job array that does not tell it, write --shard auto/n, else i/n"
            )
        })?;
        if let Some(number) = self.number {
            return Ok(Shard { index: number - 1, of });
        }
        let of_array = INDICES.iter().find_map(|(name, start)| {
            let first = start.and_then(told).unwrap_or(0);
            told(name).and_then(|index| index.checked_sub(first))
        });
        let index = of_array.or_else(|| told(FROM_ONE).and_then(|number| number.checked_sub(1))).ok_or_else(|| {
            let names: Vec<_> = INDICES.iter().map(|(name, _)| *name).chain([FROM_ONE]).collect();
            format!("--shard auto: none of {} is set to a number; write --shard i/n", names.join(", "))
        })?;
        if index >= of {
            return Err(format!("--shard auto: the job array says task {}, but there are {of} shares", index + 1));
        }
        Ok(Shard { index, of })
    }
}
