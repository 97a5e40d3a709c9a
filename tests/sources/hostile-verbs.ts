import { expect } from "bun:test";
import { PluginError } from "../../src/errors.ts";
import type { Listing, ListRequest, OpenSource } from "../../src/sources/source.ts";
import type { HostileSample } from "./hostile-samples.ts";

export const allVerbs = [
  "listReleases",
  "listTags",
  "listNames",
  "readFile",
  "readChart",
  "findDigest",
  "readImageConfig",
] as const;
export type Verb = (typeof allVerbs)[number];

export function ask(given: Partial<ListRequest> = {}): ListRequest {
  return { limit: 10, accepts: [() => true], known: new Map(), watch: [], memo: null, ...given };
}

const revisionForm = /^(?:[0-9a-f]{40}|[0-9a-f]{64}|sha\d+:[0-9a-f]+)$/;

/** Fails the test for anything that a listing must never bring. */
export function expectSafe(listing: Listing): void {
  expect(Number.isSafeInteger(listing.total)).toBe(true);
  expect(listing.total).toBeGreaterThanOrEqual(0);
  expect(Buffer.byteLength(listing.memo ?? "")).toBeLessThanOrEqual(2 * 1024 * 1024);
  for (const release of listing.releases) {
    expect(["release", "prerelease", "tag"]).toContain(release.stage);
    for (const text of [release.tag, release.version]) {
      expect(typeof text).toBe("string");
      expect(text).not.toMatch(/[\p{Cc}\p{Cs}\ufffd]|^$/u);
    }
    expect(release.published_at === null || Number.isSafeInteger(release.published_at)).toBe(true);
    expect(release.revision === null || revisionForm.test(release.revision)).toBe(true);
    expect(release.url === null || /^https?:\/\//.test(release.url)).toBe(true);
    expect(release.notes === null || typeof release.notes === "string").toBe(true);
    for (const text of [release.app_version, release.source_revision, release.labelled_version]) {
      expect(text === undefined || text === null || typeof text === "string").toBe(true);
    }
  }
}

async function perform(verb: Verb, source: OpenSource, request: ListRequest): Promise<void> {
  if (verb === "listReleases") expectSafe(await source.listReleases(request));
  else if (verb === "listTags") {
    const listing = await source.listTags?.(request);
    if (listing !== undefined) expectSafe(listing);
  } else if (verb === "listNames") {
    for (const name of (await source.listNames?.()) ?? []) expect(name).not.toMatch(/[\p{Cc}\p{Cs}]|^$/u);
  } else if (verb === "readFile") {
    const text = (await source.readFile?.("docs/CHANGELOG.md", null)) ?? null;
    expect(text === null || typeof text === "string").toBe(true);
  } else if (verb === "readChart") {
    const archive = (await source.readChart?.("1.0.0", null)) ?? Buffer.from([0x1f, 0x8b]);
    expect([...archive.subarray(0, 2)]).toEqual([0x1f, 0x8b]);
  } else if (verb === "findDigest") {
    expect((await source.findDigest?.("1.0.0")) ?? "sha256:0").toMatch(/^sha\d+:[0-9a-f]+$/);
  } else {
    const image = (await source.readImageConfig?.("1.0.0", "linux/amd64")) ?? null;
    expect(image === null || typeof image.config === "object").toBe(true);
  }
}

/** Does what the source can be asked; what it throws is a PluginError that people can read, or the test fails. */
export async function askAll(
  sample: HostileSample,
  source: OpenSource,
  request = ask(),
  verbs: readonly Verb[] = allVerbs,
): Promise<PluginError[]> {
  const errors: PluginError[] = [];
  for (const verb of verbs) {
    try {
      await perform(verb, source, request);
    } catch (error) {
      if (!(error instanceof PluginError)) throw error;
      expect(error.message).toMatch(/^["\p{Lu}].{10,}[^.]$/u);
      expect(error.message).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      expect(error.message.length).toBeLessThanOrEqual(600);
      for (const word of sample.secret_words) expect(error.message).not.toContain(word);
      errors.push(error);
    }
  }
  return errors;
}
