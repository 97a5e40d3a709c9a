import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/clock.ts";
import { errorMessage } from "../../src/errors.ts";
import { docker } from "../../src/runtimes/docker/index.ts";
import { engineMissing, startEngine, type TestEngine } from "../peers/engine.ts";
import { peerSuite } from "../support/peer.ts";

// Each is over in a second; a machine that builds something beside them needs longer.
setDefaultTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), "tidemark-tls-"));
const file = (name: string) => join(folder, name);
const text = (name: string) => readFileSync(file(name), "utf8");
const noOpenssl = existsSync("/usr/bin/openssl") ? null : "/usr/bin/openssl is not installed (Debian package openssl)";

function openssl(...args: readonly string[]): void {
  execFileSync("/usr/bin/openssl", [...args], { cwd: folder, stdio: "pipe" });
}

/** An authority of its own, a server's certificate for 127.0.0.1 alone, and a client's. */
function makeCertificates(): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  for (const name of ["ca", "other-ca"]) {
    openssl(
      "req",
      "-x509",
      ...key,
      "-days",
      "2",
      "-subj",
      `/CN=${name}`,
      "-keyout",
      `${name}.key`,
      "-out",
      `${name}.pem`,
    );
  }
  for (const [name, extension] of [
    ["server", "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth"],
    ["client", "extendedKeyUsage=clientAuth"],
  ] as const) {
    openssl("req", "-new", ...key, "-subj", `/CN=${name}`, "-keyout", `${name}.key`, "-out", `${name}.csr`);
    writeFileSync(file(`${name}.ext`), extension);
    const sign = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", `${name}.ext`];
    openssl("x509", "-req", "-in", `${name}.csr`, ...sign, "-out", `${name}.pem`);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("No port");
  return address.port;
}

peerSuite("docker over tcp with TLS", engineMissing() ?? noOpenssl, () => {
  let engine: TestEngine;
  let port = 0;
  beforeAll(async () => {
    makeCertificates();
    port = await freePort();
    const tls = ["--tlsverify", "--tlscacert", file("ca.pem"), "--tlscert", file("server.pem"), "--tlskey"];
    engine = await startEngine({ args: ["--host", `tcp://127.0.0.1:${port}`, ...tls, file("server.key")] });
  }, 120_000);
  afterAll(async () => {
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  async function describeOver(host: string, isVerified: boolean, secret: Record<string, string> | null) {
    const config = { address: `tcp://${host}:${port}`, tls_verification: isVerified };
    const context = {
      signal: new AbortController().signal,
      clock: systemClock,
      self: { hostname: "x", data_dir: "/x" },
    };
    await using session = await docker.open(config, secret, context);
    return await session.describe();
  }
  const client = () => ({ client_certificate: text("client.pem"), client_key: text("client.key") });

  test("the authority and the client's certificate are used", async () => {
    const facts = await describeOver("127.0.0.1", true, { ca_certificate: text("ca.pem"), ...client() });
    expect(facts).toMatchObject({ api_version: "1.41", platform: "linux/amd64" });
  });

  test.each([
    ["no authority", "127.0.0.1", () => client()],
    ["another authority", "127.0.0.1", () => ({ ca_certificate: text("other-ca.pem"), ...client() })],
    ["a name that the certificate does not have", "localhost", () => ({ ca_certificate: text("ca.pem"), ...client() })],
    ["no client certificate", "127.0.0.1", () => ({ ca_certificate: text("ca.pem") })],
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
    expect(errorMessage(failure)).toContain("HTTPS server");
  });

  test("half a client certificate is refused before anything is sent", async () => {
    const secret = { ca_certificate: text("ca.pem"), client_certificate: text("client.pem") };
    const failure = await describeOver("127.0.0.1", true, secret).catch((error: unknown) => error);
    expect(errorMessage(failure)).toContain("the client certificate and the client key, or neither");
  });
});
