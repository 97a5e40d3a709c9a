import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ImageOptions, pushImage, serveHttp } from "../support/oci-image.ts";
import type { Authority } from "./authority.ts";
import { engineBridge, watchEngine } from "./engine-bridge.ts";
import { freePort } from "./free-port.ts";
import { isReady, type KubernetesApi } from "./kubernetes-api.ts";
import { kwokMissing, startKwok } from "./kubernetes-kwok.ts";
import { nodeMissing, nodeName, startNode } from "./kubernetes-node.ts";
import { controlPlaneMissing, kubeconfigOf, kubernetes, makeIdentity, startControlPlane } from "./kubernetes-plane.ts";
import { type Registry, registryMissing, startRegistry } from "./registry.ts";

export interface ClusterOptions {
  /** A real node `node-1`, whose pods run. Default: none. */
  node?: boolean;
  /** So many nodes that only say that pods run; see `startKwok`. */
  kwok?: number;
}

/** Why such a cluster cannot be started here, or null when it can. */
export function clusterMissing({ node = false }: ClusterOptions = {}): string | null {
  return controlPlaneMissing() ?? kwokMissing() ?? registryMissing() ?? (node ? nodeMissing() : null);
}

/** What the registry has as `acme/web:TAG`: two versions that serve their tag on port 80, one that is never ready, one that ends. */
const images: Readonly<Record<string, ImageOptions>> = {
  "1": { cmd: serveHttp, files: { "/www/ready": "yes\n" } },
  "2": { cmd: serveHttp, files: { "/www/ready": "yes\n" } },
  bad: { cmd: serveHttp },
  crash: { cmd: ["/bin/sh", "-c", "echo This version cannot start; exit 1"] },
};

export interface Cluster extends KubernetesApi, AsyncDisposable {
  /** `https://127.0.0.1:PORT`. */
  url: string;
  /** PEM, that checks it. */
  ca: string;
  /** Who may do everything: PEM texts, or a token. */
  admin: { certificate: string; key: string; token: string };
  /** By the authority that both servers and clients are checked with. */
  issue: Authority["issue"];
  /** As the administrator, by certificate; nothing in it is a path. */
  kubeconfig: string;
  /** The same for an account's token. */
  kubeconfigOf(token: string): string;
  /** Without sign-in; the node pulls from it, as from any other on 127.0.0.1. */
  registry: Registry;
  /** The reference of `acme/web` there with one of its tags: `1` and `2` serve their tag, `bad` is never ready, `crash` ends. */
  image(tag: string): string;
  /** Holds all files of it, and stands in the arguments of each of its processes. */
  folder: string;
  /** The link that joins the node's pods, and the name of their control group; null without a node. */
  bridge: string | null;
  /** Ends the API server as a crash does. */
  stopApiServer(): Promise<void>;
  /** Starts it again on the same port; ready when this resolves. */
  startApiServer(): Promise<void>;
  restartApiServer(): Promise<void>;
  /**
   * Forgets all revisions but the newest. The API server remembers them until it is started again: then the next page of a list and
   * a watch from before are refused with 410.
   */
  compactEtcd(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a real control plane on free ports of loopback, in a folder of its own, and the nodes that are asked for. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(options);
    } catch (error) {
      // Another process may take a free port before its user does.
      if (attempt === 5 || !String(error).includes("address already in use")) throw error;
    }
  }
}

async function startOnce(options: ClusterOptions): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-cluster-"));
  const bridge = options.node === true ? engineBridge(folder, { addressed: true }) : null;
  watchEngine(folder, bridge);
  const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true }), () => bridge?.remove()];
  // The newest first: what was started uses what was there before.
  const stop = async () => {
    const failures: unknown[] = [];
    for (const each of stops.splice(0).toReversed()) {
      await Promise.try(each).catch((error) => failures.push(error));
    }
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join("; "));
  };
  try {
    const identity = makeIdentity(folder, bridge === null ? [] : [`10.${bridge.block}.0.1`]);
    const registry = await startRegistry({ parent: folder });
    stops.push(registry.stop);
    await pushImage(registry.url, null, "acme/pause", "1");
    for (const [tag, image] of Object.entries(images)) await pushImage(registry.url, null, "acme/web", tag, image);
    const plane = await startControlPlane(folder, identity);
    stops.push(plane.stop);
    const image = (tag: string) => `${registry.host}/acme/web:${tag}`;
    const { api, url } = plane;
    const shared = { folder, certificate: identity.server };
    if (bridge !== null) {
      const node = await startNode({
        ...shared,
        bridge,
        kubelet: kubernetes,
        kubeconfig: plane.nodeFile,
        ca: identity.ca_file,
        pause: `${registry.host}/acme/pause:1`,
        isReady: () => isReady(api, nodeName),
      });
      stops.push(node.stop);
    }
    const count = options.kwok ?? 0;
    if (count > 0) {
      const port = await freePort();
      stops.push((await startKwok({ ...shared, kubeconfig: plane.adminFile, port, count, api })).stop);
    }
    return {
      ...api,
      url,
      ca: identity.ca,
      admin: identity.admin,
      issue: identity.issue,
      kubeconfig: kubeconfigOf(url, identity.ca, identity.admin),
      kubeconfigOf: (token) => kubeconfigOf(url, identity.ca, { token }),
      registry,
      image,
      folder,
      bridge: bridge?.name ?? null,
      stopApiServer: plane.stopApiServer,
      startApiServer: plane.startApiServer,
      restartApiServer: async () => {
        await plane.stopApiServer();
        await plane.startApiServer();
      },
      compactEtcd: plane.compact,
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
