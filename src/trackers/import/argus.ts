import { valuesOf } from "../../forms/fields.ts";
import { say } from "../../messages/message.ts";
import { isObject } from "../../strict-json.ts";
import { type Fields, isFalse, isTrue, textOf } from "./document.ts";
import type { ChannelDraft, Draft, Reading, Remark, Skipped, SourceDraft } from "./draft.ts";

const registries: Readonly<Record<string, string>> = { ghcr: "ghcr.io/", hub: "", quay: "quay.io/" };

/** Whether a document is an Argus configuration: services with a lookup of their latest version. */
export function isArgus(document: unknown): boolean {
  const { service } = valuesOf(document);
  return isObject(service) && Object.values(service).some((entry) => lookupOf(valuesOf(entry)) !== null);
}

/** The lookup of a service; older configurations have it among the service's own fields. */
function lookupOf(service: Fields): Fields | null {
  if (isObject(service.latest_version)) return service.latest_version;
  return "type" in service && "url" in service ? service : null;
}

/** The services of Argus: a GitHub repository, and the image that must exist with it. Services that follow a web page are left out. */
export function readArgus(document: unknown): Reading {
  const drafts: Draft[] = [];
  const skipped: Skipped[] = [];
  for (const [name, entry] of Object.entries(valuesOf(valuesOf(document).service))) {
    const service = valuesOf(entry);
    const foundIn = `service.${name}`;
    const lookup = lookupOf(service) ?? {};
    const sources = sourcesOf(lookup);
    if (sources.length === 0) {
      skipped.push({ found_in: foundIn, reason: say("imports.web_page", { url: textOf(lookup.url) }) });
      continue;
    }
    const options = { ...service, ...valuesOf(service.options) };
    const minutes = minutesOf(textOf(options.interval));
    const description = textOf(service.comment);
    drafts.push({
      name: textOf(service.name) ?? name,
      found_in: foundIn,
      sources,
      remarks: remarksOf(lookup),
      ...(description === null ? {} : { description: description.slice(0, 500) }),
      ...(isFalse(options.active) ? { is_enabled: false } : {}),
      settings: {
        ...(minutes === null ? {} : { check_interval_minutes: minutes }),
        sorting: isFalse(options.semantic_versioning) ? "publish_time" : "semantic",
      },
    });
  }
  return { drafts, skipped };
}

function sourcesOf(lookup: Fields): SourceDraft[] {
  const require = valuesOf(lookup.require);
  const pattern = textOf(require.regex_version);
  const channel: ChannelDraft = {
    type: "stable",
    ...(pattern === null ? {} : { include_pattern: pattern }),
  };
  const url = textOf(lookup.url);
  const sources: SourceDraft[] = [];
  if (textOf(lookup.type)?.toLowerCase() === "github" && url !== null) {
    const types: Partial<ChannelDraft> = isTrue(lookup.use_prerelease) ? {} : { release_type: "release" };
    const channels = [{ ...channel, ...types }];
    sources.push({ kind: "github", config: { repository: url, fetch_mode: "rest" }, channels });
  }
  const docker = valuesOf(require.docker);
  const [image, registry] = [textOf(docker.image), registries[textOf(docker.type)?.toLowerCase() ?? ""]];
  if (image !== null && registry !== undefined) {
    const config = { image: image.startsWith(registry) ? image : `${registry}${image}` };
    sources.push({ kind: "oci", config, channels: [{ type: "stable" }] });
  }
  return sources;
}

function remarksOf(lookup: Fields): Remark[] {
  const docker = valuesOf(valuesOf(lookup.require).docker);
  const isSignedIn = textOf(lookup.access_token) !== null || textOf(docker.token) !== null;
  const isPage = textOf(lookup.type)?.toLowerCase() === "url";
  return [
    ...(isSignedIn ? [{ code: "credential_missing" as const, subject: textOf(lookup.url) ?? "" }] : []),
    ...(isPage ? [{ code: "page_source_skipped" as const, subject: textOf(lookup.url) ?? "" }] : []),
  ];
}

/** Go's durations, `6h30m`, in whole minutes and at least one; null for none or an invalid one. */
function minutesOf(duration: string | null): number | null {
  const [, hours = "0", minutes = "0", seconds = "0"] =
    /^(?:(\d{1,5})h)?(?:(\d{1,6})m)?(?:(\d{1,7})s)?$/.exec(duration ?? "") ?? [];
  const total = Number(hours) * 60 + Number(minutes) + Math.ceil(Number(seconds) / 60);
  return duration === null || total === 0 ? null : Math.min(total, 43_200);
}
