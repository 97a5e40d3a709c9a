import { type PlaceForm, parsePlace } from "../forge/place.ts";

/** The default instance. */
export const publicInstance = "https://gitlab.com";

/** Of a project's full path. GitLab allows 20 nested groups of 255 characters, but no such path is in use. */
const maxPathCharacters = 1_000;
const segmentPattern = /^[\p{L}\p{N}_.][\p{L}\p{N}_.-]{0,254}$/u;

/** A project and the address of its instance. */
export interface Project {
  /** Without a slash at its end, with the path of an installation below one: `https://git.example/gitlab`. */
  instance: string;
  /** The full path (`group/sub/project`), or the numeric id as text. */
  id: string;
}

/** A numeric ID, which survives renaming. */
export function isNumericId(id: string): boolean {
  return /^[1-9]\d{0,17}$/.test(id);
}

/** The full path, without the parts that a pasted address adds; null if it is not one. */
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

const form: PlaceForm = {
  field: "project",
  example: "https://gitlab.example.com",
  api_path: /\/api(?:\/v4)?$/,
  public_instance: publicInstance,
  readPath: (text, isPage) => (!isPage && isNumericId(text) ? text : readProjectPath(text)),
};

/**
 * The project that the two fields of a source mean.
 * @throws AddressError with the field to change and what would be right.
 */
export function parseProject(project: string, instanceUrl: string): Project {
  const { instance, path } = parsePlace(project, instanceUrl, form);
  return { instance, id: path };
}

/** The address of a part of the project's API, the id encoded as one segment. */
export function apiUrl(project: Project, path: string, query: Readonly<Record<string, string>> = {}): URL {
  const url = new URL(`${project.instance}/api/v4/projects/${encodeURIComponent(project.id)}${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}
