import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers";
import { PluginError, SaidError, saidBy } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";
import type { PluginContext } from "../../plugin.ts";
import { type Explain, failure, isWebPage, oneLine } from "../failure.ts";
import { readForgeError } from "./answer.ts";
import { isObjectId, isUsableTag } from "./believable.ts";
import { fetchMoved } from "./moved.ts";

/** The largest repositories have some tens of thousands of tags. */
export const maxRefs = 200_000;
/** No name of this many bytes can be stored. */
const maxNameBytes = 1_024;
/** Lines that are read before the event loop runs again. */
const linesPerTurn = 1_000;

const tagPrefix = "refs/tags/";

function packet(line: string): string {
  return `${(line.length + 4).toString(16).padStart(4, "0")}${line}`;
}

/** Protocol v2: the tags with the objects behind annotated ones. It needs no discovery: every server of v2 knows both words. */
const lsRefs = `${packet("command=ls-refs\n")}0001${packet("peel\n")}${packet(`ref-prefix ${tagPrefix}\n`)}0000`;

interface Packet {
  /** One character for each byte, without the line feed. */
  line: string;
  is_flush: boolean;
}

/** Splits a response into packets, in linear time (gitprotocol-common: four hexadecimal digits of length, then the line). */
function* packetsOf(bytes: string): Generator<Packet> {
  let at = 0;
  while (at < bytes.length) {
    const digits = bytes.slice(at, at + 4);
    if (!/^[0-9a-f]{4}$/i.test(digits))
      throw new SaidError(say("sources.git_packet_length", { text: oneLine(digits, 20) }));
    const length = Number.parseInt(digits, 16);
    if (length < 4) {
      yield { line: "", is_flush: length === 0 };
      at += 4;
      continue;
    }
    if (at + length > bytes.length) throw new SaidError(say("sources.git_packet_cut"));
    const isTerminated = bytes.charCodeAt(at + length - 1) === 10;
    yield { line: bytes.slice(at + 4, at + length - (isTerminated ? 1 : 0)), is_flush: false };
    at += length;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The name as text; null if it is not UTF-8, or cannot be stored. */
function readName(bytes: string): string | null {
  if (bytes === "" || bytes.length > maxNameBytes) return null;
  let name = bytes;
  if (/[\x80-\xff]/.test(bytes)) {
    try {
      name = utf8.decode(Buffer.from(bytes, "latin1"));
    } catch {
      return null; // git takes any bytes as a name; those that are not text cannot be shown, matched or stored
    }
  }
  return isUsableTag(name) ? name : null;
}

/** Collects tags. The commit behind an annotated tag replaces the tag object. */
function createCollector() {
  const commits = new Map<string, string>();
  return {
    commits,
    add(ref: string, object: string): void {
      if (!isObjectId(object)) throw new SaidError(say("sources.git_object", { text: oneLine(object, 80) }));
      if (!ref.startsWith(tagPrefix)) return;
      if (commits.size >= maxRefs) throw new TooManyRefs();
      const name = readName(ref.slice(tagPrefix.length));
      if (name !== null) commits.set(name, object);
    },
  };
}

class TooManyRefs extends Error {}

type Collector = ReturnType<typeof createCollector>;

/** `<object> <ref>[ symref-target:<ref>][ peeled:<object>]` */
function addV2(collector: Collector, line: string): void {
  const [object = "", ref, ...attributes] = line.split(" ");
  if (ref === undefined) throw new SaidError(say("sources.git_reference", { text: oneLine(line, 80) }));
  const peeled = attributes.find((attribute) => attribute.startsWith("peeled:"));
  collector.add(ref, peeled?.slice("peeled:".length) ?? object);
}

/** `<object> <ref>`. The first has NUL and capabilities; an annotated tag follows again as `<ref>^{}` with the object behind it. */
function addV0(collector: Collector, line: string): void {
  const [entry = ""] = line.split("\0", 1);
  const space = entry.indexOf(" ");
  if (space < 0) throw new SaidError(say("sources.git_reference", { text: oneLine(entry, 80) }));
  const ref = entry.slice(space + 1);
  // A peeled line follows its tag, so it replaces it.
  collector.add(ref.endsWith("^{}") ? ref.slice(0, -3) : ref, entry.slice(0, space));
}

/** Reads an answer to its last flush; the event loop runs between the parts of a long one. */
async function collect(body: string, action: Message, add: (collector: Collector, line: string) => void, ends: number) {
  const collector = createCollector();
  let flushes = 0;
  let lines = 0;
  try {
    for (const { line, is_flush } of packetsOf(body)) {
      if (is_flush) {
        flushes += 1;
        continue;
      }
      if (line.startsWith("ERR ")) {
        const said = oneLine(line.slice("ERR ".length), 300);
        throw failure("rejected", action, say("sources.git_error", { said }));
      }
      if (line !== "" && !line.startsWith("# service=")) add(collector, line);
      lines += 1;
      if (lines % linesPerTurn === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    if (flushes < ends) throw new SaidError(say("sources.git_early_end"));
  } catch (error) {
    if (error instanceof PluginError) throw error;
    if (error instanceof TooManyRefs) throw failure("rejected", action, say("sources.too_many", { limit: maxRefs }));
    throw failure("malformed", action, say("sources.git_malformed", { cause: saidBy(error) }), error);
  }
  return collector.commits;
}

/**
 * Every tag with its commit, by one request of git's own protocol (`ls-refs` of version 2) to the address that `git clone` takes, with
 * or without `.git`. Names that cannot be stored are left out. A server without version 2, or with SHA-256 object names, costs a second
 * request for the listing that all servers know. `authorization` is the whole header, because each forge takes its tokens from git in
 * another way.
 * @throws PluginError `unauthorized`, `not_found`, `malformed` for another protocol, `rejected` for more than 200,000 tags.
 */
export async function listTagCommits(
  repository: URL,
  context: PluginContext,
  authorization: string | null,
  explain: Explain,
): Promise<ReadonlyMap<string, string>> {
  const address = `${repository.origin}${repository.pathname.replace(/\/+$/, "").replace(/\.git$/, "")}`;
  const action = say("sources.list_tags", { name: address.slice(address.indexOf("//") + 2) });
  const signIn: Record<string, string> = authorization === null ? {} : { authorization };

  const read = async (path: string, type: string, init: RequestInit & { headers: Record<string, string> }) => {
    const headers = { ...init.headers, ...signIn, accept: type };
    const request: RequestInit = { ...init, headers, cache: "no-store" };
    const { response } = await fetchMoved(context, new URL(`${address}.git/${path}`), request, action);
    if (!response.ok) throw await readForgeError(response, action, explain);
    if (isWebPage(response)) throw failure("malformed", action, say("sources.page_of_no_forge"));
    return Buffer.from(await response.arrayBuffer()).toString("latin1");
  };

  const answer = await read("git-upload-pack", "application/x-git-upload-pack-result", {
    method: "POST",
    headers: { "content-type": "application/x-git-upload-pack-request", "git-protocol": "version=2" },
    body: lsRefs,
  });
  // A server that cannot read the request sends nothing or an error; an empty repository sends a flush.
  if (answer !== "" && !answer.startsWith("ERR ", 4)) return await collect(answer, action, addV2, 1);
  const listing = await read("info/refs?service=git-upload-pack", "application/x-git-upload-pack-advertisement", {
    method: "GET",
    headers: {},
  });
  return await collect(listing, action, addV0, 2);
}
