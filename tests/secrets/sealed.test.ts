import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { keyId } from "../../src/secrets/keys.ts";
import { asSealed, createSealer } from "../../src/secrets/sealed.ts";

const clock = { now: () => 1_700_000_000_000, elapsed: () => 0, sleep: () => Promise.resolve() };

function sealerOf(primary: string, previous?: string[]) {
  const opened: string[] = [];
  const sealer = createSealer({ keys: { primary, previous }, clock, onOpen: (secret) => opened.push(secret) });
  return { sealer, opened };
}

describe("createSealer()", () => {
  const key = generateFernetKey();

  test.each(["", "s3cret", "潮汐 🌊", "x".repeat(1024 * 1024)])("open() gives back what seal() took", (text) => {
    const { sealer } = sealerOf(key);
    const sealed = sealer.seal(text);
    expect(sealed).not.toContain("s3cret");
    expect(sealer.open(sealed)).toBe(text);
  });

  test("open() reads what a previous key wrote, and seal() uses the primary", () => {
    const old = sealerOf(key).sealer.seal("kept");
    const newKey = generateFernetKey();
    const { sealer } = sealerOf(newKey, [key]);
    expect(sealer.open(old)).toBe("kept");
    expect(sealer.keyId).toBe(keyId(newKey));
    expect(() => sealerOf(key).sealer.open(sealer.seal("new"))).toThrow("belongs to another key");
  });

  test("open() tells what it decrypted, so that logs can hide it", () => {
    const { sealer, opened } = sealerOf(key);
    sealer.open(sealer.seal("s3cret"));
    expect(opened).toEqual(["s3cret"]);
  });

  test("openJson() validates, and tells every text unless it is told which ones are secret", () => {
    const { sealer, opened } = sealerOf(key);
    const schema = v.object({ username: v.string(), password: v.string(), more: v.array(v.string()) });
    const sealed = sealer.sealJson({ username: "reader", password: "s3cret", more: ["deep"] });
    expect(sealer.openJson(schema, sealed).username).toBe("reader");
    expect(opened).toEqual(["reader", "s3cret", "deep"]);
    opened.length = 0;
    sealer.openJson(schema, sealed, (value) => [value.password]);
    expect(opened).toEqual(["s3cret"]);
  });

  test.each([
    ["another form", '{"password":1}'],
    ["no JSON", "s3cret"],
  ])("openJson() refuses %s without quoting it", (_name, text) => {
    const { sealer } = sealerOf(key);
    const failure = (() => {
      try {
        sealer.openJson(v.object({ password: v.string() }), sealer.seal(text));
      } catch (error) {
        return error;
      }
    })();
    expect(failure).toMatchObject({ code: "undecryptable" });
    expect(Bun.inspect(failure)).not.toContain("s3cret");
  });

  test("refuses a key that is none", () => {
    expect(() => sealerOf("plain")).toThrow("it is not a Fernet key");
  });
});

test("asSealed() refuses plain text", () => {
  expect(() => asSealed("ghp_0123456789abcdefghij")).toThrow("not encrypted");
  const sealed = sealerOf(generateFernetKey()).sealer.seal("x");
  expect(asSealed(String(sealed))).toBe(sealed);
});
