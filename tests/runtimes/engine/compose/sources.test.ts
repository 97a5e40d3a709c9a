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
    ["no files", { config_files: [] }, "do not tell"],
    ["no folder", { working_dir: null }, "do not tell"],
    ["a folder that is no absolute path", { working_dir: "srv" }, "no absolute path"],
    ["a relative path", { config_files: ["compose.yaml"] }, "no absolute path"],
    ["an address", { config_files: ["https://example.com/compose.yaml"] }, "no absolute path"],
    ["standard input", { config_files: ["-"] }, "not named like"],
    ["another kind of file", { config_files: ["/etc/shadow"] }, "not named like"],
    ["an option", { config_files: ["--help.yaml"] }, "no absolute path"],
    ["control characters", { config_files: ["/srv/a\nb.yaml"] }, "no absolute path"],
    ["one that is not there", { config_files: ["/nowhere/compose.yaml"] }, "not visible to Tidemark"],
    ["one below a file", { config_files: [join(folder, "compose.yaml/x.yaml")] }, "not visible to Tidemark"],
    ["a link that leads out", { config_files: [join(folder, "out.yaml")] }, "leads elsewhere"],
    ["a folder", { config_files: [join(folder, "folder.yaml")] }, "no regular file"],
    ["a pipe", { config_files: [join(folder, "pipe.yaml")] }, "no regular file"],
    ["a large one", { config_files: [join(folder, "large.yaml")] }, "262144 at most"],
    ["one that is no text", { config_files: [join(folder, "binary.yaml")] }, "cannot be read as text"],
    [
      "too many",
      { config_files: Array.from({ length: 21 }, () => join(folder, "compose.yaml")) },
      "more than 20 files",
    ],
  ])("says why not: %s", async (_what, change, reason) => {
    const found = await find(change);
    expect(found.sources).toBeNull();
    expect(found.reason).toContain(reason);
    expect(found.reason).not.toContain("secret: yes");
  });
});
