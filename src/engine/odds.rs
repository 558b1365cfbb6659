//! What the clock offers next: an arrival, or a service at some server, in proportion to the rates.

use crate::model::Servers;
use crate::random::Stream;

/// What happens when the clock strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offer {
    /// A job arrives.
    Arrival,
    /// A server completes a job, if it holds one.
    Service {
        /// The class of the server.
        class: u32,
        /// The server, numbered over all classes.
        server: u64,
    },
}

/// Stands for an arrival among servers that are numbered, which have smaller numbers.
pub(super) const ARRIVAL: u32 = u32::MAX;

/// The rates as whole numbers that sum to at most 2^63, so that one random number decides.
///
/// Rounding moves a rate by less than 2^-61 of the rate of everything together, far below what floating-point
/// numbers drawn on [0, 1) could tell apart.
#[derive(Clone, Debug)]
pub(super) struct Odds {
    /// The weight of all services, which come first, and of all offers.
    services: u64,
    total: u64,
    servers: Weights,
}

/// Odds of servers that all have the weight 2^shift.
#[derive(Clone, Copy, Debug)]
pub(super) struct Equal {
    services: u64,
    total: u64,
    shift: u32,
}

impl Equal {
    /// Draws the server that is offered a service; none if it is an arrival.
    #[inline(always)]
    pub(super) fn draw(self, stream: &mut Stream) -> Option<u64> {
        let (server, is_service) = self.draw_either(stream);
        is_service.then_some(server)
    }

    /// Whether it is a service, and if so of which server, without a branch.
    #[inline(always)]
    pub(super) fn draw_either(self, stream: &mut Stream) -> (u64, bool) {
        let drawn = ((u128::from(stream.bits()) * u128::from(self.total)) >> 64) as u64;
        (drawn >> self.shift, drawn < self.services)
    }
}

#[derive(Clone, Debug)]
enum Weights {
    /// Each server has the weight 2^shift.
    Equal { shift: u32 },
    /// The weight of each class, its first server and its size.
    Classes(Vec<(u64, u64, u64)>),
}

/// Fewer bits than this per server would round the rate of arrivals too coarsely.
const LEAST_SHIFT: i32 = 20;

impl Odds {
    pub(super) fn new(servers: &Servers, arrival_rate: f64) -> Self {
        let rate = servers.classes()[0].rate;
        let shift = 62 - (servers.len() as f64 + arrival_rate / rate).log2().ceil() as i32;
        if servers.classes().len() == 1 && shift >= LEAST_SHIFT {
            let shift = shift as u32;
            let services = servers.len() << shift;
            let arrivals = (arrival_rate / rate * (1_u64 << shift) as f64).round() as u64;
            return Self { services, total: services + arrivals, servers: Weights::Equal { shift } };
        }
        let scale = (1_u64 << 62) as f64 / (servers.total_rate() + arrival_rate);
        let mut first = 0;
        let classes = servers.classes().iter().map(|class| {
            let weight = (class.count as f64 * class.rate * scale).round() as u64;
            let members = first;
            first += class.count;
            (weight, members, class.count)
        });
        let classes: Vec<_> = classes.collect();
        let services = classes.iter().map(|(weight, ..)| weight).sum();
        let total = services + (arrival_rate * scale).round() as u64;
        Self { services, total, servers: Weights::Classes(classes) }
    }

    /// The odds, if all servers have the same weight.
    pub(super) fn equal(&self) -> Option<Equal> {
        match self.servers {
            Weights::Equal { shift } => Some(Equal { services: self.services, total: self.total, shift }),
            Weights::Classes(_) => None,
        }
    }

    /// Draws the next offers: the server that is offered a service, or [`ARRIVAL`].
    #[inline]
    pub(super) fn draw_servers(&self, stream: &mut Stream, offers: &mut [u32]) {
        match self.equal() {
            Some(equal) => offers.iter_mut().for_each(|offer| {
                let (server, is_service) = equal.draw_either(stream);
                *offer = if is_service { server as u32 } else { ARRIVAL };
            }),
            None => offers.iter_mut().for_each(|offer| {
                *offer = match self.draw(stream) {
                    Offer::Service { server, .. } => server as u32,
                    Offer::Arrival => ARRIVAL,
                };
            }),
        }
    }

    /// Draws an offer.
    #[inline(always)]
    pub(super) fn draw(&self, stream: &mut Stream) -> Offer {
        let mut drawn = ((u128::from(stream.bits()) * u128::from(self.total)) >> 64) as u64;
        if drawn >= self.services {
            return Offer::Arrival;
        }
        match &self.servers {
            Weights::Equal { shift } => Offer::Service { class: 0, server: drawn >> shift },
            Weights::Classes(classes) => {
                for (class, &(weight, first, count)) in (0_u32..).zip(classes) {
                    if drawn < weight {
                        return Offer::Service { class, server: first + stream.below(count) };
                    }
                    drawn -= weight;
                }
                unreachable!("the weights of the classes sum to that of all services")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ServerClass;
    use crate::random::Component;

    #[test]
    fn many_offers_are_those_drawn_one_by_one() {
        for (classes, arrival_rate) in [(&[(5, 1.0)][..], 4.0), (&[(2, 1.0)], 1e30), (&[(3, 2.0), (4, 0.5)], 5.0)] {
            let class = |&(count, rate): &(u64, f64)| ServerClass { name: rate.to_string(), count, rate };
            let servers = Servers::new(classes.iter().map(class).collect()).expect("servers");
            let odds = Odds::new(&servers, arrival_rate);
            let (mut one, mut many) = (Stream::new(1, 0, Component::Sizes), Stream::new(1, 0, Component::Sizes));
            let mut offers = [0; 1000];
            odds.draw_servers(&mut many, &mut offers);
            let expected = std::array::from_fn(|_| match odds.draw(&mut one) {
                Offer::Service { server, .. } => server as u32,
                Offer::Arrival => ARRIVAL,
            });
            assert_eq!(offers, expected);
            assert!(offers.contains(&ARRIVAL) && (arrival_rate > 10.0 || offers.iter().any(|&offer| offer != ARRIVAL)));
        }
    }

    /// Chi-square of the offers against the rates, with at most 5 degrees of freedom: 30 is exceeded with probability
    /// below 2e-5.
    #[test]
    fn offers_come_in_proportion_to_the_rates() {
        let class = |name: &str, count, rate| ServerClass { name: name.to_owned(), count, rate };
        for (classes, arrival_rate) in [
            (vec![class("a", 5, 1.0)], 3.7),
            (vec![class("a", 3, 2.5)], 0.01),
            (vec![class("a", 2, 1.0), class("b", 3, 0.25)], 1.0),
            (vec![class("a", 2, 1.0)], 1e30),
            (vec![class("a", 4, 1.0)], 0.0),
        ] {
            let servers = Servers::new(classes).expect("servers");
            let odds = Odds::new(&servers, arrival_rate);
            let mut stream = Stream::new(3, 0, Component::Sizes);
            let n = servers.len();
            let mut counts = vec![0_u32; n as usize + 1];
            let draws = 500_000;
            for _ in 0..draws {
                match odds.draw(&mut stream) {
                    Offer::Service { server, .. } => counts[server as usize] += 1,
                    Offer::Arrival => counts[n as usize] += 1,
                }
            }
            let total = servers.total_rate() + arrival_rate;
            let rates = (0..servers.numbered()).map(|server| servers.rate(server)).chain([arrival_rate]);
            let chi_square: f64 = counts
                .iter()
                .zip(rates)
                .map(|(&count, rate)| {
                    let expected = rate / total * f64::from(draws);
                    if expected > 1e-20 { (f64::from(count) - expected).powi(2) / expected } else { f64::from(count) }
                })
                .sum();
            assert!(chi_square < 30.0, "{arrival_rate}: {chi_square} {counts:?}");
        }
    }
}
