import { afterAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ComposeContainer } from "../../../../src/runtimes/engine/compose/labels.ts";
import { findSources } from "../../../../src/runtimes/engine/compose/sources.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "tidemark-sources-")));
const folder = join(root, "project");
mkdirSync(folder);
mkdirSync(join(root, "elsewhere"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const put = (path: string, text: string | Uint8Array) => writeFileSync(join(root, path), text);
put("project/compose.yaml", "services: {}\n");
put("project/large.yaml", "#".repeat(256 * 1024 + 1));
put("project/binary.yaml", Uint8Array.from([0xff, 0xfe, 0x00]));
put("elsewhere/compose.yaml", "secret: yes\n");
symlinkSync(join(folder, "compose.yaml"), join(folder, "within.yaml"));
symlinkSync(join(root, "elsewhere/compose.yaml"), join(folder, "out.yaml"));
mkdirSync(join(folder, "folder.yaml"));
execFileSync("mkfifo", [join(folder, "pipe.yaml")]);

function find(change: Partial<ComposeContainer>) {
  const labels: ComposeContainer = {
    project: "shop",
    service: "web",
    number: 1,
    is_oneoff: false,
    depends_on: [],
    config_files: [join(folder, "compose.yaml")],
    working_dir: folder,
    environment_files: [],
    config_hash: null,
    version: null,
    ...change,
  };
  return findSources(labels);
}

describe("findSources()", () => {
  test("reads the files in their order, and no environment where there is none", async () => {
    const paths = [join(folder, "compose.yaml"), join(folder, "within.yaml")];
    const { sources } = await find({ config_files: paths });
    expect(sources?.files.map((each) => each.path)).toEqual(paths);
    expect(sources?.environment).toEqual([]);
  });

  test("reads the files named as environment, and these only", async () => {
    put("project/prod.env", "A=1\n");
    const path = join(folder, "prod.env");
    expect((await find({ environment_files: [path] })).sources?.environment).toEqual([{ path, text: "A=1\n" }]);
    const gone = join(folder, "gone.env");
    expect(await find({ environment_files: [gone] })).toMatchObject({ sources: null, path: gone });
  });

  test("reads the project's own environment where it has one", async () => {
    put("project/.env", "B=2\n");
    expect((await find({})).sources?.environment.map((each) => each.text)).toEqual(["B=2\n"]);
    rmSync(join(folder, ".env"));
  });

  test.each([
    ["no files", { config_files: [] }, "no_path"],
    ["no folder", { working_dir: null }, "no_path"],
    ["a folder that is no absolute path", { working_dir: "srv" }, "not_absolute"],
    ["a relative path", { config_files: ["compose.yaml"] }, "not_absolute"],
    ["an address", { config_files: ["https://example.com/compose.yaml"] }, "not_absolute"],
    ["standard input", { config_files: ["-"] }, "not_named_like_one"],
    ["another kind of file", { config_files: ["/etc/shadow"] }, "not_named_like_one"],
    ["an option", { config_files: ["--help.yaml"] }, "not_absolute"],
    ["control characters", { config_files: ["/srv/a\nb.yaml"] }, "not_absolute"],
    ["one that is not there", { config_files: ["/nowhere/compose.yaml"] }, "not_visible"],
    ["one below a file", { config_files: [join(folder, "compose.yaml/x.yaml")] }, "not_visible"],
    ["a link that leads out", { config_files: [join(folder, "out.yaml")] }, "leads_elsewhere"],
    ["a folder", { config_files: [join(folder, "folder.yaml")] }, "not_regular"],
    ["a pipe", { config_files: [join(folder, "pipe.yaml")] }, "not_regular"],
    ["a large one", { config_files: [join(folder, "large.yaml")] }, "too_large"],
    ["one that is no text", { config_files: [join(folder, "binary.yaml")] }, "not_text"],
    ["too many", { config_files: Array.from({ length: 21 }, () => join(folder, "compose.yaml")) }, "too_many_files"],
  ])("says why not: %s", async (_what, change, reason) => {
    const found = await find(change);
    expect(found.sources).toBeNull();
    expect(found.reason?.code).toBe(`compose.${reason}`);
    expect(JSON.stringify(found.reason)).not.toContain("secret: yes");
  });
});
