// What a check of many unchanged sources costs, beside a bare `fetch` loop that sends the same requests. See README.md.
import { layTags, registryMissing, startRegistry } from "../tests/peers/registry.ts";
import { pushImage } from "../tests/support/oci-image.ts";
import { benchTags, newestTag, repositoryOf } from "./checks/plan.ts";
import { type Child, type Cost, startChild } from "./child.ts";
import { countOption, type Figure, median, megabytes, ms, printFigures, ratio } from "./figures.ts";

/** The product asks one older tag again at every fourth check. */
const rotation = 4;

interface Round extends Cost {
  requests: number;
  failed: number;
  waiting: number;
  rotation: number;
  rss: number;
}

interface Upstream {
  name: string;
  url: string;
  /** Since the last call; null where it does not count. */
  requests(): Promise<number | null>;
  stop(): Promise<void>;
}

async function standIn(): Promise<Upstream> {
  const child = startChild("checks/stand-in.ts");
  const { url } = await child.ask<{ url: string }>({});
  const requests = async () => (await child.ask<{ requests: number }>({})).requests;
  return { name: "stand-in registry", url, requests, stop: child.stop };
}

async function realRegistry(sources: number): Promise<Upstream> {
  const registry = await startRegistry();
  for (let index = 0; index < sources; index += 1) {
    const repository = repositoryOf(index);
    await pushImage(registry.url, null, repository, newestTag);
    layTags(registry, repository, newestTag, benchTags);
  }
  return { name: "docker-registry", url: registry.url, requests: async () => null, stop: registry.stop };
}

interface Pair {
  product: Round;
  bare: Cost;
}

async function measure(product: Child, bare: Child, upstream: Upstream, plan: { sources: number; rounds: number }) {
  const { sources, rounds } = plan;
  const { url } = upstream;
  await product.ask({ act: "create", url, sources });
  for (let warm = 0; warm < rotation; warm += 1) {
    await product.ask({ act: "round" });
    await bare.ask({ url, sources, older: benchTags[1] });
  }
  const plain: Pair[] = [];
  const rotating: Pair[] = [];
  for (let round = 0; round < rounds * rotation; round += 1) {
    const isRotating = round % rotation === rotation - 1;
    await upstream.requests();
    const measured = await product.ask<Round>({ act: "round" });
    const counted = await upstream.requests();
    if (measured.failed + measured.waiting > 0)
      throw new Error(`Not every check succeeded: ${JSON.stringify(measured)}`);
    if (counted !== null && counted !== measured.requests)
      throw new Error(`${counted} requests came, not ${measured.requests}`);
    const beside = await bare.ask<Cost>({ url, sources, older: isRotating ? benchTags[1] : null });
    (isRotating ? rotating : plain).push({ product: measured, bare: beside });
  }
  return { plain, rotating };
}

function figuresOf(pairs: readonly Pair[], sources: number, requestsWanted: number): Figure[] {
  const requests = median(pairs.map(({ product }) => product.requests / sources));
  const wall = median(pairs.map(({ product, bare }) => product.wall_ms / bare.wall_ms));
  const cpu = median(pairs.map(({ product }) => product.cpu_ms / sources));
  const bareCpu = median(pairs.map(({ bare }) => bare.cpu_ms / sources));
  const added = median(pairs.map(({ product, bare }) => (product.cpu_ms - bare.cpu_ms) / sources));
  const each = (of: (pair: Pair) => number) => {
    const values = pairs.map(of);
    return `${ms(median(values))} (${ms(Math.min(...values))} to ${ms(Math.max(...values))})`;
  };
  return [
    {
      what: "requests per source",
      measured: requests.toFixed(2),
      goal: requestsWanted.toFixed(2),
      met: requests === requestsWanted,
    },
    { what: "wall time of a round", measured: each(({ product }) => product.wall_ms) },
    { what: "wall time of the bare loop", measured: each(({ bare }) => bare.wall_ms) },
    { what: "wall time against the bare loop", measured: ratio(wall), goal: "1.50x or less", met: wall <= 1.5 },
    { what: "CPU per source", measured: ms(cpu), goal: "1 ms or less", met: cpu <= 1 },
    { what: "CPU per source of the bare loop", measured: ms(bareCpu) },
    { what: "CPU per source above the bare loop", measured: ms(added), goal: "1 ms or less", met: added <= 1 },
    { what: "longest stall of the event loop", measured: each(({ product }) => product.stall_ms) },
  ];
}

async function run(upstream: Upstream, plan: { sources: number; rounds: number }): Promise<void> {
  const [product, bare] = [startChild("checks/product.ts"), startChild("checks/bare.ts")];
  try {
    const { plain, rotating } = await measure(product, bare, upstream, plan);
    const rss = median(plain.map((pair) => pair.product.rss));
    const title = `${plan.sources} unchanged OCI sources, ${upstream.name}, 4 at once`;
    printFigures(`${title}, median of ${plain.length} rounds`, [
      ...figuresOf(plain, plan.sources, 2),
      { what: "resident memory", measured: megabytes(rss) },
    ]);
    printFigures(`The same with an older tag asked again (every fourth check), ${rotating.length} rounds`, [
      ...figuresOf(rotating, plan.sources, 3),
    ]);
    await product.ask({ act: "close" });
  } finally {
    await Promise.all([product.stop(), bare.stop()]);
  }
}

const plan = { sources: countOption("sources", 500, 5_000), rounds: countOption("rounds", 3, 50) };
const missing = registryMissing();
const upstreams = process.argv.includes("--stand-in") ? [standIn] : [standIn, () => realRegistry(plan.sources)];
for (const start of missing === null ? upstreams : [standIn]) {
  const upstream = await start();
  try {
    await run(upstream, plan);
  } finally {
    await upstream.stop();
  }
}
if (missing !== null) console.log(`Not measured against a real registry: ${missing}`);
