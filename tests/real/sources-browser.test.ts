import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { type Gitea, giteaMissing, startGitea } from "../peers/gitea.ts";
import { addRelease, addTag, hubRepository } from "../sources/github/hub-content.ts";
import { type StandInGithub, startGithub } from "../sources/github/stand-in-github.ts";
import { project, type StandInGitLab, standInGitLab } from "../sources/gitlab/stand-in-gitlab.ts";
import type { StandIn } from "../sources/oci/stand-in-registry.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { chartIndex, chartRepository, corpusOf, dayOf, registryOf } from "../support/corpus-upstreams.ts";
import { peerSuite } from "../support/peer.ts";
import { firstSignIn, type RunningServer, startServer } from "../support/server.ts";

setDefaultTimeout(180_000);

const images = {
  "library/traefik": corpusOf("traefik-traefik"),
  "library/postgres": corpusOf("postgres"),
  "grafana/grafana": corpusOf("grafana-grafana"),
  "keycloak/keycloak": corpusOf("keycloak-keycloak"),
};
const onGithub = {
  "jellyfin/jellyfin": corpusOf("jellyfin-jellyfin"),
  "home-assistant/core": corpusOf("home-assistant-core"),
  "goauthentik/authentik": corpusOf("goauthentik-authentik"),
};
/** In the order of publishing; the older line's patch is no step ahead. */
const giteaTags = ["v1.22.4", "v1.22.5", "v1.23.0-rc0", "v1.22.6", "v1.23.0", "v1.23.1", "v1.24.0-rc0"];
const runnerTags = ["v17.5.3", "v17.6.0", "v17.5.4", "v17.7.0", "v17.6.1", "v17.7.1"];
const charts = ["66.7.1", "67.0.0", "67.8.0", "67.9.0", "68.0.0-beta.1"].map((version, index) => ({
  version,
  app_version: index < 2 ? "v0.78.2" : "v0.79.2",
  created: dayOf(index),
}));

const isEarly = (tag: string) => /(?:alpha|beta|rc|\db)\d*/.test(tag);

peerSuite(
  "well-known projects, set up in Chromium as their documentation names them",
  chromiumMissing() ?? giteaMissing(),
  () => {
    let hub: StandInGithub;
    let gitlab: StandInGitLab;
    let forge: Gitea;
    let registry: StandIn;
    let chartServer: StandIn;
    let server: RunningServer;
    let person: Person;
    let page: Page;

    async function fillForge() {
      forge = await startGitea();
      await forge.api("POST", "/orgs", { username: "gitea" });
      await forge.api("POST", "/orgs/gitea/repos", { name: "gitea", auto_init: true, default_branch: "main" });
      for (const tag_name of giteaTags) {
        const release = { tag_name, target_commitish: "main", prerelease: isEarly(tag_name) };
        await forge.api("POST", "/repos/gitea/gitea/releases", release);
      }
    }

    async function fillGithub() {
      hub = await startGithub(() => Date.now());
      for (const [path, { tags }] of Object.entries(onGithub)) {
        const [owner = "", name = ""] = path.split("/");
        const repository = hubRepository(owner, name);
        // Every second tag is annotated, and there are tags without a release.
        for (const [index, tag] of tags.entries()) {
          addRelease(repository, tag, dayOf(index), { is_prerelease: isEarly(tag) });
          if (index % 2 === 0) addTag(repository, tag, dayOf(index), 1);
        }
        addTag(repository, "nightly", dayOf(tags.length));
        hub.repositories.push(repository);
      }
    }

    beforeAll(async () => {
      await Promise.all([fillForge(), fillGithub()]);
      gitlab = standInGitLab(
        project({
          path: "gitlab-org/ci/gitlab-runner",
          releases: [
            ...runnerTags.map((tag, index) => ({ tag, released_at: dayOf(index) })),
            { tag: "v17.8.0", released_at: "2099-01-01T00:00:00Z", upcoming: true },
          ],
        }),
      );
      registry = registryOf(Object.fromEntries(Object.entries(images).map(([name, { tags }]) => [name, tags])));
      chartServer = chartRepository(() => chartIndex({ alertmanager: [], "kube-prometheus-stack": charts }));
      server = await startServer();
      await firstSignIn(server);
      // Nothing is asked for that is not there, so nothing at all is usual.
      person = await openBrowser(() => server.url, { usual: /^$/ });
      ({ page } = person);
      await person.signIn("/trackers");
    });
    afterAll(async () => {
      await person?.close();
      await server?.kill("SIGTERM");
      await Promise.all([registry?.stop(), chartServer?.stop(), forge?.stop()]);
      await gitlab?.[Symbol.asyncDispose]();
      await hub?.[Symbol.asyncDispose]();
    });

    /** Nothing but the name, the kind and the address, as a person does who has read no manual of ours. */
    async function createTracker(name: string, kind: string, config: Readonly<Record<string, string>>) {
      await person.go("/trackers/new");
      await person.fill("name", name);
      if (kind !== "oci") await person.field("sources.0.kind").selectOption(kind);
      for (const [key, value] of Object.entries(config)) await person.fill(`sources.0.config.${key}`, value);
      expect(await person.field("name").inputValue()).toBe(name);
      await page.click(".form-actions .btn.main");
      await page.waitForURL(`**/trackers/${name}`);
      await person.untilChecked();
    }

    const latest = () => page.locator(".source .facts .version.new").allTextContents();

    const cases: [string, string, () => Record<string, string>, string][] = [
      [
        "jellyfin",
        "github",
        () => ({ repository: `${hub.url}/jellyfin/jellyfin` }),
        onGithub["jellyfin/jellyfin"].stable,
      ],
      [
        "home-assistant",
        "github",
        () => ({ repository: `${hub.url}/home-assistant/core/releases` }),
        onGithub["home-assistant/core"].stable,
      ],
      [
        "authentik",
        "github",
        () => ({ repository: `${hub.url}/goauthentik/authentik.git` }),
        onGithub["goauthentik/authentik"].stable,
      ],
      [
        "traefik",
        "oci",
        () => ({ image: "library/traefik:v3.2", registry: registry.url }),
        images["library/traefik"].stable,
      ],
      [
        "postgres",
        "oci",
        () => ({ image: "library/postgres", registry: registry.url }),
        images["library/postgres"].stable,
      ],
      [
        "grafana",
        "oci",
        () => ({ image: "grafana/grafana:latest", registry: registry.url }),
        images["grafana/grafana"].stable,
      ],
      [
        "keycloak",
        "oci",
        () => ({ image: "keycloak/keycloak", registry: registry.url }),
        images["keycloak/keycloak"].stable,
      ],
      ["gitea", "gitea", () => ({ repository: `${forge.url}/gitea/gitea` }), "v1.23.1"],
      [
        "gitlab-runner",
        "gitlab",
        () => ({ project: "gitlab-org/ci/gitlab-runner", instance_url: gitlab.url }),
        "v17.7.1",
      ],
      ["monitoring", "helm", () => ({ chart: "kube-prometheus-stack", repository_url: chartServer.url }), "67.9.0"],
    ];

    test.each(cases)("%s of %s has the right version without a pattern", async (name, kind, config, stable) => {
      await createTracker(name, kind, config());
      expect(await latest()).toEqual([stable]);
      expect(await page.textContent("#tracker-state")).toContain("Notify only");
    });

    test("the list shows all ten with what is current", async () => {
      await person.go("/trackers");
      const rows = await page.locator("#tracker-list tbody tr").allTextContents();
      for (const [name, , , stable] of cases) {
        expect([name, rows.some((row) => row.includes(name) && row.includes(stable))]).toEqual([name, true]);
      }
    });

    test("upstreams understood every request, and the browser refused nothing", () => {
      expect([hub.violations, gitlab.violations, person.complaints]).toEqual([[], [], []]);
    });
  },
);
