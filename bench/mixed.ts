// What a thousand unchanged trackers of mixed kinds cost, beside a bare `fetch` loop that sends the same requests. See README.md.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateFernetKey } from "../src/secrets/fernet.ts";
import { type Child, type Cost, startChild } from "./child.ts";
import { countOption, type Figure, kilobytes, median, megabytes, ms, printFigures, ratio } from "./figures.ts";
import {
  type Addresses,
  countOf,
  type MixedKind,
  mixedKinds,
  type Recorded,
  requestsAllowed,
  rotation,
} from "./mixed/plan.ts";

interface Round extends Cost {
  sources: number;
  requests: number;
  bytes: number;
  failed: number;
  waiting: number;
  error: string | null;
  peak_bytes: number;
  resident_bytes: number;
}

interface Upstreams {
  addresses: Addresses;
  recorded: Recorded[];
  traffic: Partial<Record<MixedKind, { requests: number; unchanged: number; bytes: number }>>;
}

const goals = { peak_bytes: 150e6, stall_ms: 50 };

async function check(product: Child, kind: MixedKind | null = null): Promise<Round> {
  const round = await product.ask<Round>({ act: "round", kind });
  if (round.failed + round.waiting > 0) throw new Error(`Not every check succeeded: ${JSON.stringify(round)}`);
  return round;
}

interface Parts {
  upstreams: Child;
  product: Child;
  bare: Child;
}

/** A round of one kind alone, with the requests that came meanwhile. */
interface KindRounds {
  kind: MixedKind;
  rounds: Round[];
  bare: Cost[];
  seen: { requests: number; unchanged: number; bytes: number };
}

/** `rotation - 1` rounds of each kind: the one that asks an older tag again is left out. */
async function measureKinds({ upstreams, product, bare }: Parts): Promise<KindRounds[]> {
  const measured: KindRounds[] = [];
  await product.ask({ act: "align" });
  for (const kind of mixedKinds) {
    const rounds: Round[] = [];
    const beside: Cost[] = [];
    let seen = { requests: 0, unchanged: 0, bytes: 0 };
    for (let round = 1; round < rotation; round += 1) {
      await upstreams.ask({});
      rounds.push(await check(product, kind));
      const { traffic, recorded } = await upstreams.ask<Upstreams>({});
      // What `ls-refs` is asked for by two kinds comes under the one that was checked.
      const all = Object.values(traffic);
      seen = {
        requests: all.reduce((sum, each) => sum + each.requests, 0),
        unchanged: all.reduce((sum, each) => sum + each.unchanged, 0),
        bytes: all.reduce((sum, each) => sum + each.bytes, 0),
      };
      if (seen.requests !== rounds.at(-1)?.requests)
        throw new Error(`${seen.requests} requests came, not ${rounds.at(-1)?.requests}`);
      await bare.ask({ recorded });
      beside.push(await bare.ask<Cost>({}));
    }
    measured.push({ kind, rounds, bare: beside, seen });
  }
  return measured;
}

/** Rounds of all kinds at once, in turns with the bare loop. */
async function measureAll({ upstreams, product, bare }: Parts, rounds: number) {
  await product.ask({ act: "align" });
  await upstreams.ask({});
  const plain: Round[] = [];
  const rotating: Round[] = [];
  const beside: Cost[] = [];
  for (let round = 0; round < rounds * rotation; round += 1) {
    const measured = await check(product);
    const { recorded } = await upstreams.ask<Upstreams>({});
    await bare.ask({ recorded });
    const cost = await bare.ask<Cost>({});
    await upstreams.ask({});
    if (round % rotation === rotation - 1) rotating.push(measured);
    else {
      plain.push(measured);
      beside.push(cost);
    }
  }
  return { plain, rotating, bare: beside };
}

function kindFigures({ kind, rounds, bare, seen }: KindRounds): Figure[] {
  const count = countOf(kind, plan.sources);
  const each = (of: (round: Round) => number) => median(rounds.map(of)) / count;
  const requests = each((round) => round.requests);
  const against = median(rounds.map((round, at) => round.wall_ms / (bare[at]?.wall_ms ?? Number.NaN)));
  const name = `${kind} (${count})`;
  return [
    {
      what: `${name}: requests per source`,
      measured: `${requests.toFixed(2)}, of them 304: ${(seen.unchanged / count).toFixed(2)}`,
      goal: requestsAllowed[kind].toFixed(2),
      met: requests === requestsAllowed[kind],
    },
    { what: "  body bytes per source", measured: kilobytes(each((round) => round.bytes)) },
    {
      what: "  CPU per source",
      measured: `${ms(each((round) => round.cpu_ms))}; bare ${ms(median(bare.map((cost) => cost.cpu_ms)) / count)}`,
    },
    {
      what: "  time per source",
      measured: `${ms(each((round) => round.wall_ms))}; against the bare loop ${ratio(against)}`,
    },
    { what: "  longest stall", measured: ms(Math.max(...rounds.map((round) => round.stall_ms))) },
  ];
}

function wholeFigures({ plain, rotating, bare }: Awaited<ReturnType<typeof measureAll>>, idleBytes: number): Figure[] {
  const all = [...plain, ...rotating];
  const sources = plain[0]?.sources ?? Number.NaN;
  const peak = Math.max(...all.map((round) => round.peak_bytes));
  const stall = Math.max(...all.map((round) => round.stall_ms));
  const spread = (costs: readonly Cost[]) => {
    const walls = costs.map((cost) => cost.wall_ms);
    return `${ms(median(walls))} (${ms(Math.min(...walls))} to ${ms(Math.max(...walls))})`;
  };
  const against = median(plain.map((round, at) => round.wall_ms / (bare[at]?.wall_ms ?? Number.NaN)));
  return [
    { what: "requests per source", measured: (median(plain.map((round) => round.requests)) / sources).toFixed(2) },
    { what: "body bytes per source", measured: kilobytes(median(plain.map((round) => round.bytes)) / sources) },
    { what: "time of a round", measured: spread(plain) },
    { what: "time of the bare loop", measured: spread(bare) },
    { what: "time against the bare loop", measured: ratio(against) },
    { what: "CPU per source", measured: ms(median(plain.map((round) => round.cpu_ms)) / sources) },
    { what: "CPU per source of the bare loop", measured: ms(median(bare.map((cost) => cost.cpu_ms)) / sources) },
    {
      what: "longest stall of the event loop",
      measured: `${ms(stall)}; p99 ${ms(median(all.map((round) => round.stall_p99_ms)))}`,
      goal: ms(goals.stall_ms),
      met: stall <= goals.stall_ms,
    },
    { what: "resident memory before the first round", measured: megabytes(idleBytes) },
    { what: "resident memory, median", measured: megabytes(median(all.map((round) => round.resident_bytes))) },
    {
      what: "peak memory of the process",
      measured: megabytes(peak),
      goal: megabytes(goals.peak_bytes),
      met: peak <= goals.peak_bytes,
    },
  ];
}

const plan = { sources: countOption("sources", 1_000, 5_000), rounds: countOption("rounds", 2, 20) };
const place = { dir: mkdtempSync(join(tmpdir(), "tidemark-bench-")), key: generateFernetKey() };
const upstreams = startChild("mixed/upstreams.ts");
const bare = startChild("mixed/bare.ts");
let product = startChild("mixed/product.ts");
try {
  const { addresses } = await upstreams.ask<Upstreams>({});
  await product.ask({ act: "open", ...place });
  await product.ask({ act: "create", addresses, sources: plan.sources });
  // The first checks read long pages, the second ones store the short ones that are asked for from then on.
  for (let warm = 0; warm < rotation; warm += 1) await check(product);
  const first = await product.ask<{ peak_bytes: number }>({ act: "close" });
  await product.stop();

  // Steady state is that of a process that was started on what another left behind.
  product = startChild("mixed/product.ts");
  const idle = await product.ask<{ resident_bytes: number }>({ act: "open", ...place });
  const parts = { upstreams, product, bare };
  const whole = await measureAll(parts, plan.rounds);
  const kinds = await measureKinds(parts);
  await product.ask({ act: "close" });

  const title = `${plan.sources} unchanged trackers of mixed kinds, ${whole.plain.length + whole.rotating.length} rounds`;
  printFigures(title, [
    ...wholeFigures(whole, idle.resident_bytes),
    { what: "peak memory of the process that made the first checks", measured: megabytes(first.peak_bytes) },
  ]);
  printFigures(`Each kind by itself, median of ${rotation - 1} rounds`, kinds.flatMap(kindFigures));
} finally {
  await Promise.all([product.stop(), bare.stop(), upstreams.stop()]);
  rmSync(place.dir, { recursive: true, force: true });
}
