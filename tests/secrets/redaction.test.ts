import { describe, expect, test } from "bun:test";
import { createLog } from "../../src/log.ts";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { createRedactor } from "../../src/secrets/redaction.ts";
import { createSealer } from "../../src/secrets/sealed.ts";

const clock = { now: () => 1_700_000_000_000, elapsed: () => 0, sleep: () => Promise.resolve() };
const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.c2lnbmF0dXJlLXNpZ25hdHVyZQ";
const fernet = createSealer({ keys: { primary: generateFernetKey() }, clock, onOpen: () => undefined }).seal("x");
const pem =
  "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY\n-----END EC PRIVATE KEY-----";

describe("createRedactor() knows the shapes of", () => {
  test.each([
    ["a GitHub token", "token ghp_16C7e42F292c6912E7710c838347Ae178B4a used", "token [redacted] used"],
    ["a fine-grained GitHub token", "github_pat_11ABCDEFG0abcdefghij_klmnop", "[redacted]"],
    ["a GitLab token", "PAT glpat-aBcD_1234567890-xyz.", "PAT [redacted]"],
    ["a Portainer key", "X ptr_aZ8+kd93jfKDJ38fj/3kd9fjKD=", "X [redacted]"],
    ["a Docker Hub token", "dckr_pat_abcdefghijklmnopqrst", "[redacted]"],
    ["a Bearer header", "Authorization: Bearer abc123-._~+/x==", "Authorization: Bearer [redacted]"],
    ["a lower-case Bearer header", "authorization: bearer abcdefgh1", "authorization: bearer [redacted]"],
    ["a Basic header", "Authorization: Basic cmVhZGVyOnMzY3JldA==", "Authorization: Basic [redacted]"],
    ["a JSON Web Token", `got ${jwt} back`, "got [redacted] back"],
    ["a sealed value", `row ${fernet}`, "row [redacted]"],
    ["a private key", `before ${pem} after`, "before [redacted] after"],
    ["a private key that was cut off", `before ${pem.slice(0, 50)}`, "before [redacted]"],
    ["a private key in JSON", JSON.stringify({ key: pem }), '{"key":"[redacted]"}'],
    [
      "a user in a URL",
      "GET https://reader:s3cret@registry.example/v2/",
      "GET https://[redacted]@registry.example/v2/",
    ],
    ["a token as the user of a URL", "https://abc@git.example/x", "https://[redacted]@git.example/x"],
    ["an at sign in the password of a URL", "https://u:p@ss@git.example/", "https://[redacted]@git.example/"],
    ["a token in a query", "GET /x?page=2&private_token=abc&last=1", "GET /x?page=2&private_token=[redacted]&last=1"],
    ["a signed URL", "/blob?X-Amz-Signature=0af1&x=1", "/blob?X-Amz-Signature=[redacted]&x=1"],
    ["a key header", 'headers {"X-API-Key":"abcdef123"}', 'headers {"X-API-Key":"[redacted]"}'],
    ["a Slack address", "https://hooks.slack.com/services/T0/B0/XXXX", "https://hooks.slack.com/services/[redacted]"],
    ["a Discord address", "https://d.example/api/webhooks/12/a-B_c", "https://d.example/api/webhooks/12/[redacted]"],
  ])("%s", (_name, text, expected) => {
    expect(createRedactor().redact(text)).toBe(expected);
  });

  test.each([
    "Basic authentication failed",
    "bearer authentication is required",
    "pulled nginx@sha256:2834dc507516af02784808c5f48b7cbe38b8ed5d0f4837f16e78d00deb7e7767",
    "https://registry.example/v2/a@b/manifests/1.2.3",
    "mail admin@example.org about https://example.org",
    "glibc-2.36-9+deb12u7-amd64-package",
    "the private key is missing",
    "Created the administrator with the bootstrap password 7k3mz0q8w5t2r9x4c6v1b8n0ya",
  ])("nothing else: %s", (text) => {
    expect(createRedactor().redact(text)).toBe(text);
  });
});

describe("createRedactor() hides a registered value", () => {
  const secret = 'pä$s "wörd"\\7/+&x';

  test.each([
    ["as it is", (value: string) => value],
    ["in JSON", (value: string) => JSON.stringify({ password: value })],
    ["in JSON in JSON", (value: string) => JSON.stringify({ body: JSON.stringify({ password: value }) })],
    ["in a URL", (value: string) => encodeURIComponent(value)],
    ["in base64", (value: string) => Buffer.from(value).toString("base64")],
    ["in base64url", (value: string) => Buffer.from(value).toString("base64url")],
    ["in base64 behind a name", (value: string) => Buffer.from(`reader:${value}`).toString("base64")],
    ["in base64 behind a longer name", (value: string) => Buffer.from(`reader2:${value}`).toString("base64")],
    ["in base64 of JSON", (value: string) => Buffer.from(`{"a":1,${value}}`).toString("base64")],
  ])("%s", (_name, form) => {
    const redactor = createRedactor();
    const text = `before ${form(secret)} after`;
    expect(redactor.redact(text)).toBe(text);
    redactor.register(secret);
    const redacted = redactor.redact(text);
    expect(redacted).toContain("[redacted]");
    for (const piece of ["örd", Buffer.from(secret).toString("base64").slice(6, 14)])
      expect(redacted).not.toContain(piece);
  });

  test("also when another registered value is a part of it", () => {
    const redactor = createRedactor();
    redactor.register("harbour");
    redactor.register("harbour-master-key");
    expect(redactor.redact("harbour-master-key harbour")).toBe("[redacted] [redacted]");
  });

  test("by the long words of a value of many lines", () => {
    const redactor = createRedactor();
    redactor.register("apiVersion: v1\nusers:\n- token: AAAABBBBCCCCDDDDEEEEFFFF\n");
    expect(redactor.redact("said AAAABBBBCCCCDDDDEEEEFFFF on apiVersion: v1")).toBe(
      "said [redacted] on apiVersion: v1",
    );
  });

  test("but no word of under 6 characters", () => {
    const redactor = createRedactor();
    redactor.register("admin");
    redactor.register("  ab  ");
    expect(redactor.redact("admin ab")).toBe("admin ab");
  });

  test("as long as it is among the last 512", () => {
    const redactor = createRedactor();
    redactor.register("first-secret");
    for (let index = 0; index < 511; index++) redactor.register(`secret-number-${index}`);
    expect(redactor.redact("first-secret")).toBe("[redacted]");
    redactor.register("one-too-many");
    expect(redactor.redact("first-secret")).toBe("first-secret");
    redactor.register("first-secret");
    expect(redactor.redact("first-secret one-too-many")).toBe("[redacted] [redacted]");
  });
});

test.each([
  [
    "tide-canary-7391",
    "its start, cut by whoever wrote it: tide-c…",
    "its start, cut by whoever wrote it: [redacted]…",
  ],
  ["tide-canary-7391", "one character less than all: tide-canary-739…", "one character less than all: [redacted]…"],
  ["tide-canary-7391", "within a line: tide-canary… and on", "within a line: [redacted]… and on"],
  ["tide canary 7391", "encoded: tide%20canary%207…", "encoded: [redacted]…"],
  ["tide-canary-7391", "too little to tell: tide-…", "too little to tell: tide-…"],
  ["tide-canary-7391", "a word that is not cut: tide-can", "a word that is not cut: tide-can"],
])("createRedactor() hides what a cut left of %j: %s", (secret, text, expected) => {
  const redactor = createRedactor();
  redactor.register(secret);
  expect(redactor.redact(text)).toBe(expected);
});

test("excerpt() cuts to 500 characters after it has hidden what lies across the cut", () => {
  const redactor = createRedactor();
  redactor.register("tide-canary-7391");
  expect(redactor.excerpt("x".repeat(500))).toBe("x".repeat(500));
  expect(redactor.excerpt("x".repeat(501))).toBe(`${"x".repeat(499)}…`);
  const across = redactor.excerpt(`${"x".repeat(495)}tide-canary-7391`);
  expect(across).toBe(`${"x".repeat(495)}[red…`);
  expect(redactor.excerpt("y".repeat(10_000_000))).toHaveLength(500);
});

test("a log whose sink is the redactor hides a secret in the message, a field and an error", () => {
  const lines: string[] = [];
  const redactor = createRedactor();
  const sealer = createSealer({ keys: { primary: generateFernetKey() }, clock, onOpen: redactor.register });
  const sealed = sealer.seal("tide-canary-7391");
  for (const format of ["text", "json"] as const) {
    const log = createLog({
      level: "debug",
      format,
      clock,
      redact: redactor.redact,
      write: (line) => lines.push(line),
    });
    sealer.open(sealed);
    log.info("tide-canary-7391", {
      field: "tide-canary-7391",
      error: new Error("said tide-canary-7391"),
      deep: { a: ["tide-canary-7391"] },
    });
  }
  expect(lines).toHaveLength(2);
  expect(lines.join("\n")).not.toContain("canary");
});
