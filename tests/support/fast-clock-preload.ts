// Loaded before the server (`bun --preload`): since `FAST_SINCE`, its time passes `TIMES_FASTER`, also over a restart.
import { systemClock } from "../../src/clock.ts";

const times = Number(process.env.TIMES_FASTER);
const since = Number(process.env.FAST_SINCE);
const { now, elapsed, sleep } = systemClock;
Object.assign(systemClock, {
  now: () => since + (now() - since) * times,
  elapsed: () => elapsed() * times,
  sleep: (ms: number, signal?: AbortSignal) => sleep(ms / times, signal),
});
