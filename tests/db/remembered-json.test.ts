import { describe, expect, test } from "bun:test";
import { sqliteTable } from "drizzle-orm/sqlite-core";
import { rememberedJson } from "../../src/db/tables/columns.ts";

const { seen } = sqliteTable("things", { seen: rememberedJson<{ names: string[] }>("seen") });
const read = (text: string) => seen.mapFromDriverValue(text) as { names: string[] };

describe("a column of remembered JSON", () => {
  test("gives the same value for an equal text, and another one for another text", () => {
    const value = read('{"names":["a"]}');

    expect(value).toEqual({ names: ["a"] });
    expect(read(String(seen.mapToDriverValue({ names: ["a"] })))).toBe(value);
    expect(read('{"names":["b"]}')).toEqual({ names: ["b"] });
  });

  test("lets no reader change what the others get", () => {
    const value = read('{"names":["a"]}');

    expect(() => value.names.push("b")).toThrow(TypeError);
    expect(read('{"names":["a"]}')).toEqual({ names: ["a"] });
  });

  test("forgets what is not read again, and nothing else", () => {
    const { few } = sqliteTable("things", { few: rememberedJson<object>("few", 20) });
    const [often, once] = [few.mapFromDriverValue('{"of":"ten"}'), few.mapFromDriverValue('{"on":"ce"}')];
    for (let other = 0; other < 10; other += 1) {
      few.mapFromDriverValue(`{"other":${other}}`);
      expect(few.mapFromDriverValue('{"of":"ten"}')).toBe(often);
    }

    expect(few.mapFromDriverValue('{"on":"ce"}')).toEqual(once);
    expect(few.mapFromDriverValue('{"on":"ce"}')).not.toBe(once);
  });
});
