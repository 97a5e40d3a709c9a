import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { say } from "../../src/messages/message.ts";
import { containersOf } from "../../src/runtimes/containers-detail.ts";
import type { EngineClient } from "../../src/runtimes/engine/client.ts";
import { findInjectedFiles, readInjectedFiles } from "../../src/runtimes/engine/compose/injected-files.ts";
import { composeOutlooks } from "../../src/runtimes/engine/compose/outlook.ts";
import { readTar } from "../../src/runtimes/engine/compose/tar.ts";
import { nameOf } from "../../src/runtimes/engine/objects.ts";
import { composeMissing, composeVersions } from "../peers/compose.ts";
import { engineMissing, sharedEngine, stopSharedEngines, type TestEngine } from "../peers/engine.ts";
import { type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { composeFolder, createProject, openClient, remake } from "../support/compose-project.ts";
import { isWholeMatrix } from "../support/engine-modes.ts";
import { english } from "../support/english.ts";
import { memoryJournal } from "../support/memory-journal.ts";
import { pushImage } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import { changeTo, openSession, restore, target } from "../support/update-target.ts";

setDefaultTimeout(120_000);

const modes = ["docker-20", "docker-29", "docker-29-containerd"] as const;
/** An old compose on the old engine, and the new one on a new engine; with `TIDEMARK_REPEATS` each on each. */
const pairs = isWholeMatrix
  ? modes.flatMap((mode) => composeVersions.map((version) => [mode, version] as const))
  : ([
      ["docker-20", "2.40.3"],
      ["docker-29-containerd", "5.6.0"],
    ] as const);
const platforms = ["linux/amd64", "linux/arm64", "linux/arm/v7"];

let registry: Registry;
let pushes = 0;

afterAll(async () => {
  await stopSharedEngines();
  await registry?.stop();
});

for (const [mode, version] of pairs) {
  const missing = engineMissing(mode) ?? composeMissing(version) ?? registryMissing();
  peerSuite(`compose ${version} on ${mode}`, missing, () => {
    let engine: TestEngine;
    let client: EngineClient;
    let opened: Awaited<ReturnType<typeof openClient>>;
    const folders = [composeFolder(version)];

    beforeAll(async () => {
      registry ??= await startRegistry();
      engine = await sharedEngine(mode);
      opened = await openClient(engine);
      client = opened.client;
    });

    /** Pushes and pulls an image whose content nobody has yet. */
    const release = async (repository: string, tag: string, form: "index" | "manifest" = "index") => {
      pushes += 1;
      const options = { version: `${tag}-${pushes}`, ...(form === "index" ? { platforms } : { form }) };
      await pushImage(registry.url, null, repository, tag, options);
      await engine.pullImage(`${registry.host}/${repository}:${tag}`);
      return `${registry.host}/${repository}:${tag}`;
    };
    const repositoryOf = (name: string) => `${name}-${mode}-${version}`.replaceAll(".", "-");

    test.each(["index", "manifest"] as const)(
      "the same tag with new content, an %s: `up` recreates nothing",
      async (form) => {
        const repository = repositoryOf(`same-${form}`);
        const image = await release(repository, "1.0.0", form);
        await using project = createProject(engine, client, version, {
          "compose.yaml": `services:\n  app:\n    image: ${image}\n`,
        });
        const before = await project.up();
        await release(repository, "1.0.0", form);
        const container = await project.container("app");

        await using session = await openSession(engine.address);
        const journal = memoryJournal();
        const ref = target(nameOf(container));
        const plan = await session.plan(ref, [changeTo(image)]);
        await (await session.prepare(plan, [], journal)).apply();
        await session.finish(ref, journal);

        const updated = await project.ids();
        expect(Object.keys(updated)).toEqual(Object.keys(before));
        expect(updated).not.toEqual(before);
        expect(await project.up()).toEqual(updated);
      },
    );

    test("another tag and our patch applied: `up` recreates nothing", async () => {
      const repository = repositoryOf("patched");
      const [from, to] = [await release(repository, "1.0.0"), await release(repository, "1.1.0")];
      await using project = createProject(engine, client, version, {
        "compose.yaml": [
          "services:",
          "  app:",
          `    image: "${from}"   # keep me`,
          "    environment: {TOKEN: secret-in-the-file}",
          "  other:",
          `    image: ${from}`,
          "",
        ].join("\n"),
      });
      await project.up();
      const container = await project.container("app");
      const [outlook] = await composeOutlooks([{ container, reference: to }], { folders });
      expect(outlook?.reason).toBeNull();
      expect(outlook?.config_hash).toMatch(/^[0-9a-f]{64}$/);
      expect(outlook?.notice).toMatchObject({
        service: "app",
        is_readable: true,
        path: `${project.folder}/compose.yaml`,
      });
      expect(english(outlook?.notice?.message)).toContain("recreates nothing");
      expect(outlook?.notice?.patch).not.toContain("secret-in-the-file");

      await remake(opened, container, to, outlook);
      project.patch(outlook?.notice?.patch ?? "");
      const updated = await project.ids();
      expect(await project.up()).toEqual(updated);
      expect((await project.container("app")).Config.Image).toBe(to);
    });

    test("a tag from the environment file, for two services at once: `up` recreates nothing but who shows the tag", async () => {
      const repository = repositoryOf("variable");
      const [from, to] = [await release(repository, "1.0.0"), await release(repository, "1.1.0")];
      const tag = "$" + "{TAG:-0.9.0}";
      const image = from.replace("1.0.0", tag);
      await using project = createProject(engine, client, version, {
        "compose.yaml": [
          "services:",
          `  web: {image: "${image}"}`,
          `  worker: {image: "${image}"}`,
          `  shows: {image: "${image}", environment: {SHOWN: "${tag}"}}`,
          "",
        ].join("\n"),
        ".env": "PASSWORD=hidden\nTAG=1.0.0\n",
      });
      await project.up();
      const services = ["web", "worker", "shows"];
      const containers = await Promise.all(services.map((service) => project.container(service)));
      const moves = containers.map((container) => ({ container, reference: to }));
      const outlooks = await composeOutlooks(moves, { folders });
      const patch = outlooks[0]?.notice?.patch ?? "";
      expect(outlooks.map((each) => each.reason)).toEqual([null, null, say("compose.edit_changes_more")]);
      expect(outlooks.map((each) => each.notice?.patch)).toEqual([patch, "", ""]);
      expect(patch).not.toContain("hidden");
      for (const [index, container] of containers.entries()) await remake(opened, container, to, outlooks[index]);
      project.patch(patch);
      const updated = await project.ids();
      const after = await project.up();
      const different = Object.keys(after).filter((name) => after[name] !== updated[name]);
      expect(different).toEqual([`${project.name}-shows-1`]);
      expect((await project.container("shows")).Config.Env).toContain("SHOWN=1.1.0");
    });

    test("equal replicas are equal, in whatever order compose writes what it keeps in maps", async () => {
      const repository = repositoryOf("replicas");
      const [from, to] = [await release(repository, "1.0.0"), await release(repository, "1.1.0")];
      const members = {
        image: from,
        scale: 3,
        extra_hosts: ["a:10.0.0.1", "b:10.0.0.2", "c:10.0.0.3", "d:10.0.0.4"],
        ulimits: { nofile: 4096, nproc: 4096, core: 0, memlock: 65536 },
        depends_on: ["one", "two", "three"],
      };
      const needed = { image: from };
      await using project = createProject(engine, client, version, {
        "compose.yaml": JSON.stringify({ services: { app: members, one: needed, two: needed, three: needed } }),
      });
      expect(Object.keys(await project.up())).toHaveLength(6);
      await using session = await openSession(engine.address);
      const ref = { kind: "compose", id: project.name } as const;
      const plan = await session.plan(ref, [{ ...changeTo(to), service: "app" }]);
      expect(plan.refusals).toEqual([]);
      expect(containersOf(plan.detail)).toHaveLength(3);
    });

    test("all patches applied, each once: compose reads what was wanted from every shared place", async () => {
      const repository = repositoryOf("shared");
      const [from, to] = [await release(repository, "1.0.0"), await release(repository, "1.1.0")];
      const line = `image: ${from}`;
      await using project = createProject(engine, client, version, {
        "compose.yaml": [
          `x-base: &base {${line}}`,
          "services:",
          "  merged: {<<: *base}",
          `  base:\n    ${line}`,
          "  one:\n    extends: base",
          "  two:\n    extends: one",
          "  three:\n    <<: *base\n    tty: true",
          "  four:\n    extends: three",
          `  anchor: &anchor\n    ${line}`,
          "  alias: *anchor",
          `  tag:\n    image: ${from.replace("1.0.0", "$" + "{TAG}")}`,
          `  again:\n    image: ${from.replace("1.0.0", "$" + "{TAG:-0.1.0}")}`,
          "",
        ].join("\n"),
        ".env": "TAG=1.0.0\n",
      });
      await project.up();
      const services = ["one", "two", "three", "four", "anchor", "alias", "tag", "again"];
      const moves = await Promise.all(
        services.map(async (service) => ({ container: await project.container(service), reference: to })),
      );
      const outlooks = await composeOutlooks(moves, { folders });
      const patches = outlooks.map(({ notice }) => notice?.patch ?? "");
      expect(patches.map((patch) => patch !== "")).toEqual([true, false, true, false, true, false, true, false]);
      for (const patch of patches) if (patch !== "") project.patch(patch);
      const images = await project.images();
      expect(images).toEqual({
        merged: from,
        base: from,
        ...Object.fromEntries(services.map((service) => [service, to])),
      });
    });

    test("another tag and no patch: the notice says that `up` goes back, and it does", async () => {
      const repository = repositoryOf("unpatched");
      const [from, to] = [await release(repository, "1.0.0"), await release(repository, "1.1.0")];
      await using project = createProject(engine, client, version, {
        "compose.yaml": `services:\n  app:\n    image: ${from}\n`,
      });
      await project.up();
      const container = await project.container("app");
      const [outlook] = await composeOutlooks([{ container, reference: to }], { folders });
      expect(english(outlook?.notice?.message)).toContain(`names "${from}": without this edit the next`);
      await remake(opened, container, to, outlook);
      await project.up();
      expect((await project.container("app")).Config.Image).toBe(from);
    });

    test("a file that was edited and not applied: nothing is promised", async () => {
      const repository = repositoryOf("edited");
      const [from, to] = [await release(repository, "1.0.0"), await release(repository, "1.1.0")];
      await using project = createProject(engine, client, version, {
        "compose.yaml": `services:\n  app:\n    image: ${from}\n`,
      });
      await project.up();
      project.write("compose.yaml", `services:\n  app:\n    image: ${from}\n    environment: {NEW: "1"}\n`);
      const container = await project.container("app");
      const [outlook] = await composeOutlooks([{ container, reference: to }], { folders });
      expect(outlook?.config_hash).toBeNull();
      expect(english(outlook?.notice?.message)).toContain("recreates the container");
      await remake(opened, container, to, outlook);
      const updated = await project.ids();
      project.patch(outlook?.notice?.patch ?? "");
      expect(await project.up()).not.toEqual(updated);
      expect((await project.container("app")).Config.Image).toBe(to);
    });

    test("a file that names the new image already: nothing to write, and `up` recreates nothing", async () => {
      const repository = repositoryOf("ahead");
      const [from, to] = [await release(repository, "1.0.0"), await release(repository, "1.1.0")];
      await using project = createProject(engine, client, version, {
        "compose.yaml": `services:\n  app:\n    image: ${from}\n`,
      });
      await project.up();
      project.write("compose.yaml", `services:\n  app:\n    image: ${to}\n`);
      const container = await project.container("app");
      const [outlook] = await composeOutlooks([{ container, reference: to }], { folders });
      expect(outlook).toMatchObject({ notice: null, reason: null });
      expect(outlook?.config_hash).not.toBeNull();
      await remake(opened, container, to, outlook);
      const updated = await project.ids();
      expect(await project.up()).toEqual(updated);
    });

    test("one that shares the network of another: hashed for the new id, `up` recreates nothing", async () => {
      const repository = repositoryOf("sharing");
      const [from, to] = [await release(repository, "1.0.0"), await release(repository, "1.1.0")];
      await using project = createProject(engine, client, version, {
        "compose.yaml": [
          "services:",
          `  web: {image: "${from}"}`,
          "  side:",
          `    image: ${from}`,
          "    network_mode: service:web",
          "",
        ].join("\n"),
      });
      await project.up();
      const [web, side] = [await project.container("web"), await project.container("side")];
      const [first] = await composeOutlooks([{ container: web, reference: to }], { folders });
      expect(first?.notice?.patch).toBe(`image: ${to}`);
      const id = await remake(opened, web, to, first);
      const moved = new Map([[web.Id, id]]);
      const [second] = await composeOutlooks([{ container: side, reference: from }], { folders, moved });
      expect(second).toMatchObject({ notice: null, reason: null });
      expect(second?.config_hash).not.toBeNull();
      await remake(opened, side, from, second, moved);
      project.write(
        "compose.yaml",
        [
          "services:",
          `  web: {image: "${to}"}`,
          "  side:",
          `    image: ${from}`,
          "    network_mode: service:web",
          "",
        ].join("\n"),
      );
      const updated = await project.ids();
      expect(await project.up()).toEqual(updated);
    });

    test("a group with one that takes another's volumes: after an update and a rollback `up` recreates nothing", async () => {
      const repository = repositoryOf("volumes");
      const [from, to] = [await release(repository, "1.0.0"), await release(repository, "1.1.0")];
      const fileOf = (image: string) =>
        [
          "services:",
          `  data:\n    image: ${image}\n    volumes: ["shared:/shared", "/anonymous"]`,
          `  reader:\n    image: ${from}\n    volumes_from: [data]`,
          `  viewer:\n    image: ${from}\n    volumes_from: ["data:ro", "reader"]`,
          "volumes: {shared: {}}",
          "",
        ].join("\n");
      await using project = createProject(engine, client, version, { "compose.yaml": fileOf(from) });
      const before = await project.up();
      await using session = await openSession(engine.address, { compose_folders: folders });
      const ref = { kind: "compose", id: project.name } as const;
      const snapshot = (await session.snapshots?.capture(ref)) ?? "";
      const update = memoryJournal();
      const plan = await session.plan(ref, [{ ...changeTo(to), service: "data" }]);
      await (await session.prepare(plan, [], update)).apply();
      await session.finish(ref, update);
      for (const { patch } of plan.files) if (patch !== "") project.patch(patch);
      const updated = await project.ids();
      expect(Object.values(updated).filter((id) => Object.values(before).includes(id))).toEqual([]);
      expect(await project.up()).toEqual(updated);

      project.write("compose.yaml", fileOf(from));
      const rollback = memoryJournal();
      await restore(session, ref, snapshot, rollback);
      await session.finish(ref, rollback);
      const restored = await project.ids();
      expect(Object.values(restored).filter((id) => Object.values(updated).includes(id))).toEqual([]);
      expect(await project.up()).toEqual(restored);
    });

    test("injected configs and secrets are there after an update and after another", async () => {
      const repository = repositoryOf("injected");
      const [from, to] = [await release(repository, "1.0.0"), await release(repository, "1.1.0")];
      await using project = createProject(engine, client, version, {
        "compose.yaml": injecting(from),
        ".env": "SECRET_TEXT=s3cr3t-content\n",
        "whole.txt": "a file of the host\n",
      });
      await project.up();
      const container = await project.container("app");
      const found = await findInjectedFiles(client, container);
      expect(found.refusals).toEqual([]);
      expect(found.files.map((each) => each.path)).toEqual([
        "/etc/app/with space.conf",
        "/plain",
        "/run/secrets/token",
      ]);
      const archive = await readInjectedFiles(client, container.Id, found.files);
      const before = await readTar(archive ?? new Uint8Array());
      expect(before.map(({ path, mode, uid, gid }) => ({ path, mode, uid, gid }))).toEqual([
        { path: "/etc/app/with space.conf", mode: 0o440, uid: 1000, gid: 1001 },
        { path: "/plain", mode: 0o444, uid: 0, gid: 0 },
        { path: "/run/secrets/token", mode: 0o444, uid: 0, gid: 0 },
      ]);
      expect(before.map((file) => Buffer.from(file.content).toString())).toEqual([
        "inner",
        "outer\n",
        "s3cr3t-content",
      ]);

      for (const reference of [to, from]) {
        const present = await project.container("app");
        await remake(opened, present, reference, undefined);
        const updated = await project.container("app");
        const again = await findInjectedFiles(client, updated);
        expect(await readTar((await readInjectedFiles(client, updated.Id, again.files)) ?? new Uint8Array())).toEqual([
          ...before,
        ]);
      }
    });

    test("a run carries injected files, says what the file will do, and writes their content nowhere", async () => {
      const repository = repositoryOf("run");
      const [from, to] = [await release(repository, "1.0.0"), await release(repository, "1.1.0")];
      await using project = createProject(engine, client, version, {
        "compose.yaml": injecting(from),
        ".env": "SECRET_TEXT=s3cr3t-content\n",
        "whole.txt": "a file of the host\n",
      });
      await project.up();
      const container = await project.container("app");
      await using session = await openSession(engine.address);
      const journal = memoryJournal();
      const ref = target(nameOf(container));
      const plan = await session.plan(ref, [changeTo(to)]);
      expect(plan.files.map((each) => each.path)).toEqual([`${project.folder}/compose.yaml`]);
      await (await session.prepare(plan, [], journal)).apply();
      await session.finish(ref, journal);

      const updated = await project.container("app");
      expect(updated.Id).not.toBe(container.Id);
      const { files } = await findInjectedFiles(client, updated);
      const carried = await readTar((await readInjectedFiles(client, updated.Id, files)) ?? new Uint8Array());
      expect(carried.map((file) => Buffer.from(file.content).toString())).toEqual([
        "inner",
        "outer\n",
        "s3cr3t-content",
      ]);
      const told = JSON.stringify([plan, journal.entries(), updated]);
      expect(told).toContain("/run/secrets/token");
      expect(told).not.toContain("s3cr3t-content");
    });
  });
}

function injecting(image: string): string {
  return `services:
  app:
    image: ${image}
    command: ["/bin/sh", "-c", "echo mine > /mine; : > /empty; trap exit TERM; while :; do sleep 1 & wait; done"]
    configs:
      - plain
      - {source: inner, target: /etc/app/with space.conf, uid: "1000", gid: "1001", mode: 0440}
      - whole
    secrets: [token]
    volumes: ["data:/data"]
configs:
  plain: {content: "outer\\n"}
  inner: {content: inner}
  whole: {file: ./whole.txt}
secrets:
  token: {environment: SECRET_TEXT}
volumes: {data: {}}
`;
}
