import { describe, expect, test } from "bun:test";
import { editImages } from "../../src/compose-file/edit-images.ts";
import { readComposeFile } from "../../src/compose-file/read-compose-file.ts";

const v = (inner: string) => `$\{${inner}}`;
const entry = (name: string, value: string) => ({ name, value });

async function edit(text: string, wanted: Readonly<Record<string, string>>, env: readonly [string, string][] = []) {
  const changes = Object.entries(wanted).map(([service, reference]) => ({ service, reference }));
  const { edited, refusals } = await editImages(
    text,
    env.map(([name, value]) => entry(name, value)),
    changes,
  );
  return { edited, codes: refusals.map(({ code }) => code.replace("compose_files.", "")), refusals };
}

const two = "services:\n  web:\n    image: app:1\n  db:\n    image: db:1 # keep\n";

describe("editImages()", () => {
  test("tells each edit with its line and what it was", async () => {
    const { edited } = await edit(two, { db: "db:2", web: "app:2" });
    expect(edited).toEqual({
      text: "services:\n  web:\n    image: app:2\n  db:\n    image: db:2 # keep\n",
      env: [],
      edits: [
        { kind: "file", start: 51, end: 55, line: 5, from: "db:1", to: "db:2", services: ["db"] },
        { kind: "file", start: 28, end: 33, line: 3, from: "app:1", to: "app:2", services: ["web"] },
      ],
    });
  });

  test("leaves a file alone that has the images already", async () => {
    const { edited } = await edit(two, { web: "app:1", db: "db:1" });
    expect(edited).toEqual({ text: two, env: [], edits: [] });
  });

  test("edits the last value of a variable, and keeps order and duplicates", async () => {
    const { edited } = await edit(`services:\n  web:\n    image: app:${v("TAG")}\n`, { web: "app:2" }, [
      ["TAG", "0"],
      ["PASSWORD", "a b'c\n$"],
      ["TAG", "1"],
      ["LAST", ""],
    ]);
    expect(edited?.env).toEqual([
      entry("TAG", "0"),
      entry("PASSWORD", "a b'c\n$"),
      entry("TAG", "2"),
      entry("LAST", ""),
    ]);
    expect(edited?.edits).toEqual([
      { kind: "variable", name: "TAG", from: "1", to: "2", services: ["web"], passed_to: [] },
    ]);
  });

  const inherited = "x-app: &app\n  image: app:1\nservices:\n  a:\n    <<: *app\n  b:\n    <<: *app\n";
  const variable = `services:\n  a:\n    image: app:${v("TAG")}\n  b:\n    image: app:${v("TAG")}\n`;
  const extended = "services:\n  a:\n    image: app:1\n  b:\n    extends: {service: a}\n";
  const alias = "services:\n  a:\n    image: &i app:1\n  b:\n    image: *i\n";
  const shared = [
    ["a merge key", inherited, 1],
    ["a variable", variable, 1],
    ["extends", extended, 1],
    ["an alias", alias, 1],
  ] as const;

  test.each(shared)("services that share %s share its edit", async (_, text, count) => {
    const { edited } = await edit(text, { a: "app:2", b: "app:2" }, [["TAG", "1"]]);
    expect(edited?.edits).toHaveLength(count);
    expect(edited?.edits[0]).toMatchObject({ from: expect.stringContaining("1"), services: ["a", "b"] });
  });

  test.each(shared)("services that share %s cannot get different images", async (_, text) => {
    const { codes, refusals } = await edit(text, { a: "app:2", b: "app:3" }, [["TAG", "1"]]);
    expect(codes).toEqual([text === variable ? "conflict_in_variable" : "conflict_in_line"]);
    expect(refusals[0]?.params.services).toEqual(["a", "b"]);
  });

  test.each(shared)("services that share %s are not changed unasked", async (_, text) => {
    const { codes, refusals } = await edit(text, { a: "app:2" }, [["TAG", "1"]]);
    expect(codes).toEqual([text === variable ? "shared_variables" : "shared_line"]);
    expect(refusals[0]?.params.places).toEqual(["services.b.image"]);
  });

  test("a variable that only shares its name with one in a comment or an escape is free", async () => {
    const text = `# ${v("TAG")}\nservices:\n  web:\n    image: app:${v("TAG")}\n    command: echo $$TAG $$\{TAG}\n`;
    expect((await edit(text, { web: "app:2" }, [["TAG", "1"]])).codes).toEqual([]);
  });

  test.each([
    ["a volume's name", `volumes:\n  v:\n    name: v-${v("TAG")}\n`, "volumes.v.name"],
    ["an alternative", `x-a: [${JSON.stringify(v("TAG:+x"))}, "${v("TAG:-x")}"]\n`, "x-a.1"],
    ["a default", `networks:\n  n:\n    name: ${v(`NONE:-${v("TAG")}`)}\n`, "networks.n.name"],
    ["a secret", "secrets:\n  s:\n    environment: TAG\n", "secrets.s.environment"],
  ])("a variable is not changed under %s", async (_, more, place) => {
    const text = `services:\n  web:\n    image: app:${v("TAG")}\n${more}`;
    const { codes, refusals } = await edit(text, { web: "app:2" }, [["TAG", "1"]]);
    expect(codes).toEqual(["shared_variables"]);
    expect(refusals[0]?.params).toMatchObject({ names: ["TAG"], places: [place], more: 0 });
  });

  test.each([
    ["environment: {TAG: }", "environment.TAG"],
    ["environment: [A=1, TAG]", "environment.1"],
    ["build: {context: ., args: [TAG]}", "build.args.0"],
    ["build: {context: ., args: {TAG: null}}", "build.args.TAG"],
    ["env_file: .env", "env_file"],
    ["env_file: [a.env, ./stack.env]", "env_file"],
    ["env_file: [{path: stack.env, required: false}]", "env_file"],
    ["env_file: a/.././/stack.env", "env_file"],
    ["env_file: /data/compose/7/stack.env", "env_file"],
  ])("a variable is not changed under another service's `%s`", async (line, place) => {
    const text = `services:\n  web:\n    image: app:${v("TAG")}\n  db:\n    ${line}\n`;
    const { refusals } = await edit(text, { web: "app:2" }, [["TAG", "1"]]);
    expect(refusals[0]?.params.places).toEqual([`services.db.${place}`]);
  });

  test.each([
    "environment: {TAG: x}",
    "environment: [TAG=x]",
    "env_file: other.env",
    "env_file: ../stack.env",
    "command: [TAG]",
  ])("another service's `%s` does not use the variable", async (line) => {
    const text = `services:\n  web:\n    image: app:${v("TAG")}\n  db:\n    ${line}\n`;
    expect((await edit(text, { web: "app:2" }, [["TAG", "1"]])).codes).toEqual([]);
  });

  test.each([
    ["acme/db:$TAG", ["DB"]],
    [`acme/db:${v("TAG:-1")}`, ["DB"]],
    [`acme/db:${v("OTHER:-")}${v("TAG")}`, ["DB"]],
    ["acme/db:$$TAG", undefined],
    ["acme/db:$TAGS", undefined],
  ])("a variable is not changed under another one with the value %p", async (value, places) => {
    const text = `services:\n  web:\n    image: app:${v("TAG")}\n  db:\n    image: ${v("DB")}\n`;
    const variables: [string, string][] = [
      ["TAG", "1"],
      ["DB", value],
    ];
    expect((await edit(text, { web: "app:2" }, variables)).refusals[0]?.params.places).toEqual(places);
  });

  test("the service's own env_file gets the variable, and the edit says so", async () => {
    const text = `services:\n  web:\n    image: app:${v("TAG")}\n    env_file: stack.env\n`;
    const { edited } = await edit(text, { web: "app:2" }, [["TAG", "1"]]);
    expect(edited?.edits[0]).toMatchObject({ name: "TAG", passed_to: ["web"] });
  });

  test("names ten places and counts the rest", async () => {
    const labels = Array.from({ length: 13 }, (_, index) => `      l${index}: ${v("TAG")}\n`).join("");
    const text = `services:\n  web:\n    image: app:${v("TAG")}\n    labels:\n${labels}`;
    const { refusals } = await edit(text, { web: "app:2" }, [["TAG", "1"]]);
    const places = Array.from({ length: 10 }, (_, index) => `services.web.labels.l${index}`);
    expect(refusals[0]?.params).toEqual({ names: ["TAG"], places, more: 3 });
  });

  test("refuses several services at once, each with its reason", async () => {
    const text = "services:\n  web: {build: .}\n  db: {}\n";
    expect((await edit(text, { web: "a:2", db: "b:2", none: "c:2" })).codes).toEqual([
      "built",
      "no_image",
      "service_not_found",
    ]);
  });

  test.each([
    ["in_other_file", "extends: {file: base.yaml, service: a}"],
    ["in_other_file", `extends: {file: "${v("NONE:-base.yaml")}", service: a}`],
    ["no_image", "image:"],
    ["no_image", "image: ~"],
    ["extends_too_far", "extends: web"],
    ["image_not_text", "image: 12"],
    ["image_not_text", "image: [a]"],
    ["image_not_text", "image: {a: b}"],
    ["tagged", "image: !reset null"],
    ["tagged", "image: !override app:1"],
    ["bad_template", `image: app:${v("")}`],
    ["variable_required", `image: app:${v("NONE:?set it")}`],
    ["variable_not_set", `image: app:${v("NONE")}`],
    ["no_single_edit", `image: x/${v("TAG")}:${v("TAG")}`],
    ["image_form", "image: |\n      app:1\n\n      more\n"],
    ["image_form", 'image: "app\\\n      :1"'],
  ])("refuses with %s: %s", async (code, line) => {
    const text = `services:\n  web:\n    ${line}\n`;
    expect((await edit(text, { web: "app:2" }, [["TAG", "1"]])).codes).toEqual([code]);
  });

  test.each(["app:2 # x", "app: 2", "app:2\n", "app:2'", 'a"', "$TAG", v("TAG"), "a$$b", "", " ", "&a", "*a", "ä:1"])(
    "writes no reference such as %p",
    async (reference) => {
      expect((await edit(two, { web: reference })).codes).toEqual(["reference_not_plain"]);
    },
  );

  test("refuses a chain of services too long to be followed, whoever is asked", async () => {
    const chain = Array.from({ length: 60 }, (_, index) => `  s${index + 1}: {extends: s${index}}\n`).join("");
    const text = `services:\n  s0: {image: "app:1"}\n${chain}`;
    const { codes, refusals } = await edit(text, { s0: "app:2" });
    expect([codes, refusals[0]?.params]).toEqual([["extends_too_far"], { service: "s49" }]);
  });

  test("never makes a value that YAML reads as a number or a word of its own", async () => {
    for (const reference of ["1", "1.5", "0x1F", "true", "null"]) {
      expect((await edit(two, { web: reference })).codes).toEqual(["edit_not_proved"]);
    }
    expect((await edit('services:\n  web:\n    image: "app"\n', { web: "1.5" })).codes).toEqual([]);
  });

  test("knows that files it cannot see may use the variables", async () => {
    const text = `include: [more.yaml, {path: [a.yaml, b.yaml]}]\nservices:\n  web:\n    image: app:${v("TAG")}\n`;
    const { codes, refusals } = await edit(text, { web: "app:2" }, [["TAG", "1"]]);
    expect(codes).toEqual(["variables_elsewhere"]);
    expect(refusals[0]?.params.files).toEqual(["more.yaml", "a.yaml", "b.yaml"]);
    expect((await edit(text, { other: "app:2" })).codes).toEqual(["service_elsewhere"]);
    expect((await edit(text.replace(v("TAG"), "1"), { web: "app:2" })).codes).toEqual([]);
  });

  test("an anchor of an image is not changed under a label", async () => {
    const text = "services:\n  web:\n    image: &i app:1\n    labels: {version: *i}\n";
    const { codes, refusals } = await edit(text, { web: "app:2" });
    expect([codes, refusals[0]?.params.places]).toEqual([["shared_line"], ["services.web.labels.version"]]);
  });

  test("a quoted `<<` is no merge key", async () => {
    const text = 'x-a: &a {image: "app:1"}\nservices:\n  web: {"<<": *a}\n';
    expect((await edit(text, { web: "app:2" })).codes).toEqual(["no_image"]);
  });

  test("an escaped quote before the edited text moves nothing", async () => {
    const text = `services:\n  web:\n    image: 'app:${v("NONE:+it''s")}1' # it's\n`;
    expect((await edit(text, { web: "app:2" })).edited?.text).toBe(text.replace("}1'", "}2'"));
  });

  test("an extension field that holds the image changes with it, others do not", async () => {
    const text = `x-app: &app {image: "app:${v("TAG")}"}\nx-note: ${v("TAG")}\nservices:\n  web: {<<: *app}\n`;
    const { refusals } = await edit(text, { web: "app:2" }, [["TAG", "1"]]);
    expect(refusals[0]?.params.places).toEqual(["x-note"]);
    expect((await edit(text.replace(/x-note.*\n/, ""), { web: "app:2" }, [["TAG", "1"]])).codes).toEqual([]);
  });
});

describe("a file that compose would not load is refused", () => {
  const laughs = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
  for (const [name, of] of ["ba", "cb", "dc", "ed", "fe", "gf"]) {
    laughs.push(`${name}: &${name} [${Array(10).fill(`*${of}`).join(", ")}]`);
  }
  const merges = ["x-0: &m0 {a0: 1}"];
  for (let index = 1; index < 700; index += 1)
    merges.push(`x-${index}: &m${index} {<<: [*m${index - 1}, *m${index - 1}]}`);

  test.each([
    ["not_yaml", "services: [\n"],
    ["not_yaml", "services:\n\tweb: {}\n"],
    ["not_yaml", "services:\n  web: {image: *none}\n"],
    ["not_yaml", "services: &s\n  web: *s\n"],
    ["not_yaml", "services:\n  web:\n    <<: text\n"],
    ["not_yaml", "services:\n  ? [a]\n  : b\n"],
    ["no_services", ""],
    ["no_services", "# nothing\n"],
    ["no_services", "- a\n"],
    ["no_services", "volumes: {}\n"],
    ["no_services", "services: text\n"],
    ["several_documents", `${two}---\n${two}`],
    ["duplicate_key", "services:\n  web: {image: a}\n  web: {image: b}\n"],
    ["duplicate_key", "services:\n  web:\n    image: a\n    'image': b\n"],
    ["line_ends", two.replaceAll("\n", "\r")],
    ["line_ends", `# a\u2028services: {}\n${two}`],
    ["not_utf8", `# Gr\ufffd\ufffde\n${two}`],
    ["too_large", `${two}#${"x".repeat(300_000)}`],
    ["too_complex", `x: ${"[".repeat(500)}${"]".repeat(500)}\n${two}`],
    ["too_complex", `x:\n${"- ".repeat(100_000)}a\n${two}`],
    ["too_complex", `${laughs.join("\n")}\n${two}`],
    ["too_complex", `${merges.join("\n")}\n${two}`],
  ])("%s", async (code, text) => {
    const { services, refusal } = await readComposeFile(text, []);
    expect({ services, code: refusal?.code }).toEqual({ services: null, code: `compose_files.${code}` });
    expect((await edit(text, { web: "app:2" })).codes).toEqual([code]);
  });

  const long = "x".repeat(200_000);
  test.each([
    ["a long value in many places", `labels: [${Array(20_000).fill('"$A"').join(",")}]`],
    ["a long value often in one place", `labels: ["${"$A".repeat(50_000)}"]`],
  ])("%s is not compared", async (_, line) => {
    const text = `services:\n  web:\n    image: app:1\n    ${line}\n`;
    expect((await edit(text, { web: "app:2" }, [["A", long]])).codes).toEqual(["too_complex"]);
  });

  test("long text is no image", async () => {
    const image = (text: string) => `x-i: &i "${text}"\nservices:\n  web:\n    image: *i\n  db:\n    image: *i\n`;
    for (const text of ["$A$A", `${v(`A:-${long}`)}`]) {
      expect((await edit(image(text), { web: "app:2" }, [["A", long]])).codes).toEqual(["image_not_text"]);
    }
  });

  test("long text behind many aliases is refused", async () => {
    const text = `x-a: &a "${long}"\nx-b: [${Array(10_000).fill("*a").join(",")}]\n${two}`;
    expect((await edit(text, { web: "app:2" })).codes).toEqual(["too_complex"]);
  });

  test("names the line, and quotes nothing", async () => {
    const { refusal } = await readComposeFile("services:\n  web:\n    image: a\n  password: 'hidden\n", []);
    expect(refusal).toEqual({ code: "compose_files.not_yaml", params: { line: 5 } });
  });
});

test("readComposeFile() tells where each part of an image is written", async () => {
  const text = `services:\n  web:\n    image: "${v("REPO:-ngin\\x78")}:${v("TAG")}"\n    build: .\n`;
  const { services } = await readComposeFile(text, [entry("TAG", "1")]);
  const start = text.indexOf("ngin");
  const colon = text.indexOf(":$");
  expect(services).toEqual([
    {
      name: "web",
      image: "nginx:1",
      has_build: true,
      parts: [
        { kind: "file", text: "nginx", start, end: start + "ngin\\x78".length },
        { kind: "file", text: ":", start: colon, end: colon + 1 },
        { kind: "variable", text: "1", name: "TAG" },
      ],
      refusal: { code: "compose_files.built", params: { service: "web" } },
    },
  ]);
});
