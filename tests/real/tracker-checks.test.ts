import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { account, layTags, type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { eventually } from "../support/eventually.ts";
import { pushImage } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import {
  type ApiClient,
  apiClient,
  firstSignIn,
  type RunningServer,
  startServer,
  testPassword,
} from "../support/server.ts";

const timeoutMs = 120_000;

describe("trackers on a real registry", () => {
  peerSuite("with sign-in by token", registryMissing(), () => {
    let registry: Registry;
    let server: RunningServer;
    let api: ApiClient;

    const push = (tag: string, version = tag) =>
      pushImage(registry.url, registry.auth, "acme/app", tag, { version, created: null });
    /** Asks for a check and gives what the log says of it. */
    const check = async (name: string) => {
      const before = server.lines.length;
      expect((await api.post(`/trackers/${name}/checks`)).status).toBe(202);
      return await eventually("the end of the check", () =>
        server.lines.slice(before).find((text) => /Source checked|Check failed/.test(text)),
      );
    };
    /** The tracker, once it is in a state. */
    const inState = (name: string, state: string) =>
      eventually(`${name} to be ${state}`, async () => {
        const { body } = await api.get(`/trackers/${name}`);
        return body.state === state ? body : null;
      });
    const events = async () => {
      const { body } = await api.get("/events");
      const items = Array.isArray(body.items) ? body.items : [];
      return items.map((event) => `${event.kind} ${event.facts.channel} ${event.facts.tag}`);
    };
    const signIn = async () => {
      const session = await apiClient(server.url).post("/session", { username: "admin", password: testPassword });
      return apiClient(server.url, String(session.body.token));
    };
    const source = (image: string, include = "^\\d+\\.\\d+\\.\\d+$") => ({
      key: "main",
      kind: "oci",
      config: { image, registry: registry.url },
      channels: [{ type: "stable", include_pattern: include }],
    });

    beforeAll(async () => {
      registry = await startRegistry({ auth: "token" });
      server = await startServer();
      api = await firstSignIn(server);
    }, timeoutMs);
    afterAll(async () => {
      await server?.kill("SIGTERM");
      await registry?.stop();
    });

    test(
      "a source without its credential is refused in upstream's words",
      async () => {
        await push("1.0.0");
        await push("1.1.0-rc.1");
        await api.post("/trackers", { name: "app", sources: [source("acme/app")] });
        const failed = await inState("app", "failing");
        expect(JSON.stringify(failed)).toContain("unauthorized");
      },
      timeoutMs,
    );

    test(
      "a preview shows what a pattern takes before anything is saved",
      async () => {
        const credential = await api.post("/credentials", { name: "registry", kind: "oci", secret: account });
        const { key: _, ...rest } = { ...source("acme/app"), credential_id: credential.body.id };
        const preview = await api.post("/tracker-previews", rest);
        expect(preview).toMatchObject({
          status: 200,
          body: { total: 2, channels: [{ accepted_count: 1, refused_count: 1, latest: "1.0.0" }] },
        });
        const patch = { sources: [{ ...source("acme/app"), credential_id: credential.body.id }] };
        expect((await api.request("PATCH", "/trackers/app", patch)).status).toBe(200);
        await inState("app", "ok");
      },
      timeoutMs,
    );

    test(
      "an unchanged source costs two requests, also after a restart",
      async () => {
        expect(await check("app")).toMatch(/requests=2 /);
        expect(await check("app")).toMatch(/requests=2 /);
        const { data_dir } = server;
        expect(await server.kill("SIGTERM")).toBe(0);
        server = await startServer({ data_dir });
        api = await signIn();
        // The token of the registry's sign-in was in memory: it is asked for once more.
        expect(await check("app")).toMatch(/requests=[45] /);
        expect(await check("app")).toMatch(/requests=[23] /);
        expect(await events()).toEqual([]);
      },
      timeoutMs,
    );

    test(
      "a pushed version is announced, a tag with a new digest republished, each once",
      async () => {
        await push("1.1.0");
        await check("app");
        expect(await events()).toEqual(["new_release stable 1.1.0"]);
        await push("1.1.0", "1.1.0 again");
        await check("app");
        await check("app");
        expect(await events()).toEqual(["republish stable 1.1.0", "new_release stable 1.1.0"]);
        const { body } = await api.get("/trackers/app/releases");
        expect(body.items).toMatchObject([{ tag: "1.1.0", latest_in: ["stable"] }, { tag: "1.0.0" }]);
      },
      timeoutMs,
    );

    test(
      "a registry that went away fails the check and keeps the history",
      async () => {
        const other = await startRegistry();
        await pushImage(other.url, other.auth, "acme/gone", "1.0.0");
        const input = {
          name: "gone",
          sources: [{ ...source("acme/gone"), config: { image: "acme/gone", registry: other.url } }],
        };
        await api.post("/trackers", input);
        await inState("gone", "ok");
        await other.stop();
        await api.post("/trackers/gone/checks");
        const failed = await inState("gone", "failing");
        expect(failed).toMatchObject({
          sources: [{ error: { code: "unreachable" }, channels: [{ latest: { tag: "1.0.0" } }] }],
        });
      },
      timeoutMs,
    );

    test(
      "a registry that dies and returns is one outage, and its sources are checked again without anybody asking",
      async () => {
        const inner = await startRegistry();
        const names = ["lost-a", "lost-b", "lost-c"];
        for (const name of names) await pushImage(inner.url, inner.auth, `acme/${name}`, "1.0.0");
        const pass = (request: Request) => {
          const { pathname, search } = new URL(request.url);
          return fetch(`${inner.url}${pathname}${search}`, { method: request.method, headers: request.headers });
        };
        const front = (port: number) => Bun.serve({ hostname: "127.0.0.1", port, fetch: pass });
        const first = front(0);
        const { port = 0 } = first;
        for (const name of names) {
          const config = { image: `acme/${name}`, registry: `http://127.0.0.1:${port}` };
          await api.post("/trackers", { name, sources: [{ ...source(name), config }] });
        }
        for (const name of names) await inState(name, "ok");
        await first.stop(true);
        for (const name of names) await api.post(`/trackers/${name}/checks`);
        for (const name of names) await inState(name, "failing");
        const host = `127.0.0.1:${port}`;
        const outagesOf = async (list: "outages" | "past_outages") => {
          const { body } = await api.get("/upstreams");
          return (body[list] as readonly { host: string }[]).filter((outage) => outage.host === host);
        };
        expect(await outagesOf("outages")).toMatchObject([
          {
            ...{ failures: 1, waiting: 3, error: { code: "unreachable" } },
            sources: names.map((tracker) => ({ tracker, source: "main" })),
          },
        ]);
        for (const name of names) await pushImage(inner.url, inner.auth, `acme/${name}`, "1.1.0");
        const second = front(port);
        for (const name of names) await inState(name, "ok");
        expect(await outagesOf("outages")).toEqual([]);
        expect(await outagesOf("past_outages")).toMatchObject([{ waiting: 0, next_try_at: null }]);
        const found = (await events()).filter((event) => event === "new_release stable 1.1.0");
        expect(found.length).toBeGreaterThanOrEqual(names.length);
        await second.stop(true);
        await inner.stop();
      },
      timeoutMs,
    );

    test(
      "10,000 tags are checked and previewed",
      async () => {
        await pushImage(registry.url, registry.auth, "acme/many", "1.0.0");
        layTags(
          registry,
          "acme/many",
          "1.0.0",
          Array.from({ length: 10_000 }, (_, n) => `1.${Math.floor(n / 100)}.${n % 100}`),
        );
        const credential = await api.get("/credentials");
        const items = Array.isArray(credential.body.items) ? credential.body.items : [];
        const many = { ...source("acme/many"), credential_id: items[0].id };
        const { key: _, ...preview } = many;
        const answer = await api.post("/tracker-previews", preview);
        expect(answer).toMatchObject({ body: { total: 10_000, channels: [{ latest: "1.99.99" }] } });
        await api.post("/trackers", { name: "many", sources: [many] });
        await inState("many", "ok");
        const { body } = await api.get("/trackers/many");
        expect(body).toMatchObject({
          sources: [{ upstream_total: 10_000, channels: [{ latest: { tag: "1.99.99" } }] }],
        });
      },
      timeoutMs,
    );
  });
});
