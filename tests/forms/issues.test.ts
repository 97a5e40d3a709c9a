import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as v from "valibot";
import { AppError, type FieldErrors } from "../../src/errors.ts";
import { parseInput } from "../../src/forms/issues.ts";
import { apiRoutes } from "../../src/http/api/index.ts";
import type { Route } from "../../src/http/api/route.ts";
import { inEnglish, issue, tellAll } from "../../src/messages/message.ts";
import { translateMessage } from "../../templates/texts/messages.ts";
import { type TestApp, testApp } from "../support/test-app.ts";

/** What a schema is made of, whichever kind it is. */
interface Node {
  type: string;
  literal?: unknown;
  entries?: Readonly<Record<string, Node>>;
  options?: readonly Node[];
  item?: Node;
  value?: Node;
  wrapped?: Node;
}

const wrongValues: readonly unknown[] = [7, -1, 1.5, "x", "", "x".repeat(70_000), true, [], [null], {}, { x: 1 }, null];

/** Inputs that have one wrong value each, at every place that a schema has; the discriminants around it are right. */
function* wrongInputs(node: Node): Generator<unknown> {
  yield* wrongValues;
  if (node.wrapped !== undefined) yield* wrongInputs(node.wrapped);
  for (const option of node.options ?? []) if (typeof option === "object") yield* wrongInputs(option);
  if (node.item !== undefined) for (const wrong of wrongInputs(node.item)) yield [wrong];
  if (node.value !== undefined) for (const wrong of wrongInputs(node.value)) yield { some: wrong };
  const entries = Object.entries(node.entries ?? {});
  const discriminants = Object.fromEntries(
    entries.filter(([, entry]) => entry.type === "literal").map(([key, entry]) => [key, entry.literal]),
  );
  for (const [key, entry] of entries) for (const wrong of wrongInputs(entry)) yield { ...discriminants, [key]: wrong };
}

function refusalOf(schema: v.GenericSchema, input: unknown): FieldErrors {
  try {
    parseInput(schema, input);
    return {};
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    return error.field_messages ?? {};
  }
}

let app: TestApp;
let routes: readonly Route[];
beforeAll(async () => {
  app = await testApp();
  routes = apiRoutes(app.services);
});
afterAll(() => app.close());

describe("parseInput()", () => {
  test("refuses no input of any route in the validator's own words, and has Chinese for each", () => {
    const untold = new Set<string>();
    let refusals = 0;
    for (const route of routes) {
      for (const schema of [route.body, route.query]) {
        if (schema === undefined) continue;
        for (const input of wrongInputs(schema as unknown as Node)) {
          for (const [field, said] of Object.entries(refusalOf(schema, input))) {
            refusals += 1;
            const message = inEnglish(said);
            const isRaw = /^Invalid |Expected .* but received|Received /.test(message);
            if (isRaw || translateMessage("zh", said) === message) {
              untold.add(`${route.operation_id} ${field}: ${message.slice(0, 150)}`);
            }
          }
        }
      }
    }
    expect([...untold]).toEqual([]);
    expect(refusals).toBeGreaterThan(2_000);
  });

  test.each([
    ["a union", v.union([v.number(), v.string()]), true, "Enter a number or text"],
    ["a picklist", v.picklist(["a", "b"]), "c", "Choose one of a, b"],
    ["a number or null", v.nullable(v.number()), "x", "Enter a number"],
    ["a list", v.array(v.string()), "x", "Enter a list"],
    ["a record", v.record(v.string(), v.string()), "x", "Enter an object with its fields"],
    ["a blank text", v.pipe(v.string(), v.minLength(1)), "", "This field is required"],
    ["a short text", v.pipe(v.string(), v.minLength(2)), "x", "Use at least 2 characters"],
    ["a long text", v.pipe(v.string(), v.maxLength(1)), "xx", "Use at most 1 characters"],
    ["a blank list", v.pipe(v.array(v.string()), v.minLength(1)), [], "Choose at least one"],
    ["a short list", v.pipe(v.array(v.string()), v.minLength(2)), ["x"], "At least 2 are required"],
    ["a long list", v.pipe(v.array(v.string()), v.maxLength(1)), ["x", "y"], "At most 1 are allowed"],
    ["a fraction", v.pipe(v.number(), v.integer()), 1.5, "Enter a whole number"],
    ["a small number", v.pipe(v.number(), v.minValue(1)), 0, "Enter 1 or more"],
    ["a large number", v.pipe(v.number(), v.maxValue(9)), 10, "Enter 9 or less"],
    ["a pattern", v.pipe(v.string(), v.regex(/a/)), "b", "This value cannot be used here"],
    [
      "its own sentence",
      v.pipe(v.string(), v.regex(/a/, issue("fields.unknown_field"))),
      "b",
      "There is no such field",
    ],
  ])("has a sentence for %s", (_name, schema, input, message) => {
    expect(tellAll(refusalOf(v.strictObject({ field: schema }), { field: input }))).toEqual({ field: message });
  });

  test("refuses half of a character in every text and name, and takes whole ones", () => {
    const Schema = v.object({ a: v.string(), b: v.array(v.record(v.string(), v.unknown())) });
    const message = "The text contains an incomplete character; enter it again";
    expect(tellAll(refusalOf(Schema, { a: "x\ud83d", b: [{ c: "\udc00" }, { "\ud800": 1 }] }))).toEqual({
      a: message,
      "b.0.c": message,
      "b.1": message,
    });
    expect(refusalOf(Schema, { a: "😀", b: [{ é: "日本" }] })).toEqual({});
  });
});

test("a lone surrogate that JSON escapes is answered with 422 at its field, and stores nothing", async () => {
  const person = await app.signedIn();
  const before = await person.api("GET", "/settings");
  const answer = await person.api("PATCH", "/settings", { timezone: "UTC\ud800" });
  expect(answer).toMatchObject({ status: 422, body: { error: { fields: { timezone: expect.any(String) } } } });
  expect((await person.api("GET", "/settings")).body).toEqual(before.body);
});
