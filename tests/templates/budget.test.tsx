import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { joinStyles } from "../../src/http/assets.ts";
import { OverviewSample } from "../gallery/overview.tsx";
import { RunSample } from "../gallery/run.tsx";
import { sampleContext } from "../gallery/sample-context.ts";
import { TrackersSample } from "../gallery/trackers.tsx";

const root = resolve(import.meta.dir, "../..");
const read = (path: string) => readFileSync(resolve(root, path));

test("app.js stays small", () => {
  expect(read("public/app.js").length).toBeLessThanOrEqual(15_360);
});

test.each([
  ["Overview", String(<OverviewSample ctx={sampleContext()} />)],
  ["Trackers with 50 rows", String(<TrackersSample ctx={sampleContext()} count={50} />)],
  ["Run", String(<RunSample ctx={sampleContext()} />)],
])("the first load of %s is at most 60 kB on the wire", (_, html) => {
  const files = [
    Buffer.from(html),
    joinStyles(resolve(root, "public")),
    read("public/app.js"),
    read("public/transition.js"),
    read("public/away.js"),
    read("public/palette.js"),
    read("public/icon.svg"),
    read("node_modules/htmx.org/dist/htmx.min.js"),
    read("node_modules/htmx.org/dist/ext/hx-sse.min.js"),
  ];
  const wire = files.reduce((sum, file) => sum + gzipSync(file).length, 0);
  expect(wire).toBeLessThanOrEqual(60_000);
});
