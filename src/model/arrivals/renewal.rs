//! Renewal arrivals: independent times between them, with one law.

use super::Next;
use crate::model::law::Law;
use crate::random::Stream;

/// The law has mean 1: it is in units of the mean time between arrivals.
#[inline]
pub(super) fn next(now: f64, rate: f64, law: &Law, stream: &mut Stream) -> Next {
    Next::job(now + law.sample(stream) / rate)
}
