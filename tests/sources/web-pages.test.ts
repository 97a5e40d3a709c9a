import { describe, expect, test } from "bun:test";
import { PluginError } from "../../src/errors.ts";
import { sources } from "../../src/sources/index.ts";
import type { ListedVersion, ReleaseStage, SourceKind } from "../../src/sources/source.ts";
import { hostileTags } from "./hostile-tags.ts";

type Config = Readonly<Record<string, unknown>>;

function listed(tag: string, stage: ReleaseStage = "release", url: string | null = null): ListedVersion {
  return { tag, stage, url };
}

const github = (instance_url = "") => ({ repository: "acme/app", instance_url, fetch_mode: "rest" });
const gitea = { repository: "acme/app", instance_url: "https://git.example/forge" };
const gitlab = (instance_url = "") => ({ project: "acme/sub/app", instance_url });
const gitlabId = { project: "4711", instance_url: "https://git.example/gitlab" };
const helm = { chart: "app", repository_url: "https://charts.example/stable" };
const ownPage = "https://git.example/gitlab/acme/app/-/releases/v1.0";

describe("pages() of a version", () => {
  test.each<[SourceKind, Config, ListedVersion, string | null]>([
    ["github", github(), listed("v1.0"), "https://github.com/acme/app/releases/tag/v1.0"],
    ["github", github(), listed("app/v1.0", "tag"), "https://github.com/acme/app/releases/tag/app/v1.0"],
    ["github", github(), listed("1.0+é#%"), "https://github.com/acme/app/releases/tag/1.0%2B%C3%A9%23%25"],
    ["github", github("https://git.acme.example"), listed("v1"), "https://git.acme.example/acme/app/releases/tag/v1"],
    ["github", github("https://acme.ghe.com"), listed("v1"), "https://acme.ghe.com/acme/app/releases/tag/v1"],
    ["gitea", gitea, listed("v1.0", "prerelease"), "https://git.example/forge/acme/app/releases/tag/v1.0"],
    ["gitea", gitea, listed("a/v1.0", "tag"), "https://git.example/forge/acme/app/src/tag/a/v1.0"],
    ["gitlab", gitlab(), listed("v1.0"), "https://gitlab.com/acme/sub/app/-/releases/v1.0"],
    ["gitlab", gitlab(), listed("a/v1.0"), "https://gitlab.com/acme/sub/app/-/releases/a%2Fv1.0"],
    [
      "gitlab",
      gitlab("https://git.example/gitlab"),
      listed("v1.0", "tag"),
      "https://git.example/gitlab/acme/sub/app/-/tags/v1.0",
    ],
    ["gitlab", gitlabId, listed("v1.0", "release", ownPage), ownPage],
    ["gitlab", gitlabId, listed("v1.0"), null],
    ["gitlab", gitlabId, listed("v1.0", "release", "https://evil.example/gitlab/a/b/-/releases/v1.0"), null],
    ["oci", { image: "nginx" }, listed("1.27"), "https://hub.docker.com/_/nginx/tags?name=1.27"],
    ["oci", { image: "grafana/grafana" }, listed("11"), "https://hub.docker.com/r/grafana/grafana/tags?name=11"],
    ["oci", { image: "ghcr.io/acme/app" }, listed("1"), "https://github.com/users/acme/packages/container/package/app"],
    [
      "oci",
      { image: "ghcr.io/acme/tools/app" },
      listed("1"),
      "https://github.com/users/acme/packages/container/package/tools%2Fapp",
    ],
    ["oci", { image: "quay.io/acme/app" }, listed("1"), "https://quay.io/repository/acme/app?tab=tags&tag=1"],
    [
      "oci",
      { image: "mcr.microsoft.com/dotnet/sdk" },
      listed("9"),
      "https://mcr.microsoft.com/artifact/mar/dotnet/sdk/tags",
    ],
    ["oci", { image: "public.ecr.aws/acme/app" }, listed("1"), "https://gallery.ecr.aws/acme/app"],
    ["oci", { image: "registry.example:5000/app" }, listed("1"), null],
    ["oci", { image: "constructor.io/app" }, listed("1"), null],
    ["helm", helm, listed("1.0", "tag", "https://app.example/"), "https://app.example/"],
    [
      "helm",
      helm,
      listed("1.0", "tag", "https://artifacthub.io/packages/helm/acme/app"),
      "https://artifacthub.io/packages/helm/acme/app",
    ],
    ["helm", helm, listed("1.0", "tag", "https://charts.example/stable/app-1.0.0.tgz"), null],
    ["helm", helm, listed("1.0", "tag", "https://user:secret@app.example/"), null],
    ["helm", helm, listed("1.0", "tag", "javascript:alert(1)"), null],
    ["helm", helm, listed("1.0", "tag", "no address"), null],
    ["helm", { ...helm, repository_url: "oci://ghcr.io/acme" }, listed("1.0"), null],
  ])("%s with %j: %j is at %p", (kind, config, version, page) => {
    expect(sources[kind].pages(config)?.version(version) ?? null).toBe(page);
  });
});

describe("pages() of a comparison", () => {
  test.each<[SourceKind, Config, string | null]>([
    ["github", github(), "https://github.com/acme/app/compare/v1.0...a/v2.0"],
    ["gitea", gitea, "https://git.example/forge/acme/app/compare/v1.0...a/v2.0"],
    ["gitlab", gitlab(), "https://gitlab.com/acme/sub/app/-/compare/v1.0...a%2Fv2.0"],
    ["gitlab", gitlabId, "https://git.example/gitlab/acme/app/-/compare/v1.0...a%2Fv2.0"],
    ["oci", { image: "nginx" }, null],
    ["helm", helm, null],
  ])("%s with %j is at %p", (kind, config, page) => {
    const pages = sources[kind].pages(config);
    expect(pages?.comparison?.(listed("v1.0"), listed("a/v2.0", "release", ownPage)) ?? null).toBe(page);
  });
});

/** Hosts that the configurations allow; a chart's home may be anywhere. */
const ownHosts: Readonly<Record<string, string>> = {
  github: "github.com",
  gitea: "git.example",
  gitlab: "gitlab.com",
  oci: "hub.docker.com",
};

describe.each([
  ["github", github(), "/acme/app/"],
  ["gitea", gitea, "/forge/acme/app/"],
  ["gitlab", gitlab(), "/acme/sub/app/-/"],
  ["oci", { image: "nginx" }, "/_/nginx/tags"],
] as const)("pages() of hostile names in %s", (kind, config, prefix) => {
  test.each(hostileTags)("%p leads nowhere else", (tag) => {
    const pages = sources[kind].pages(config);
    const hostile = listed(tag, "release", "https://evil.example/");
    const found = [
      pages?.version(hostile),
      pages?.version({ ...hostile, stage: "tag" }),
      pages?.comparison?.(hostile, listed("v2")),
      pages?.comparison?.(listed("v1"), hostile),
    ].filter((page) => page !== null && page !== undefined);
    for (const page of found) {
      const { protocol, host, pathname, hash, username } = new URL(page);
      expect({ protocol, host, hash, username }).toEqual({
        protocol: "https:",
        host: ownHosts[kind] ?? "",
        hash: "",
        username: "",
      });
      expect(pathname.startsWith(prefix)).toBe(true);
      // What a browser would open is what was formed.
      expect(new URL(page).href).toBe(page);
    }
  });
});

test("a hostile home of a chart is a page of the web or none", () => {
  const pages = sources.helm.pages(helm);
  for (const home of ["javascript:alert(1)", "data:text/html,x", "//evil.example", "ftp://a.example", "/x", " "]) {
    expect(pages?.version(listed("1.0", "tag", home)) ?? null).toBeNull();
  }
});

test.each(["gitea", "github", "gitlab", "oci"] as const)("an invalid configuration of %s is refused", (kind) => {
  expect(() => sources[kind].pages({})).toThrow(PluginError);
});
