import { expect, test } from "bun:test";
import { editImages } from "../../src/compose-file/edit-images.ts";
import { readComposeFile } from "../../src/compose-file/read-compose-file.ts";
import { randomFrom } from "../support/random.ts";
import { stacks } from "./stacks.ts";

test("there are forty stack files, with what editors and people leave in them", () => {
  expect(stacks.length).toBeGreaterThanOrEqual(40);
  const count = (pattern: RegExp) => stacks.filter(({ text }) => pattern.test(text)).length;
  expect(count(/\r\n/)).toBeGreaterThanOrEqual(3);
  expect(count(/^\uFEFF/)).toBeGreaterThanOrEqual(2);
  expect(count(/[^\n]$/)).toBeGreaterThanOrEqual(2);
  expect(count(/#/)).toBeGreaterThanOrEqual(15);
  expect(count(/<<:/)).toBeGreaterThanOrEqual(4);
  expect(count(/^x-/m)).toBeGreaterThanOrEqual(5);
  expect(count(/\$\{\w+:?-/)).toBeGreaterThanOrEqual(10);
  expect(count(/"\d+:\d+"/)).toBeGreaterThanOrEqual(10);
});

test.each(stacks.map((stack) => [stack.name, stack] as const))("%s: its images resolve", async (_, stack) => {
  const { services } = await readComposeFile(stack.text, stack.env);
  expect(services?.map(({ name, image }) => [name, image])).toEqual(
    stack.services.map(({ service, image }) => [service, image]),
  );
  for (const { image, parts } of services ?? []) {
    expect(parts.map((part) => part.text).join("")).toBe(image ?? "");
  }
});

const bound = stacks.flatMap((stack) => stack.services.map((service) => [stack.name, service.service, stack] as const));

test.each(bound)("%s: an edit of %s keeps every other byte", async (_, service, stack) => {
  const wanted = stack.services.find((each) => each.service === service);
  if (wanted === undefined) throw new Error("The service is in the table");
  const { edited, refusals } = await editImages(stack.text, stack.env, [{ service, reference: wanted.to }]);
  if (wanted.code !== undefined) {
    expect(refusals.map(({ code }) => code)).toEqual([wanted.code]);
    if (wanted.places !== undefined) expect(refusals[0]?.params.places).toEqual([...wanted.places]);
    return;
  }
  expect(refusals).toEqual([]);
  // By bytes, and not by what the editor says it did.
  const lines = stack.bytes.toString("latin1").split("\n");
  if (wanted.line !== undefined) {
    const end = lines[wanted.line - 1]?.endsWith("\r") ? "\r" : "";
    lines[wanted.line - 1] = Buffer.from(`${wanted.reads}${end}`).toString("latin1");
  }
  expect(Buffer.from(edited?.text ?? "").equals(Buffer.from(lines.join("\n"), "latin1"))).toBe(true);
  const sets = new Map(Object.entries(wanted.sets ?? {}));
  expect(edited?.env).toEqual(stack.env.map(({ name, value }) => ({ name, value: sets.get(name) ?? value })));
});

test("random edits of any services change nothing outside the places that they name", async () => {
  const random = randomFrom(20_261_123);
  let made = 0;
  for (let round = 0; round < 400; round += 1) {
    const stack = stacks[random(stacks.length)];
    if (stack === undefined) continue;
    const changes = stack.services
      .filter(() => random(2) === 0)
      .map(({ service }) => ({ service, reference: `r${random(3)}.example/a${random(3)}:${random(100)}-x` }));
    const { edited } = await editImages(stack.text, stack.env, changes);
    if (edited === null) continue;
    made += edited.edits.length;
    const inFile = edited.edits.flatMap((edit) => (edit.kind === "file" ? [edit] : []));
    let [at, now] = [0, 0];
    for (const { start, end, to } of inFile.toSorted((one, other) => one.start - other.start)) {
      expect(edited.text.slice(now, now + start - at)).toBe(stack.text.slice(at, start));
      now += start - at + to.length;
      at = end;
    }
    expect(edited.text.slice(now)).toBe(stack.text.slice(at));
    const names = edited.edits.flatMap((edit) => (edit.kind === "variable" ? [edit.name] : []));
    expect(edited.env.map(({ name }) => name)).toEqual(stack.env.map(({ name }) => name));
    const kept = (env: typeof stack.env) => env.filter(({ name }) => !names.includes(name));
    expect(kept(edited.env)).toEqual(kept(stack.env));
    const read = await readComposeFile(edited.text, edited.env);
    const asked = new Map(changes.map(({ service, reference }) => [service, reference]));
    for (const { name, image } of read.services ?? []) {
      const before = stack.services.find(({ service }) => service === name)?.image ?? null;
      expect(image).toBe(asked.get(name) ?? before);
    }
  }
  expect(made).toBeGreaterThan(100);
});
