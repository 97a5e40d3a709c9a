// A registry that answers as cheaply as possible, in a process of its own: `n` repositories `bench/0`, `bench/1`, … with a few
// tags of one image each.
import { createHash } from "node:crypto";
import { answerParent } from "../child.ts";
import { benchTags } from "./plan.ts";

const digestOf = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const manifestType = "application/vnd.oci.image.manifest.v1+json";
const config = JSON.stringify({ created: "2026-01-01T00:00:00Z", os: "linux", architecture: "amd64", config: {} });
const manifest = JSON.stringify({
  schemaVersion: 2,
  mediaType: manifestType,
  config: { mediaType: "application/vnd.oci.image.config.v1+json", digest: digestOf(config), size: config.length },
  layers: [],
});
const digest = digestOf(manifest);
const named = { "content-type": manifestType, "docker-content-digest": digest };
let requests = 0;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) => {
    requests += 1;
    const path = new URL(request.url).pathname;
    if (path.endsWith("/tags/list")) {
      return Response.json({ name: path.slice("/v2/".length, -"/tags/list".length), tags: benchTags });
    }
    if (path.includes("/manifests/")) {
      if (request.method !== "HEAD") return new Response(manifest, { headers: named });
      return new Response(null, { headers: { ...named, "content-length": String(manifest.length) } });
    }
    if (path.endsWith(digestOf(config))) return new Response(config);
    return new Response("{}", { status: path === "/v2/" ? 200 : 404 });
  },
});

answerParent(async () => {
  const counted = requests;
  requests = 0;
  return { url: `http://127.0.0.1:${server.port}`, requests: counted };
});
