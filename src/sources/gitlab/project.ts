import { webUrl } from "../../net/web-url.ts";

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

/** What a person typed and cannot be meant, with the field that has it. */
export class ProjectError extends Error {
  readonly field: "project" | "instance_url";

  constructor(field: "project" | "instance_url", message: string) {
    super(message);
    this.name = "ProjectError";
    this.field = field;
  }
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
  throw new ProjectError(field, "The address has a user name or password; store a credential instead");
}

function parseInstance(text: string): string {
  const typed = text.trim();
  if (typed === "") return publicInstance;
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `https://${typed}`;
  const fail = (reason: string) => new ProjectError("instance_url", `"${typed.slice(0, 200)}" ${reason}`);
  if (!URL.canParse(address)) throw fail('is no address, write it as "https://gitlab.example.com"');
  const url = webUrl(address);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw fail("is no http or https address");
  refuseUser(url, "instance_url");
  if (url.search !== "" || url.hash !== "")
    throw fail('has more than an instance\'s address, cut it before "?" and "#"');
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
 * @throws ProjectError with the field and what would be right.
 */
export function parseProject(projectText: string, instanceText: string): Project {
  const typed = projectText.trim();
  const instance = parseInstance(instanceText);
  if (isNumericId(typed)) return { instance, id: typed };
  const url = readAddress(typed);
  const fail = (reason: string) => new ProjectError("project", `"${typed.slice(0, 200)}" ${reason}`);
  if (url === null) {
    const id = readProjectPath(typed);
    if (id === null) throw fail('is no project, write it as "group/project" or as its numeric id');
    return { instance, id };
  }
  const isNamed = instanceText.trim() !== "";
  const base = new URL(isNamed ? instance : url.origin);
  const prefix = base.pathname.replace(/\/$/, "");
  if (url.host !== base.host || !url.pathname.startsWith(`${prefix}/`)) {
    throw fail(`is not on the instance "${instance}"`);
  }
  const id = readProjectPath(decodePath(url.pathname.slice(prefix.length)));
  if (id === null) throw fail("is not the address of a project");
  return { instance: `${base.origin}${prefix}`, id };
}

/** The address of a part of the project's API, the id encoded as one segment. */
export function apiUrl(project: Project, path: string, query: Readonly<Record<string, string>> = {}): URL {
  const url = new URL(`${project.instance}/api/v4/projects/${encodeURIComponent(project.id)}${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}
