import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { containersOf } from "../../src/runtimes/containers-detail.ts";
import { listAt, objectAt, type RawObject, stringAt, stringsAt } from "../../src/runtimes/engine/raw.ts";
import type { UpdatePlan } from "../../src/runtimes/plan.ts";
import type { TargetRef } from "../../src/runtimes/target.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { engineSuite, pointsOf } from "../support/engine-modes.ts";
import { type MemoryJournal, memoryJournal, ProcessDeath } from "../support/memory-journal.ts";
import { apply } from "../support/prepared.ts";
import {
  changeTo,
  containersNamed,
  images,
  importImages,
  openSession,
  removeContainers,
  restore,
  target,
} from "../support/update-target.ts";

// What only Podman has. Everything that it shares with Docker is in the suites of all engines.
setDefaultTimeout(120_000);

const libpod = "/v4.0.0/libpod";

engineSuite("what only Podman has", () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await startEngine({ mode: "podman" });
    await importImages(engine);
  }, 120_000);
  afterAll(async () => await engine.stop(), 60_000);

  const inspect = async (name: string) => objectAt(await engine.call("GET", `${libpod}/containers/${name}/json`));

  /** As its command line would: the words are kept, and `spec` is what they come to. */
  async function run(name: string, spec: RawObject, ...options: readonly string[]): Promise<string> {
    const { Id } = (await engine.call("POST", `${libpod}/containers/create`, {
      name,
      image: images.old,
      stop_timeout: 1,
      ...spec,
      containerCreateCommand: ["podman", "run", "-d", "--name", name, ...options, images.old],
    })) as { Id: string };
    await engine.call("POST", `/containers/${name}/start`);
    return Id;
  }

  async function update(ref: TargetRef, services: readonly string[], journal: MemoryJournal): Promise<UpdatePlan> {
    await using session = await openSession(engine);
    const plan = await session.plan(
      ref,
      services.map((service) => ({ ...changeTo(images.next), service })),
    );
    expect(plan.refusals).toEqual([]);
    await apply(session, plan, journal);
    return plan;
  }

  /** `name state image` of everything, the ids that `web` requires, and that of `db`. */
  async function pair(project: string): Promise<{ found: readonly string[]; isLed: boolean }> {
    const found = [
      ...(await containersNamed(engine, `${project}_db_1`)),
      ...(await containersNamed(engine, `${project}_web_1`)),
    ];
    const [db, web] = [await inspect(`${project}_db_1`), await inspect(`${project}_web_1`)];
    return {
      found: found.map((each) => `${each.name} ${each.state} ${each.image}`),
      isLed: stringsAt(web.Dependencies).join() === db.Id,
    };
  }
  const bothRun = (project: string, image: string) => ({
    found: [`${project}_db_1 running ${image}`, `${project}_web_1 running ${image}`],
    isLed: true,
  });

  /** What `podman-compose up -d` makes of a database and what depends on it: a pod without a container of its own. */
  async function composeProject(project: string): Promise<void> {
    await engine.call("POST", `${libpod}/pods/create`, { name: `pod_${project}`, no_infra: true });
    const labels = (service: string) => ({
      "io.podman.compose.project": project,
      "com.docker.compose.project": project,
      "com.docker.compose.service": service,
      "com.docker.compose.container-number": "1",
      PODMAN_SYSTEMD_UNIT: `podman-compose@${project}.service`,
    });
    const common = { pod: `pod_${project}` };
    const data = { volumes: [{ Name: `${project}_data`, Dest: "/data" }] };
    await run(`${project}_db_1`, { ...common, ...data, labels: labels("db") }, `--pod=pod_${project}`);
    const required = [`${project}_db_1`];
    const options = [`--pod=pod_${project}`, `--requires=${project}_db_1`];
    await run(`${project}_web_1`, { ...common, dependencyContainers: required, labels: labels("web") }, ...options);
  }
  async function removeProject(project: string): Promise<void> {
    for (const service of ["web", "db"]) await removeContainers(engine, `${project}_${service}_1`);
    await engine.call("DELETE", `${libpod}/pods/pod_${project}?force=true`);
  }

  test("what requires a container is made anew with it, goes back with it, and starts nothing that was kept aside", async () => {
    await run("req_db_1", {});
    await run("req_web_1", { dependencyContainers: ["req_db_1"] }, "--requires=req_db_1");
    await using session = await openSession(engine);
    const snapshot = (await session.snapshots?.capture(target("req_web_1"))) ?? "";
    const first = memoryJournal();
    const plan = await update(target("req_db_1"), ["main"], first);
    expect(containersOf(plan.detail).map((each) => `${each.name} ${each.because}`)).toEqual([
      "req_db_1 desired",
      "req_web_1 shares",
    ]);
    await session.undo(target("req_db_1"), first, null);
    expect(await pair("req")).toEqual(bothRun("req", images.old));

    const second = memoryJournal();
    await update(target("req_db_1"), ["main"], second);
    await engine.call("POST", "/containers/req_web_1/restart?t=0");
    expect((await containersNamed(engine, "req_db_1")).map((each) => each.state)).toEqual(["running", "exited"]);
    await session.finish(target("req_db_1"), second);
    await update(target("req_web_1"), ["main"], memoryJournal());
    await restore(session, target("req_web_1"), snapshot, memoryJournal());
    expect((await pair("req")).isLed).toBe(true);
    await removeContainers(engine, "req_web_1");
    await removeContainers(engine, "req_db_1");
  });

  test("a running one is not updated while what it requires was stopped", async () => {
    await run("half_db_1", {});
    await run("half_web_1", { dependencyContainers: ["half_db_1"] }, "--requires=half_db_1");
    await engine.call("POST", "/containers/half_db_1/stop?t=0");
    await using session = await openSession(engine);
    const codes = async (name: string) =>
      (await session.plan(target(name), [changeTo(images.next)])).refusals.map((each) => each.code);
    expect(await codes("half_web_1")).toEqual(["requires_stopped"]);
    expect(await codes("half_db_1")).toEqual(["has_dependents"]);
    await removeContainers(engine, "half_web_1");
    await removeContainers(engine, "half_db_1");
  });

  test("a project of podman-compose is updated as a group, wherever a run is cut short", async () => {
    await composeProject("shop");
    const ref = { kind: "compose", id: "shop" } as const;
    const before = await inspect("shop_db_1");
    const whole = memoryJournal();
    const plan = await update(ref, ["web", "db"], whole);
    expect(plan.warnings.map((each) => each.code)).toContain("podman_compose_unit");
    expect(containersOf(plan.detail).map((each) => each.name)).toEqual(["shop_db_1", "shop_web_1"]);
    await using session = await openSession(engine);
    await session.finish(ref, whole);
    expect(await pair("shop")).toEqual(bothRun("shop", images.next));
    const after = await inspect("shop_db_1");
    const volumes = (found: RawObject) => listAt(found.Mounts).map((mount) => stringAt(objectAt(mount).Name));
    expect([after.Pod, volumes(after)]).toEqual([before.Pod, ["shop_data"]]);

    const writes = whole.written().filter((write) => !write.startsWith("remove_old")).length;
    for (const write of pointsOf("podman", { last: writes })) {
      await removeProject("shop");
      await composeProject("shop");
      const journal = memoryJournal();
      journal.dieAt(write, "after");
      await update(ref, ["web", "db"], journal).then(
        () => undefined,
        (error: unknown) => expect(error).toBeInstanceOf(ProcessDeath),
      );
      const reopened = journal.reopened();
      const { state } = await session.recover(ref, reopened, null);
      if (state === "started") await session.finish(ref, reopened);
      const image = state === "untouched" ? images.old : images.next;
      expect({ write, ...(await pair("shop")) }).toEqual({ write, ...bothRun("shop", image) });
    }
    await removeProject("shop");
  });

  test("a member of a pod with volumes is updated with its own mounts, its health check run by hand as before", async () => {
    const podman = (...words: readonly string[]) => execFileSync(engine.cli ?? "podman", words, { stdio: "pipe" });
    // Debian's Podman has no program of its own for the container that holds the pod.
    podman("pod", "create", "--name=stocked", `--infra-image=${images.old}`, "--volume=shared:/of-pod");
    const own = ["--volume=mine:/of-member", "--health-cmd=true", "--health-interval=disable", "--stop-timeout=1"];
    podman("run", "--detach", "--name=member", "--pod=stocked", ...own, images.old);
    const shown = (found: RawObject) => ({
      pod: found.Pod,
      mounts: listAt(found.Mounts).map((mount) => [objectAt(mount).Name, objectAt(mount).Destination]),
      health: objectAt(found.Config).Healthcheck,
    });
    const before = shown(await inspect("member"));
    expect(before.mounts).toHaveLength(2);
    const journal = memoryJournal();
    await update(target("member"), ["main"], journal);
    await using session = await openSession(engine);
    await session.finish(target("member"), journal);
    const after = shown(await inspect("member"));
    expect({ ...after, mounts: after.mounts.toSorted() }).toEqual({ ...before, mounts: before.mounts.toSorted() });
    podman("pod", "rm", "--force", "--time=1", "stocked");
  });

  test("settings that inspect tells half or not at all arrive", async () => {
    const pidFile = join(tmpdir(), `tidemark-conmon-${process.pid}.pid`);
    for (const network of ["left", "right"]) await engine.call("POST", "/networks/create", { Name: network });
    const annotations = { "run.oci.keep_original_groups": "1", "org.opencontainers.image.title": "mine" };
    await run(
      "settings",
      {
        netns: { nsmode: "bridge" },
        networks: { left: { interface_name: "eth7" }, right: {} },
        annotations,
        conmon_pid_file: pidFile,
        mounts: [{ type: "tmpfs", source: "tmpfs", destination: "/q", options: ["size=2m", "notmpcopyup"] }],
        image_volumes: [{ Source: images.next, Destination: "/im", ReadWrite: true }],
      },
      ...["--network=left:interface_name=eth7", "--network=right"],
    );
    const journal = memoryJournal();
    await update(target("settings"), ["main"], journal);
    await using session = await openSession(engine);
    await session.finish(target("settings"), journal);
    const found = await inspect("settings");
    expect(found).toMatchObject({ ConmonPidFile: pidFile, Config: { Annotations: annotations } });
    expect(stringAt(objectAt(objectAt(found.HostConfig).Tmpfs)["/q"])).not.toContain("tmpcopyup");
    expect(await printed("settings", "ls /sys/class/net; touch /im/x && echo writable")).toEqual(
      expect.arrayContaining(["eth0", "eth7", "writable"]),
    );
    await removeContainers(engine, "settings");
    rmSync(pidFile, { force: true });
  });

  /** The lines that a command prints in a container, by way of a file there. */
  async function printed(name: string, script: string): Promise<readonly string[]> {
    const { Id } = (await engine.call("POST", `/containers/${name}/exec`, {
      AttachStdout: true,
      Cmd: ["/bin/sh", "-c", `(${script}) >/out 2>&1; for line in $(cat /out); do mkdir -p /lines/$line; done`],
    })) as { Id: string };
    await engine.call("POST", `/exec/${Id}/start`, { Detach: false });
    const changes = (await engine.call("GET", `/containers/${name}/changes`)) as { Path: string }[];
    return changes.map((each) => each.Path).flatMap((path) => (path.startsWith("/lines/") ? [path.slice(7)] : []));
  }
}, ["podman"]);
