//! What a memoryless engine that moves in equal steps can count by itself, for observers that want no more.
//!
//! Where only averages over time are asked for, an observer need not hear of every event: times are whole numbers of
//! strikes of the clock, and sums of them are exact.

/// Sums over the strikes of a window, of servers of one class.
#[derive(Clone, Debug)]
pub struct Tally {
    servers: u64,
    opened: f64,
    middle: f64,
    /// The first strike at or after the middle, until it has come.
    middle_strike: u64,
    /// Time between two strikes, and the last strike before the window; set when counting begins.
    tick: f64,
    first: u64,
    /// The last strike at which anything was counted.
    last: u64,
    levels: Vec<Level>,
    shortest: u32,
    /// Jobs inside at the opening, and more than that now.
    start: u64,
    more: i64,
    since: u64,
    more_area: i128,
    more_squares: i128,
    empty: u64,
    first_half: Option<f64>,
    /// Jobs that joined, by the number they found; and the sum of the strikes at which jobs joined less those at which
    /// they left.
    found: Vec<u64>,
    joined_less_left: i128,
    /// Jobs that were given to servers, those that were lost, those that left.
    dispatched: u64,
    blocked: u64,
    left: u64,
    regret: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Level {
    count: u64,
    since: u64,
    start: u64,
    area: u128,
    squares: u128,
}

impl Tally {
    /// For a window that opens at a time and has its middle at another, with `at_least[k - 1]` servers of at least k jobs.
    pub fn new(servers: u64, at_least: &[u64], opened: f64, middle: f64) -> Self {
        let level = |&count: &u64| Level { count, start: count, ..Level::default() };
        Self {
            servers,
            opened,
            middle,
            middle_strike: 0,
            tick: 0.0,
            first: 0,
            last: 0,
            levels: at_least.iter().map(level).collect(),
            shortest: at_least.iter().take_while(|&&count| count == servers).count() as u32,
            start: at_least.iter().sum(),
            more: 0,
            since: 0,
            more_area: 0,
            more_squares: 0,
            empty: 0,
            first_half: None,
            found: Vec::new(),
            joined_less_left: 0,
            dispatched: 0,
            blocked: 0,
            left: 0,
            regret: 0,
        }
    }

    /// Whether anything was counted.
    pub fn is_used(&self) -> bool {
        self.tick > 0.0
    }

    /// Counting goes on; the clock has struck `strikes` times so far.
    pub(super) fn go_on(&mut self, strikes: u64, tick: f64) {
        if !self.is_used() {
            (self.tick, self.first, self.last, self.since) = (tick, strikes, strikes, strikes);
            self.middle_strike = (self.middle / tick).ceil() as u64;
            self.levels.iter_mut().for_each(|level| level.since = strikes);
        }
    }

    /// The clock has struck so many times when counting pauses.
    pub(super) fn pause(&mut self, strikes: u64) {
        self.advance_jobs(strikes);
        self.last = strikes;
    }

    /// A job joins a server which holds `found`.
    #[inline]
    pub(super) fn join(&mut self, found: u32, strike: u64) {
        self.dispatched += 1;
        self.regret += u64::from(found - self.shortest);
        self.advance_jobs(strike);
        self.more += 1;
        self.joined_less_left += i128::from(strike);
        let index = found as usize;
        if index >= self.found.len() {
            self.found.resize(index + 1, 0);
        }
        self.found[index] += 1;
        if index >= self.levels.len() {
            self.levels.push(Level { since: strike, ..Level::default() });
        }
        let level = &mut self.levels[index];
        level.advance(strike);
        level.count += 1;
        if level.count == self.servers {
            self.shortest = found + 1;
        }
    }

    /// A job is lost at a full server which holds `found`.
    #[inline]
    pub(super) fn block(&mut self, found: u32) {
        self.dispatched += 1;
        self.blocked += 1;
        self.regret += u64::from(found - self.shortest);
    }

    /// A job leaves a server which holds `length`.
    #[inline]
    pub(super) fn leave(&mut self, length: u32, strike: u64) {
        self.advance_jobs(strike);
        self.more -= 1;
        self.left += 1;
        self.joined_less_left -= i128::from(strike);
        let level = &mut self.levels[length as usize - 1];
        level.advance(strike);
        level.count -= 1;
        self.shortest = self.shortest.min(length - 1);
    }

    #[inline]
    fn advance_jobs(&mut self, strike: u64) {
        if strike >= self.middle_strike {
            self.pass_middle();
        }
        let elapsed = strike - self.since;
        self.since = strike;
        if let Some(area) = self.more.checked_mul(elapsed as i64) {
            // Products of two words are what a machine can do in one step.
            self.more_area += i128::from(area);
            self.more_squares += i128::from(area) * i128::from(self.more);
        } else {
            let area = i128::from(self.more) * i128::from(elapsed);
            self.more_area += area;
            self.more_squares += area * i128::from(self.more);
        }
        if self.start as i64 + self.more == 0 {
            self.empty += elapsed;
        }
    }

    #[cold]
    fn pass_middle(&mut self) {
        let so_far = self.more_area as f64 * self.tick;
        self.first_half = Some(so_far + self.more as f64 * (self.middle - self.since as f64 * self.tick));
        self.middle_strike = u64::MAX;
    }

    /// An integral over the window that closes at a time, from its sum over strikes and its values at the ends.
    fn integral(&self, sum: f64, at_open: f64, at_close: f64, closed: f64) -> f64 {
        let before = self.opened - self.first as f64 * self.tick;
        let after = closed - self.last as f64 * self.tick;
        sum * self.tick - at_open * before + at_close * after
    }

    /// For k = 1, 2, ...: the number of servers with at least k jobs at the close, its integral and that of its square.
    pub fn levels(&self, closed: f64) -> impl Iterator<Item = (u64, f64, f64)> {
        self.levels.iter().map(move |level| {
            let mut level = *level;
            level.advance(self.last);
            let (start, count) = (level.start as f64, level.count as f64);
            let area = self.integral(level.area as f64, start, count, closed);
            (level.count, area, self.integral(level.squares as f64, start * start, count * count, closed))
        })
    }

    /// Integrals of the number of jobs inside, less that at the opening: of itself, of its square, of itself over the
    /// first half of the window; and the time without any job.
    pub fn jobs(&self, closed: f64) -> [f64; 4] {
        let more = self.more as f64;
        let area = self.integral(self.more_area as f64, 0.0, more, closed);
        let squares = self.integral(self.more_squares as f64, 0.0, more * more, closed);
        let none = |jobs: i64| f64::from(u8::from(jobs == 0));
        let start = self.start as i64;
        let empty = self.integral(self.empty as f64, none(start), none(start + self.more), closed);
        let half = self.first_half.unwrap_or_else(|| {
            // Nothing has happened since: the middle is passed without a strike.
            let so_far = self.more_area as f64 * self.tick;
            so_far + more * (self.middle - self.last as f64 * self.tick)
        });
        [area, squares, half, empty]
    }

    /// The time inside the window of all jobs, job by job.
    pub fn time_of_jobs(&self, closed: f64) -> f64 {
        let joined = self.start as f64 * self.opened + self.joined_less_left as f64 * self.tick;
        (self.start as i64 + self.more) as f64 * closed - joined
    }

    /// Jobs given to servers, lost, and completed; and the summed regret.
    pub fn counts(&self) -> [u64; 4] {
        [self.dispatched, self.blocked, self.left, self.regret]
    }

    /// Jobs that joined, by the number they found.
    pub fn found(&self) -> &[u64] {
        &self.found
    }
}

impl Level {
    #[inline]
    fn advance(&mut self, strike: u64) {
        let elapsed = strike - self.since;
        self.since = strike;
        if let Some(area) = self.count.checked_mul(elapsed) {
            self.area += u128::from(area);
            self.squares += u128::from(area) * u128::from(self.count);
        } else {
            let area = u128::from(self.count) * u128::from(elapsed);
            self.area += area;
            self.squares += area * u128::from(self.count);
        }
    }
}
