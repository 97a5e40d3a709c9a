import { afterAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { say } from "../../../../src/messages/message.ts";
import { composeLabels } from "../../../../src/runtimes/engine/compose/labels.ts";
import { composeOutlooks, configHashLabels } from "../../../../src/runtimes/engine/compose/outlook.ts";
import { containerInspect } from "../inspect.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "tidemark-outlook-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const folder = join(root, "project");
const tools = join(root, "tools");
mkdirSync(folder);
mkdirSync(tools);
mkdirSync(join(root, "asked"));

/**
 * Stands in for compose: the hash of a service is that of all files and environment files as they are named, so it shows what was
 * asked. It notes its arguments and its environment.
 */
const program = `#!/bin/sh
printf '%s\\n' "$@" > '${root}/asked/'$$
env > '${root}/environment'
files=
while [ $# -gt 0 ]; do
  case "$1" in
    -f|--env-file) files="$files $2"; shift 2 ;;
    --hash) services="$2"; shift 2 ;;
    *) shift ;;
  esac
done
hash=$(cat $files | sha256sum | cut -d' ' -f1)
for service in $(echo "$services" | tr , ' '); do echo "$service $hash"; done
`;
writeFileSync(join(tools, "docker-compose"), program);
chmodSync(join(tools, "docker-compose"), 0o755);

const hashOf = (...texts: readonly string[]) => createHash("sha256").update(texts.join("")).digest("hex");
const path = join(folder, "compose.yaml");
const text = "services:\n  web:\n    image: app:1\n";

function container(labels: Readonly<Record<string, string>> = {}, change = {}) {
  writeFileSync(path, text);
  rmSync(join(root, "asked"), { recursive: true });
  mkdirSync(join(root, "asked"));
  return containerInspect({
    Name: "/shop-web-1",
    Config: {
      Image: "app:1",
      Labels: {
        [composeLabels.project]: "shop",
        [composeLabels.service]: "web",
        [composeLabels.config_files]: path,
        [composeLabels.working_dir]: folder,
        [composeLabels.config_hash]: hashOf(text),
        ...labels,
      },
    },
    ...change,
  });
}

/** The arguments of each run, the shortest first. */
const asked = () => {
  const runs = readdirSync(join(root, "asked")).map((name) => readFileSync(join(root, "asked", name), "utf8"));
  return runs.sort((left, right) => left.length - right.length);
};

async function outlook(found: ReturnType<typeof container>, reference = "app:2", folders = [tools]) {
  const [one] = await composeOutlooks([{ container: found, reference }], { folders });
  return one;
}

describe("composeOutlooks()", () => {
  test("gives the hash of the edited file, and the patch", async () => {
    const one = await outlook(container());
    expect(one).toMatchObject({ container: "shop-web-1", reason: null });
    expect(one?.config_hash).toBe(hashOf(text, '{"services":{"web":{"image":"app:2"}}}'));
    expect(one?.notice).toMatchObject({ service: "web", path, is_readable: true });
    expect(one?.notice?.patch).toContain("-    image: app:1\n+    image: app:2\n");
    expect(one?.notice?.message.params.items).toEqual([
      say("compose.reverts", { image: "app:1" }),
      say("compose.then_nothing"),
    ]);
    expect(configHashLabels(one)).toEqual({ [composeLabels.config_hash]: one?.config_hash });
  });

  test("asks compose with an environment of its own and without a shell", async () => {
    await outlook(container());
    const [first = ""] = asked();
    expect(first.split("\n").slice(0, 7)).toEqual(["-p", "shop", "--project-directory", folder, "-f", path, "config"]);
    const environment = readFileSync(join(root, "environment"), "utf8");
    const names = environment.split("\n").map((line) => line.split("=")[0]);
    const known = [
      "PATH",
      "HOME",
      "DOCKER_CONFIG",
      "COMPOSE_EXPERIMENTAL_GIT_REMOTE",
      "COMPOSE_EXPERIMENTAL_OCI_REMOTE",
    ];
    expect(
      names.filter((name) => name !== "" && !["PWD", "OLDPWD", "SHLVL", "_", ...known].includes(name ?? "")),
    ).toEqual([]);
  });

  test("promises nothing for a file that is not what the container was made from", async () => {
    const one = await outlook(container({ [composeLabels.config_hash]: hashOf("another") }));
    expect(one?.config_hash).toBeNull();
    const cause = say("compose.other_files");
    expect(one?.reason).toEqual(cause);
    expect(one?.notice?.message.params.items).toContainEqual(say("compose.then_recreated", { image: "app:2", cause }));
    expect(configHashLabels(one)).toEqual({});
  });

  test("promises nothing without compose, and still has the patch", async () => {
    const one = await outlook(container(), "app:2", [join(root, "none")]);
    // A developer's own plug-in may be found in the home folder: it does not make such hashes.
    expect(one?.config_hash).toBeNull();
    expect(one?.notice?.patch).toContain("+    image: app:2");
  });

  test("says in words what to write where the file is not visible", async () => {
    const one = await outlook(container({ [composeLabels.config_files]: "/nowhere/compose.yaml" }));
    const reason = say("compose.not_visible", { path: "/nowhere/compose.yaml" });
    expect(one).toMatchObject({ config_hash: null, reason });
    expect(one?.notice).toMatchObject({ path: "/nowhere/compose.yaml", patch: "image: app:2", is_readable: false });
    expect(one?.notice?.message).toEqual(say("compose.unreadable", { service: "web", cause: reason }));
  });

  test("says of podman-compose what that does, and asks no other", async () => {
    const labels = { "io.podman.compose.project": "shop", [composeLabels.config_files]: "compose.yaml" };
    const one = await outlook(container(labels));
    expect(one).toMatchObject({ config_hash: null, notice: { path, patch: "image: app:2", is_readable: false } });
    expect(one?.notice?.message).toEqual(say("compose.podman", { service: "web" }));
    expect((await outlook(container(labels), "app:1"))?.notice).toBeNull();
    expect(asked()).toEqual([]);
  });

  test("has nothing to say where the reference stays, and asks nobody", async () => {
    const one = await outlook(container(), "app:1");
    expect(one).toEqual({ container: "shop-web-1", notice: null, config_hash: null, reason: null });
    expect(asked()).toEqual([]);
  });

  test("leaves containers out that no project has, and those of a single command", async () => {
    const moves = [containerInspect(), container({ [composeLabels.oneoff]: "True" })];
    expect(await composeOutlooks(moves.map((each) => ({ container: each, reference: "app:2" })))).toEqual([]);
  });

  test("lays the new id of a shared network over the file", async () => {
    const [oldId, newId] = ["a".repeat(64), "b".repeat(64)];
    const laid = (id: string) => JSON.stringify({ services: { web: { network_mode: `container:${id}` } } });
    const found = container(
      { [composeLabels.config_hash]: hashOf(text, laid(oldId)) },
      { HostConfig: { NetworkMode: `container:${oldId}` } },
    );
    const [one] = await composeOutlooks([{ container: found, reference: "app:1" }], {
      folders: [tools],
      moved: new Map([[oldId, newId]]),
    });
    expect(one).toEqual({
      container: "shop-web-1",
      notice: null,
      config_hash: hashOf(text, laid(newId)),
      reason: null,
    });
  });

  test("gives the patch of a place once, and says of the others whose it is", async () => {
    const found = ["web", "worker"].map((service) => {
      return { ...container({ [composeLabels.service]: service }), Name: `/shop-${service}-1` };
    });
    writeFileSync(path, `${text}  worker:\n    extends: web\n`);
    const outlooks = await composeOutlooks(
      found.map((each) => ({ container: each, reference: "app:2" })),
      { folders: [tools] },
    );
    expect(outlooks.map(({ notice }) => notice?.patch.includes("+    image: app:2"))).toEqual([true, false]);
    expect(outlooks[1]?.notice).toMatchObject({ service: "worker", path, patch: "", is_readable: true });
    expect(outlooks[1]?.notice?.message.params.items).toContainEqual(say("compose.same_edit", { service: "web" }));
  });

  test("lays the new id of the container whose volumes it takes over the file", async () => {
    const [oldId, newId] = ["a".repeat(64), "b".repeat(64)];
    const laid = (...owners: readonly string[]) => {
      const named = owners.map((each) => `"${each.split(":")[0]}":{"image":"none"},`).join("");
      return `{"services":{${named}"web":{"volumes_from":!override ["${owners.join('","')}"]}}}`;
    };
    const found = container(
      { [composeLabels.config_hash]: hashOf(text, laid(oldId, "other:ro")) },
      { HostConfig: { VolumesFrom: [oldId, "other:ro"] } },
    );
    const [one] = await composeOutlooks([{ container: found, reference: "app:1" }], {
      folders: [tools],
      moved: new Map([[oldId, newId]]),
    });
    const hash = hashOf(text, laid(newId, "other:ro"));
    expect(one).toEqual({ container: "shop-web-1", notice: null, config_hash: hash, reason: null });
  });

  test("hashes an edited environment file in place of the project's, and leaves the file as it is", async () => {
    const found = container();
    const withTag = text.replace("app:1", "app:$TAG");
    writeFileSync(path, withTag);
    writeFileSync(join(folder, ".env"), "TAG=1\n");
    const one = await outlook(found);
    expect(asked().join("\n")).toContain("--env-file");
    expect(readFileSync(join(folder, ".env"), "utf8")).toBe("TAG=1\n");
    expect(one?.notice?.path).toBe(join(folder, ".env"));
    rmSync(join(folder, ".env"));
  });

  test.each([
    ["a project that is an option", { [composeLabels.project]: "--help" }],
    ["a project in capitals", { [composeLabels.project]: "Shop" }],
    ["a service that is an option", { [composeLabels.service]: "-web" }],
    ["a service that is a list", { [composeLabels.service]: "web,db" }],
    ["a service with a command", { [composeLabels.service]: "$(touch x)" }],
    ["all services", { [composeLabels.service]: "*" }],
  ])("never runs compose for %s", async (_what, labels) => {
    const one = await outlook(container(labels));
    expect(one?.config_hash).toBeNull();
    expect(asked()).toEqual([]);
  });

  test("leaves no temporary files", async () => {
    const mine = () => new Bun.Glob("tidemark-compose-*/*.{yaml,env}").scanSync(tmpdir());
    const before = new Set(mine());
    await outlook(container());
    const left = [...mine()].filter((each) => !before.has(each));
    expect(left).toEqual([]);
  });
});
