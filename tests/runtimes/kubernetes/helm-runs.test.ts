import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { systemClock } from "../../../src/clock.ts";
import { inEnglish, plain } from "../../../src/messages/message.ts";
import type { Helm } from "../../../src/runtimes/kubernetes/helm/program.ts";
import { releaseOperations } from "../../../src/runtimes/kubernetes/helm/release-operations.ts";
import { logReader } from "../../../src/runtimes/kubernetes/logs.ts";
import { authorityMissing } from "../../peers/authority.ts";
import { json, startApiServer } from "../../support/api-server.ts";
import { memoryJournal } from "../../support/memory-journal.ts";
import { peerSuite } from "../../support/peer.ts";

interface Revision {
  revision: number;
  status: string;
  version?: string;
  description?: string;
  manifest?: string;
  values?: object;
  /** What was set for the release. */
  config?: object;
  uid?: string;
  /** In the content, whatever the labels say. */
  name?: string;
}

const ref = { kind: "helm_release", id: "shop/web" };
const live = new AbortController().signal;
const change = (version: string) => ({
  ...({ kind: "chart", service: "main", reference: `web-${version}`, digest: null, name: "web", version } as const),
  archive: async () => new Uint8Array(),
});
const forbidden = { kind: "Status", reason: "Forbidden", message: "secrets is forbidden", code: 403 };

/** A namespace with one release in Secrets, and a helm of which the test says what it does. */
async function startWorld(...revisions: Revision[]) {
  const world = {
    revisions,
    may_list_secrets: true,
    /** What helm was asked to do, and what it does. */
    asked: [] as (readonly string[])[],
    /** Whose end was waited for. */
    awaited: [] as string[],
    helm: (_args: readonly string[]): Awaited<ReturnType<Helm["run"]>> => rendered({}),
  };
  const server = await startApiServer((_request, response, { pathname }) => {
    const path = "/api/v1/namespaces/shop/secrets";
    if (pathname.startsWith(path) && !world.may_list_secrets) return json(response, 403, forbidden);
    if (pathname === path) {
      const items = world.revisions.map(({ revision, status, uid = `uid-${revision}` }) => ({
        metadata: {
          ...{ name: `sh.helm.release.v1.web.v${revision}`, namespace: "shop", uid },
          labels: { owner: "helm", name: "web", version: String(revision), status },
        },
      }));
      return json(response, 200, { metadata: {}, items });
    }
    const found = world.revisions.find(({ revision }) => pathname === `${path}/sh.helm.release.v1.web.v${revision}`);
    if (found !== undefined) return json(response, 200, { data: { release: packed(found) } });
    json(response, 200, { metadata: {}, items: [] });
  });
  const helm: Helm = {
    findProblem: async () => null,
    run: async ({ args }) => {
      world.asked.push(args);
      return args[0] === "show" && args[1] === "crds" ? { is_done: true, stdout: "", said: null } : world.helm(args);
    },
    awaitEnd: async (folder) => {
      world.awaited.push(folder);
    },
  };
  const { cluster } = server;
  const around = { cluster, clock: systemClock, signal: live, stall_ms: 3_000, logs: logReader(cluster) };
  return { world, server, operations: releaseOperations(around, helm) };
}

function packed({ revision, status, name = "web", ...more }: Revision): string {
  const { version = "1.0.0", description = "Upgrade complete", manifest = "", values = {}, config = {} } = more;
  const chart = { metadata: { name: "web", version }, values };
  const content = { name, version: revision, info: { status, description }, chart, config, manifest };
  return Buffer.from(gzipSync(JSON.stringify(content)).toString("base64")).toString("base64");
}

/** What helm prints of a dry run. */
const rendered = (chart: object, manifest = "") => ({
  is_done: true,
  stdout: JSON.stringify({ chart: { metadata: { name: "web", version: "1.1.0" }, ...chart }, manifest }),
  said: null,
});

const isLook = (args: readonly string[]) => args[0] === "show" || args.includes("--dry-run=server");

peerSuite("a run of a Helm release", authorityMissing(), () => {
  const start = async (world: Awaited<ReturnType<typeof startWorld>>, journal = memoryJournal()) => {
    const plan = await world.operations.plan(ref, [change("1.1.0")]);
    return { plan, journal, apply: (await world.operations.prepare(plan, [], journal)).apply };
  };
  test("is refused when the release was uninstalled and installed again, though it counts from 1 as before", async () => {
    const all = await startWorld({ revision: 1, status: "deployed" });
    await using _ = all.server;
    const { apply } = await start(all);
    all.world.revisions = [{ revision: 1, status: "deployed", uid: "another" }];
    expect(await apply().catch(({ said }) => said.code)).toBe("kubernetes.changed_since_plan");
  });

  test.each([
    ["has begun", "pending-upgrade", "Preparing upgrade"],
    ["has finished", "deployed", "Upgrade complete"],
  ])("that somebody's upgrade overtook, which %s, leaves that alone", async (_what, status, description) => {
    const all = await startWorld({ revision: 1, status: "deployed" });
    await using _ = all.server;
    const { world, operations } = all;
    world.helm = (args) => {
      if (isLook(args)) return rendered({});
      world.revisions = [
        { revision: 1, status: status === "deployed" ? "superseded" : "deployed" },
        { revision: 2, status, description, version: "3.0.0" },
      ];
      const words = "UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress";
      return { is_done: false, stdout: "", said: plain(words) };
    };
    const { journal, apply } = await start(all);
    expect(await apply().catch(({ said }) => inEnglish(said))).toContain("another operation");
    world.asked = [];
    expect((await operations.undo(ref, journal, null)).state).toBe("untouched");
    expect(world.asked).toEqual([]);
  });

  test("whose process ended takes nobody else's revision for its own", async () => {
    const all = await startWorld({ revision: 1, status: "deployed" });
    await using _ = all.server;
    const { world, operations } = all;
    world.helm = (args) => {
      if (isLook(args)) return rendered({});
      throw new Error("The process ends");
    };
    const { journal, apply } = await start(all);
    await apply().catch(() => undefined);
    world.revisions = [
      { revision: 1, status: "superseded" },
      { revision: 2, status: "deployed", version: "3.0.0" },
    ];
    const next = journal.reopened();
    expect(await operations.settle(ref, next, live)).toMatchObject({ code: "kubernetes.release_changed_meanwhile" });
    world.asked = [];
    expect((await operations.undo(ref, next, null)).state).toBe("mixed");
    expect(world.asked).toEqual([]);
  });

  test("of a release that is uninstalled meanwhile fails, also for the next process", async () => {
    const all = await startWorld({ revision: 1, status: "deployed" });
    await using _ = all.server;
    const { world, operations } = all;
    const { journal, apply } = await start(all);
    world.helm = () => ({ is_done: true, stdout: "", said: null });
    await apply();
    world.revisions = [];
    const missing = { code: "kubernetes.release_missing" };
    expect(await operations.settle(ref, journal, live)).toMatchObject(missing);
    const recovered = await operations.recover(ref, journal.reopened(), null);
    expect(recovered).toMatchObject({ state: "down", detail: missing });
    await journal.begin("undo", { revision: 1 });
    expect(await operations.recover(ref, journal.reopened(), null)).toMatchObject({ state: "down", detail: missing });
  });

  const upgraded = async (all: Awaited<ReturnType<typeof startWorld>>) => {
    const { world } = all;
    const { journal, apply } = await start(all);
    world.helm = () => {
      const description = `Tidemark run ${journal.run_id}`;
      world.revisions = [
        { revision: 1, status: "superseded" },
        { revision: 2, status: "deployed", description, version: "1.1.0" },
      ];
      return { is_done: true, stdout: "", said: null };
    };
    await apply();
    world.asked = [];
    return journal;
  };

  test("whose process ended before it went back takes nobody else's revision for its own", async () => {
    const all = await startWorld({ revision: 1, status: "deployed" });
    await using _ = all.server;
    const journal = await upgraded(all);
    await journal.begin("undo", { revision: 1 });
    all.world.revisions.push({ revision: 3, status: "deployed", version: "3.0.0" });
    expect((await all.operations.recover(ref, journal.reopened(), null)).state).toBe("mixed");
    expect(all.world.asked).toEqual([]);
  });

  test("whose process ended twice while it went back knows its own revisions", async () => {
    const all = await startWorld({ revision: 1, status: "deployed" });
    await using _ = all.server;
    const journal = await upgraded(all);
    await journal.begin("undo", { revision: 1 });
    await journal.begin("undo", { revision: 1 });
    all.world.revisions.push(
      { revision: 3, status: "pending-rollback", description: "Rollback to 1" },
      { revision: 4, status: "deployed", description: "Rollback to 1" },
    );
    expect((await all.operations.recover(ref, journal.reopened(), null)).state).toBe("untouched");
    expect(all.world.asked).toEqual([]);
  });

  test("names no change of defaults that only are written otherwise, or come from subcharts", async () => {
    const values = { mode: 420, enabled: true, database: { image: "db", global: {} } };
    const all = await startWorld({ revision: 1, status: "deployed", values: { ...values, tag: "1" } });
    await using _ = all.server;
    all.world.helm = (args) =>
      args[0] === "show"
        ? { is_done: true, stdout: "mode: 0644\nenabled: yes\ntag: '2'\n", said: null }
        : rendered({ values: { ...values, tag: "2" } });
    const { plan } = await start(all);
    expect(plan.diff.map(({ path, before, after }) => [path, before, after])).toEqual([["values.tag", "1", "2"]]);
  });

  test("warns of workloads that only somebody replaces", async () => {
    const manifest =
      "kind: StatefulSet\napiVersion: apps/v1\nmetadata: {name: vault}\nspec: {updateStrategy: {type: OnDelete}}\n";
    const all = await startWorld({ revision: 1, status: "deployed" });
    await using _ = all.server;
    all.world.helm = () => rendered({}, manifest);
    const { plan } = await start(all);
    expect(plan.warnings.map(({ code }) => code)).toContain("on_delete");
  });

  test("is quoted without what was set for the release in secret, by the plan and by the run", async () => {
    const secret = "hunter2-in-the-values";
    const words = { is_done: false, stdout: "", said: plain(`execution error at (web/x.yaml:1:4): weak: ${secret}`) };
    const all = await startWorld({ revision: 1, status: "deployed", config: { db: { password: secret } } });
    await using _ = all.server;
    const { world } = all;
    world.helm = () => words;
    const { plan } = await start(all);
    expect(plan.refusals.map(({ code }) => code)).toEqual(["not_rendered"]);
    expect(JSON.stringify(plan)).not.toContain(secret);
    world.helm = (args) => {
      if (isLook(args)) return rendered({});
      world.revisions = [
        ...world.revisions,
        { revision: 2, status: "failed", description: `no: ${secret}`, config: { db: { password: secret } } },
      ];
      return words;
    };
    const { journal, apply } = await start(all);
    await apply();
    expect(JSON.stringify(await all.operations.settle(ref, journal, live))).toContain("weak: ");
    expect(JSON.stringify(journal.entries())).not.toContain(secret);
  });

  test("tells of a long failure without the part of a secret at which it is cut", async () => {
    const secret = "hunter2-in-the-values";
    const description = `${"x".repeat(490)}${secret} and more`;
    const failed = { revision: 1, status: "failed", description, config: { db: { password: secret } } };
    const all = await startWorld(failed);
    await using _ = all.server;
    expect(JSON.stringify(await all.operations.inspect(ref))).not.toContain("hunter2");
  });

  test("whose process ended while helm rolled an unfinished revision back waits for that", async () => {
    const all = await startWorld({ revision: 2, status: "pending-upgrade" }, { revision: 1, status: "deployed" });
    await using _ = all.server;
    const { world, operations } = all;
    world.helm = () => {
      throw new Error("The process ends");
    };
    const { journal, apply } = await start(all);
    await apply().catch(() => undefined);
    expect(journal.written()).toEqual(["unlock begin"]);
    expect((await operations.recover(ref, journal.reopened(), null)).state).toBe("untouched");
    expect(world.awaited).toEqual([journal.run_id]);
  });

  test("is about the release that its labels name, whatever its content says", async () => {
    const all = await startWorld({ revision: 1, status: "deployed", name: "--kube-apiserver=https://elsewhere" });
    await using _ = all.server;
    await start(all);
    expect(all.world.asked.flat().filter((arg) => arg.includes("elsewhere"))).toEqual([]);
  });
});

peerSuite("Helm releases that may not be read", authorityMissing(), () => {
  test("are no missing releases, where only ConfigMaps may be listed", async () => {
    const all = await startWorld({ revision: 1, status: "deployed" });
    await using _ = all.server;
    expect((await all.operations.inspect(ref)).ref).toEqual(ref);
    all.world.may_list_secrets = false;
    expect(await all.operations.inspect(ref).catch(({ code }) => code)).toBe("unauthorized");
  });
});
