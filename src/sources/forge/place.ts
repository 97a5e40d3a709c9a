import { type Message, say } from "../../messages/message.ts";
import { webUrl } from "../../net/web-url.ts";
import { AddressError } from "../address-fields.ts";
import { failure } from "../failure.ts";

/** A repository or project and the instance of the forge that has it. */
export interface Place {
  /** Without a slash at its end, with the path of an installation below one: `https://host.example/forge`. */
  instance: string;
  /** `owner/name`, as the forge writes it. */
  path: string;
}

/** How a forge names its places. */
export interface PlaceForm {
  /** The field of the path; the other one is `instance_url`. */
  field: "repository" | "project";
  /** An instance, as an example in errors. */
  example: string;
  /** The part of a pasted instance address that belongs to its API. */
  api_path: RegExp;
  /** The instance that is meant if no field names one; null if there is none. */
  public_instance: string | null;
  /** The plain path; null if it is not one. `isPage`: it comes from the address of a page. */
  readPath(text: string, isPage: boolean): string | null;
}

function shown(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ").slice(0, 200);
}

/** Quotes nothing: the part before the `@` is a secret. */
function refuseUser(url: URL, field: string): void {
  if (url.username !== "" || url.password !== "") throw new AddressError(field, say("addresses.with_user"));
}

function parseInstance(text: string, { example, api_path }: PlaceForm): string {
  const typed = shown(text);
  const fail = (said: Message) => new AddressError("instance_url", said);
  // Plain HTTP only if it is written out.
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address) || /[\p{Cc}\s\\]/u.test(text)) throw fail(say("addresses.no_address", { typed, example }));
  const url = webUrl(address);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw fail(say("addresses.not_http", { typed }));
  refuseUser(url, "instance_url");
  if (url.search !== "" || url.hash !== "") throw fail(say("addresses.with_query", { typed }));
  return `${url.origin}${url.pathname.replace(/\/+$/, "").replace(api_path, "")}`;
}

/** An address as copied from a browser or from "Clone"; null for a path. */
function readAddress(text: string, field: string): URL | null {
  const clone = /^(?:ssh:\/\/)?git@([a-z0-9.-]+)(?::\d+\/|[:/])(.+)$/i.exec(text);
  const address = clone === null ? text : `https://${clone[1]}/${clone[2]}`;
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return null;
  const url = webUrl(address);
  refuseUser(url, field);
  return url;
}

/** The decoded path of an address; unchanged if it is not UTF-8. */
export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // no name has a percent sign, so it is refused
  }
}

/**
 * The place that the two fields of a source mean. A pasted address names its instance, unless that is below a path, and must not
 * contradict the other field.
 * @throws AddressError with the field to change and what would be right.
 */
export function parsePlace(text: string, instanceText: string, form: PlaceForm): Place {
  const { field } = form;
  const typed = shown(text.trim());
  const instance = instanceText.trim() === "" ? null : parseInstance(instanceText.trim(), form);
  const fail = (said: Message) => new AddressError(field, said);
  const url = readAddress(text.trim(), field);
  if (url === null) {
    const path = form.readPath(text.trim(), false);
    if (path === null) {
      throw fail(
        field === "project" ? say("addresses.no_project", { typed }) : say("addresses.no_repository", { typed }),
      );
    }
    const meant = instance ?? form.public_instance;
    if (meant === null) throw new AddressError("instance_url", say("addresses.instance_wanted"));
    return { instance: meant, path };
  }
  const base = new URL(instance ?? url.origin);
  const prefix = base.pathname.replace(/\/$/, "");
  if (url.host !== base.host || !url.pathname.startsWith(`${prefix}/`)) {
    throw fail(say("addresses.on_another_instance", { typed, instance: `${base.origin}${prefix}` }));
  }
  const path = form.readPath(decodePath(url.pathname.slice(prefix.length)), true);
  if (path === null) {
    throw fail(
      field === "project"
        ? say("addresses.no_address_of_project", { typed })
        : say("addresses.no_address_of_repository", { typed }),
    );
  }
  return { instance: `${base.origin}${prefix}`, path };
}

/** What GitHub, Gitea and Forgejo allow for owners and repositories. */
const namePattern = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}$/;

/** `owner/name`: the first two segments; more only in the address of a page. */
export function readOwnerAndName(text: string, isPage: boolean): string | null {
  const [owner = "", name = "", ...rest] = text.replace(/^\/+|\/+$/g, "").split("/");
  const repository = name.replace(/\.git$/, "");
  if (rest.length > 0 && !isPage) return null;
  return namePattern.test(owner) && namePattern.test(repository) ? `${owner}/${repository}` : null;
}

/** The path of a file in a repository, encoded for an address. Throws `rejected` if it could lead elsewhere. */
export function encodeFilePath(path: string, action: Message): string {
  const names = path.replace(/^\/+/, "").split("/");
  if (names.some((name) => name === "" || name === "." || name === "..")) {
    throw failure("rejected", action, say("sources.no_file_path"));
  }
  return names.map(encodeURIComponent).join("/");
}
