import { beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { keyFilePath, loadKeys } from "../../src/secrets/keys.ts";

const session = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7)).toString("base64url");
const primary = generateFernetKey();
const good = { format: 1, session, encryption: { primary } };
const text = JSON.stringify(good);
let dir = "";
let path = "";

beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), "tidemark-damaged-")), "data");
  mkdirSync(dir, { mode: 0o700 });
  path = keyFilePath(dir);
});

const load = () =>
  loadKeys({ data_dir: dir, keys_file: null, session_key: null, encryption_key: null, has_encrypted_rows: true });
const damaged = /damaged or of another version; restore it from a backup/;
const unusable = /cannot be used; it must be/;

describe("a key file that was damaged", () => {
  test("the whole one is taken", () => {
    writeFileSync(path, text, { mode: 0o600 });
    expect(load().encryption).toEqual({ primary });
  });

  const texts: readonly (readonly [string, string | Buffer, RegExp])[] = [
    ["empty", "", damaged],
    ["blank", " \n", damaged],
    ["zero bytes", "\0".repeat(text.length), damaged],
    ["null", "null", damaged],
    ["a list", `[${text}]`, damaged],
    ["a text", JSON.stringify(text), damaged],
    ["twice", `${text}\n${text}`, damaged],
    ["with something behind", `${text}x`, damaged],
    ["with a byte order mark", `\uFEFF${text}`, damaged],
    ["in UTF-16", Buffer.from(text, "utf16le").toString("latin1"), damaged],
    ["with single quotes", text.replaceAll('"', "'"), damaged],
    ["with a comment", `// keys\n${text}`, damaged],
    ["without a format", JSON.stringify({ session, encryption: { primary } }), damaged],
    ["of a later format", JSON.stringify({ ...good, format: 2 }), damaged],
    ["with the format as text", JSON.stringify({ ...good, format: "1" }), damaged],
    ["with an unknown member", JSON.stringify({ ...good, backup: primary }), damaged],
    ["with two session keys", text.replace("{", `{"session":"${session}",`), damaged],
    ["with two primaries", text.replace('"primary"', `"primary":"${generateFernetKey()}","primary"`), damaged],
    [
      "that is no UTF-8",
      Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0x2c, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])]),
      damaged,
    ],
    ["with __proto__", text.replace("{", '{"__proto__":{"session":"x"},'), damaged],
    ["with an unknown member inside", JSON.stringify({ ...good, encryption: { primary, next: primary } }), damaged],
    ["with a number as session key", JSON.stringify({ ...good, session: 5 }), damaged],
    ["with a list as primary", JSON.stringify({ ...good, encryption: { primary: [primary] } }), damaged],
    ["without a primary", JSON.stringify({ ...good, encryption: { previous: [primary] } }), damaged],
    ["with previous as text", JSON.stringify({ ...good, encryption: { primary, previous: primary } }), damaged],
    [
      "with nine previous",
      JSON.stringify({ ...good, encryption: { primary, previous: Array(9).fill(primary) } }),
      damaged,
    ],
    ["with a blank primary", JSON.stringify({ ...good, encryption: { primary: "" } }), unusable],
    ["with a primary cut short", JSON.stringify({ ...good, encryption: { primary: primary.slice(0, -3) } }), unusable],
    [
      "with a primary without padding",
      JSON.stringify({ ...good, encryption: { primary: primary.slice(0, -1) } }),
      unusable,
    ],
    ["with a doubled primary", JSON.stringify({ ...good, encryption: { primary: primary + primary } }), unusable],
    ["with a primary in hex", JSON.stringify({ ...good, encryption: { primary: "ab".repeat(32) } }), unusable],
    ["with a primary of zeros", JSON.stringify({ ...good, encryption: { primary: `${"A".repeat(43)}=` } }), unusable],
    ["with a blank around the primary", JSON.stringify({ ...good, encryption: { primary: ` ${primary}` } }), unusable],
    ["with a previous that is none", JSON.stringify({ ...good, encryption: { primary, previous: ["x"] } }), unusable],
    ["with a short session key", JSON.stringify({ ...good, session: session.slice(0, 20) }), unusable],
    ["with a session key of one byte", JSON.stringify({ ...good, session: "A".repeat(43) }), unusable],
    [
      "with a phrase as session key",
      JSON.stringify({ ...good, session: "correct horse battery staple and so on" }),
      unusable,
    ],
    ["without the session key", JSON.stringify({ format: 1, encryption: { primary } }), /has no session key/],
    ["without the encryption key", JSON.stringify({ format: 1, session }), /has no encryption key/],
    ["with nothing but its format", '{"format":1}', /has no session key/],
    ["too large", text + " ".repeat(70_000), /is larger than 64 KiB/],
  ];
  test.each(texts)("%s: refused, left as it is, and no key is told", (_name, content, says) => {
    writeFileSync(path, content, { mode: 0o600 });
    const before = readFileSync(path);
    expect(load).toThrow(says);
    try {
      load();
    } catch (error) {
      const said = Bun.inspect(error);
      for (const key of [session, primary]) expect(said).not.toContain(key);
    }
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test.each(Array.from({ length: text.length - 1 }, (_, index) => index + 1).filter((length) => length % 11 === 0))(
    "cut off after %i bytes: refused",
    (length) => {
      writeFileSync(path, text, { mode: 0o600 });
      truncateSync(path, length);
      expect(load).toThrow(damaged);
      expect(readFileSync(path).length).toBe(length);
    },
  );

  test.each([
    ["a folder", () => mkdirSync(path), "is not a regular file"],
    ["a pipe", () => Bun.spawnSync(["mkfifo", "-m", "600", path]), "is not a regular file"],
    ["a link to nowhere", () => symlinkSync(join(dir, "gone.json"), path), "is a broken link"],
    ["a link to a device", () => symlinkSync("/dev/zero", path), "is not a regular file"],
    ["nothing", () => rmSync(path, { force: true }), "There is no key file"],
    ["readable by the group", () => writeWithMode(0o640), "run chmod 600"],
    ["readable by others", () => writeWithMode(0o604), "run chmod 600"],
    ["writable by the group", () => writeWithMode(0o620), "run chmod 600"],
  ])("%s in its place: refused, and nothing is made", (_name, make, says) => {
    make();
    expect(load).toThrow(says);
    expect(existsSync(join(dir, "gone.json"))).toBe(false);
    expect(existsSync(`${path}.tmp`)).toBe(false);
  });

  test("what a crash left beside it goes at the next start", () => {
    writeFileSync(path, text, { mode: 0o600 });
    writeFileSync(`${path}.tmp`, JSON.stringify({ ...good, encryption: { primary: generateFernetKey() } }), {
      mode: 0o600,
    });
    expect(load().encryption).toEqual({ primary });
    expect(existsSync(`${path}.tmp`)).toBe(false);
  });
});

function writeWithMode(mode: number): void {
  writeFileSync(path, text);
  chmodSync(path, mode);
}
