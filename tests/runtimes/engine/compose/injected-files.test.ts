import { describe, expect, test } from "bun:test";
import { dockerFlavour } from "../../../../src/runtimes/docker/flavour.ts";
import { EngineError, engineClient } from "../../../../src/runtimes/engine/client.ts";
import {
  carriedFilesLabel,
  carriedFilesLabels,
  findInjectedFiles,
  isSafePath,
  readInjectedFiles,
  writeInjectedFiles,
} from "../../../../src/runtimes/engine/compose/injected-files.ts";
import { composeLabels } from "../../../../src/runtimes/engine/compose/labels.ts";
import { readTar, type TarFile, writeTar } from "../../../../src/runtimes/engine/compose/tar.ts";
import type { EngineRequest, EngineResponse } from "../../../../src/runtimes/engine/transport.ts";
import { english } from "../../../support/english.ts";
import { containerInspect } from "../inspect.ts";

const created = "2026-01-05T12:00:00.25Z";
const started = "2026-01-05T12:00:01.75Z";
const composed = { [composeLabels.project]: "shop", [composeLabels.service]: "web" };

function container(change: Record<string, unknown> = {}, labels: Record<string, string> = composed) {
  return containerInspect({ Created: created, State: { StartedAt: started }, Config: { Labels: labels }, ...change });
}

interface Present {
  mtime?: string;
  mode?: number;
  size?: number;
  kind?: number;
  content?: string;
  uid?: number;
}

/** An engine whose container has these files in its own layer; `refuses` answers in its place. */
function engineWith(
  files: Readonly<Record<string, Present>>,
  refuses?: (request: EngineRequest) => EngineResponse | null,
) {
  const written: Uint8Array[] = [];
  const requests: EngineRequest[] = [];
  const answer = (status: number, more: Partial<EngineResponse> = {}): EngineResponse => {
    return { status, contentType: "application/json", text: "", ...more };
  };
  const send = async (request: EngineRequest): Promise<EngineResponse> => {
    requests.push(request);
    const refused = refuses?.(request) ?? null;
    if (refused !== null) return refused;
    if (request.path.endsWith("/changes")) {
      const changes = Object.entries(files).map(([Path, { kind = 1 }]) => ({ Path, Kind: kind }));
      return answer(200, { text: changes.length === 0 ? "null" : JSON.stringify(changes) });
    }
    if (request.method === "PUT") {
      written.push(request.archive ?? new Uint8Array());
      return answer(200);
    }
    const path = request.query?.path ?? "";
    const file = files[path];
    if (file === undefined) return answer(404);
    const content = file.content ?? "x".repeat(file.size ?? 1);
    const stat = {
      name: path,
      size: content.length,
      mode: file.mode ?? 0o444,
      mtime: file.mtime ?? "2026-01-05T12:00:01Z",
    };
    if (request.method === "HEAD") {
      return answer(200, { pathStat: Buffer.from(JSON.stringify(stat)).toString("base64") });
    }
    const name = path.slice(path.lastIndexOf("/") + 1);
    const bytes = await writeTar([tarFile(name, content, { mode: stat.mode & 0o7777, uid: file.uid ?? 0 })]);
    return answer(200, { bytes });
  };
  const stream = () => Promise.reject(new Error("Nothing is streamed"));
  const deadlines = { readMs: 1000, changeMs: 1000, pullIdleMs: 1000 };
  const client = engineClient({ flavour: dockerFlavour, transport: { send, stream }, apiVersion: "1.41", deadlines });
  return { client, written, requests };
}

function tarFile(path: string, content: string, change: Partial<TarFile> = {}): TarFile {
  return {
    path,
    mode: 0o444,
    uid: 0,
    gid: 0,
    mtime: 1_767_614_401,
    content: new TextEncoder().encode(content),
    ...change,
  };
}

const found = async (files: Readonly<Record<string, Present>>, of = container()) => {
  const { files: each, refusals } = await findInjectedFiles(engineWith(files).client, of);
  expect(refusals).toEqual([]);
  return each.map((file) => file.path);
};

describe("findInjectedFiles()", () => {
  test("finds files with whole seconds between creation and start, new or in place of the image's", async () => {
    const files = { "/etc": { kind: 0, mode: 2 ** 31 + 0o755 }, "/etc/a": {}, "/b": { kind: 0 }, "/run/secrets/c": {} };
    expect(await found(files)).toEqual(["/b", "/etc/a", "/run/secrets/c"]);
  });

  test.each([
    ["a fraction of a second", { mtime: "2026-01-05T12:00:01.5Z" }],
    ["a time long before creation", { mtime: "2026-01-05T11:00:00Z" }],
    ["a time long after the start", { mtime: "2026-01-05T12:05:00Z" }],
    ["a time that is none", { mtime: "soon" }],
    ["no content", { content: "" }],
    ["a removal", { kind: 2 }],
    ["a folder", { mode: 2 ** 31 + 0o755 }],
    ["a link", { mode: 2 ** 27 + 0o777 }],
    ["a device", { mode: 2 ** 26 + 2 ** 21 + 0o600 }],
    ["a pipe", { mode: 2 ** 25 + 0o600 }],
    ["a socket", { mode: 2 ** 24 + 0o600 }],
  ])("leaves %s out", async (_what, file) => {
    expect(await found({ "/a": file })).toEqual([]);
  });

  test.each([
    ["compose's machine is half a minute behind", { mtime: "2026-01-05T11:59:31Z" }],
    ["compose's machine is half a minute ahead", { mtime: "2026-01-05T12:00:30Z" }],
    ["the time is written with an offset", { mtime: "2026-01-05T13:00:01+01:00" }],
    ["it is executable or more", { mode: 2 ** 23 + 0o755 }],
  ])("takes a file although %s", async (_what, file) => {
    expect(await found({ "/a": file })).toEqual(["/a"]);
  });

  test("has no end of the time for one that never ran", async () => {
    const never = container({ State: { StartedAt: "0001-01-01T00:00:00Z" } });
    expect(await found({ "/a": { mtime: "2026-01-05T18:00:00Z" } }, never)).toEqual(["/a"]);
  });

  test("looks past mounts, what engines write, and paths that are none", async () => {
    const files = { "/data/a": {}, "/etc/hosts": {}, "/.dockerenv": {}, "/a/../b": {}, "/new\nline": {}, "//c": {} };
    const mounted = container({ Mounts: [{ Type: "volume", Destination: "/data" }] });
    expect(await found(files, mounted)).toEqual([]);
  });

  test("finds again what the label names, whatever its time", async () => {
    const labels = { ...composed, [carriedFilesLabel]: JSON.stringify(["/old", "/gone", "/../etc/shadow", 7]) };
    const files = { "/old": { mtime: "2020-01-01T00:00:00Z" }, "/other": { mtime: "2020-01-01T00:00:00Z" } };
    expect(await found(files, container({}, labels))).toEqual(["/old"]);
  });

  test.each(["", "no json", "{}", '"/a"', "null"])("does not mind the label %p", async (label) => {
    expect(await found({}, container({}, { ...composed, [carriedFilesLabel]: label }))).toEqual([]);
  });

  test("asks nothing of a container that no compose project has", async () => {
    const { client, requests } = engineWith({ "/a": {} });
    expect(await findInjectedFiles(client, container({}, {}))).toEqual({ files: [], refusals: [] });
    expect(requests).toEqual([]);
  });

  const page = { status: 403, contentType: "text/html", text: "<html>Forbidden</html>" };
  test.each([
    ["the list", (request: EngineRequest) => request.path.endsWith("/changes")],
    ["a look at a file", (request: EngineRequest) => request.method === "HEAD"],
  ])("refuses where a proxy does not let %s through", async (_what, isHit) => {
    const { client } = engineWith({ "/a": {} }, (request) => (isHit(request) ? page : null));
    const { refusals } = await findInjectedFiles(client, container());
    expect(refusals).toMatchObject([{ code: "injected_files_unreadable" }]);
    expect(english(refusals[0]?.message)).toContain('"web"');
    expect(english(refusals[0]?.message)).toContain("403");
  });

  test("throws when the container is gone", async () => {
    const gone = { status: 404, contentType: "application/json", text: '{"message":"No such container"}' };
    const { client } = engineWith({}, () => gone);
    expect(findInjectedFiles(client, container())).rejects.toBeInstanceOf(EngineError);
  });

  test("refuses more than a mebibyte, by name", async () => {
    const { client } = engineWith({ "/large": { size: 900_000 }, "/more": { size: 200_000 } });
    const { refusals } = await findInjectedFiles(client, container());
    expect(refusals).toMatchObject([{ code: "injected_files_too_large" }]);
    expect(english(refusals[0]?.message)).toContain('"/large", "/more"');
  });

  test("refuses to search through more changed files than it looks at", async () => {
    const files = Object.fromEntries(Array.from({ length: 4001 }, (_, index) => [`/data/${index}`, {}]));
    const { client, requests } = engineWith(files);
    expect((await findInjectedFiles(client, container())).refusals).toMatchObject([{ code: "injected_files_unknown" }]);
    expect(requests).toHaveLength(1);
  });
});

describe("readInjectedFiles()", () => {
  test("gives one archive with whole paths, modes and owners", async () => {
    const { client } = engineWith({ "/etc/a": { content: "one", mode: 0o440, uid: 7 }, "/b": { content: "two" } });
    const { files } = await findInjectedFiles(client, container());
    const archive = await readInjectedFiles(client, "id", files);
    expect(await readTar(archive ?? new Uint8Array())).toEqual([
      tarFile("/b", "two"),
      tarFile("/etc/a", "one", { mode: 0o440, uid: 7 }),
    ]);
    expect(await carriedFilesLabels(archive)).toEqual({ [carriedFilesLabel]: '["/b","/etc/a"]' });
  });

  test("gives nothing for no files", async () => {
    const { client, requests } = engineWith({});
    expect(await readInjectedFiles(client, "id", [])).toBeNull();
    expect(requests).toEqual([]);
    expect(await carriedFilesLabels(null)).toEqual({});
  });

  test.each([
    ["nothing", []],
    ["two files", [tarFile("a", "1"), tarFile("b", "2")]],
    ["another file", [tarFile("b", "2")]],
  ])("does not take %s for the file", async (_what, inside) => {
    const bytes = await writeTar(inside);
    const { client } = engineWith({}, () => ({ status: 200, contentType: "", text: "", bytes }));
    expect(readInjectedFiles(client, "id", [{ path: "/a", size_bytes: 1 }])).rejects.toThrow('"/a" changed');
  });
});

const archive = await writeTar([tarFile("/a", "s3cr3t", { uid: 7 })]);

describe("writeInjectedFiles()", () => {
  test("puts the archive in place and reads it back", async () => {
    const { client, written, requests } = engineWith({ "/a": { content: "s3cr3t", uid: 7 } });
    await writeInjectedFiles(client, "id", archive);
    expect(written).toEqual([archive]);
    expect(requests.map((each) => each.method)).toEqual(["PUT", "GET"]);
    expect(requests[0]?.query).toEqual({ path: "/", noOverwriteDirNonDir: "1" });
  });

  test.each([
    ["content", { content: "others", uid: 7 }],
    ["owner", { content: "s3cr3t", uid: 8 }],
    ["mode", { content: "s3cr3t", uid: 7, mode: 0o400 }],
  ])("throws when the %s is another, without the content", async (_what, file) => {
    const { client } = engineWith({ "/a": file });
    const error = await writeInjectedFiles(client, "id", archive).catch((thrown: unknown) => String(thrown));
    expect(error).toContain("did not write every file of compose as it was: /a");
    expect(error).not.toContain("s3cr3t");
    expect(error).not.toContain("others");
  });

  test.each(["/../a", "a", "/a/", "/"])("writes nothing when a path is %p", async (path) => {
    const { client, requests } = engineWith({});
    expect(writeInjectedFiles(client, "id", await writeTar([tarFile(path, "x")]))).rejects.toThrow(
      "out of the container",
    );
    expect(requests).toEqual([]);
  });
});

describe("isSafePath()", () => {
  test.each(["/a", "/a/b c", "/run/secrets/größe", "/..a/b..", "/.hidden"])("takes %p", (path) => {
    expect(isSafePath(path)).toBe(true);
  });
  test.each(["", "/", "a", "./a", "/a/", "/a//b", "/a/./b", "/a/..", "/\u0000", "/a\u007f", `/${"x".repeat(5000)}`])(
    "refuses %p",
    (path) => {
      expect(isSafePath(path)).toBe(false);
    },
  );
});
