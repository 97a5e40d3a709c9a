import { say } from "../../messages/message.ts";
import type { PluginContext } from "../../plugin.ts";
import { ImageReferenceError, parseImageReference } from "../../versions/image-reference.ts";
import { AddressError } from "../address-fields.ts";
import { codeOfStatus, failure } from "../failure.ts";
import type { AccessCache } from "../oci/access-cache.ts";
import { registrySession } from "../oci/registry-session.ts";
import { parseRepository, type Repository } from "../oci/repository.ts";
import { upstreamWords } from "../words.ts";
import { readArchive } from "./archive.ts";
import { readRegistryChart } from "./chart-manifest.ts";
import { type ChartVersion, tagOf } from "./chart-version.ts";

/** Of the body of a refusal: enough for its text. */
const judgedBytes = 16 * 1024;

/** The beginning of a refusal's body. */
export async function startOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk.subarray(0, judgedBytes), { stream: true });
    if (text.length >= judgedBytes) break;
  }
  return text.slice(0, judgedBytes);
}

interface ArchiveParts {
  chart: string;
  /** Of the repository: the only place that sees its credential. */
  origin: string;
  /** Null without a credential. */
  authorization: string | null;
  context: PluginContext;
  cache: AccessCache;
}

/** Where an index says that the archive is in a registry; null if it cannot be read. */
function placeOf(address: string, version: string): { repository: Repository; reference: string } | null {
  const [, plain, rest = ""] = /^oci(\+http)?:\/\/(.*)$/i.exec(address) ?? [];
  try {
    const { registry, repository, tag, digest } = parseImageReference(rest.replaceAll("+", "_"));
    const origin = `${plain === undefined ? "https" : "http"}://${registry}`;
    return { repository: parseRepository(repository, origin), reference: digest ?? tag ?? tagOf(version) };
  } catch (error) {
    if (error instanceof ImageReferenceError || error instanceof AddressError) return null;
    throw error;
  }
}

/**
 * Downloads the archive of a version to the address in the index: from a web server, or from a registry, as some repositories that moved
 * there have it. `digest`: as it was announced; null if it was not.
 */
export async function readIndexedChart(
  parts: ArchiveParts,
  found: ChartVersion | undefined,
  { version, digest: announced }: { version: string; digest: string | null },
): Promise<Uint8Array> {
  const { chart, origin, authorization, context, cache } = parts;
  const action = say("sources.download_chart", { name: `${chart}-${version}` });
  if (found === undefined) throw failure("not_found", action, say("charts.version_gone"));
  const { archive = null, digest } = found;
  if (announced !== null && digest !== null && announced !== digest) {
    throw failure("malformed", action, say("charts.republished", { digest, wanted: announced }));
  }
  const wanted = announced ?? digest;
  if (archive === null) throw failure("not_found", action, say("charts.no_archive_address"));
  if (/^oci/i.test(archive)) {
    const place = placeOf(archive, version);
    if (place === null) throw failure("not_found", action, say("charts.no_archive_address"));
    const { repository, reference } = place;
    const session = registrySession(repository, null, context, cache);
    return await readRegistryChart({ repository, session }, { reference, digest: wanted });
  }
  const url = new URL(archive);
  const isSent = authorization !== null && url.origin === origin;
  // Some servers call the archive's own compression a content encoding: its bytes are wanted as they are.
  const headers = new Headers({ accept: "*/*", "accept-encoding": "identity" });
  if (isSent) headers.set("authorization", authorization);
  const response = await context.fetch(url, { headers, cache: "no-store" });
  if (response.status === 200) return await readArchive(response, wanted, action);
  const { status } = response;
  const said = upstreamWords(await startOf(response));
  const isRefused = status === 401 || status === 403;
  const reason =
    isRefused && authorization !== null && !isSent
      ? say("charts.login_withheld", { status, host: new URL(origin).host })
      : say(status === 401 && !isSent ? "sources.answered_without_credential" : "sources.answered", { status, said });
  throw failure(codeOfStatus(status), action, reason);
}
