import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { decryptFernet, encryptFernet, generateFernetKey, parseFernetKey } from "../../src/secrets/fernet.ts";
import { peerSuite } from "../support/peer.ts";

const python = process.env.PYTHON ?? "python3";
const probe = spawnSync(python, ["-c", "import cryptography"]);
const missing = probe.status === 0 ? null : `"${python}" has no package cryptography`;

/** Gives the key and the input to Python's Fernet over standard input, so that a payload may have any size. */
function pythonFernet(verb: "encrypt" | "decrypt", key: string, input: Uint8Array): Buffer {
  const program = `
import sys
from cryptography.fernet import Fernet
data = sys.stdin.buffer.read()
sys.stdout.buffer.write(Fernet(sys.argv[1]).${verb}(data))
`;
  const result = spawnSync(python, ["-c", program, key], { input, maxBuffer: 16 * 1024 * 1024 });
  if (result.status !== 0) throw new Error(`python: ${result.stderr.toString().slice(-300)}`);
  return result.stdout;
}

peerSuite("Fernet and Python's cryptography", missing, () => {
  const keyText = generateFernetKey();
  const key = parseFernetKey(keyText);
  if (key === null) throw new Error("the generated key does not parse");
  const payloads: [string, Buffer][] = [
    ["an empty payload", Buffer.alloc(0)],
    ["UTF-8", Buffer.from("Gezeiten 潮汐 🌊 café\u0000\n")],
    ["one block", Buffer.alloc(16, 1)],
    ["one mebibyte", randomBytes(1024 * 1024)],
  ];

  test.each(payloads)("Python decrypts what we encrypted: %s", (_name, payload) => {
    const token = encryptFernet(key, payload, 1_700_000_000_000);
    expect(pythonFernet("decrypt", keyText, Buffer.from(token)).equals(payload)).toBe(true);
  });

  test.each(payloads)("we decrypt what Python encrypted: %s", (_name, payload) => {
    const token = pythonFernet("encrypt", keyText, payload).toString("ascii");
    expect(decryptFernet(key, token).equals(payload)).toBe(true);
  });

  test("Python refuses what we refuse: another key's token", () => {
    const token = encryptFernet(key, Buffer.from("x"), 1_700_000_000_000);
    expect(() => pythonFernet("decrypt", generateFernetKey(), Buffer.from(token))).toThrow("InvalidToken");
  });
});
