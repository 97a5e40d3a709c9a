import { beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { assertKeyFits, fingerprint, hasKeyFile, keyId, loadKeys, writeKeyFile } from "../../src/secrets/keys.ts";

const fresh = { keys_file: null, session_key: null, encryption_key: null, has_encrypted_rows: false };
let dataDir = "";
let keyFile = "";

beforeEach(() => {
  dataDir = join(mkdtempSync(join(tmpdir(), "tidemark-keys-")), "data");
  keyFile = join(dataDir, "keys.json");
});

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const load = (options: Partial<Parameters<typeof loadKeys>[0]> = {}) =>
  loadKeys({ data_dir: dataDir, ...fresh, ...options });

describe("loadKeys()", () => {
  test("makes a key file 0600 in a folder 0700 on the first start, whatever the umask is", () => {
    const umask = process.umask(0);
    try {
      const keys = load();
      expect(keys.session.length).toBeGreaterThanOrEqual(32);
      expect(keys.managed_by_environment).toEqual({ session: false, encryption: false });
    } finally {
      process.umask(umask);
    }
    expect(modeOf(dataDir)).toBe("700");
    expect(modeOf(keyFile)).toBe("600");
    expect(readdirSync(dataDir)).toEqual(["keys.json"]);
    expect(hasKeyFile(dataDir)).toBe(true);
  });

  test("finds the same keys again, with encrypted rows too", () => {
    const first = load();
    const bytes = readFileSync(keyFile);
    expect(load({ has_encrypted_rows: true })).toEqual(first);
    expect(readFileSync(keyFile).equals(bytes)).toBe(true);
  });

  test("refuses to make keys when there are encrypted rows, and says how to recover", () => {
    expect(() => load({ has_encrypted_rows: true })).toThrow(/restore the file from the backup/);
    expect(existsSync(keyFile)).toBe(false);
  });

  test.each(["604", "640", "660", "644", "620"])("refuses a key file with mode %s", (mode) => {
    load();
    chmodSync(keyFile, Number.parseInt(mode, 8));
    expect(() => load()).toThrow(`has mode 0${mode} and others may read it`);
  });

  test.each([
    ["an empty file", ""],
    ["no JSON", "{"],
    ["another format", '{"format":2}'],
    ["an unknown field", '{"format":1,"extra":1}'],
    ["a truncated file", '{"format":1,"session":"AAA'],
  ])("refuses a key file with %s and leaves it alone", (_name, content) => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(keyFile, content, { mode: 0o600 });
    expect(() => load()).toThrow(/damaged or of another version/);
    expect(readFileSync(keyFile, "utf8")).toBe(content);
  });

  test("refuses a key file that is a folder", () => {
    mkdirSync(keyFile, { recursive: true, mode: 0o700 });
    expect(() => load()).toThrow("is not a regular file");
  });

  test("survives what a crash during the first write leaves", () => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(`${keyFile}.tmp`, "half", { mode: 0o600 });
    const keys = load();
    expect(load()).toEqual(keys);
    expect(existsSync(`${keyFile}.tmp`)).toBe(false);
  });

  test("closes a data directory of its own that others may enter", () => {
    mkdirSync(dataDir, { mode: 0o755 });
    chmodSync(dataDir, 0o755);
    writeFileSync(join(dataDir, "tidemark.db"), "");
    load();
    expect(modeOf(dataDir)).toBe("700");
  });

  test("refuses an open directory with other people's files, and does not change it", () => {
    mkdirSync(dataDir);
    chmodSync(dataDir, 0o755);
    writeFileSync(join(dataDir, "letters.txt"), "");
    expect(() => load()).toThrow(/give Tidemark a folder of its own/);
    expect(modeOf(dataDir)).toBe("755");
    expect(existsSync(keyFile)).toBe(false);
  });

  test("takes both keys of the environment before the file, and writes none", () => {
    const encryption = generateFernetKey();
    const keys = load({
      session_key: Buffer.from(generateFernetKey(), "base64url").toString("base64"),
      encryption_key: encryption,
    });
    expect(keys.encryption).toEqual({ primary: encryption });
    expect(keys.managed_by_environment).toEqual({ session: true, encryption: true });
    expect(existsSync(keyFile)).toBe(false);
  });

  test.each(["EROFS: read-only file system", "EBUSY: resource busy or locked", "EACCES: permission denied"])(
    "says that a key file cannot be replaced, and leaves it alone: %s",
    (fault) => {
      load();
      const before = readFileSync(keyFile);
      const write = () =>
        writeKeyFile(keyFile, { format: 1 }, () => {
          throw new Error(fault);
        });
      expect(write).toThrow(`The key file "${keyFile}" cannot be replaced`);
      expect(readFileSync(keyFile)).toEqual(before);
      expect(existsSync(`${keyFile}.tmp`)).toBe(false);
    },
  );

  test("removes what a crash left beside the file that a link leads to", () => {
    load();
    const real = join(mkdtempSync(join(tmpdir(), "tidemark-keys-")), "real.json");
    renameSync(keyFile, real);
    symlinkSync(real, keyFile);
    writeFileSync(`${real}.tmp`, "a key that was never in use");
    load();
    expect(existsSync(`${real}.tmp`)).toBe(false);
  });

  test("keeps the other key in the file when the environment has one", () => {
    const encryption = generateFernetKey();
    const keys = load({ encryption_key: encryption });
    expect(keys.managed_by_environment).toEqual({ session: false, encryption: true });
    expect(readFileSync(keyFile, "utf8")).not.toContain(encryption);
    expect(load({ encryption_key: encryption }).session).toEqual(keys.session);
    expect(() => load()).toThrow("has no encryption key; set ENCRYPTION_KEY as before");
  });

  test("reads KEYS_FILE instead of the data directory, and never makes it", () => {
    const elsewhere = join(mkdtempSync(join(tmpdir(), "tidemark-keys-")), "mounted.json");
    expect(() => load({ keys_file: elsewhere })).toThrow(/there is no such file/);
    expect(existsSync(elsewhere)).toBe(false);
    const [primary, previous] = [generateFernetKey(), generateFernetKey()];
    writeKeyFile(elsewhere, { format: 1, session: generateFernetKey(), encryption: { primary, previous: [previous] } });
    const keys = load({ keys_file: elsewhere });
    expect(keys.encryption).toEqual({ primary, previous: [previous] });
    expect(keys.managed_by_environment).toEqual({ session: true, encryption: true });
  });

  test.each([
    ["session_key", "too-short", "SESSION_KEY"],
    ["session_key", Buffer.alloc(32).toString("base64"), "SESSION_KEY"],
    ["session_key", "this is a phrase and not a key, although it is long", "SESSION_KEY"],
    ["encryption_key", "too-short", "ENCRYPTION_KEY"],
    ["encryption_key", `${Buffer.alloc(32).toString("base64url")}=`, "ENCRYPTION_KEY"],
  ])("refuses %s %s with a sentence that does not repeat it", (name, value, place) => {
    const failure = (() => {
      try {
        load({ [name]: value });
      } catch (error) {
        return String(error);
      }
      return "";
    })();
    expect(failure).toContain(`key in ${place} cannot be used; it must be`);
    expect(failure).not.toContain(value);
  });
});

describe("assertKeyFits()", () => {
  const [primary, previous] = [generateFernetKey(), generateFernetKey()];

  test("takes the primary key, a previous one, and a database without encrypted rows", () => {
    const keys = { primary, previous: [previous] };
    for (const stored of [null, keyId(primary), keyId(previous)])
      expect(() => assertKeyFits(keys, stored)).not.toThrow();
  });

  test("refuses another key and names both by their ids", () => {
    expect(() => assertKeyFits({ primary }, keyId(previous))).toThrow(keyId(previous));
    expect(() => assertKeyFits({ primary }, keyId(previous))).toThrow(keyId(primary));
  });
});

test("fingerprint() shows 64 bits of a hash in groups, and nothing of the key", () => {
  expect(fingerprint("abc")).toBe("SHA256:ba78 16bf 8f01 cfea");
});
