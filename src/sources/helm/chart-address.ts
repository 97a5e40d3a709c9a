import { webUrl } from "../../net/web-url.ts";
import { parseRepository, type Repository, RepositoryError } from "../oci/repository.ts";

/** Where a chart is: in a repository with an index, or as a repository of a registry. */
export type ChartAddress =
  | {
      form: "index";
      chart: string;
      /** The folder of the index, with a slash at its end: relative addresses in the index begin here. */
      base: URL;
      index: URL;
    }
  | { form: "registry"; chart: string; repository: Repository };

/** What a person typed and cannot be meant, with the field that has it. */
export class ChartAddressError extends Error {
  readonly field: "chart" | "repository_url";

  constructor(field: "chart" | "repository_url", message: string, cause: unknown = null) {
    super(message, { cause });
    this.name = "ChartAddressError";
    this.field = field;
  }
}

const chartName = /^[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9_])?$/;

function quote(text: string): string {
  return `"${text.slice(0, 100)}"`;
}

/**
 * Reads the two fields of a source. `https://` and, only where written out, `http://` name the folder of an `index.yaml`, which may
 * be written too; `oci://` names the registry's path above the chart, or with the chart's own name at its end, and
 * `oci+http://` the same without encryption. Throws ChartAddressError.
 */
export function parseChartAddress(chart: string, repositoryUrl: string): ChartAddress {
  if (!chartName.test(chart)) {
    throw new ChartAddressError(
      "chart",
      `${quote(chart)} is no chart name: letters, digits, dots, dashes and underscores, as "ingress-nginx"`,
    );
  }
  const address = repositoryUrl.trim();
  // Refused before parsing: a URL parser quietly drops or turns these.
  if (/[\s\\\p{Cc}]/u.test(address)) throw refused(address, "has blanks, backslashes or control characters");
  const registry = /^oci(\+http)?:\/\/([^/?#]+)\/?([^?#]*)$/i.exec(address);
  if (registry !== null) {
    const [, plain, host = "", path = ""] = registry;
    return {
      form: "registry",
      chart,
      repository: registryOf(chart, plain === undefined ? "https" : "http", host, path),
    };
  }
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    throw refused(address, 'is no address of a chart repository, which begins with "https://", "http://" or "oci://"');
  }
  const base = webUrl(address);
  if (base.username !== "" || base.password !== "") {
    throw refused(base.host, "is written with a user name or password; store a credential instead");
  }
  base.hash = "";
  base.pathname = `${base.pathname.replace(/\/index\.yaml$/i, "").replace(/\/+$/, "")}/`;
  const index = new URL(base);
  index.pathname = `${base.pathname}index.yaml`;
  return { form: "index", chart, base, index };
}

function refused(address: string, reason: string): ChartAddressError {
  return new ChartAddressError("repository_url", `${quote(address)} ${reason}`);
}

function registryOf(chart: string, scheme: "https" | "http", host: string, path: string): Repository {
  if (host.includes("@")) throw refused("The registry", "is written with a user name; store a credential instead");
  const parts = path.split("/").filter((part) => part !== "");
  // A full reference is fine: the chart's name is not put behind itself.
  const name = parts.at(-1) === chart ? parts : [...parts, chart];
  try {
    return parseRepository(name.join("/"), `${scheme}://${host}`);
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
    throw new ChartAddressError("repository_url", error.message, error);
  }
}
