import { type Message, say } from "../../messages/message.ts";
import { webUrl } from "../../net/web-url.ts";
import { AddressError } from "../field-issue.ts";

/** A repository of one GitHub. */
export interface Repository {
  owner: string;
  name: string;
  /** Origin of the instance; blank is github.com. */
  instance_url: string;
}

const publicNames = ["github.com", "www.github.com", "api.github.com"];
const namePattern = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}$/;

function parseUrl(field: "repository" | "instance_url", text: string): URL {
  const typed = text.slice(0, 200);
  const fail = (said: Message) => new AddressError(field, said);
  if (!URL.canParse(text)) throw fail(say("addresses.no_address", { typed, example: "https://github.example.com" }));
  const url = webUrl(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw fail(say("addresses.not_http", { typed }));
  if (url.username !== "" || url.password !== "") throw fail(say("addresses.with_user"));
  return url;
}

function originOf(url: URL): string {
  return publicNames.includes(url.hostname) ? "" : url.origin;
}

function parseInstance(text: string): string {
  if (text === "") return "";
  const url = parseUrl("instance_url", text);
  // A server's API has this path, which is known without being written.
  const path = url.pathname.replace(/\/+$/, "").replace(/^\/api\/(?:v3|graphql)$/, "");
  if (path !== "" || url.search !== "" || url.hash !== "") {
    const values = { typed: text.slice(0, 200), origin: url.origin };
    throw new AddressError("instance_url", say("addresses.instance_alone", values));
  }
  return originOf(url);
}

/**
 * The repository that the two fields of a source mean. A pasted address is fine: its page, its clone address by https or ssh, or
 * one without a scheme.
 * @throws AddressError with the field and what would be right.
 */
export function parseRepository(text: string, instanceUrl: string): Repository {
  const instance_url = parseInstance(instanceUrl);
  const [, sshHost, sshPath] = /^git@([^:/\s]+):(.+)$/.exec(text) ?? [];
  const address = sshHost === undefined ? text : `https://${sshHost}/${sshPath}`;
  const isAddress = /^[a-z]+:\/\//i.test(address) || /^(?:www\.)?github\.com\//i.test(address);
  const url = isAddress ? parseUrl("repository", /^[a-z]+:\/\//i.test(address) ? address : `https://${address}`) : null;
  const path = (url?.pathname ?? address).replace(/^\/+|\/+$/g, "");
  const [owner = "", name = "", ...rest] = path.split("/");
  const plain = name.replace(/\.git$/, "");
  if (!namePattern.test(owner) || !namePattern.test(plain) || (url === null && rest.length > 0)) {
    throw new AddressError("repository", say("addresses.no_repository", { typed: text.slice(0, 200) }));
  }
  if (url === null) return { owner, name: plain, instance_url };
  const named = originOf(url);
  if (instanceUrl !== "" && named !== instance_url) {
    const values = { typed: text.slice(0, 200), instance: instance_url || "https://github.com" };
    throw new AddressError("repository", say("addresses.on_another_instance", values));
  }
  return { owner, name: plain, instance_url: named };
}
