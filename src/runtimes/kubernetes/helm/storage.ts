import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import * as v from "valibot";
import { PluginError } from "../../../errors.ts";
import { say } from "../../../messages/message.ts";
import { parseBoundedJson } from "../../../net/bounded-json.ts";
import { type Cluster, Refused } from "../client.ts";
import { Metadata } from "../objects.ts";

/** Helm's storage drivers: the kinds of object that it keeps its revisions in. */
const drivers = ["secret", "configmap"] as const;
export type Driver = (typeof drivers)[number];

/** A revision of a release, according to the labels of its object. */
export interface StoredRevision {
  driver: Driver;
  namespace: string;
  release: string;
  revision: number;
  /** `deployed`, `superseded`, `failed`, `pending-upgrade` … */
  status: string;
  /** Name and identity of the object. A reinstalled release counts from 1, in other objects. */
  object: string;
  uid: string;
}

/** A stored revision has at most 1 MiB, packed; unpacked, charts have a few megabytes. */
const maxBytes = 32 * 1024 * 1024;
/** Revisions read at the same time. */
const atOnce = 6;

const Text = v.nullish(v.string(), "");
const Members = v.nullish(v.record(v.string(), v.unknown()), {});

/** What is read of a revision's content. */
const Release = v.object({
  name: v.string(),
  version: v.pipe(v.number(), v.integer()),
  info: v.object({ status: v.string(), description: Text }),
  chart: v.object({
    metadata: v.object({ name: v.string(), version: v.string(), appVersion: Text }),
    values: Members,
  }),
  /** What was set for the release. */
  config: Members,
  manifest: Text,
});
export type Release = v.InferOutput<typeof Release>;

const Listed = v.object({ metadata: Metadata });
const Stored = v.object({ data: v.nullish(v.object({ release: v.string() })) });

const unpack = promisify(gunzip);

/** Only names and labels: the content of ten revisions of every release would be hundreds of megabytes. */
const namesAlone = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/** Every stored revision in a namespace, or in all of them; `release`: of this release alone. */
async function listRevisions(
  cluster: Cluster,
  driver: Driver,
  namespace: string | null,
  release: string | null,
): Promise<readonly StoredRevision[]> {
  const found: StoredRevision[] = [];
  await cluster.list(
    async ({ core }) => {
      const request = await (driver === "secret"
        ? namespace === null
          ? core.listSecretForAllNamespaces()
          : core.listNamespacedSecret(namespace)
        : namespace === null
          ? core.listConfigMapForAllNamespaces()
          : core.listNamespacedConfigMap(namespace));
      request.setHeaderParam("Accept", namesAlone);
      request.setQueryParam("labelSelector", release === null ? "owner=helm" : `owner=helm,name=${release}`);
      return request;
    },
    Listed,
    (page) => {
      for (const { metadata } of page) {
        const { name = "", version = "", status = "" } = metadata.labels;
        const revision = Number(version);
        if (name === "" || !Number.isInteger(revision)) continue;
        const { namespace: within, name: object, uid } = metadata;
        found.push({ driver, namespace: within, release: name, revision, status, object, uid });
      }
    },
  );
  return found;
}

/**
 * The revisions of a release, the latest first; empty if it does not exist. Throws `unauthorized` if it may be where nothing may be listed.
 */
export async function revisionsOf(
  cluster: Cluster,
  namespace: string,
  release: string,
): Promise<readonly StoredRevision[]> {
  let refused: Refused | null = null;
  for (const driver of drivers) {
    try {
      const found = await listRevisions(cluster, driver, namespace, release);
      if (found.length > 0) return latestFirst(found);
    } catch (error) {
      if (!(error instanceof Refused && error.status === 403)) throw error;
      refused ??= error;
    }
  }
  if (refused !== null) throw refused;
  return [];
}

/** The releases in a namespace, or in all of them, each with its revisions; null if neither storage may be listed there. */
export async function listReleases(
  cluster: Cluster,
  namespace: string | null,
): Promise<readonly (readonly StoredRevision[])[] | null> {
  const releases = new Map<string, StoredRevision[]>();
  let isListed = false;
  for (const driver of drivers) {
    try {
      const found = await listRevisions(cluster, driver, namespace, null);
      isListed = true;
      for (const each of found) {
        const key = `${each.namespace}/${each.release}`;
        const known = releases.get(key) ?? [];
        // A release in both storages was moved: the default one counts.
        if (known[0] === undefined || known[0].driver === driver) releases.set(key, [...known, each]);
      }
    } catch (error) {
      if (!(error instanceof Refused && error.status === 403)) throw error;
    }
  }
  return isListed ? [...releases.values()].map(latestFirst) : null;
}

function latestFirst(revisions: readonly StoredRevision[]): readonly StoredRevision[] {
  return revisions.toSorted((a, b) => b.revision - a.revision);
}

/** The content of each of these revisions; null for one that cannot be read. */
export async function readEach(
  cluster: Cluster,
  revisions: readonly StoredRevision[],
): Promise<readonly (Release | null)[]> {
  const found: (Release | null)[] = [];
  for (let at = 0; at < revisions.length; at += atOnce) {
    const some = revisions.slice(at, at + atOnce).map((stored) => readIfReadable(cluster, stored));
    found.push(...(await Promise.all(some)));
  }
  return found;
}

/** Null if it was deleted since it was listed, may not be read, or is broken. */
export async function readIfReadable(cluster: Cluster, stored: StoredRevision): Promise<Release | null> {
  try {
    return await readRevision(cluster, stored);
  } catch (error) {
    if (error instanceof PluginError && error.code !== "unreachable") return null;
    throw error;
  }
}

/** Throws `malformed` for content that is not Helm's, or larger than any release of Helm's can be. */
export async function readRevision(cluster: Cluster, stored: StoredRevision): Promise<Release> {
  const { namespace, object, driver, release } = stored;
  const { data } = await cluster.send(
    ({ core }) =>
      driver === "secret"
        ? core.readNamespacedSecret(object, namespace)
        : core.readNamespacedConfigMap(object, namespace),
    Stored,
  );
  const text = data?.release ?? "";
  return await decodeRelease(driver === "secret" ? Buffer.from(text, "base64").toString("latin1") : text, release);
}

/** `packed`: base64 of JSON, with gzip or, from the first versions of Helm 2, without. */
export async function decodeRelease(packed: string, name: string): Promise<Release> {
  try {
    const bytes = Buffer.from(packed, "base64");
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const content = isPacked ? await unpack(bytes, { maxOutputLength: maxBytes }) : bytes;
    return v.parse(Release, parseBoundedJson(content.toString("utf8")));
  } catch (cause) {
    throw new PluginError("malformed", say("kubernetes.release_unreadable", { release: name }), { cause });
  }
}
