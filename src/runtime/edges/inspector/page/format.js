/** Times and numbers as people read them. */

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hour12: false,
});
const day = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric' });
const whole = new Intl.NumberFormat();

/** 14:03:22.118 */
export function time(at) {
  return clock.format(at);
}

/** A moment in full, for tooltips and old jobs. */
export function moment(at) {
  return `${day.format(at)}, ${clock.format(at)}`;
}

/** How long something took: 340 ms, 2.4 s, 3 min 20 s, 5 h 12 min, 3 d. */
export function span(ms) {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d`;
}

/** How long ago, in one word. */
export function ago(at, now = Date.now()) {
  const ms = now - at;
  if (ms < 1_500) return 'now';
  if (ms < 60_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} d`;
}

/** 12,345 */
export function count(number) {
  return whole.format(number);
}
