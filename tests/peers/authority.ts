import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const openssl = "/usr/bin/openssl";

/** Why no certificates can be made here, or null when they can. */
export function authorityMissing(): string | null {
  return existsSync(openssl) ? null : `${openssl} is not installed (apt-get install openssl)`;
}

export interface Certificate {
  /** PEM files. */
  cert_file: string;
  key_file: string;
}

export interface CertificateOptions {
  /** The subject's organization, by which Kubernetes knows a client's group. */
  organization?: string;
  /** Further names and addresses of a server. */
  names?: readonly string[];
  /** It ended yesterday. */
  is_expired?: boolean;
}

/** A private certificate authority, as a company or a home has one: no program trusts it unless it is told to. */
export interface Authority {
  /** PEM file, for NODE_EXTRA_CA_CERTS. */
  ca_file: string;
  ca: string;
  /** The public keys of what it issued so far, as Chromium's `--ignore-certificate-errors-spki-list` takes them. */
  pins(): string;
  /** A server's certificate for a name such as `localhost` or an IPv4 address, or a client's. */
  issue(name: string, usage?: "server" | "client", more?: CertificateOptions): Certificate;
  remove(): void;
}

const p256 = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
const days = (count: number) => ["-days", String(count)];

/** Makes an authority in a folder of its own, below `parent`. */
export function createAuthority(parent = tmpdir()): Authority {
  const directory = mkdtempSync(join(parent, "tidemark-authority-"));
  const at = (name: string) => join(directory, name);
  const run = (...args: string[]) => execFileSync(openssl, args, { stdio: "pipe" });
  const caFile = at("ca.pem");
  const constraint = [
    "-addext",
    "basicConstraints=critical,CA:TRUE",
    "-addext",
    "keyUsage=critical,keyCertSign,cRLSign",
  ];
  run(
    "req",
    "-x509",
    ...p256,
    "-keyout",
    at("ca.key"),
    "-out",
    caFile,
    ...days(3),
    "-subj",
    "/CN=Test CA",
    ...constraint,
  );
  const ca = readFileSync(caFile, "utf8");
  const pins: string[] = [];
  let count = 0;
  return {
    ca_file: caFile,
    ca,
    pins: () => pins.join(","),
    issue: (name, usage = "server", { organization, names = [], is_expired = false } = {}) => {
      count += 1;
      const file = (ending: string) => at(`${count}-${name}.${ending}`);
      const certificate = { cert_file: file("pem"), key_file: file("key") };
      const subject = `${organization === undefined ? "" : `/O=${organization}`}/CN=${name}`;
      run("req", ...p256, "-keyout", certificate.key_file, "-out", file("csr"), "-subj", subject);
      const all = [name, ...names].map((each) => `${isIP(each) === 0 ? "DNS" : "IP"}:${each}`).join(",");
      writeFileSync(file("ext"), `subjectAltName=${all}\nextendedKeyUsage=${usage}Auth\n`);
      const signer = ["-CA", caFile, "-CAkey", at("ca.key"), "-CAcreateserial", "-extfile", file("ext")];
      run("x509", "-req", "-in", file("csr"), ...signer, ...days(is_expired ? -1 : 3), "-out", certificate.cert_file);
      const { publicKey } = new X509Certificate(readFileSync(certificate.cert_file));
      const spki = publicKey.export({ type: "spki", format: "der" });
      pins.push(new Bun.CryptoHasher("sha256").update(spki).digest("base64"));
      return certificate;
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
