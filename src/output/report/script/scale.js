// Scales: values to pixels, with ticks.

function step(width, count) {
  const raw = width / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = [1, 2, 5, 10].find((f) => f * power >= raw * 0.999) || 10;
  return factor * power;
}

function evenTicks(low, high, count, whole) {
  const width = Math.max(step(high - low, count), whole ? 1 : 0);
  const ticks = [];
  const first = Math.ceil(low / width - 1e-9);
  for (let i = 0; i < 50 && (first + i) * width <= high + width * 1e-9; i++) ticks.push((first + i) * width);
  const decimals = Math.min(Math.max(0, -Math.floor(Math.log10(width) + 1e-9)), 12);
  const large = Math.max(Math.abs(low), Math.abs(high)) >= 1e6 || width < 1e-5;
  const label = (x) => (large ? String(Number(x.toPrecision(4))) : x.toFixed(decimals)).replace(/^-(0(\.0*)?)$/, "$1");
  return ticks.map((value) => ({ value, label: label(value) }));
}

function logTicks(low, high, count) {
  const [first, last] = [Math.ceil(low - 1e-9), Math.floor(high + 1e-9)];
  const stride = Math.max(1, Math.ceil((last - first + 1) / Math.max(count, 2)));
  const ticks = [];
  for (let e = first; e <= last; e += stride) ticks.push({ value: 10 ** e, label: tenTo(e) });
  if (ticks.length > 2 || (ticks.length > 1 && count < 3)) return ticks;
  const finer = [];
  for (let e = Math.floor(low); e <= last; e++) {
    for (const factor of [1, 2, 5]) {
      const at = e + Math.log10(factor);
      if (at >= low - 1e-9 && at <= high + 1e-9) finer.push({ value: 10 ** at, label: show(10 ** at) });
    }
  }
  return finer.length > 2 ? finer.filter((_, i) => i % Math.ceil(finer.length / Math.max(count, 2)) === 0)
    : evenTicks(10 ** low, 10 ** high, count).filter((tick) => tick.value > 0);
}

function tenTo(e) {
  if (e >= -3 && e <= 4) return e < 0 ? (10 ** e).toFixed(-e) : String(10 ** e);
  return "1e" + e;
}

// Twice this still is a number.
const bounded = (value) => Math.max(-1e300, Math.min(1e300, value));

// A scale over values; null when none of them has a place on it. Evenly divided it starts at 0 where `zero` says always,
// or where it says near and 0 is not far.
function scale(values, log, start, end, count, zero) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!finite(value) || (log && value <= 0)) continue;
    const at = log ? Math.log10(value) : bounded(value);
    low = Math.min(low, at);
    high = Math.max(high, at);
  }
  if (low > high) return null;
  if (!log && (zero === "always" || (zero === "near" && low > 0 && low < 0.5 * high))) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  const floor = low;
  if (high - low <= 1e-9 * Math.max(Math.abs(low), Math.abs(high))) {
    const room = log ? 0.5 : Math.abs(low) * 0.1 || 1;
    [low, high] = [low - room, high + room];
  } else {
    const room = 0.03 * (high - low);
    [low, high] = [low - room, high + room];
    if (!log && floor === 0) low = 0;
  }
  const to = (value) => {
    const at = log ? (value > 0 ? Math.log10(value) : low) : bounded(value);
    // What is far beyond the ends is cut off there, so it need not be exact.
    return start + Math.max(-20, Math.min(20, (at - low) / (high - low))) * (end - start);
  };
  // Between whole values across, such as lengths of queues, there is nothing to mark.
  const whole = !zero && values.every((value) => Number.isInteger(value) || !finite(value));
  const ticks = log ? logTicks(low, high, count) : evenTicks(low, high, count, whole);
  const has = (value) => finite(value) && (!log || value > 0);
  return { to, has, ticks, base: log || low > 0 ? to(log ? 10 ** low : low) : to(high < 0 ? high : 0) };
}
