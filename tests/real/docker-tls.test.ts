import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { systemClock } from "../../src/clock.ts";
import { errorMessage } from "../../src/errors.ts";
import { docker } from "../../src/runtimes/docker/index.ts";
import { type Authority, authorityMissing, type Certificate, createAuthority } from "../peers/authority.ts";
import { engineMissing, startEngine, type TestEngine } from "../peers/engine.ts";
import { freePort } from "../peers/free-port.ts";
import { peerSuite } from "../support/peer.ts";

// Each is over in a second; a machine that builds something beside them needs longer.
setDefaultTimeout(60_000);

const text = (file: string) => readFileSync(file, "utf8");

peerSuite("docker over tcp with TLS", engineMissing() ?? authorityMissing(), () => {
  let engine: TestEngine;
  let authority: Authority;
  let stranger: Authority;
  let person: Certificate;
  let port = 0;
  beforeAll(async () => {
    [authority, stranger] = [createAuthority(), createAuthority()];
    const server = authority.issue("127.0.0.1");
    person = authority.issue("client", "client");
    port = await freePort();
    const tls = ["--tlsverify", "--tlscacert", authority.ca_file, "--tlscert", server.cert_file, "--tlskey"];
    engine = await startEngine({ args: ["--host", `tcp://127.0.0.1:${port}`, ...tls, server.key_file] });
  }, 120_000);
  afterAll(async () => {
    await engine?.stop();
    for (const each of [authority, stranger]) each.remove();
  }, 60_000);

  const context = {
    fetch: () => Promise.reject(new Error("Engines bring their own transport")),
    signal: new AbortController().signal,
    clock: systemClock,
    self: { hostname: "x", data_dir: "/x" },
  };
  const open = (address: string, tls_verification: boolean, secret: Record<string, string> | null) =>
    docker.open({ address, tls_verification }, secret, context);
  async function describeOver(host: string, isVerified: boolean, secret: Record<string, string> | null) {
    await using session = await open(`tcp://${host}:${port}`, isVerified, secret);
    return await session.describe();
  }
  const client = () => ({ client_certificate: text(person.cert_file), client_key: text(person.key_file) });

  test("an engine is the same by its socket and by TLS, after a restart too, and no other on this machine is", async () => {
    const idOf = async (address: string, secret: Record<string, string> | null = null) => {
      await using session = await open(address, true, secret);
      return await session.identify?.();
    };
    const id = await idOf(engine.address);
    expect(id).toMatch(/^\S{36,} \S+ \//);
    expect(await idOf(`tcp://127.0.0.1:${port}`, { ca_certificate: authority.ca, ...client() })).toBe(id);
    await engine.restart();
    expect(await idOf(engine.address)).toBe(id);
    const other = await startEngine();
    try {
      expect(await idOf(other.address)).not.toBe(id);
    } finally {
      await other.stop();
    }
  });

  test("the authority and the client's certificate are used", async () => {
    const facts = await describeOver("127.0.0.1", true, { ca_certificate: authority.ca, ...client() });
    expect(facts).toMatchObject({ api_version: "1.41", platform: "linux/amd64" });
  });

  test.each([
    ["no authority", "127.0.0.1", () => client()],
    ["another authority", "127.0.0.1", () => ({ ca_certificate: stranger.ca, ...client() })],
    ["a name that the certificate does not have", "localhost", () => ({ ca_certificate: authority.ca, ...client() })],
    ["no client certificate", "127.0.0.1", () => ({ ca_certificate: authority.ca })],
    ["no credential at all", "127.0.0.1", () => null],
  ])("verification fails closed with %s", async (_case, host, secret) => {
    const failure = await describeOver(host, true, secret()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "unreachable" });
    expect(errorMessage(failure)).not.toContain("PRIVATE KEY");
  });

  test("switched off it still speaks TLS where the credential has a certificate, and warns", async () => {
    expect(await describeOver("localhost", false, client())).toMatchObject({ api_version: "1.41" });
    const config = { address: `tcp://localhost:${port}`, tls_verification: false };
    expect(docker.warnings(config).map((each) => each.code)).toEqual(["tls_not_verified"]);
  });

  test("switched off and without a credential it is plain, which this engine refuses", async () => {
    const failure = await describeOver("127.0.0.1", false, null).catch((error: unknown) => error);
    expect(errorMessage(failure)).toContain("it accepts https only");
  });

  test("half a client certificate is refused before anything is sent", async () => {
    const secret = { ca_certificate: authority.ca, client_certificate: text(person.cert_file) };
    const failure = await describeOver("127.0.0.1", true, secret).catch((error: unknown) => error);
    expect(errorMessage(failure)).toContain("A client certificate needs its key");
  });
});
