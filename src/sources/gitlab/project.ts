import { type Message, say } from "../../messages/message.ts";
import { webUrl } from "../../net/web-url.ts";
import { AddressError } from "../field-issue.ts";

/** The public instance, meant where no other is named. */
export const publicInstance = "https://gitlab.com";

/** Most characters of a project's full path: GitLab allows 20 nested groups of 255, and nobody types them. */
const maxPathCharacters = 1_000;
const segmentPattern = /^[\p{L}\p{N}_.][\p{L}\p{N}_.-]{0,254}$/u;

/** A project and where its instance answers. */
export interface Project {
  /** Without a slash at its end, with the path of an installation below one: `https://git.example/gitlab`. */
  instance: string;
  /** The full path (`group/sub/project`), or the numeric id as text. */
  id: string;
}

/** A numeric id, which survives every renaming. */
export function isNumericId(id: string): boolean {
  return /^[1-9]\d{0,17}$/.test(id);
}

/** The full path without what a pasted address has around it; null when it is none. */
export function readProjectPath(text: string): string | null {
  const path = text
    .split("/-/", 1)
    .join("")
    .replace(/^\/+|\/+$|\/-$/g, "")
    .replace(/\.git$/, "");
  const segments = path.split("/");
  const isPath = segments.length >= 2 && path.length <= maxPathCharacters;
  return isPath && segments.every((name) => segmentPattern.test(name) && !/^\.+$/.test(name)) ? path : null;
}

/** Without a word of it: what stands there is a secret. */
function refuseUser(url: URL, field: "project" | "instance_url"): void {
  if (url.username === "" && url.password === "") return;
  throw new AddressError(field, say("addresses.with_user"));
}

function parseInstance(text: string): string {
  const typed = text.trim();
  if (typed === "") return publicInstance;
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `https://${typed}`;
  const fail = (said: Message) => new AddressError("instance_url", said);
  const quoted = { typed: typed.slice(0, 200) };
  if (!URL.canParse(address)) {
    throw fail(say("addresses.no_address", { ...quoted, example: "https://gitlab.example.com" }));
  }
  const url = webUrl(address);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw fail(say("addresses.not_http", quoted));
  refuseUser(url, "instance_url");
  if (url.search !== "" || url.hash !== "") throw fail(say("addresses.with_query", quoted));
  const path = url.pathname.replace(/\/+$/, "").replace(/\/api(?:\/v4)?$/, "");
  return `${url.origin}${path}`;
}

/** An address of a project as it is copied from a browser or from "Clone": its instance's origin and the path behind it. */
function readAddress(text: string): URL | null {
  const clone = /^(?:ssh:\/\/)?git@([a-z0-9.-]+)(?::\d+\/|[:/])(.+)$/i.exec(text);
  const address = clone === null ? text : `https://${clone[1]}/${clone[2]}`;
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return null;
  const url = webUrl(address);
  refuseUser(url, "project");
  return url;
}

/** A path of an address as it was meant; as it is where it is no UTF-8. */
export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // a stray percent sign, which no name may have: it is refused as such
  }
}

/**
 * The project that the two fields of a source mean. A pasted address names its instance itself, and must not contradict the other field.
 * @throws AddressError with the field and what would be right.
 */
export function parseProject(projectText: string, instanceText: string): Project {
  const typed = projectText.trim();
  const instance = parseInstance(instanceText);
  if (isNumericId(typed)) return { instance, id: typed };
  const url = readAddress(typed);
  const fail = (said: Message) => new AddressError("project", said);
  const quoted = { typed: typed.slice(0, 200) };
  if (url === null) {
    const id = readProjectPath(typed);
    if (id === null) throw fail(say("addresses.no_project", quoted));
    return { instance, id };
  }
  const isNamed = instanceText.trim() !== "";
  const base = new URL(isNamed ? instance : url.origin);
  const prefix = base.pathname.replace(/\/$/, "");
  if (url.host !== base.host || !url.pathname.startsWith(`${prefix}/`)) {
    throw fail(say("addresses.on_another_instance", { ...quoted, instance }));
  }
  const id = readProjectPath(decodePath(url.pathname.slice(prefix.length)));
  if (id === null) throw fail(say("addresses.no_address_of_project", quoted));
  return { instance: `${base.origin}${prefix}`, id };
}

/** The address of a part of the project's API, the id encoded as one segment. */
export function apiUrl(project: Project, path: string, query: Readonly<Record<string, string>> = {}): URL {
  const url = new URL(`${project.instance}/api/v4/projects/${encodeURIComponent(project.id)}${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}
