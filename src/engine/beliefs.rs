//! What the dispatchers believe about the queues, and the messages that change it; the same in every clock.

use super::EngineError;
use super::messages::Message;
use super::observer::{MessageKind, Observer};
use crate::model::{Law, System};
use crate::policy::information::{Channel, InFlight, OnIdle, Overtaking, Periodic, Pull, Rules};
use crate::policy::{Information, Need, Policy, Sampler, View};
use crate::random::{Component, Foreseen, Stream, Streams, split};
use std::hint::black_box;

/// Takes messages that need time to where they wait.
pub(super) trait Post {
    /// Whether exponential times need not be drawn, as what is left of them has the same law at any time.
    const IS_MEMORYLESS: bool = false;

    /// A message arrives after `delay`, which is above 0.
    fn post(&mut self, delay: f64, message: Message);
    /// A message arrives after an exponential time with this mean, which is not drawn yet; for those that are memoryless.
    fn post_memoryless(&mut self, _mean: f64, _message: Message) {
        unreachable!("a time that is not drawn goes to those that are memoryless");
    }
    /// A message that needed no time has overtaken those in flight from `server` to `dispatcher`.
    fn overtake(&mut self, server: u32, dispatcher: u32);
}

/// How long a message takes that is not lost.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// So long, which may be no time.
    Takes(f64),
    /// An exponential time with this mean, which nobody needs to know.
    Memoryless(f64),
}

/// The estimates of all dispatchers and the rules that refresh them.
pub(super) struct Beliefs {
    rules: Rules,
    count_own_jobs: bool,
    /// Messages per question to a server.
    per_probe: u64,
    /// One view per dispatcher; one for all with delayed information; none where the truth is looked at, or nothing.
    views: Vec<View>,
    servers: usize,
    dispatchers: u32,
    /// `jobs_sent[m * N + n]`: jobs that dispatcher m has sent to server n, modulo 2^32; only to replay them.
    jobs_sent: Vec<u32>,
    push_sampler: Option<Sampler>,
    /// Whether a message takes whole slots only.
    whole_slots: bool,
    /// The probability that a report is lost; pull and on_idle do not go together.
    report_loss: f64,
    information_stream: Stream,
    reports: Foreseen,
    delay_stream: Stream,
    loss_stream: Stream,
}

impl Beliefs {
    pub(super) fn new(system: &System, policy: &Policy, lengths: &[u32], streams: &Streams) -> Self {
        let servers = &system.servers;
        let dispatchers = system.dispatchers.len();
        let rules = policy.information.rules();
        let need = policy.dispatch.need(servers);
        let local = policy.information.is_local();
        // Without updates, estimates that no strategy looks at need not exist.
        let copies = match &policy.information {
            Information::Exact(_) => 0,
            Information::Delayed(_) if policy.information.is_exact() => 0,
            Information::Delayed(_) => 1,
            Information::None if need == Need::Nothing => 0,
            Information::None | Information::Rules(_) => dispatchers,
        };
        let views = vec![View::estimates(lengths, need, servers); copies as usize];
        let count_own_jobs = policy.count_own_jobs && local && copies > 0;
        let replay = count_own_jobs && rules.in_flight == InFlight::Replay && !policy.information.is_prompt();
        let channel = rules.pull.as_ref().map(Pull::channel).or(rules.on_idle.as_ref().map(OnIdle::channel));
        let report_loss = channel.map_or(0.0, |channel| channel.loss);
        Self {
            count_own_jobs,
            per_probe: policy.per_probe,
            jobs_sent: if replay { vec![0; dispatchers as usize * servers.numbered() as usize] } else { Vec::new() },
            push_sampler: rules.push.as_ref().map(|push| Sampler::new(push.d.get() as u32, servers.numbered())),
            rules,
            views,
            whole_slots: false,
            report_loss,
            servers: servers.numbered() as usize,
            dispatchers,
            information_stream: streams.take(Component::Information),
            reports: Foreseen::new(streams.take(Component::Reports)),
            delay_stream: streams.take(Component::Delays),
            loss_stream: streams.take(Component::Losses),
        }
    }

    /// From now on a message that takes x slots arrives at the end of the slot floor(x) after that of sending.
    pub(super) fn round_delays_down(&mut self) {
        self.whole_slots = true;
    }

    pub(super) fn keeps_overtaken(&self) -> bool {
        self.rules.overtaking == Overtaking::Keep
    }

    /// Whether a message may be dropped because a later-sent one has overtaken it.
    pub(super) fn can_be_overtaken(&self) -> bool {
        !self.keeps_overtaken() && !self.rules.keep_order()
    }

    pub(super) fn periodic(&self) -> Option<&Periodic> {
        self.rules.periodic.as_ref()
    }

    /// Whether completions can lead to reports.
    #[inline]
    pub(super) fn reports(&self) -> bool {
        self.rules.pull.is_some() || self.rules.on_idle.is_some()
    }

    /// Whether nobody keeps estimates and no message is ever sent.
    pub(super) fn is_idle(&self) -> bool {
        self.views.is_empty() && self.rules.is_silent()
    }

    pub(super) fn views(&self) -> &[View] {
        &self.views
    }

    /// What `dispatcher` looks at when the truth is `queues`.
    #[inline]
    pub(super) fn view<'a>(&'a self, dispatcher: u32, queues: &'a View) -> &'a View {
        match &self.views[..] {
            [] => queues,
            [shared] => shared,
            views => &views[dispatcher as usize],
        }
    }

    /// Whether nobody but the servers themselves needs the true lengths: dispatchers choose by estimates in which they count
    /// their own jobs, and ask no server.
    pub(super) fn hide_the_truth(&self) -> bool {
        self.count_own_jobs && self.push_sampler.is_none()
    }

    /// The time until the next periodic report.
    pub(super) fn draw_period(&mut self) -> f64 {
        match &self.rules.periodic {
            Some(periodic) => periodic.period.sample(&mut self.information_stream),
            None => f64::INFINITY,
        }
    }

    /// The time until the first periodic report of a server with a phase of its own.
    pub(super) fn draw_phase(&mut self) -> f64 {
        match &self.rules.periodic {
            Some(periodic) => periodic.period.mean() * self.information_stream.uniform(),
            None => f64::INFINITY,
        }
    }

    /// Whether dispatchers count their own jobs.
    pub(super) fn count_own_jobs(&self) -> bool {
        self.count_own_jobs
    }

    /// What `dispatcher` believes, which changes as it counts a job of its own; for those that count them.
    #[inline(always)]
    pub(super) fn own_view(&mut self, dispatcher: u32) -> &mut View {
        &mut self.views[dispatcher as usize]
    }

    /// A dispatcher has sent `jobs` to a server.
    #[inline(always)]
    pub(super) fn job_sent<O: Observer>(
        &mut self,
        now: f64,
        dispatcher: u32,
        server: u32,
        jobs: u32,
        observer: &mut O,
    ) -> Result<(), EngineError> {
        if self.count_own_jobs { self.count_own(now, dispatcher, server, jobs, observer) } else { Ok(()) }
    }

    #[inline(never)]
    fn count_own<O: Observer>(
        &mut self,
        now: f64,
        dispatcher: u32,
        server: u32,
        jobs: u32,
        observer: &mut O,
    ) -> Result<(), EngineError> {
        if !self.jobs_sent.is_empty() {
            let sent = self.pair(dispatcher, server);
            self.jobs_sent[sent] = self.jobs_sent[sent].wrapping_add(jobs);
        }
        let Some(old) = self.views[dispatcher as usize].add(server, jobs) else {
            return Err(EngineError::LengthOverflow { time: now, server });
        };
        observer.estimate_changed(now, dispatcher, server, old, old + jobs);
        Ok(())
    }

    /// A dispatcher that has just sent jobs may ask some servers.
    #[inline(always)]
    pub(super) fn ask<O: Observer>(
        &mut self,
        now: f64,
        dispatcher: u32,
        queues: &View,
        post: &mut impl Post,
        observer: &mut O,
    ) {
        if self.push_sampler.is_some() {
            self.push(now, dispatcher, queues, post, observer);
        }
    }

    #[inline]
    fn push<P: Post, O: Observer>(&mut self, now: f64, dispatcher: u32, queues: &View, post: &mut P, observer: &mut O) {
        let Some(push) = &self.rules.push else { return };
        let Some(mut sampler) = self.push_sampler.take() else { return };
        if push.happens(&mut self.information_stream) {
            let joint = push.joint;
            let sample = sampler.draw(&mut self.information_stream);
            observer.sent(MessageKind::Push, self.per_probe * sample.len() as u64);
            // What arrives together takes one time.
            let fate = joint.then(|| self.fate(MessageKind::Push, false));
            for &server in sample {
                let fate = fate.unwrap_or_else(|| self.fate(MessageKind::Push, P::IS_MEMORYLESS));
                self.send(now, dispatcher, server, queues.length(server), fate, post, observer);
            }
        }
        self.push_sampler = Some(sampler);
    }

    /// A server that has completed work and now holds `length` jobs may report to a dispatcher.
    #[inline]
    pub(super) fn report<P: Post, O: Observer>(
        &mut self,
        now: f64,
        server: u32,
        length: u32,
        post: &mut P,
        observer: &mut O,
    ) {
        let Some((kind, dispatcher)) = self.draw_report(length) else { return };
        observer.sent(kind, 1);
        let fate = self.fate(kind, P::IS_MEMORYLESS);
        self.send(now, dispatcher, server, length, fate, post, observer);
    }

    /// The same where nothing takes time and nobody looks on but to count messages.
    #[inline(always)]
    pub(super) fn report_at_once(&mut self, server: u32, length: u32, observer: &mut impl Observer) {
        let Some((kind, dispatcher)) = self.draw_report(length) else { return };
        observer.sent(kind, 1);
        if self.report_loss == 0.0 || !self.loss_stream.chance(self.report_loss) {
            self.views[dispatcher as usize].set(server, length);
        }
    }

    /// Whether a server that has completed work and now holds `length` jobs reports, and to whom.
    #[inline(always)]
    fn draw_report(&mut self, length: u32) -> Option<(MessageKind, u32)> {
        if let Some(pull) = &self.rules.pull {
            let drawn = pull.draw(length, self.dispatchers, self.reports.bits());
            return drawn.map(|dispatcher| (MessageKind::Pull, dispatcher));
        }
        (length == 0 && self.rules.on_idle.is_some())
            .then(|| (MessageKind::OnIdle, split(self.reports.bits(), self.dispatchers).0))
    }

    /// Has a look at what dispatchers believe about servers that are about to complete jobs and will then hold so many, so that
    /// it is near when they report. There may be up to so many of them.
    pub(super) fn look_ahead(&mut self, most: usize, completions: impl Iterator<Item = (u32, u32)>) {
        let Some(pull) = &self.rules.pull else { return };
        for (&bits, (server, length)) in self.reports.see(most).iter().zip(completions) {
            if let Some(dispatcher) = pull.draw(length, self.dispatchers, bits) {
                black_box(self.views[dispatcher as usize].length(server));
            }
        }
    }

    /// A server reports its length to every dispatcher.
    pub(super) fn report_to_all<P: Post, O: Observer>(
        &mut self,
        now: f64,
        server: u32,
        length: u32,
        post: &mut P,
        observer: &mut O,
    ) {
        observer.sent(MessageKind::Periodic, u64::from(self.dispatchers));
        for dispatcher in 0..self.dispatchers {
            let fate = self.fate(MessageKind::Periodic, P::IS_MEMORYLESS);
            self.send(now, dispatcher, server, length, fate, post, observer);
        }
    }

    /// A message has arrived.
    pub(super) fn deliver<O: Observer>(&mut self, now: f64, message: Message, observer: &mut O) {
        let Message { dispatcher, server, length, sent_at, jobs_before } = message;
        let mut told = length;
        if !self.jobs_sent.is_empty() {
            let sent_meanwhile = self.jobs_sent[self.pair(dispatcher, server)].wrapping_sub(jobs_before);
            told = length.saturating_add(sent_meanwhile);
        }
        observer.refreshed(now, dispatcher, server, sent_at);
        self.set(now, dispatcher, server, told, observer);
    }

    /// The picture that all dispatchers share has changed.
    pub(super) fn repaint<O: Observer>(&mut self, now: f64, server: u32, length: u32, observer: &mut O) {
        self.set(now, 0, server, length, observer);
    }

    /// How long a message takes; `None` if it is lost. Exponential times are not drawn where that is not needed.
    #[inline]
    fn fate(&mut self, kind: MessageKind, memoryless: bool) -> Option<Fate> {
        let Channel { delay, loss } = match kind {
            MessageKind::Push => self.rules.push.as_ref()?.channel(),
            MessageKind::Pull => self.rules.pull.as_ref()?.channel(),
            MessageKind::OnIdle => self.rules.on_idle.as_ref()?.channel(),
            MessageKind::Periodic => self.rules.periodic.as_ref()?.channel(),
            MessageKind::Exact => return None,
        };
        if loss > 0.0 && self.loss_stream.chance(loss) {
            return None;
        }
        if delay.is_zero() {
            return Some(Fate::Takes(0.0));
        }
        if let (Law::Exponential(law), true) = (delay, memoryless) {
            return Some(Fate::Memoryless(law.mean()));
        }
        let time = delay.sample(&mut self.delay_stream);
        Some(Fate::Takes(if self.whole_slots { time.floor() } else { time }))
    }

    /// Sends a message: lost, there at once, or on its way.
    #[expect(clippy::too_many_arguments, reason = "a message, its fate, and those who see it")]
    #[inline]
    fn send<O: Observer>(
        &mut self,
        now: f64,
        dispatcher: u32,
        server: u32,
        length: u32,
        fate: Option<Fate>,
        post: &mut impl Post,
        observer: &mut O,
    ) {
        let Some(fate) = fate else { return };
        let jobs_before = if self.jobs_sent.is_empty() { 0 } else { self.jobs_sent[self.pair(dispatcher, server)] };
        let message = Message { dispatcher, server, length, sent_at: now, jobs_before };
        match fate {
            Fate::Memoryless(mean) => post.post_memoryless(mean, message),
            Fate::Takes(delay) if delay > 0.0 => post.post(delay, message),
            Fate::Takes(_) => {
                post.overtake(server, dispatcher);
                self.deliver(now, message, observer);
            }
        }
    }

    #[inline]
    fn pair(&self, dispatcher: u32, server: u32) -> usize {
        dispatcher as usize * self.servers + server as usize
    }

    #[inline]
    fn set<O: Observer>(&mut self, now: f64, dispatcher: u32, server: u32, length: u32, observer: &mut O) {
        let old = self.views[dispatcher as usize].set(server, length);
        if old != length {
            observer.estimate_changed(now, dispatcher, server, old, length);
        }
    }
}
