import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { engineAddress } from "../../src/runtimes/engine/address.ts";
import { defaultDeadlines, type EngineClient, negotiate } from "../../src/runtimes/engine/client.ts";
import { engineTransport } from "../../src/runtimes/engine/transport.ts";
import type { RuntimeSession } from "../../src/runtimes/session.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { freePort } from "../peers/free-port.ts";
import { engineSuite, flavours, kindOf } from "../support/engine-modes.ts";
import { memoryJournal, ProcessDeath } from "../support/memory-journal.ts";
import { apply } from "../support/prepared.ts";
import { changeTo, containersNamed, images, importImages, openSession, target } from "../support/update-target.ts";

setDefaultTimeout(240_000);

const live = new AbortController().signal;
const published = (port: number) => ({ "80/tcp": [{ HostIp: "127.0.0.1", HostPort: String(port) }] });

async function holdPort(port: number): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return server;
}

engineSuite(
  "networks that a failed start drops",
  (mode) => {
    let engine: TestEngine;
    let session: RuntimeSession;
    beforeAll(async () => {
      engine = await startEngine({ mode });
      await importImages(engine);
      for (const [place, name] of ["front", "back"].entries()) {
        const Subnet = `10.213.${place}.0/24`;
        await engine.call("POST", "/networks/create", {
          Name: name,
          CheckDuplicate: true,
          IPAM: { Config: [{ Subnet }] },
        });
      }
      session = await openSession(engine);
    });
    afterAll(async () => {
      await session?.[Symbol.asyncDispose]();
      await engine?.stop();
    });

    const isNewer = mode !== "docker-20";
    const endpoint = (place: number, host: number) => ({
      Aliases: [`alias-${place}`],
      IPAMConfig: { IPv4Address: `10.213.${place}.${host}` },
      ...(isNewer ? { MacAddress: `02:42:ac:11:${host}:0${place}`, GwPriority: place + 1 } : {}),
    });
    const create = async (name: string, port: number, host: number) => {
      await engine.call("POST", `/containers/create?name=${name}`, {
        Image: images.old,
        StopTimeout: 1,
        ExposedPorts: { "80/tcp": {} },
        HostConfig: { NetworkMode: "front", PortBindings: published(port), RestartPolicy: { Name: "always" } },
        NetworkingConfig: { EndpointsConfig: { front: endpoint(0, host) } },
      });
      await engine.call("POST", "/networks/back/connect", { Container: name, EndpointConfig: endpoint(1, host) });
    };
    const inspect = async (name: string) =>
      (await engine.call("GET", `/containers/${name}/json`)) as {
        Id: string;
        State: { Status: string };
        NetworkSettings: { Networks: Record<string, Record<string, unknown>>; Ports: unknown };
      };
    /** Everything about its networks that is not made anew at each start. */
    const networksOf = async (name: string) => {
      const { NetworkSettings: settings } = await inspect(name);
      const networks = Object.entries(settings.Networks).map(([network, found]) => {
        const { EndpointID: _endpoint, ...kept } = found;
        return [network, kept] as const;
      });
      return { networks: Object.fromEntries(networks), ports: settings.Ports };
    };

    test("are connected again from the snapshot on the way back", async () => {
      const [name, port] = ["web", await freePort()];
      await create(name, port, 77);
      await engine.call("POST", `/containers/${name}/start`);
      const before = await networksOf(name);
      const { Id: id } = await inspect(name);
      const snapshot = (await session.snapshots?.capture(target(name))) ?? "";
      const journal = memoryJournal();
      const plan = await session.plan(target(name), [changeTo(images.next)]);
      expect(plan.refusals).toEqual([]);
      // It ends right after the old one was stopped, and somebody tries to help while the port is taken.
      journal.dieAt(7, "after");
      await expect(apply(session, plan, journal)).rejects.toThrow(ProcessDeath);
      expect(journal.written().at(-1)).toBe("rename_new finish");
      const holder = await holdPort(port);
      await expect(engine.call("POST", `/containers/${id}/start`)).rejects.toThrow(/address already in use/);
      await new Promise((resolve) => holder.close(resolve));
      // One of the two, by chance.
      if (isNewer) expect(Object.keys((await networksOf(id)).networks)).toHaveLength(1);

      expect(await session.recover(target(name), journal.reopened(), snapshot)).toMatchObject({ state: "untouched" });
      expect(await inspect(name)).toMatchObject({ Id: id, State: { Status: "running" } });
      expect(await networksOf(name)).toEqual(before);
      expect(await containersNamed(engine, name)).toHaveLength(1);
    });

    test("are named in the plan where no run knows them", async () => {
      const [name, port] = ["stray", await freePort()];
      await create(name, port, 78);
      const holder = await holdPort(port);
      await expect(engine.call("POST", `/containers/${name}/start`)).rejects.toThrow(/address already in use/);
      await new Promise((resolve) => holder.close(resolve));
      const { refusals } = await session.plan(target(name), [changeTo(images.next)]);
      const lost = refusals.filter((each) => each.code === "network_lost");
      expect(lost).toHaveLength(isNewer ? 1 : 0);
      // What the refusal says to do helps.
      const left = Object.keys((await inspect(name)).NetworkSettings.Networks);
      for (const [place, network] of ["front", "back"].entries()) {
        if (left.includes(network)) continue;
        const body = { Container: name, EndpointConfig: endpoint(place, 78) };
        await engine.call("POST", `/networks/${network}/connect`, body);
      }
      await engine.call("POST", `/containers/${name}/start`);
      expect((await session.plan(target(name), [changeTo(images.next)])).refusals).toEqual([]);
    });
  },
  ["docker-20", "docker-29", "docker-29-containerd"],
);

engineSuite(
  "a published port that an engine which was killed did not release",
  (mode) => {
    let engine: TestEngine;
    let client: EngineClient;
    beforeAll(async () => {
      engine = await startEngine({ mode });
      await importImages(engine);
      const transport = engineTransport(engineAddress(engine.address, false, null), live);
      ({ client } = await negotiate(transport, null, defaultDeadlines, flavours[kindOf(mode)]));
    });
    afterAll(() => engine?.stop());

    const create = async (name: string, port: number) => {
      const HostConfig = { PortBindings: published(port) };
      await engine.call("POST", `/containers/create?name=${name}`, {
        ...{ Image: images.old, StopTimeout: 1, ExposedPorts: { "80/tcp": {} }, HostConfig },
      });
    };

    test("is said to be free again once the engine is restarted, and is", async () => {
      const port = await freePort();
      await create("web", port);
      // It takes a few milliseconds of the start call to meet: mostly the first time does.
      let refusal = "";
      for (let waitMs = 60; !refusal.includes("already allocated"); waitMs += 20) {
        await create("killed", port);
        const starting = engine.call("POST", "/containers/killed/start").catch(() => undefined);
        await Bun.sleep(waitMs);
        await engine.kill();
        await starting;
        await engine.restart();
        await engine.call("DELETE", "/containers/killed?force=1");
        refusal = await client.startContainer("web").then(() => "", String);
        await engine.call("POST", "/containers/web/stop?t=0");
      }
      expect(refusal).toEndWith(
        `No container publishes port ${port}: the engine did not release it. Restart the engine to free it`,
      );
      await engine.kill();
      await engine.restart();
      await client.startContainer("web");

      await create("second", port);
      await expect(client.startContainer("second")).rejects.toThrow(`"web" publishes port ${port}`);
    });
  },
  ["docker-20"],
);
