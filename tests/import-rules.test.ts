import { beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = join(import.meta.dir, "..");

const use = (specifier: string) => `import { x } from "${specifier}";\nexport const y = x;\n`;

// Deliberate violations: a rule that no longer bites is found here and not in a review.
const violations = [
  ["versions/ imports nothing of ours", "src/versions/order.ts", use("../db/client.ts"), "noRestrictedImports"],
  ["versions/ has no clock", "src/versions/order.ts", use("../clock.ts"), "noRestrictedImports"],
  ["net/ knows no feature", "src/net/http.ts", use("../trackers/service.ts"), "noRestrictedImports"],
  ["a source knows no database", "src/sources/oci/oci.ts", use("../../db/client.ts"), "noRestrictedImports"],
  [
    "a source knows no other plug-in kind",
    "src/sources/oci/oci.ts",
    use("../../runtimes/index.ts"),
    "noRestrictedImports",
  ],
  ["a plug-in does not log", "src/runtimes/docker/index.ts", use("../../log.ts"), "noRestrictedImports"],
  [
    "a feature reaches another's queries never",
    "src/runs/service.ts",
    use("../trackers/queries.ts"),
    "noRestrictedImports",
  ],
  ["a feature does not reach the network", "src/trackers/service.ts", use("../net/http.ts"), "noRestrictedImports"],
  [
    "a feature takes plug-ins by their registry",
    "src/trackers/service.ts",
    use("../sources/oci/oci.ts"),
    "noRestrictedImports",
  ],
  ["only queries know the database library", "src/trackers/service.ts", use("drizzle-orm"), "noRestrictedImports"],
  ["only http and templates know the web framework", "src/runs/service.ts", use("hono"), "noRestrictedImports"],
  ["only runtimes talk to engines", "src/runs/service.ts", use("dockerode"), "noRestrictedImports"],
  ["http goes through services", "src/http/api/trackers.ts", use("../../trackers/queries.ts"), "noRestrictedImports"],
  ["the API has no templates", "src/http/api/trackers.ts", use("../../../templates/layout.tsx"), "noRestrictedImports"],
  ["templates do no I/O", "templates/layout.tsx", use("node:fs"), "noRestrictedImports"],
  ["templates know no service", "templates/layout.tsx", use("../src/trackers/service.ts"), "noRestrictedImports"],
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
  ["modules make no circles", "src/versions/classify.ts", use("./families.ts"), "noImportCycles"],
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
      if (code.includes("families.ts")) write(join(tree, "src/versions/families.ts"), use("./classify.ts"));
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
