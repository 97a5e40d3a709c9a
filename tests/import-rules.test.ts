import { beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { importRefusal } from "./support/import-table.ts";

const root = join(import.meta.dir, "..");

// Deliberate violations: a rule that no longer bites is found here and not in a review.
const forbidden = [
  ["versions/ is pure", "src/versions/order.ts", "../db/client.ts"],
  ["versions/ does not log", "src/versions/order.ts", "../log.ts"],
  ["compose-file/ is pure", "src/compose-file/edit-images.ts", "../runtimes/runtime.ts"],
  ["net/ knows no feature", "src/net/http.ts", "../trackers/service.ts"],
  ["a source knows no database", "src/sources/oci/oci.ts", "../../db/client.ts"],
  ["a source knows no other plug-in kind", "src/sources/oci/oci.ts", "../../runtimes/index.ts"],
  ["a source knows no other source", "src/sources/github/github.ts", "../gitlab/gitlab.ts"],
  ["an engine knows no flavour", "src/runtimes/engine/session.ts", "../podman/flavour.ts"],
  ["a plug-in does not log", "src/runtimes/docker/index.ts", "../../log.ts"],
  ["connections know no backups", "src/connections/service.ts", "../backups/service.ts"],
  ["a feature never reaches another's queries", "src/runs/service.ts", "../trackers/queries.ts"],
  ["a feature does not reach the network", "src/trackers/service.ts", "../net/http.ts"],
  ["a feature takes plug-ins by their registry", "src/trackers/service.ts", "../sources/oci/oci.ts"],
  ["a feature does not compose", "src/runs/service.ts", "../services.ts"],
  ["only queries know the database library", "src/trackers/service.ts", "drizzle-orm/sqlite-core"],
  ["only queries know the tables", "src/trackers/service.ts", "../db/tables.ts"],
  ["nor do runs", "src/runs/service.ts", "../db/tables.ts"],
  ["pages go through services", "src/http/pages/runs.tsx", "../../runs/queries.ts"],
  ["small modules know no feature", "src/errors.ts", "./trackers/service.ts"],
  ["trackers read no other feature's tables", "src/trackers/queries.ts", "../db/tables/executors.ts"],
  ["only http and templates know the web framework", "src/runs/service.ts", "hono"],
  ["only runtimes talk to engines", "src/runs/service.ts", "dockerode"],
  ["http goes through services", "src/http/api/trackers.ts", "../../trackers/queries.ts"],
  ["the API has no templates", "src/http/api/trackers.ts", "../../../templates/layout.tsx"],
  ["the API has no pages", "src/http/api/trackers.ts", "../pages/trackers.tsx"],
  ["templates do no I/O", "templates/layout.tsx", "node:fs"],
  ["templates know no service", "templates/layout.tsx", "../src/trackers/service.ts"],
] as const;

test.each(forbidden)("%s", (_rule, file, specifier) => {
  expect(importRefusal(file, specifier)).toContain(file);
});

test("every import is one that its folder may have", () => {
  const names = ["src", "templates"].flatMap((base) =>
    readdirSync(join(root, base), { recursive: true, encoding: "utf8" }).map((name) => join(base, name)),
  );
  const imports = names
    .filter((name) => /\.tsx?$/.test(name))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8");
      const found = text.matchAll(/^(?:import|export)\b[^;]*?"([^"\n]+)";$|\bimport\("([^"]+)"\)/gm);
      return [...found].map(([, named, loaded]) => [file, named ?? loaded ?? ""] as const);
    });
  expect(imports.length).toBeGreaterThan(3_000);
  expect(imports.map(([file, specifier]) => importRefusal(file, specifier)).filter((each) => each !== null)).toEqual(
    [],
  );
});

const violations = [
  ["only net/ sends requests", "src/runs/service.ts", 'export const y = fetch("http://x");\n', "noRestrictedGlobals"],
  ["only the clock reads the time", "src/runs/service.ts", "export const y = Date.now();\n", "noRestrictedGlobals"],
  [
    "only the configuration reads the environment",
    "src/runs/service.ts",
    "export const y = process.env.X;\n",
    "noProcessEnv",
  ],
  ["only the log prints", "src/runs/service.ts", 'console.log("x");\n', "noConsole"],
  ["no default export", "src/runs/service.ts", "export default 1;\n", "noDefaultExport"],
  ["no enum", "src/runs/service.ts", "export enum E { A }\n", "noEnum"],
  ["no any", "src/runs/service.ts", "export const y: any = 1;\n", "noExplicitAny"],
  [
    "modules make no circles",
    "src/versions/classify.ts",
    'import { x } from "./families.ts";\nexport const y = x;\n',
    "noImportCycles",
  ],
  [
    "promises are awaited",
    "src/runs/service.ts",
    "export async function f() {}\nexport function g() {\n  f();\n}\n",
    "noFloatingPromises",
  ],
] as const;

/** Each violation in a tree of its own: the rules depend on the path, and two of them share one. */
const folder = mkdtempSync(join(tmpdir(), "tidemark-rules-"));
const reported = new Map<number, string>();

function write(path: string, code: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code);
}

beforeAll(async () => {
  const config = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"));
  config.vcs = { enabled: false };
  await Promise.all(
    violations.map(async ([, path, code], index) => {
      const tree = join(folder, String(index));
      write(join(tree, "biome.json"), JSON.stringify(config));
      write(join(tree, path), code);
      if (code.includes("families.ts"))
        write(join(tree, "src/versions/families.ts"), 'import { y } from "./classify.ts";\nexport const x = y;\n');
      const child = Bun.spawn(
        [process.execPath, join(root, "node_modules/@biomejs/biome/bin/biome"), "lint", "--colors=off", path],
        {
          cwd: tree,
          stdout: "pipe",
          stderr: "pipe",
        },
      );
      const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
      await child.exited;
      reported.set(index, out + err);
    }),
  );
}, 120_000);

test.each(violations.map((violation, index) => [...violation, index] as const))(
  "%s",
  (_rule, _path, _code, expected, index) => {
    expect(reported.get(index)).toContain(expected);
  },
);
