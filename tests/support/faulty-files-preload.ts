// Loaded before a program (`bun --preload`): the product's own files then use faulty-files.ts as their `node:fs`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { plugin } from "bun";

const stand = JSON.stringify(join(import.meta.dir, "faulty-files.ts"));

plugin({
  name: "faulty files",
  setup: (build) => {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replaceAll('"node:fs"', stand),
      loader: "ts",
    }));
  },
});

const [, at, fault] = /^([^:]+):(\w+)$/.exec(process.env.FAIL_AT ?? "") ?? [];
if (at !== undefined) {
  const { failAt } = await import("./faulty-files.ts");
  failAt({
    at: /^\d+$/.test(at) ? Number(at) : at,
    fault: fault as Parameters<typeof failAt>[0] extends null | { fault: infer F } ? F : never,
  });
}
