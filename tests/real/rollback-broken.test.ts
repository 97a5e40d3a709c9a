import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { RuntimeSession } from "../../src/runtimes/session.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { isPodman, matrixSuite } from "../support/engine-modes.ts";
import { eventually } from "../support/eventually.ts";
import { inspectOne } from "../support/group-target.ts";
import { memoryJournal } from "../support/memory-journal.ts";
import { apply } from "../support/prepared.ts";
import {
  changeTo,
  images,
  importImages,
  openSession,
  removeContainers,
  restore,
  runContainer,
  target,
} from "../support/update-target.ts";

setDefaultTimeout(120_000);

matrixSuite("rollbacks from what does not run", (mode) => {
  let engine: TestEngine;
  let session: RuntimeSession;
  beforeAll(async () => {
    engine = await startEngine({ mode });
    await importImages(engine);
    for (const [index, Name] of ["front", "back"].entries()) {
      const Config = [{ Subnet: `10.98.${index}.0/24` }];
      await engine.call("POST", "/networks/create", { Name, CheckDuplicate: true, IPAM: { Config } });
    }
    session = await openSession(engine);
  });
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
    await engine.stop();
  });

  const networksOf = async (name: string) => (await inspectOne(engine, name)).NetworkSettings.Networks;

  test("one on two networks goes back, though its new version ends at once", async () => {
    const mac = "02:42:0a:62:01:63";
    await runContainer(engine, "web", {
      Image: images.old,
      HostConfig: { NetworkMode: "front", RestartPolicy: { Name: "no" } },
    });
    await engine.call("POST", "/networks/back/connect", { Container: "web", EndpointConfig: { MacAddress: mac } });
    const chosen = (await networksOf("web")).back?.MacAddress;
    const snapshot = (await session.snapshots?.capture(target("web"))) ?? "";

    const update = memoryJournal();
    await apply(session, await session.plan(target("web"), [changeTo(images.exits)]), update);
    await session.finish(target("web"), update);
    await eventually("the end of the new one", async () => !(await inspectOne(engine, "web")).State.Running);

    const journal = memoryJournal();
    const plan = await restore(session, target("web"), snapshot, journal);
    await session.finish(target("web"), journal);
    expect(plan.refusals).toEqual([]);
    const found = await inspectOne(engine, "web");
    // Podman says in full what is meant.
    expect(found.Config.Image.replace(/^docker\.io\//, "")).toBe(images.old);
    expect(found.State.Running).toBe(true);
    const networks = await networksOf("web");
    expect(Object.keys(networks).sort()).toEqual(["back", "front"]);
    // Docker 20.10 takes none for a further network; Podman does not tell which was chosen, which its plan says.
    if (chosen === mac && !isPodman(mode)) expect(networks.back?.MacAddress).toBe(mac);
    await removeContainers(engine, "web");
  });

  // The others keep an image as long as a container of it is there.
  test.if(mode === "docker-20" || mode === "docker-29")(
    "one goes back from a container whose image is gone, which cannot be saved",
    async () => {
      await runContainer(engine, "web", { Image: images.old, HostConfig: { RestartPolicy: { Name: "no" } } });
      const snapshot = (await session.snapshots?.capture(target("web"))) ?? "";
      const gone = "lab/app:gone";
      await engine.importImage(gone, ["ENV GONE=1"]);
      const update = memoryJournal();
      await apply(session, await session.plan(target("web"), [changeTo(gone)]), update);
      await session.finish(target("web"), update);
      await engine.call("POST", "/containers/web/stop?t=0");
      await engine.call("DELETE", `/images/${gone}?force=1`);

      await expect(session.snapshots?.capture(target("web"))).rejects.toMatchObject({ code: "not_found" });
      const journal = memoryJournal();
      const plan = await restore(session, target("web"), snapshot, journal);
      await session.finish(target("web"), journal);
      expect(plan.refusals).toEqual([]);
      expect(plan.warnings.map(({ code }) => code)).toEqual(["not_saved"]);
      expect(await inspectOne(engine, "web")).toMatchObject({
        Config: { Image: images.old },
        State: { Running: true },
      });
      await removeContainers(engine, "web");
    },
  );
});
