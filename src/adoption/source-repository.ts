/** A forge's repository as a source of a tracker. */
export interface SourceRepository {
  kind: "github" | "gitlab" | "gitea";
  config: Readonly<Record<string, string>>;
  /** Its page, without anything that the label had beside it. */
  url: string;
}

/** Where images say that their source is (OCI image specification, annotations). */
export const sourceLabel = "org.opencontainers.image.source";

const publicForges: Readonly<Record<string, SourceRepository["kind"]>> = {
  "github.com": "github",
  "gitlab.com": "gitlab",
  "codeberg.org": "gitea",
  "gitea.com": "gitea",
};
const maxLabelCharacters = 500;

/**
 * The repository in an image's label, if it is on a public forge; null for anything else. A label is whatever the image's author wrote, so
 * it never names another host to send requests to.
 */
export function repositoryIn(label: string | undefined): SourceRepository | null {
  const text = (label ?? "").trim();
  if (text === "" || text.length > maxLabelCharacters || !/^https?:\/\/[\w.-]+\/[\w./~-]+$/.test(text)) return null;
  const { hostname, pathname } = new URL(text);
  const kind = publicForges[hostname.toLowerCase().replace(/^www\./, "")];
  if (kind === undefined) return null;
  // A page below the repository, as `/tree/main/docker` or GitLab's `/-/tree`.
  const names = pathname
    .replace(/\/-\/.*$/, "")
    .split("/")
    .filter((name) => name !== "");
  const path = (kind === "gitlab" ? names : names.slice(0, 2)).map((name, place, all) =>
    place === all.length - 1 ? name.replace(/\.git$/, "") : name,
  );
  if (path.length < 2 || path.some((name) => name === "" || /^\.+$/.test(name))) return null;
  const host = hostname.toLowerCase().replace(/^www\./, "");
  const url = `https://${host}/${path.join("/")}`;
  if (kind === "gitlab") return { kind, config: { project: path.join("/") }, url };
  return { kind, config: { repository: kind === "github" ? path.join("/") : url }, url };
}

/** Tags of the line in the forms that projects use: `v16.1`, `REL-16.2`, `REL_16_1`; blank for all. */
export function linePattern(line: string | null): string {
  return line === null || !/^\d+(?:\.\d+)*$/.test(line)
    ? ""
    : `(?:^|[^0-9.])${line.replaceAll(".", "[._]")}(?:[._-]|$)`;
}

/** The same repository as a source that stays on the line, if there is one. */
export function repositorySource({ kind, config }: SourceRepository, line: string | null) {
  return { key: kind, kind, config, channels: [{ type: "stable", include_pattern: linePattern(line) }] };
}
