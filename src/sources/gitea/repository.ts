import { type Message, say } from "../../messages/message.ts";
import { webUrl } from "../../net/web-url.ts";
import { AddressError } from "../field-issue.ts";

/** A repository and the Gitea or Forgejo that has it. */
export interface Repository {
  /** Without a slash at its end, with the path of an installation below one: `https://host.example/forge`. */
  instance: string;
  /** `owner/name` */
  path: string;
}

type Field = "repository" | "instance_url";

/** What both forges let people call themselves and their repositories. */
const namePattern = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}$/;

function shown(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ").slice(0, 200);
}

/** Without a word of it: what stands before the `@` is a secret. */
function refuseUser(url: URL, field: Field): void {
  if (url.username === "" && url.password === "") return;
  throw new AddressError(field, say("addresses.with_user"));
}

function parseInstance(text: string): string {
  const typed = shown(text);
  const fail = (said: Message) => new AddressError("instance_url", said);
  // Plain http only where it is written out.
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address) || /[\p{Cc}\s\\]/u.test(text)) {
    throw fail(say("addresses.no_address", { typed, example: "https://codeberg.org" }));
  }
  const url = webUrl(address);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw fail(say("addresses.not_http", { typed }));
  refuseUser(url, "instance_url");
  if (url.search !== "" || url.hash !== "") throw fail(say("addresses.with_query", { typed }));
  return `${url.origin}${url.pathname.replace(/\/+$/, "").replace(/\/api(?:\/v1)?$/, "")}`;
}

/** An address as it is copied from a browser or from "Clone"; null for what is a path. */
function readAddress(text: string): URL | null {
  const clone = /^(?:ssh:\/\/)?git@([a-z0-9.-]+)(?::\d+\/|[:/])(.+)$/i.exec(text);
  const address = clone === null ? text : `https://${clone[1]}/${clone[2]}`;
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return null;
  const url = webUrl(address);
  refuseUser(url, "repository");
  return url;
}

/** The first two segments; more only where `allowsPages`, as in the address of one of a repository's pages. */
function readPath(text: string, allowsPages: boolean): string | null {
  const [owner = "", name = "", ...rest] = text.replace(/^\/+|\/+$/g, "").split("/");
  const repository = name.replace(/\.git$/, "");
  if (rest.length > 0 && !allowsPages) return null;
  return namePattern.test(owner) && namePattern.test(repository) ? `${owner}/${repository}` : null;
}

/**
 * The repository that the two fields of a source mean. A pasted address names its instance by itself, unless that lies below a
 * path, and must not contradict the other field.
 * @throws AddressError with the field and what would be right.
 */
export function parseRepository(repositoryText: string, instanceText: string): Repository {
  const typed = repositoryText.trim();
  const instance = instanceText.trim() === "" ? null : parseInstance(instanceText.trim());
  const fail = (said: Message) => new AddressError("repository", said);
  const quoted = { typed: shown(typed) };
  if (/[\p{Cc}\s\\]/u.test(typed)) throw fail(say("addresses.no_repository", quoted));
  const url = readAddress(typed);
  if (url === null) {
    const path = readPath(typed, false);
    if (path === null) throw fail(say("addresses.no_repository", quoted));
    if (instance !== null) return { instance, path };
    throw new AddressError("instance_url", say("addresses.instance_wanted"));
  }
  if (url.search !== "") throw fail(say("addresses.with_query", quoted));
  const base = new URL(instance ?? url.origin);
  const prefix = base.pathname.replace(/\/$/, "");
  if (url.host !== base.host || !url.pathname.startsWith(`${prefix}/`)) {
    throw fail(say("addresses.on_another_instance", { ...quoted, instance: base.href.replace(/\/$/, "") }));
  }
  const path = readPath(url.pathname.slice(prefix.length), true);
  if (path === null) throw fail(say("addresses.no_address_of_repository", quoted));
  return { instance: `${base.origin}${prefix}`, path };
}
