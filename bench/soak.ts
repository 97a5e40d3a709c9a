// What a day leaves behind in the process that lived through it: memory and file descriptors, with many sources in a few minutes.
import { countOption, megabytes, printFigures } from "./figures.ts";
import { soakDay } from "./soak/day.ts";

/** From here on everything was used once; what grows after it would go on growing. */
const settledHour = 6;

const sources = countOption("sources", 100, 1_000);
const { samples, requests, deliveries, failures, unhandled } = await soakDay(sources);
const settled = samples.filter(({ hour }) => hour >= settledHour);
const [first, last] = [settled[0], settled.at(-1)];
if (first === undefined || last === undefined) throw new Error("The day was too short");
const growth = last.rss_bytes / first.rss_bytes - 1;
const descriptors = settled.map(({ file_descriptors }) => file_descriptors);
const [fewest, most] = [Math.min(...descriptors), Math.max(...descriptors)];
printFigures(`A day with ${sources} sources, each checked every hour`, [
  { what: "requests, deliveries", measured: `${requests}, ${deliveries}` },
  { what: "looks at sources whose upstream had failed", measured: String(failures) },
  { what: `resident memory after hour ${first.hour}`, measured: megabytes(first.rss_bytes) },
  { what: `resident memory after hour ${last.hour}`, measured: megabytes(last.rss_bytes) },
  { what: "growth of it", measured: `${(growth * 100).toFixed(1)} %`, goal: "20 %", met: growth < 0.2 },
  { what: "heap after these hours", measured: `${megabytes(first.heap_bytes)}, ${megabytes(last.heap_bytes)}` },
  {
    what: "open file descriptors",
    measured: `${fewest} to ${most}`,
    goal: "constant",
    met: last.file_descriptors <= first.file_descriptors,
  },
  { what: "unhandled rejections", measured: String(unhandled), goal: "0", met: unhandled === 0 },
]);
process.exit(0);
