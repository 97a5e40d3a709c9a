// What a look at 5,000 workloads of a cluster takes, and a rollout, beside kubectl. See README.md.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemActor } from "../src/auth/schema.ts";
import { type Cluster, clusterMissing, startCluster } from "../tests/peers/kubernetes.ts";
import { startApiFront } from "../tests/support/api-front.ts";
import { isRolledOut, webDeployment } from "../tests/support/kubernetes-objects.ts";
import { makeManyWorkloads, manyNamespaces, manyWorkloads } from "../tests/support/many-workloads.ts";
import { pushImage, serveHttp } from "../tests/support/oci-image.ts";
import { realRuns } from "../tests/support/real-runs.ts";
import { startChild } from "./child.ts";
import { spread } from "./engines.ts";
import { countOption, type Figure, kilobytes, median, megabytes, ms, printFigures, ratio } from "./figures.ts";

interface LookAnswer {
  idle_bytes: number;
  peak_bytes: number;
  wall_ms: number;
  cpu_ms: number;
  stall_ms: number;
  found: number;
}

const goalRatio = 1.5;
const goalAboveIdleBytes = 60e6;
const goalLaterMs = 1_000;
const namespace = "bench";

async function kubectl(file: string, ...args: readonly string[]): Promise<{ wall_ms: number; bytes: number }> {
  const from = performance.now();
  const child = Bun.spawn(["kubectl", `--kubeconfig=${file}`, ...args], { stdout: "pipe", stderr: "inherit" });
  let bytes = 0;
  for await (const chunk of child.stdout) bytes += chunk.byteLength;
  if ((await child.exited) !== 0) throw new Error(`kubectl ${args.join(" ")} ended with ${child.exitCode}`);
  return { wall_ms: performance.now() - from, bytes };
}

async function looks(cluster: Cluster, file: string, rounds: number): Promise<Figure[]> {
  await makeManyWorkloads(cluster);
  const access = { token: cluster.admin.token, ca: cluster.ca };
  const answers: LookAnswer[] = [];
  const beside: { wall_ms: number; bytes: number }[] = [];
  // Each look is the first one of a process, as kubectl's is.
  for (let round = 0; round <= rounds; round += 1) {
    const child = startChild("clusters/looker.ts");
    const answer = await child.ask<LookAnswer>({ server: cluster.url, ...access }).finally(child.stop);
    if (answer.found < manyWorkloads) throw new Error(`Found ${answer.found} of ${manyWorkloads}`);
    const other = await kubectl(file, "get", "deploy,sts,ds,cronjob", "-A", "-o", "json");
    // The first round warms up the API server.
    if (round === 0) continue;
    answers.push(answer);
    beside.push(other);
  }
  const front = await startApiFront(cluster);
  const child = startChild("clusters/looker.ts");
  await child.ask<LookAnswer>({ server: front.url, ...access }).finally(child.stop);
  await front.stop();
  const lists = front.asked.filter(({ query }) => query.has("limit"));
  const bytes = lists.reduce((sum, each) => sum + each.bytes, 0);
  const walls = answers.map(({ wall_ms }) => wall_ms);
  const others = beside.map(({ wall_ms }) => wall_ms);
  const share = median(walls) / median(others);
  const above = answers.map(({ peak_bytes, idle_bytes }) => peak_bytes - idle_bytes);
  return [
    { what: "calls, bytes of the answers", measured: `${lists.length}, ${megabytes(bytes)}` },
    { what: "what kubectl prints", measured: megabytes(beside[0]?.bytes ?? Number.NaN) },
    { what: "time of a look", measured: spread(walls) },
    { what: "time of kubectl get of the same kinds", measured: spread(others) },
    { what: "the one against the other", measured: ratio(share), goal: ratio(goalRatio), met: share <= goalRatio },
    {
      what: "peak memory above idle",
      measured: spread(above, megabytes),
      goal: megabytes(goalAboveIdleBytes),
      met: median(above) <= goalAboveIdleBytes,
    },
    { what: "idle", measured: megabytes(median(answers.map(({ idle_bytes }) => idle_bytes))) },
    { what: "CPU", measured: ms(median(answers.map(({ cpu_ms }) => cpu_ms))) },
    { what: "longest stall of the event loop", measured: ms(median(answers.map(({ stall_ms }) => stall_ms))) },
  ];
}

type Deployment = Parameters<typeof isRolledOut>[0];

async function rollouts(cluster: Cluster, file: string, rounds: number): Promise<Figure[]> {
  const image = `${cluster.registry.host}/acme/app`;
  const ready = { cmd: serveHttp, files: { "/www/ready": "yes\n" } };
  const tags = ["1.0.0", "1.1.0"];
  const digests: string[] = [];
  for (const tag of tags) digests.push(await pushImage(cluster.registry.url, null, "acme/app", tag, ready));
  await cluster.apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
  const front = await startApiFront(cluster);
  const world = await realRuns();
  const secret = { token: cluster.admin.token, ca_certificate: cluster.ca };
  const config = { namespaces: namespace, helm: false };
  const connections = {
    direct: await world.connectCluster({ server: cluster.url, ...config }, secret),
    counted: await world.connectCluster({ server: front.url, ...config }, secret),
  };
  /** From the patch to our verdict, and to the end of `kubectl rollout status` that was started with it. */
  const roll = async (name: string, connection: string) => {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
    await cluster.apply([webDeployment(name, `${image}:${tags[0]}`, { namespace })]);
    const { generation } = (await cluster.waitFor<Deployment>(path, (found) => isRolledOut(found))).metadata;
    const executor = await world.addExecutor({
      connection,
      target: { kind: "deployment", id: `${namespace}/${name}` },
      services: ["web"],
      desired: { image, tag: tags[1] ?? "", digest: digests[1] ?? "" },
      settings: { health_check: { strategy: "disabled" } },
    });
    const { id } = await world.main.runs.create(systemActor, executor, {});
    let patchedAt = Number.NaN;
    const beside = (async () => {
      await cluster.waitFor<Deployment>(path, ({ metadata }) => metadata.generation > generation);
      patchedAt = performance.now();
      await kubectl(file, "rollout", "status", "-n", namespace, `deployment/${name}`);
      return performance.now();
    })();
    await world.main.runs.work.perform({ id }, new AbortController().signal);
    const oursAt = performance.now();
    const run = await world.run(id);
    if (run.state !== "succeeded") throw new Error(`The run ended as ${run.state}`);
    return { ours_ms: oursAt - patchedAt, kubectl_ms: (await beside) - patchedAt };
  };
  try {
    await roll("counted", connections.counted);
    const calls = front.asked.map(({ method, query }) => (query.get("watch") === "true" ? "watch" : method));
    const count = (kind: string) => calls.filter((each) => each === kind).length;
    const bytes = front.asked.reduce((sum, each) => sum + each.bytes, 0);
    const times: Awaited<ReturnType<typeof roll>>[] = [];
    for (let round = 0; round < rounds; round += 1) times.push(await roll(`timed-${round}`, connections.direct));
    const later = times.map(({ ours_ms, kubectl_ms }) => ours_ms - kubectl_ms);
    return [
      {
        what: "calls of an update of two pods, from its plan to its end",
        measured: `${calls.length}: ${count("GET")} reads, ${count("PATCH")} patch, ${count("watch")} watch, ${count("POST")} others; ${kilobytes(bytes)}`,
      },
      { what: "from the patch to our verdict", measured: spread(times.map(({ ours_ms }) => ours_ms)) },
      { what: "to the end of kubectl rollout status", measured: spread(times.map(({ kubectl_ms }) => kubectl_ms)) },
      {
        what: "ours after kubectl's",
        measured: `${spread(later)}, at most ${ms(Math.max(...later))}`,
        goal: ms(goalLaterMs),
        met: Math.max(...later) <= goalLaterMs,
      },
    ];
  } finally {
    await world.close();
    await front.stop();
  }
}

const missing = clusterMissing({ node: true }) ?? (Bun.which("kubectl") === null ? "kubectl is not installed" : null);
if (missing !== null) {
  console.error(`Not measured: ${missing}`);
  process.exit(1);
}
const rounds = countOption("rounds", 6, 50);
const folder = mkdtempSync(join(tmpdir(), "tidemark-bench-clusters-"));
const cluster = await startCluster({ node: true });
try {
  const file = join(folder, "kubeconfig");
  writeFileSync(file, cluster.kubeconfig, { mode: 0o600 });
  printFigures(`A rollout of two real pods, ${rounds} times`, await rollouts(cluster, file, rounds));
  const title = `A look at ${manyWorkloads} workloads in ${manyNamespaces} namespaces, ${rounds} times`;
  printFigures(`${title}, medians (10th to 90th percentile)`, await looks(cluster, file, rounds));
} finally {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
