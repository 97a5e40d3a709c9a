import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { type TarEntry, tar } from "./tar.ts";

export interface RegistryAuth {
  username: string;
  password: string;
}

/** A health check as image configs have it; times in nanoseconds. */
export interface ImageHealthcheck {
  Test: readonly string[];
  Interval?: number;
  Timeout?: number;
  StartPeriod?: number;
  Retries?: number;
}

export interface ImageOptions {
  /** Label `org.opencontainers.image.version`, environment `APP_VERSION` and the text of `/www/index.html`. Default: the tag. */
  version?: string;
  /** Default: this machine's. More than one makes an index. */
  platforms?: readonly string[];
  /** Default by platforms: `index` for several, else `manifest`. `docker` is schema 2, one platform. */
  form?: "index" | "manifest" | "docker";
  /** Adds a provenance manifest for each platform to an index, as BuildKit does. Default true. */
  attestations?: boolean;
  /** ISO time of the build; default a fixed day. Null leaves it out. */
  created?: string | null;
  labels?: Readonly<Record<string, string>>;
  /** Default: wait until told to stop. `serveHttp` serves `/www` on port 80. */
  cmd?: readonly string[];
  entrypoint?: readonly string[];
  healthcheck?: ImageHealthcheck;
  env?: Readonly<Record<string, string>>;
  /** Text by absolute path. */
  files?: Readonly<Record<string, string>>;
  /** Further fields of the config's `config` object: `User`, `WorkingDir`, `ExposedPorts`, `Volumes`, `StopSignal`. */
  config?: Readonly<Record<string, unknown>>;
}

const busybox = "/bin/busybox";
const applets = [
  "sh",
  "sleep",
  "httpd",
  "wget",
  "cat",
  "echo",
  "ls",
  "kill",
  "test",
  "true",
  "false",
  "env",
  "id",
  "nc",
  "ps",
];
/** Stops at once on SIGTERM: a bare `sleep` as process 1 would be killed only after the engine's grace period. */
export const waitForever = ["/bin/sh", "-c", "trap 'exit 0' TERM INT; sleep 86400 & wait $!"] as const;
/** Serves `/www` on `PORT` (80 by default), whose index is the image's version, and stops at once on SIGTERM. */
export const serveHttp = [
  "/bin/sh",
  "-c",
  "httpd -f -p $(test -n \"$PORT\" && echo $PORT || echo 80) -h /www & trap 'kill $!; exit 0' TERM INT; wait $!; wait",
] as const;

const types = {
  oci: {
    manifest: "application/vnd.oci.image.manifest.v1+json",
    config: "application/vnd.oci.image.config.v1+json",
    layer: "application/vnd.oci.image.layer.v1.tar+gzip",
  },
  docker: {
    manifest: "application/vnd.docker.distribution.manifest.v2+json",
    config: "application/vnd.docker.container.image.v1+json",
    layer: "application/vnd.docker.image.rootfs.diff.tar.gzip",
  },
  index: "application/vnd.oci.image.index.v1+json",
} as const;

/** Why images that run cannot be made here, or null when they can. */
export function runnableImageMissing(): string | null {
  return existsSync(busybox) ? null : `${busybox} is not installed (apt-get install busybox-static)`;
}

export function hostPlatform(): string {
  return `linux/${process.arch === "x64" ? "amd64" : process.arch}`;
}

interface Blob {
  digest: string;
  bytes: Uint8Array;
}

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  platform?: Record<string, string>;
  annotations?: Record<string, string>;
}

function sha256(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function blobOf(content: Uint8Array | object): Blob {
  const bytes = content instanceof Uint8Array ? content : new TextEncoder().encode(JSON.stringify(content));
  return { digest: sha256(bytes), bytes };
}

function descriptor(mediaType: string, blob: Blob): Descriptor {
  return { mediaType, digest: blob.digest, size: blob.bytes.byteLength };
}

interface Layer {
  diffId: string;
  blob: Blob;
}

let programs: Layer | null = null;

/** The layer with busybox, the same for every image of this platform; compressed once in a process. */
function programLayer(): Layer {
  if (programs !== null) return programs;
  const links = applets.map((name): TarEntry => ({ path: `bin/${name}`, kind: "link", target: "busybox" }));
  const directories = ["bin", "etc", "tmp"].map((path): TarEntry => ({ path, kind: "directory" }));
  const program: TarEntry = { path: "bin/busybox", kind: "file", content: readFileSync(busybox), mode: 0o755 };
  const passwd: TarEntry = { path: "etc/passwd", kind: "file", content: "root:x:0:0:root:/:/bin/sh\n" };
  const bytes = tar([...directories, passwd, program, ...links]);
  programs = { diffId: sha256(bytes), blob: blobOf(gzipSync(bytes, { level: 1 })) };
  return programs;
}

function fileLayer(files: Readonly<Record<string, string>>): Layer {
  const entries = new Map<string, TarEntry>();
  for (const [absolute, content] of Object.entries(files)) {
    const parts = absolute.split("/").filter(Boolean);
    for (let depth = 1; depth < parts.length; depth += 1) {
      const path = parts.slice(0, depth).join("/");
      entries.set(path, { path, kind: "directory" });
    }
    const path = parts.join("/");
    entries.set(path, { path, kind: "file", content, mode: content.startsWith("#!") ? 0o755 : 0o644 });
  }
  const bytes = tar([...entries.values()]);
  return { diffId: sha256(bytes), blob: blobOf(gzipSync(bytes)) };
}

interface BuiltManifest {
  manifest: Blob;
  descriptor: Descriptor;
  blobs: readonly Blob[];
}

function platformOf(text: string): Record<string, string> {
  const [os = "", architecture = "", variant] = text.split("/");
  return { architecture, os, ...(variant === undefined ? {} : { variant }) };
}

function buildManifest(tag: string, platform: string, options: ImageOptions): BuiltManifest {
  const version = options.version ?? tag;
  const created = options.created === undefined ? "2025-01-02T03:04:05Z" : options.created;
  const files = fileLayer({
    "/version": `${version} ${platform}\n`,
    "/www/index.html": `${version}\n`,
    ...options.files,
  });
  const layers = platform === hostPlatform() && runnableImageMissing() === null ? [programLayer(), files] : [files];
  const environment = { PATH: "/bin", APP_VERSION: version, ...options.env };
  const config = {
    ...(created === null ? {} : { created }),
    ...platformOf(platform),
    config: {
      Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      ...(options.entrypoint === undefined ? {} : { Entrypoint: options.entrypoint }),
      Cmd: options.cmd ?? waitForever,
      Labels: { "org.opencontainers.image.version": version, ...options.labels },
      ...(options.healthcheck === undefined ? {} : { Healthcheck: options.healthcheck }),
      ...options.config,
    },
    rootfs: { type: "layers", diff_ids: layers.map((layer) => layer.diffId) },
    history: layers.map(() => ({ ...(created === null ? {} : { created }), created_by: "tidemark tests" })),
  };
  const type = options.form === "docker" ? types.docker : types.oci;
  const configBlob = blobOf(config);
  const manifest = blobOf({
    schemaVersion: 2,
    mediaType: type.manifest,
    config: descriptor(type.config, configBlob),
    layers: layers.map((layer) => descriptor(type.layer, layer.blob)),
  });
  return {
    manifest,
    descriptor: { ...descriptor(type.manifest, manifest), platform: platformOf(platform) },
    blobs: [configBlob, ...layers.map((layer) => layer.blob)],
  };
}

function buildAttestation(subject: string): BuiltManifest {
  const statement = blobOf({
    _type: "https://in-toto.io/Statement/v0.1",
    predicateType: "https://slsa.dev/provenance/v0.2",
    subject: [{ name: "image", digest: { sha256: subject.slice("sha256:".length) } }],
    predicate: { buildType: "tidemark-tests" },
  });
  const unknown = { architecture: "unknown", os: "unknown" };
  const configBlob = blobOf({ ...unknown, config: {}, rootfs: { type: "layers", diff_ids: [statement.digest] } });
  const annotations = { "in-toto.io/predicate-type": "https://slsa.dev/provenance/v0.2" };
  const manifest = blobOf({
    schemaVersion: 2,
    mediaType: types.oci.manifest,
    config: descriptor(types.oci.config, configBlob),
    layers: [{ ...descriptor("application/vnd.in-toto+json", statement), annotations }],
  });
  const marks = { "vnd.docker.reference.digest": subject, "vnd.docker.reference.type": "attestation-manifest" };
  return {
    manifest,
    descriptor: { ...descriptor(types.oci.manifest, manifest), platform: unknown, annotations: marks },
    blobs: [configBlob, statement],
  };
}

type Send = (method: string, url: string, body?: Uint8Array, type?: string) => Promise<Response>;

/** Sends to the registry, and signs in by Basic or Bearer when it asks for it. */
function sender(auth: RegistryAuth | null, repository: string): Send {
  const basic = auth === null ? null : `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString("base64")}`;
  let authorization: string | null = null;
  const answerTo = async (challenge: string): Promise<string | null> => {
    if (!/^bearer/i.test(challenge)) return basic;
    const parameter = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1] ?? "";
    const url = new URL(parameter("realm"));
    url.searchParams.set("service", parameter("service"));
    url.searchParams.set("scope", `repository:${repository}:pull,push`);
    const response = await fetch(url, { headers: basic === null ? {} : { authorization: basic } });
    const answer = (await response.json()) as { token?: string; access_token?: string };
    return `Bearer ${answer.token ?? answer.access_token}`;
  };
  const send = (method: string, url: string, body?: Uint8Array, type?: string) => {
    const headers = new Headers(type === undefined ? {} : { "content-type": type });
    if (authorization !== null) headers.set("authorization", authorization);
    return fetch(url, { method, headers, ...(body === undefined ? {} : { body: Buffer.from(body) }) });
  };
  return async (method, url, body, type) => {
    const response = await send(method, url, body, type);
    if (response.status !== 401) return response;
    authorization = await answerTo(response.headers.get("www-authenticate") ?? "");
    return await send(method, url, body, type);
  };
}

async function expectStatus(response: Response, status: number, what: string): Promise<Response> {
  if (response.status === status) return response;
  throw new Error(`Could not ${what}: ${response.status} ${(await response.text()).slice(0, 500)}`);
}

async function pushBlob(send: Send, base: string, blob: Blob): Promise<void> {
  if ((await send("HEAD", `${base}/blobs/${blob.digest}`)).ok) return;
  const started = await expectStatus(await send("POST", `${base}/blobs/uploads/`), 202, "start an upload");
  const location = new URL(started.headers.get("location") ?? "", base);
  location.searchParams.set("digest", blob.digest);
  const put = await send("PUT", location.href, blob.bytes, "application/octet-stream");
  await expectStatus(put, 201, `push blob ${blob.digest}`);
}

/**
 * Makes an image by hand and pushes it: one or more platforms, with a layer that runs on this machine. The same arguments give
 * the same digest, another `version`, `created`, label or file another one. Resolves with the digest that the tag now has.
 */
export async function pushImage(
  registryUrl: string,
  auth: RegistryAuth | null,
  repository: string,
  tag: string,
  options: ImageOptions = {},
): Promise<string> {
  const platforms = options.platforms ?? [hostPlatform()];
  const form = options.form ?? (platforms.length > 1 ? "index" : "manifest");
  if (form !== "index" && platforms.length > 1)
    throw new Error(`A "${form}" has one platform, not ${platforms.length}`);
  const base = `${registryUrl}/v2/${repository}`;
  const send = sender(auth, repository);
  const pushManifest = async (reference: string, type: string, manifest: Blob): Promise<string> => {
    const response = await send("PUT", `${base}/manifests/${reference}`, manifest.bytes, type);
    await expectStatus(response, 201, `push ${repository}:${reference}`);
    return manifest.digest;
  };
  const images = platforms.map((platform) => buildManifest(tag, platform, options));
  const hasAttestations = form === "index" && options.attestations !== false;
  const attestations = hasAttestations ? images.map((image) => buildAttestation(image.manifest.digest)) : [];
  const built = [...images, ...attestations];
  for (const blob of built.flatMap((image) => image.blobs)) await pushBlob(send, base, blob);
  const [only] = images;
  if (form !== "index" && only !== undefined) return await pushManifest(tag, only.descriptor.mediaType, only.manifest);
  for (const { manifest, descriptor } of built) await pushManifest(manifest.digest, descriptor.mediaType, manifest);
  const manifests = built.map((image) => image.descriptor);
  return await pushManifest(tag, types.index, blobOf({ schemaVersion: 2, mediaType: types.index, manifests }));
}
