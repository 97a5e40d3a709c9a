import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHelm, helmMissing, helmVersions } from "../peers/helm.ts";
import { type Cluster, clusterMissing, startCluster } from "../peers/kubernetes.ts";
import { isWholeMatrix, killingLimitMs, pointsBy, rounds, takingTurns } from "../support/engine-modes.ts";
import { eventually } from "../support/eventually.ts";
import { type HelmWorld, helmWorld, hookTemplate } from "../support/helm-world.ts";
import { type Doomed, killAtEach, killRun } from "../support/killed-runs.ts";
import { podAnswers, webTemplate } from "../support/kubernetes-objects.ts";
import { peerSuite } from "../support/peer.ts";
import type { RealRuns } from "../support/real-runs.ts";

setDefaultTimeout(180_000);

const live = new AbortController().signal;
/** Two that serve, two that fail and one whose upgrade never ends; the `slow` ones keep helm at work for a while. */
const charts = {
  old: "1.0.0",
  new: "1.1.0",
  crash: "1.2.0",
  refused: "1.3.0",
  endless: "1.4.0",
  slowOld: "2.0.0",
  slowNew: "2.1.0",
} as const;
type Serving = keyof typeof tagOf;
/** What each that serves answers, and which one its runs lead to. */
const tagOf = { [charts.old]: "1", [charts.new]: "2", [charts.slowOld]: "1", [charts.slowNew]: "2" } as const;
const otherOf = {
  [charts.old]: charts.new,
  [charts.new]: charts.old,
  [charts.slowOld]: charts.slowNew,
  [charts.slowNew]: charts.slowOld,
} as const;
const interrupted = "failed interrupted previous";
const succeeded = "succeeded null desired";
const failed = "failed unhealthy previous";

/** Releases on a real cluster, upgraded with the real helm by processes that end at any point. */
peerSuite("kill -9 of our process while it upgrades a release", clusterMissing({ node: true }) ?? helmMissing(), () => {
  let cluster: Cluster;
  const folder = mkdtempSync(join(tmpdir(), "tidemark-charts-"));
  const archives = new Map<string, string>();

  beforeAll(async () => {
    cluster = await startCluster({ node: true });
    using helm = createHelm();
    const pack = async (version: string, tag: string, more: { deadline?: number; hook?: string | null } = {}) => {
      const { deadline = 20, hook } = more;
      // The pods before stay until new ones are ready, so a short deadline only ends what fails.
      const web = webTemplate(cluster, { replicas: 1, deadline });
      const files = {
        "templates/web.yaml": web,
        ...(hook === undefined
          ? {}
          : { "templates/hook.yaml": hookTemplate(cluster, "pre-upgrade,pre-rollback", hook) }),
      };
      archives.set(version, await helm.pack({ name: "web", version }, folder, { values: { tag }, files }));
    };
    await pack(charts.old, "1");
    await pack(charts.new, "2");
    await pack(charts.crash, "crash", { deadline: 2 });
    await pack(charts.refused, "2", { hook: "exit 3" });
    await pack(charts.endless, "2", { hook: null });
    await pack(charts.slowOld, "1", { hook: "sleep 1" });
    await pack(charts.slowNew, "2", { hook: "sleep 1" });
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await cluster?.stop();
  });

  const archive = (chart: string) => archives.get(chart) ?? "";
  const desired = (chart: string) => ({
    ...{ image: "", tag: chart, digest: `sha256:${"a".repeat(64)}` },
    archive: archive(chart),
  });

  describe.each([...helmVersions])("with helm %s", (version) => {
    let releases: HelmWorld;
    let world: RealRuns;
    /** Of the rows of a table each version usually takes others; with more `places` than versions, some are left out. */
    const inTurn = (place = 0, places: number = helmVersions.length) =>
      isWholeMatrix ? takingTurns(0, 1) : takingTurns(place + helmVersions.indexOf(version), places);

    beforeAll(async () => {
      // The API server has a warning for every pod, which helm writes while it is at work.
      const labels = { "pod-security.kubernetes.io/warn": "restricted" };
      releases = await helmWorld(cluster, version, { namespace: `shop-${version[0]}`, labels });
      ({ world } = releases);
    });
    afterAll(async () => {
      await releases?.[Symbol.asyncDispose]();
    });

    let made = 0;
    /** A release of a chart that serves; what runs make of it is asked of Helm and of its pods. */
    const deploy = async (chart: Serving) => {
      made += 1;
      const name = `web-${made}`;
      const settings = { restore_on_failure: true, allow_downgrade: true };
      const executor = await releases.install(name, archive(chart), { desired: desired(chart), settings });
      const latest = async () => (await releases.revisions(name)).at(-1) ?? { revision: 0, status: "" };
      /** How many revisions were made since, of which the last is deployed. */
      const madeSince = async (before: number) => {
        const { revision, status } = await latest();
        expect(status).toBe("deployed");
        return revision - before;
      };
      const expectServing = async (serving: Serving) => {
        expect(await podAnswers(cluster, releases.namespace, name)).toEqual([`${tagOf[serving]}\n`]);
        expect(releases.folders()).toEqual([]);
      };
      /** Whether the next plan names the unfinished revision. */
      const isExplained = async () => {
        const { plan } = await world.main.executors.plan(executor, live);
        return plan?.warnings.some(({ message_data: { code } }) => code === "kubernetes.release_pending") ?? false;
      };
      return { name, executor, chart, latest, madeSince, expectServing, isExplained };
    };
    /** `chart`: the one that serves now. */
    type Deployed = Omit<Awaited<ReturnType<typeof deploy>>, "chart"> & { chart: Serving };

    const beginUpgrade = async (release: Deployed): Promise<Doomed> => {
      const before = (await release.latest()).revision;
      const next = otherOf[release.chart];
      return {
        desired: desired(next),
        judge: async ({ state, serving }) => {
          const revisions = await release.madeSince(before);
          const end = revisions === 0 ? ["failed", "previous"] : ["succeeded", "desired"];
          expect([revisions, state, serving]).toEqual([Math.min(revisions, 1), ...end]);
          if (revisions === 1) release.chart = next;
          await release.expectServing(release.chart);
        },
      };
    };
    /** To a chart that fails: it makes a revision that does not serve, and one that leads back to the one before. */
    const beginUndone = async (release: Deployed, chart: string): Promise<Doomed> => {
      const before = (await release.latest()).revision;
      return {
        desired: desired(chart),
        judge: async ({ state, reason_code, serving }) => {
          const revisions = await release.madeSince(before);
          const reason = revisions === 0 ? "interrupted" : "unhealthy";
          expect([revisions, state, reason_code, serving]).toEqual([revisions && 2, "failed", reason, "previous"]);
          await release.expectServing(release.chart);
        },
      };
    };
    /** Of a release whose latest revision was left unfinished: an approved plan rolls that back first. */
    const beginUnlocked = async (release: Deployed): Promise<Doomed> => {
      const { name, executor, latest } = release;
      if ((await latest()).status === "deployed") await releases.leavePending(name, archive(charts.endless));
      const next = otherOf[release.chart];
      world.offer(executor, desired(next));
      const { revision: before } = await latest();
      return {
        input: { plan_hash: (await world.main.executors.plan(executor, live)).plan?.hash },
        desired: desired(next),
        judge: async ({ state, serving }) => {
          const { revision, status } = await latest();
          const revisions = revision - before;
          // Unfinished as before, rolled back, or upgraded after that.
          const left = revisions === 0 ? "pending-upgrade" : "deployed";
          const end = revisions === 2 ? ["succeeded", "desired"] : ["failed", "previous"];
          expect([revisions, status, state, serving]).toEqual([Math.min(revisions, 2), left, ...end]);
          expect(await release.isExplained()).toBe(revisions === 0);
          if (revisions === 2) release.chart = next;
          await release.expectServing(release.chart);
        },
      };
    };
    /** To the revision before an update. */
    const beginRollback = async (release: Deployed): Promise<Doomed> => {
      const { executor, chart: earlier } = release;
      release.chart = otherOf[earlier];
      world.offer(executor, desired(release.chart));
      const { id, state: updated } = await world.update(executor);
      expect(updated).toBe("succeeded");
      const before = (await release.latest()).revision;
      return {
        input: { snapshot_id: await world.snapshotOf(id) },
        desired: desired(release.chart),
        judge: async ({ kind, state, serving }) => {
          const revisions = await release.madeSince(before);
          const end = revisions === 0 ? ["failed", "previous"] : ["succeeded", "desired"];
          expect([kind, revisions, state, serving]).toEqual(["rollback", Math.min(revisions, 1), ...end]);
          if (revisions === 1) release.chart = earlier;
          await release.expectServing(release.chart);
        },
      };
    };

    /** `first`: of the points that are usually taken. One of them is after the change. */
    const atEachPoint = {
      "an upgrade": { begin: beginUpgrade, first: 4, end: succeeded },
      "an upgrade whose pods crash": {
        ...{ begin: (release: Deployed) => beginUndone(release, charts.crash), first: 12 },
        end: failed,
      },
      "an upgrade whose hook fails": {
        ...{ begin: (release: Deployed) => beginUndone(release, charts.refused), first: 6 },
        end: failed,
      },
      "an upgrade that rolls an unfinished one back first": { begin: beginUnlocked, first: 8, end: succeeded },
      "a rollback to an earlier revision": { begin: beginRollback, first: 2, end: succeeded },
    } as const;
    const kinds = Object.keys(atEachPoint) as (keyof typeof atEachPoint)[];
    inTurn().each(rounds.flatMap((round) => kinds.map((kind) => ({ kind, round }))))(
      "at any point of $kind makes no second revision, and the run comes to its end, round $round",
      async ({ kind }) => {
        const release: Deployed = await deploy(charts.old);
        const { begin, first, end } = atEachPoint[kind];
        const points = pointsBy(19, { first });
        const ends = await killAtEach(world, release.executor, points, () => begin(release));
        expect(ends.at(-1)).toBe(end);
        if (isWholeMatrix) expect(new Set(ends)).toEqual(new Set([interrupted, end]));
      },
      killingLimitMs,
    );

    const whileHelm = {
      upgrades: { begin: beginUpgrade, status: "pending-upgrade", end: succeeded },
      "rolls a failed upgrade back": {
        ...{ begin: (release: Deployed) => beginUndone(release, charts.crash), status: "pending-rollback" },
        end: failed,
      },
      "rolls an unfinished upgrade back": { begin: beginUnlocked, status: "pending-rollback", end: interrupted },
      "rolls back to an earlier revision": { begin: beginRollback, status: "pending-rollback", end: succeeded },
    } as const;
    const acts = Object.keys(whileHelm) as (keyof typeof whileHelm)[];
    const actsOfRounds = rounds.flatMap((round) => acts.map((act) => ({ act, round })));
    /** Kills the process while helm is at work for it. */
    const killWhileHelm = async (
      release: Deployed,
      status: string,
      doomed: Doomed,
      also?: (run: string) => Promise<void>,
    ) =>
      await killRun(world, release.executor, doomed, {
        point: 0,
        onStart: (kill, run) => {
          void eventually("helm at work", async () => (await release.latest()).status === status).then(async () => {
            kill();
            await also?.(run);
          });
        },
      });
    inTurn(helmVersions.length, acts.length).each(actsOfRounds)(
      "helm goes on when its process is killed while it $act, and the next one waits for it, round $round",
      async ({ act }) => {
        const release: Deployed = await deploy(charts.slowOld);
        const { begin, status, end } = whileHelm[act];
        const killed = await killWhileHelm(release, status, await begin(release));
        expect(killed).toEqual({ is_killed: true, end });
      },
    );

    inTurn(0, acts.length).each(actsOfRounds)(
      "helm that is killed with its process while it $act leaves what serves, and nothing unexplained, round $round",
      async ({ act }) => {
        const release: Deployed = await deploy(charts.slowOld);
        const { begin, status } = whileHelm[act];
        const doomed = await begin(release);
        const judge = async ({ state, serving }: Parameters<Doomed["judge"]>[0]) => {
          expect([state, serving]).toEqual(["failed", "previous"]);
          await release.expectServing(release.chart);
          expect(await release.isExplained()).toBe((await release.latest()).status !== "deployed");
        };
        const { is_killed } = await killWhileHelm(release, status, { ...doomed, judge }, async (run) => {
          process.kill(await eventually("helm", () => releases.helmOf(run)), "SIGKILL");
        });
        expect(is_killed).toBe(true);
      },
    );
  });
});
