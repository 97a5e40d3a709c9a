import { webUrl } from "../../net/web-url.ts";

/** A repository of one GitHub. */
export interface Repository {
  owner: string;
  name: string;
  /** Origin of the instance; blank is github.com. */
  instance_url: string;
}

/** What a person typed and cannot be meant, with the field that has it. */
export class RepositoryError extends Error {
  readonly field: "repository" | "instance_url";

  constructor(field: "repository" | "instance_url", message: string) {
    super(message);
    this.name = "RepositoryError";
    this.field = field;
  }
}

const publicNames = ["github.com", "www.github.com", "api.github.com"];
const namePattern = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}$/;

function parseUrl(field: "repository" | "instance_url", text: string): URL {
  const fail = (reason: string) => new RepositoryError(field, `The address "${text.slice(0, 200)}" ${reason}`);
  if (!URL.canParse(text)) throw fail("cannot be read, it looks like https://github.example.com");
  const url = webUrl(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw fail("begins with neither https:// nor http://");
  if (url.username !== "" || url.password !== "") throw fail("has a user name or password; store a credential instead");
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
    throw new RepositoryError("instance_url", `Write the instance alone: "${url.origin}", not "${text.slice(0, 200)}"`);
  }
  return originOf(url);
}

/**
 * The repository that the two fields of a source mean. A pasted address is fine: its page, its clone address by https or ssh, or
 * one without a scheme.
 * @throws RepositoryError with the field and what would be right.
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
    throw new RepositoryError("repository", `Write the repository as "owner/repo", not "${text.slice(0, 200)}"`);
  }
  if (url === null) return { owner, name: plain, instance_url };
  const named = originOf(url);
  if (instanceUrl !== "" && named !== instance_url) {
    const message = `The address is on "${url.host}", and the instance URL names another place`;
    throw new RepositoryError("repository", message);
  }
  return { owner, name: plain, instance_url: named };
}
