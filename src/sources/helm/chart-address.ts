import { type Message, say } from "../../messages/message.ts";
import { webUrl } from "../../net/web-url.ts";
import { AddressError } from "../address-fields.ts";
import { parseRepository, type Repository } from "../oci/repository.ts";

/** A chart in a repository with an index, or in a registry. */
export type ChartAddress =
  | {
      form: "index";
      chart: string;
      /** The folder of the index, with a slash at its end: the base of relative addresses in the index. */
      base: URL;
      index: URL;
    }
  | { form: "registry"; chart: string; repository: Repository };

const chartName = /^[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9_])?$/;

function refused(said: Message): AddressError {
  return new AddressError("repository_url", said);
}

/**
 * Reads the two fields of a source. `https://` and `http://` name the folder of an `index.yaml`, with or without the file; `oci://`
 * names the path in the registry, with or without the chart's name at its end, and `oci+http://` the same without encryption. Throws
 * AddressError.
 */
export function parseChartAddress(chart: string, repositoryUrl: string): ChartAddress {
  if (!chartName.test(chart)) {
    throw new AddressError("chart", say("addresses.no_chart_name", { typed: chart.slice(0, 100) }));
  }
  const address = repositoryUrl.trim();
  const typed = address.slice(0, 100);
  // Refused before parsing: a URL parser silently drops or converts these.
  if (/[\s\\\p{Cc}]/u.test(address)) throw refused(say("addresses.with_blanks", { typed }));
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
    throw refused(say("addresses.no_chart_repository", { typed }));
  }
  const base = webUrl(address);
  if (base.username !== "" || base.password !== "") {
    throw refused(say("addresses.with_user"));
  }
  base.hash = "";
  base.pathname = `${base.pathname.replace(/\/index\.yaml$/i, "").replace(/\/+$/, "")}/`;
  const index = new URL(base);
  index.pathname = `${base.pathname}index.yaml`;
  return { form: "index", chart, base, index };
}

function registryOf(chart: string, scheme: "https" | "http", host: string, path: string): Repository {
  if (host.includes("@")) throw refused(say("addresses.with_user"));
  const parts = path.split("/").filter((part) => part !== "");
  // A full reference already has the chart's name.
  const name = parts.at(-1) === chart ? parts : [...parts, chart];
  try {
    return parseRepository(name.join("/"), `${scheme}://${host}`);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw new AddressError("repository_url", error.said, error);
  }
}
