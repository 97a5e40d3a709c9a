import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { applyFormAction, decodeForm } from "../../src/forms/decode.ts";
import { fields } from "../../src/forms/fields.ts";
import { parseInput } from "../../src/forms/issues.ts";

const Thing = v.strictObject({
  name: v.pipe(v.string(), v.minLength(1), v.title("Name")),
  note: v.optional(v.pipe(v.string(), v.metadata({ multiline: true })), ""),
  count: v.optional(v.pipe(v.number(), v.minValue(1), v.maxValue(9)), 3),
  is_on: v.optional(v.boolean(), true),
  days: v.array(v.picklist(["mon", "tue"])),
  secret: v.optional(v.pipe(v.string(), v.metadata({ secret: true }))),
  parts: v.array(
    v.variant("kind", [
      v.strictObject({ kind: v.literal("a"), size: v.number() }),
      v.strictObject({ kind: v.literal("b"), colour: v.string(), inner: v.array(v.strictObject({ x: v.string() })) }),
    ]),
  ),
});

function form(entries: readonly (readonly [string, string])[]): FormData {
  const data = new FormData();
  for (const [name, value] of entries) data.append(name, value);
  return data;
}

const decode = (entries: readonly (readonly [string, string])[]) =>
  decodeForm(form(entries), (values) => fields(Thing, values));

describe("fields()", () => {
  test("says kind, bounds, default and what is required", () => {
    const described = Object.fromEntries(fields(Thing).map((field) => [field.name, field]));
    expect(described.name).toMatchObject({ kind: "text", title: "Name", is_required: true });
    expect(described.note).toMatchObject({ kind: "textarea", is_required: false });
    expect(described.count).toMatchObject({ kind: "number", min: 1, max: 9, default_value: 3 });
    expect(described.days?.options.map(({ value }) => value)).toEqual(["mon", "tue"]);
    expect(described.secret?.is_secret).toBe(true);
    expect(described.parts?.kind).toBe("list");
  });

  test("follows each entry's own discriminant", () => {
    const parts = fields(Thing, { parts: [{ kind: "b" }, { kind: "a" }] }).find(({ name }) => name === "parts");
    expect(parts?.entries.map((entry) => entry.map(({ path }) => path))).toEqual([
      ["parts.0.kind", "parts.0.colour", "parts.0.inner"],
      ["parts.1.kind", "parts.1.size"],
    ]);
  });
});

describe("fields() that are shown for some values of another", () => {
  const File = v.strictObject({
    ref: v.optional(v.picklist(["branch", "named"]), "branch"),
    name: v.optional(v.pipe(v.string(), v.metadata({ shown_when: { field: "ref", is: ["named"] } })), ""),
  });
  const names = (values: Record<string, unknown>) => fields(File, values).map(({ name }) => name);

  test("are there for these alone, by the default where nothing is given", () => {
    expect(names({})).toEqual(["ref"]);
    expect(names({ ref: "branch" })).toEqual(["ref"]);
    expect(names({ ref: "named" })).toEqual(["ref", "name"]);
  });

  test("let the other draw the form again, and are not read while they are hidden", () => {
    expect(fields(File)[0]?.is_discriminant).toBe(true);
    const data = form([
      ["ref", "branch"],
      ["name", "x"],
    ]);
    expect(decodeForm(data, (values) => fields(File, values))).toEqual({ ref: "branch" });
  });
});

describe("fields() that must be filled in while they are shown", () => {
  const shown_when = { field: "ref", is: ["named"] };
  const File = v.strictObject({
    ref: v.optional(v.picklist(["branch", "named"]), "named"),
    name: v.optional(v.pipe(v.string(), v.metadata({ required: true, shown_when })), ""),
    url: v.optional(v.nullable(v.pipe(v.string(), v.metadata({ required: true }))), null),
  });

  test("are required, and a blank is what was left out, for the schema to refuse", () => {
    expect(fields(File).map(({ name, is_required }) => [name, is_required])).toEqual([
      ["ref", false],
      ["name", true],
      ["url", true],
    ]);
    const data = form([
      ["ref", "named"],
      ["name", ""],
      ["url", ""],
    ]);
    expect(decodeForm(data, (values) => fields(File, values))).toEqual({ ref: "named", name: "", url: null });
  });
});

describe("decodeForm()", () => {
  test("turns texts into what the schema wants", () => {
    const input = decode([
      ["name", "x"],
      ["count", "7"],
      ["is_on", "on"],
      ["days", "mon"],
      ["days", "tue"],
      ["parts.0.kind", "b"],
      ["parts.0.colour", "red"],
      ["parts.0.inner.0.x", "1"],
      ["parts.0.inner.1.x", "2"],
      ["parts.1.kind", "a"],
      ["parts.1.size", "5"],
    ]);
    expect(parseInput(Thing, input)).toEqual({
      name: "x",
      note: "",
      count: 7,
      is_on: true,
      days: ["mon", "tue"],
      parts: [
        { kind: "b", colour: "red", inner: [{ x: "1" }, { x: "2" }] },
        { kind: "a", size: 5 },
      ],
    });
  });

  test("takes a missing box as off, a blank secret as kept, a blank number as left out", () => {
    const input = decode([
      ["name", "x"],
      ["secret", ""],
      ["count", ""],
    ]);
    expect(input).toEqual({ name: "x", note: "", is_on: false, days: [], parts: [] });
  });

  test("takes a cleared optional field as cleared, so that an edit can clear it", () => {
    expect(
      decode([
        ["name", "x"],
        ["note", ""],
      ]).note,
    ).toBe("");
  });

  test("keeps text that is no number, so that the schema can refuse it at its field", () => {
    expect(() =>
      parseInput(
        Thing,
        decode([
          ["name", "x"],
          ["count", "many"],
        ]),
      ),
    ).toThrow("The input has errors");
  });

  test("reads pasted lines with their own line ends", () => {
    expect(decode([["note", "a\r\nb"]]).note).toBe("a\nb");
  });

  test("cannot be led to prototypes, to depth or to length", () => {
    const input = decode([
      ["__proto__.polluted", "1"],
      ["constructor.prototype.polluted", "1"],
      [`${"a.".repeat(50)}b`, "1"],
      ...Array.from({ length: 300 }, (_, index) => [`parts.${index}.kind`, "a"] as const),
    ]);
    expect(Object.getPrototypeOf({}).polluted).toBeUndefined();
    expect(input.parts).toHaveLength(100);
  });
});

describe("applyFormAction()", () => {
  const values = { parts: [{ kind: "b", inner: [{ x: "1" }] }, { kind: "a" }] };

  test.each([
    ["add:parts", { parts: [...values.parts, {}] }],
    ["remove:parts.0", { parts: [{ kind: "a" }] }],
    ["add:parts.0.inner", { parts: [{ kind: "b", inner: [{ x: "1" }, {}] }, { kind: "a" }] }],
    ["remove:parts.0.inner.0", { parts: [{ kind: "b", inner: [] }, { kind: "a" }] }],
    ["add:others", { ...values, others: [{}] }],
    ["add:parts.9.inner", values],
    ["redraw", values],
  ])("%s", (action, expected) => {
    const before = structuredClone(values);
    const changed = applyFormAction(before, action);
    expect<unknown>(changed).toEqual(expected);
    expect(before).toEqual(values);
  });

  test.each(["save", "save_and_run", ""])("leaves %j to the caller", (action) => {
    expect(applyFormAction({}, action)).toBeNull();
  });
});

test("decodeForm() takes an unchecked box for false also where a condition looks at it", () => {
  const Door = v.strictObject({
    is_open: v.optional(v.boolean(), true),
    key: v.optional(v.pipe(v.string(), v.metadata({ shown_when: { field: "is_open", is: ["false"] } }))),
  });
  const form = new FormData();
  form.set("key", "under the mat");
  expect(decodeForm(form, (values) => fields(Door, values))).toEqual({ is_open: false, key: "under the mat" });
  form.set("is_open", "on");
  expect(decodeForm(form, (values) => fields(Door, values))).toEqual({ is_open: true });
});

describe("parseInput()", () => {
  test.each([
    [{}, { name: "This field is required", days: "This field is required", parts: "This field is required" }],
    [
      { name: "", days: [], parts: [{ kind: "a", size: "5" }], extra: 1 },
      {
        name: "This field is required",
        "parts.0.size": "Enter a number",
        extra: "There is no such field",
      },
    ],
    ["text", { body: "Enter an object with its fields" }],
  ])("names every refused field of %j", (input, expected) => {
    try {
      parseInput(Thing, input);
      throw new Error("was not refused");
    } catch (error) {
      expect(error).toMatchObject({ status: 422, fields: expected });
    }
  });

  test("names a field called __proto__ like any other", () => {
    const input: unknown = JSON.parse('{"name":"x","days":[],"parts":[],"__proto__":{"a":1}}');
    expect(() => parseInput(Thing, input)).toThrow("The input has errors");
  });
});

test("decodeForm() takes the last of a field that is repeated without end", () => {
  // Time that grows with the square of the number would not end within the test's limit.
  const entries = Array.from({ length: 200_000 }, (_, index) => ["name", `n${index}`] as const);
  expect(decode(entries)).toMatchObject({ name: "n199999" });
});
