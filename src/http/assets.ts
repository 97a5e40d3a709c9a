import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { acceptsGzip } from "./accept-encoding.ts";
import type { App, AppContext } from "./context.ts";

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".webmanifest": "application/manifest+json",
};

export interface Assets {
  /** The path below the base path, with the content's hash in it, so that it can be cached for a year. */
  path(name: string): string;
  /** The text of a file in `public/`. */
  text(name: string): string;
  mount(app: App): void;
}

interface AssetFile {
  /** The name in templates. */
  name: string;
  /** Absolute path on disk. */
  file: string;
}

/** What is served from memory at an address with its hash in it. */
export interface LoadedAsset {
  body: Uint8Array<ArrayBuffer>;
  /** Null where it saves next to nothing. */
  gzip: Uint8Array<ArrayBuffer> | null;
  hash: string;
  type: string;
}

/** Whether `If-None-Match` names this entity tag. */
function matches(header: string | undefined, etag: string): boolean {
  return (header ?? "").split(",").some((each) => each.trim().replace(/^W\//, "") === etag);
}

export function loadAsset(body: Uint8Array<ArrayBuffer>, type: string): LoadedAsset {
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 16);
  const gzip = new Uint8Array(gzipSync(body, { level: 9 }));
  return { body, hash, gzip: gzip.length < body.length * 0.9 ? gzip : null, type };
}

export function respondAsset(c: AppContext, asset: LoadedAsset): Response {
  const packed = acceptsGzip(c.req.header("accept-encoding")) ? asset.gzip : null;
  const etag = packed === null ? `"${asset.hash}"` : `"${asset.hash}-gzip"`;
  c.header("Cache-Control", "public, max-age=31536000, immutable");
  c.header("Vary", "Accept-Encoding");
  c.header("ETag", etag);
  if (matches(c.req.header("if-none-match"), etag)) return c.body(null, 304);
  c.header("Content-Type", asset.type);
  if (packed !== null) c.header("Content-Encoding", "gzip");
  return c.body(packed ?? asset.body);
}

const inPackage = (path: string) => fileURLToPath(import.meta.resolve(path));

/** Files that pages load from packages, under their names in templates. */
export const packagedFiles: readonly AssetFile[] = [
  { name: "htmx.js", file: inPackage("htmx.org/dist/htmx.min.js") },
  { name: "htmx-sse.js", file: inPackage("htmx.org/dist/ext/hx-sse.min.js") },
];

/**
 * One of our own texts without the comments on lines of their own and the indentation, which only authors read: a tenth of a first load.
 * A text over several lines may have neither; `assets.test.ts` sees to that.
 */
function readBare(path: string): string {
  const comments = /^[ \t]*(?:\/\/.*|\/\*(?:(?!\*\/)[\s\S])*\*\/)[ \t]*$/gm;
  return readFileSync(path, "utf8").replace(comments, "").replace(/^\s+/gm, "");
}

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));

/** The style sheets joined in the order of their names, as pages load them. */
export function joinStyles(publicDir: string): Uint8Array<ArrayBuffer> {
  const folder = join(publicDir, "styles");
  const names = readdirSync(folder).filter((name) => name.endsWith(".css"));
  return bytesOf(
    names
      .toSorted()
      .map((name) => readBare(join(folder, name)))
      .join(""),
  );
}

/** Our static files and those of packages, read once at start and served from memory. */
export function loadAssets(publicDir: string, packaged: readonly AssetFile[]): Assets {
  const own = readdirSync(publicDir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && types[extname(entry.name)] !== undefined)
    .map((entry) => ({ name: entry.name, file: join(publicDir, entry.name) }));
  const scripts = own.filter(({ name }) => name.endsWith(".js"));
  const others = [...own, ...packaged].filter((each) => !scripts.includes(each));
  const files = [
    ...scripts.map(({ name, file }) => ({ name, body: bytesOf(readBare(file)) })),
    ...others.map(({ name, file }) => ({ name, body: new Uint8Array(readFileSync(file)) })),
  ];
  const byName = new Map<string, string>();
  const byPath = new Map<string, LoadedAsset>();
  for (const { name, body } of [...files, { name: "app.css", body: joinStyles(publicDir) }]) {
    const extension = extname(name);
    const asset = loadAsset(body, types[extension] ?? "application/octet-stream");
    const path = `/assets/${name.slice(0, -extension.length)}.${asset.hash}${extension}`;
    byName.set(name, path);
    byPath.set(path, asset);
  }
  return {
    text: (name) => {
      const file = own.find((each) => each.name === name);
      if (file === undefined) throw new Error(`There is no file "${name}"`);
      return readBare(file.file);
    },
    path: (name) => {
      const path = byName.get(name);
      if (path === undefined) throw new Error(`There is no asset "${name}"`);
      return path;
    },
    mount: (app) => {
      app.get("/assets/:file", (c) => {
        const asset = byPath.get(`/assets/${c.req.param("file")}`);
        return asset === undefined ? c.notFound() : respondAsset(c, asset);
      });
    },
  };
}
