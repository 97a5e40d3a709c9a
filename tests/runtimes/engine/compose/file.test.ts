import { describe, expect, test } from "bun:test";
import { editFiles, type WantedImage } from "../../../../src/runtimes/engine/compose/file.ts";
import { type ComposeContainer, composeLabels, composeOf } from "../../../../src/runtimes/engine/compose/labels.ts";
import { containerInspect } from "../inspect.ts";

const labels = {
  [composeLabels.project]: "shop",
  [composeLabels.service]: "web",
  [composeLabels.working_dir]: "/srv/shop",
};
const compose = composeOf(containerInspect({ Config: { Labels: labels } })) as ComposeContainer;

const v = (inner: string) => `$\{${inner}}`;

async function edit(
  files: string | Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>> = { web: "app:2" },
  environment: string | null = null,
) {
  const named = typeof files === "string" ? { "/srv/shop/compose.yaml": files } : files;
  const images: WantedImage[] = Object.entries(wanted).map(([service, reference]) => ({ service, reference }));
  const sources = {
    files: Object.entries(named).map(([path, text]) => ({ path, text })),
    environment: environment === null ? [] : [{ path: "/srv/shop/.env", text: environment }],
  };
  const [edited] = await editFiles([{ compose, sources, wanted: images }]);
  if (edited === undefined) throw new Error("Each view has its edits");
  return edited;
}

const diff = (at: string, ...lines: readonly string[]) =>
  `--- compose.yaml\n+++ compose.yaml\n@@ ${at} @@\n${lines.map((line) => `${line}\n`).join("")}`;

describe("editFiles() changes the one scalar and keeps how it is written", () => {
  const service = (...lines: readonly string[]) =>
    ["services:", "  web:", ...lines.map((line) => `    ${line}`), ""].join("\n");

  test.each([
    ["plain", service("image: app:1"), "    image: app:1", "    image: app:2"],
    ["with a comment", service("image: app:1  # why"), "    image: app:1  # why", "    image: app:2  # why"],
    ["in double quotes", service('image: "app:1"'), '    image: "app:1"', '    image: "app:2"'],
    ["in single quotes", service("image: 'app:1'"), "    image: 'app:1'", "    image: 'app:2'"],
    ["with a quoted key", service('"image": app:1'), '    "image": app:1', '    "image": app:2'],
    ["with wide spaces", service("image:     app:1"), "    image:     app:1", "    image:     app:2"],
    ["with an anchor", service("image: &web app:1"), "    image: &web app:1", "    image: &web app:2"],
    ["with Windows line ends", service("image: app:1\r"), "    image: app:1\r", "    image: app:2\r"],
    [
      "with a default",
      service(`image: app:${v("TAG:-1")}`),
      `    image: app:${v("TAG:-1")}`,
      `    image: app:${v("TAG:-2")}`,
    ],
    [
      "with a default of a default",
      service(`image: app:${v(`TAG:-${v("OLD:-1")}`)}`),
      `    image: app:${v(`TAG:-${v("OLD:-1")}`)}`,
      `    image: app:${v(`TAG:-${v("OLD:-2")}`)}`,
    ],
  ])("%s", async (_what, text, before, after) => {
    const { edits } = await edit(text);
    expect(edits).toEqual([
      {
        service: "web",
        path: "/srv/shop/compose.yaml",
        line: "image: app:2",
        patch: diff("-3 +3", `-${before}`, `+${after}`),
        present: "app:1",
        also: [],
        same_as: null,
        reason: null,
      },
    ]);
  });

  test("of a file without a last line end", async () => {
    const { edits } = await edit("services:\n  web:\n    image: app:1");
    const none = "\\ No newline at end of file";
    expect(edits[0]?.patch).toBe(diff("-3 +3", "-    image: app:1", none, "+    image: app:2", none));
  });

  test("and shows nothing else of the file, which may hold secrets", async () => {
    const { edits } = await edit(
      service("environment: {PASSWORD: hidden}", "image: app:1", "command: [--token, hidden]"),
    );
    expect(edits[0]?.patch).not.toContain("hidden");
  });

  test("in the file that has the last word", async () => {
    const { edits } = await edit({
      "/srv/shop/compose.yaml": service("image: app:0"),
      "/srv/shop/override.yaml": service("image: app:1"),
      "/srv/shop/more.yaml": service("tty: true"),
    });
    expect(edits[0]).toMatchObject({ path: "/srv/shop/override.yaml", present: "app:1" });
    expect(edits[0]?.patch).toStartWith("--- override.yaml\n");
  });

  test("in the last of several documents", async () => {
    const { edits } = await edit(`${service("image: app:0")}---\n${service("image: app:1")}`);
    expect(edits[0]?.patch).toBe(diff("-7 +7", "-    image: app:1", "+    image: app:2"));
  });

  test("with the whole path of a file outside of the project", async () => {
    const { edits } = await edit({ "/etc/base.yaml": service("image: app:1") });
    expect(edits[0]?.patch).toStartWith("--- /etc/base.yaml\n");
  });

  test("for several services, each on top of those before", async () => {
    const text = "services:\n  web:\n    image: app:1\n  db:\n    image: db:1\n";
    const { edits } = await edit(text, { db: "db:2", web: "app:2" });
    expect(edits.map((each) => each.patch)).toEqual([
      diff("-5 +5", "-    image: db:1", "+    image: db:2"),
      diff("-3 +3", "-    image: app:1", "+    image: app:2"),
    ]);
  });
});

describe("editFiles() knows where an image comes from", () => {
  const inherited = [
    ["a merge key", "x-base: &base\n  image: app:1\nservices:\n  web:\n    <<: *base\n    tty: true\n", 5],
    ["a list of merge keys", "x-a: &a {tty: true}\nx-b: &b {image: app:1}\nservices:\n  web:\n    <<: [*a, *b]\n", 5],
    ["extends", "services:\n  base: {image: app:1}\n  web:\n    extends: base\n", 4],
    ["extends of a service", "services:\n  base: {image: app:1}\n  web:\n    extends: {service: base}\n", 4],
  ] as const;
  test.each(inherited)("%s: the service gets a line of its own", async (_what, text, line) => {
    const { edits } = await edit(text);
    expect(edits[0]).toMatchObject({ present: "app:1", also: [], reason: null });
    expect(edits[0]?.patch).toBe(diff(`-${line - 1},0 +${line}`, "+    image: app:2"));
  });

  test("extends of another file: what it is now is not known", async () => {
    const { edits } = await edit("services:\n  web:\n    extends: {file: base.yaml, service: base}\n");
    expect(edits[0]).toMatchObject({ present: null, patch: diff("-2,0 +3", "+    image: app:2") });
  });

  test("an alias is replaced where it stands", async () => {
    const { edits } = await edit(
      "x-image: &image app:1\nservices:\n  web:\n    image: *image\n  db:\n    image: *image\n",
    );
    expect(edits[0]).toMatchObject({ present: "app:1", also: [] });
    expect(edits[0]?.patch).toBe(diff("-4 +4", "-    image: *image", "+    image: app:2"));
  });

  test("an anchor that others repeat changes them too, and says so", async () => {
    const { edits } = await edit("services:\n  web:\n    image: &image app:1\n  db:\n    image: *image\n");
    expect(edits[0]?.also).toEqual(["db"]);
  });

  test("a service that another one extends changes that too", async () => {
    const { edits } = await edit("services:\n  web:\n    image: app:1\n  worker:\n    extends: web\n");
    expect(edits[0]?.also).toEqual(["worker"]);
  });

  test("a variable is changed where it has its value", async () => {
    const text = `services:\n  web:\n    image: app:${v("TAG")}\n  db:\n    image: db:${v("TAG")}\n`;
    const { edits, environment } = await edit(text, { web: "app:2" }, "PASSWORD=hidden\nTAG=1\n");
    expect(edits[0]).toEqual({
      service: "web",
      path: "/srv/shop/.env",
      line: "TAG=2",
      patch: "--- .env\n+++ .env\n@@ -2 +2 @@\n-TAG=1\n+TAG=2\n",
      present: "app:1",
      also: ["db"],
      same_as: null,
      reason: null,
    });
    expect(environment).toEqual([{ path: "/srv/shop/.env", text: "PASSWORD=hidden\nTAG=2\n" }]);
  });

  const extended = "services:\n  web:\n    image: app:1\n  worker:\n    extends: web\n";
  const chained = "services:\n  base: {image: app:1}\n  web:\n    extends: base\n  worker:\n    extends: web\n";
  const anchored = "services:\n  web: &web\n    image: app:1\n  worker: *web\n";
  const variable = `services:\n  web:\n    image: app:${v("TAG")}\n  worker:\n    image: app:${v("TAG")}\n`;
  const onePlace = [
    ["extends", extended, null],
    ["a chain of extends", chained, null],
    ["an anchor", anchored, null],
    ["a variable", variable, "TAG=1\n"],
  ] as const;

  test.each(onePlace)("services that share a place share one edit: %s", async (_, text, environment) => {
    const { edits } = await edit(text, { web: "app:2", worker: "app:2" }, environment);
    expect(edits.map(({ service, same_as: sameAs }) => [service, sameAs])).toEqual([
      ["web", null],
      ["worker", "web"],
    ]);
    expect(edits[1]).toMatchObject({ line: edits[0]?.line, patch: edits[0]?.patch, present: "app:1", reason: null });
  });

  test.each([
    ["an anchor", anchored, null],
    ["a variable", variable, "TAG=1\n"],
  ])("services that share a place and want different images are left to a person: %s", async (_, text, environment) => {
    const files = text.concat("  db:\n    image: db:1\n");
    const { edits, environment: after } = await edit(files, { web: "app:2", db: "db:2", worker: "app:3" }, environment);
    expect(edits.map(({ patch }) => patch === null)).toEqual([true, false, true]);
    expect(edits.map(({ reason }) => reason?.params.service)).toEqual(["worker", undefined, "web"]);
    if (environment !== null) expect(after).toEqual([{ path: "/srv/shop/.env", text: environment }]);
  });

  test("one that inherits and wants another image gets a line of its own", async () => {
    const { edits } = await edit(extended, { web: "app:2", worker: "app:3" });
    expect(edits.map(({ patch }) => patch)).toEqual([
      diff("-3 +3", "-    image: app:1", "+    image: app:2"),
      diff("-4,0 +5", "+    image: app:3"),
    ]);
  });

  test("services that were made from different files share what is the same in them", async () => {
    const file = { path: "/srv/shop/compose.yaml", text: variable };
    const environment = [{ path: "/srv/shop/.env", text: "TAG=1\n" }];
    const override = { path: "/srv/shop/more.yaml", text: "services:\n  worker:\n    tty: true\n" };
    const [one, other] = await editFiles([
      { compose, sources: { files: [file], environment }, wanted: [{ service: "web", reference: "app:2" }] },
      {
        compose,
        sources: { files: [file, override], environment },
        wanted: [{ service: "worker", reference: "app:2" }],
      },
    ]);
    expect(one?.edits[0]).toMatchObject({ line: "TAG=2", same_as: null });
    expect(other?.edits[0]).toMatchObject({ line: "TAG=2", same_as: "web", present: "app:1" });
    expect(other?.environment).toEqual([{ path: "/srv/shop/.env", text: "TAG=2\n" }]);
  });

  test("a variable that no file sets is replaced by what it is to be", async () => {
    const { edits } = await edit(`services:\n  web:\n    image: app:${v("TAG")}\n`);
    expect(edits[0]).toMatchObject({ present: "app:", line: "image: app:2" });
    expect(edits[0]?.patch).toBe(diff("-3 +3", `-    image: app:${v("TAG")}`, "+    image: app:2"));
  });

  test("a file that says it already gets a blank patch", async () => {
    const { edits } = await edit("services:\n  web:\n    image: app:2\n");
    expect(edits[0]).toMatchObject({ patch: "", present: "app:2", reason: null });
  });
});

describe("editFiles() leaves to a person", () => {
  test.each([
    [
      "a flow mapping, whose line has more in it",
      "services:\n  web: {image: app:1, environment: {A: hidden}}\n",
      "line_has_more",
    ],
    ["JSON on one line", '{"services": {"web": {"image": "app:1", "environment": {"A": "hidden"}}}}', "line_has_more"],
    ["a block scalar", "services:\n  web:\n    image: >-\n      app:1\n", "image_there_not_plain"],
    ["escapes", 'services:\n  web:\n    image: "app\\u003a1"\n', "image_there_not_plain"],
    ["a list", "services:\n  web:\n    image: [app:1]\n", "image_there_not_plain"],
    ["a build", "services:\n  web:\n    build: .\n", "image_built"],
    ["nothing at all", "services:\n  web:\n    tty: true\n", "image_not_there"],
    ["a service that is not there", "services:\n  db:\n    image: app:1\n", "service_not_found"],
    ["no mapping", "- a\n- b\n", "service_not_found"],
    ["an empty file", "", "service_not_found"],
    ["broken YAML", "services: {web: {image: app:1\n  - hidden", "service_not_found"],
    ["nesting without end", `services: ${"[".repeat(50_000)}`, "service_not_found"],
    ["an anchor of itself", "services: &a\n  web: &b\n    <<: *b\n", "."],
  ])("%s", async (_what, text, reason) => {
    const { edits } = await edit(text);
    const patch = edits[0]?.patch ?? "";
    expect(patch).not.toContain("hidden");
    if (edits[0]?.patch === null) expect(edits[0]?.reason).toMatchObject({ code: expect.stringMatching(reason) });
    else expect(_what).toBe("an anchor of itself");
  });

  test("a reference that is none", async () => {
    const { edits } = await edit("services:\n  web:\n    image: app:1\n", { web: "app:2\n    privileged: true" });
    expect(edits[0]?.patch).toBeNull();
  });

  test("one of thousands of services", async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `  s${index}: {}\n`);
    const { edits } = await edit(`services:\n${many.join("")}  web:\n    image: app:1\n`);
    expect(edits[0]?.present).toBe("app:1");
  });

  test("aliases that multiply are not followed", async () => {
    const bomb = ["x-0: &x0 [a, a]"];
    for (let level = 1; level < 40; level += 1) bomb.push(`x-${level}: &x${level} [*x${level - 1}, *x${level - 1}]`);
    const { edits } = await edit(`${bomb.join("\n")}\nservices:\n  web:\n    image: app:1\n`);
    expect(edits[0]?.present).toBe("app:1");
  });
});
