import * as v from "valibot";
import { issue, type Message, say } from "../../messages/message.ts";
import { webUrl } from "../../net/web-url.ts";
import { failure, oneLine } from "../failure.ts";
import { nextLink } from "../next-link.ts";
import { readJson, refusal } from "./answer.ts";
import type { RegistrySession } from "./registry-session.ts";
import { isTag, type Repository } from "./repository.ts";

/** Requested page size; registries return fewer, or all tags. */
const tagsPerPage = 1_000;
/** Pages of one listing: enough for 10,000 tags if a registry limits pages to 50. */
export const maxTagPages = 200;
/** Of all names together, so that the memory between checks stays below 2 MiB. */
const maxTagCharacters = 2_000_000;

const TagPage = v.pipe(
  v.object({ name: v.optional(v.unknown()), tags: v.optional(v.nullable(v.array(v.unknown()))) }),
  v.check((page) => page.name !== undefined || page.tags !== undefined, issue("sources.neither_name_nor_tags")),
);

// Clients without the referrers API store signatures and attestations as tags beside the images (`sha256-<hex>`, cosign).
function isReferrersTag(tag: string): boolean {
  return /^sha(?:256-[0-9a-f]{64}|512-[0-9a-f]{128})(?:$|\.)/.test(tag) || /\.(?:sig|att|sbom)$/.test(tag);
}

/** The valid tags of a page, without referrers. */
export function readTags(values: readonly unknown[]): readonly string[] {
  return values.filter((value): value is string => typeof value === "string" && isTag(value) && !isReferrersTag(value));
}

/**
 * The address of the next page, on the registry's own origin. A registry behind a TLS proxy calls itself http, which is read as its
 * https origin; every other origin is refused.
 */
export function nextPage(link: string, current: URL, action: Message): URL {
  const shown = oneLine(link, 200);
  const fail = (reason: Message) => failure("malformed", action, reason);
  if (!URL.canParse(link, current)) throw fail(say("sources.next_page_invalid", { link: shown }));
  const url = webUrl(link, current);
  if (url.protocol === "http:" && current.protocol === "https:" && url.host === current.hostname)
    url.protocol = "https:";
  if (url.origin !== current.origin || url.username !== "" || url.password !== "") {
    throw fail(say("sources.next_page_elsewhere", { link: shown, origin: current.origin }));
  }
  return url;
}

/**
 * Lists every tag once, in the registry's order, within the bounds above.
 * @throws PluginError `rejected` if the repository has more, `malformed` if its pages form a circle.
 */
export async function listTags(repository: Repository, session: RegistrySession): Promise<readonly string[]> {
  const action = say("sources.list_tags", { name: `${repository.registry}/${repository.name}` });
  const names = new Set<string>();
  const visited = new Set<string>();
  let characters = 0;
  let url: URL | null = new URL(`${repository.origin}/v2/${repository.name}/tags/list?n=${tagsPerPage}`);
  while (url !== null) {
    if (visited.has(url.href)) {
      throw failure("malformed", action, say("sources.pages_in_circle", { page: visited.size }));
    }
    if (visited.size === maxTagPages || characters > maxTagCharacters) {
      const bounds = { count: names.size, pages: maxTagPages, characters: maxTagCharacters };
      throw failure("rejected", action, say("sources.too_many_tags", bounds));
    }
    visited.add(url.href);
    const response: Response = await session.send({ method: "GET", url, accept: "application/json", action });
    const body = await response.text();
    if (!response.ok) throw refusal(response, body, action, session.explain);
    for (const name of readTags(readJson(TagPage, response, body, action).tags ?? [])) {
      if (!names.has(name)) characters += name.length + 1;
      names.add(name);
    }
    const link = nextLink(response.headers.get("link"));
    url = link === null ? null : nextPage(link, url, action);
  }
  if (characters > maxTagCharacters) {
    throw failure("rejected", action, say("sources.names_too_long", { characters, limit: maxTagCharacters }));
  }
  return [...names];
}
