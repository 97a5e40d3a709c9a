import { describe, expect, test } from "bun:test";
import { AppError } from "../../../src/errors.ts";
import { say, toldAs } from "../../../src/messages/message.ts";
import { sources } from "../../../src/sources/index.ts";
import { trackerImports } from "../../../src/trackers/import/import.ts";
import type { KnownChannel } from "../../../src/trackers/import/propose.ts";
import type { ProposalView } from "../../../src/trackers/import/schema.ts";
import { trackerSchemas } from "../../../src/trackers/schema.ts";

function importer(known: readonly KnownChannel[] = []) {
  return trackerImports({
    TrackerInput: trackerSchemas(sources).TrackerInput,
    identityOf: (kind, config) => JSON.stringify([kind, config]),
    knownChannels: async () => known,
  });
}

const propose = (text: string, format = "auto") => importer()({ text, format });

function sourcesOf(proposal: ProposalView | undefined): unknown {
  return proposal?.tracker.sources;
}

async function refusalOf(work: Promise<unknown>): Promise<AppError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error("It was taken");
}

const compose = `
services:
  web:
    image: nginx:1.27.3-alpine
    labels:
      - wud.tag.include=^\\d+\\.\\d+\\.\\d+-alpine$$
  cache:
    image: "\${CACHE_IMAGE:-ghcr.io/acme/cache:2.1}"
  database:
    image: postgres:16
  built:
    build: .
  hidden:
    image: redis:7
    labels: { diun.enable: "false" }
  unset:
    image: acme/\${NAME}:1
  pinned:
    image: acme/app@sha256:${"a".repeat(64)}
`;

describe("a compose file", () => {
  test("gives a tracker for each image, with labels and defaults read", async () => {
    const { format, proposals, skipped } = await propose(compose);
    expect(format).toBe("compose");
    expect(proposals.map(({ name, state }) => `${name} ${state}`)).toEqual([
      "nginx new",
      "cache new",
      "postgres new",
      "app new",
    ]);
    expect(sourcesOf(proposals[0])).toMatchObject([
      {
        key: "image",
        kind: "oci",
        config: { image: "nginx" },
        channels: [{ include_pattern: "^\\d+\\.\\d+\\.\\d+-alpine$" }],
      },
    ]);
    expect(sourcesOf(proposals[1])).toMatchObject([{ config: { image: "ghcr.io/acme/cache" } }]);
    expect(skipped.map(({ found_in }) => found_in)).toEqual(["services.built", "services.hidden", "services.unset"]);
  });

  test("says what it keeps of what the file pins", async () => {
    const { proposals } = await propose(compose);
    const remarks = Object.fromEntries(proposals.map(({ name, remarks }) => [name, remarks.map(({ code }) => code)]));
    expect(remarks).toEqual({ nginx: [], cache: ["line_kept"], postgres: ["line_kept"], app: ["digest_dropped"] });
    expect(proposals.map(({ running }) => running)).toEqual([
      ["nginx:1.27.3-alpine"],
      ["ghcr.io/acme/cache:2.1"],
      ["postgres:16"],
      ["acme/app@sha256:aaaaaaaaaaaa…"],
    ]);
  });

  test("keeps to the variant that runs where no label says otherwise", async () => {
    const { proposals } = await propose("services: { web: { image: 'nginx:1.27.3-alpine3.20' } }");
    expect(sourcesOf(proposals[0])).toMatchObject([
      { channels: [{ include_pattern: "^v?\\d{1,3}(\\.\\d+){2,}-alpine3\\.20$" }] },
    ]);
    expect(proposals[0]?.remarks).toEqual([{ code: "variant_kept", subject: "alpine3.20" }]);
    expect(proposals[0]?.tracker.sorting).toBe("semantic");
  });

  test("keeps what runs where a label's pattern cannot be taken, and says so", async () => {
    const { proposals } = await propose(
      "services: { web: { image: 'acme/web:1', labels: { wud.tag.include: '^(?!.*rc).*$$' } } }",
    );
    expect(sourcesOf(proposals[0])).toMatchObject([{ channels: [{ include_pattern: "^v?1(\\.\\d+)*$" }] }]);
    expect(proposals[0]?.remarks).toContainEqual({ code: "pattern_refused", subject: "^(?!.*rc).*$" });
    expect(proposals[0]?.state).toBe("new");
  });
});

describe("variables of a compose file", () => {
  const text = `
services:
  vault: { image: "vaultwarden/server:\${VW_TAG}" }
  short: { image: "acme/short:$TAG-alpine" }
  must: { image: "acme/must:\${MUST_TAG:?name the tag}" }
  nested: { image: "\${REGISTRY:-ghcr.io}/acme/nested:\${NESTED_TAG:-\${DEFAULT_TAG:-2.4.1}}" }
  other: { image: "acme/other:1.2.3\${SUFFIX:+-\${SUFFIX}}" }
  repository: { image: "\${IMAGE}:1" }
  dollar: { image: "acme/dollar:1.2.3", labels: ["wud.tag.include=^1$$"] }
`;
  const images = (proposals: readonly ProposalView[]) =>
    Object.fromEntries(proposals.map((p) => [p.name, p.running[0]]));

  test("leave the repository and ask for the tag where they have no value", async () => {
    const { proposals, skipped, unset_variables } = await propose(text);
    expect(images(proposals)).toEqual({
      server: "vaultwarden/server",
      short: "acme/short",
      must: "acme/must",
      nested: "ghcr.io/acme/nested:2.4.1",
      other: "acme/other:1.2.3",
      dollar: "acme/dollar:1.2.3",
    });
    expect(proposals.filter(({ is_ready }) => !is_ready).map(({ name, remarks }) => [name, remarks])).toEqual([
      ["server", [{ code: "tag_unknown", subject: "VW_TAG" }]],
      ["short", [{ code: "tag_unknown", subject: "TAG" }]],
      ["must", [{ code: "tag_unknown", subject: "MUST_TAG" }]],
    ]);
    expect(skipped).toEqual([
      {
        found_in: "services.repository",
        ...toldAs("reason", say("imports.value_wanted", { variables: ["IMAGE"] })),
      },
    ]);
    expect(unset_variables).toEqual(["VW_TAG", "TAG", "MUST_TAG", "IMAGE"]);
  });

  test("take their values from the .env file", async () => {
    const variables = `# what runs
VW_TAG=1.32.5
export TAG="3.1"   # two numbers
MUST_TAG='16-alpine'
DEFAULT_TAG=2.5.0
NESTED_TAG=\${DEFAULT_TAG}-slim
SUFFIX=debian
IMAGE=acme/repository
`;
    const { proposals, skipped, unset_variables } = await importer()({ text, variables });
    expect(images(proposals)).toEqual({
      server: "vaultwarden/server:1.32.5",
      short: "acme/short:3.1-alpine",
      must: "acme/must:16-alpine",
      nested: "ghcr.io/acme/nested:2.5.0-slim",
      other: "acme/other:1.2.3-debian",
      repository: "acme/repository:1",
      dollar: "acme/dollar:1.2.3",
    });
    expect({ skipped, unset_variables }).toEqual({ skipped: [], unset_variables: [] });
    expect(proposals.every(({ is_ready }) => is_ready)).toBe(true);
  });

  test("that multiply each other are cut off", async () => {
    const lines = Array.from({ length: 500 }, (_, index) => `V${index + 1}=${`$V${index}`.repeat(300)}`);
    const { skipped } = await importer()({
      text: "services: { web: { image: 'acme/web:$V500' } }",
      variables: `V0=x\n${lines.join("\n").slice(0, 65_000)}`,
    });
    expect(skipped.length).toBeLessThanOrEqual(1);
  });

  test("a blank value asks for the tag all the same", async () => {
    const { proposals, unset_variables } = await importer()({ text, variables: "VW_TAG=\n" });
    expect(proposals[0]).toMatchObject({ running: ["vaultwarden/server"], is_ready: false });
    expect(unset_variables).toContain("VW_TAG");
  });
});

describe("of what a compose file shares or repeats", () => {
  test("settings that services share by a merge key are theirs", async () => {
    const { proposals } = await propose(`
x-common: &common
  image: nginx:1.27
services:
  web:
    <<: *common
  other:
    <<: [*common]
    image: redis:7.4.1
`);
    expect(proposals.map(({ name, found_in }) => [name, found_in])).toEqual([
      ["nginx", ["services.web"]],
      ["redis", ["services.other"]],
    ]);
  });

  test("many services with one image leave room for the others", async () => {
    const same = Array.from({ length: 600 }, (_, index) => `  s${index}: { image: nginx }`).join("\n");
    const { proposals, skipped } = await propose(`services:\n${same}\n  last: { image: redis }\n`);
    expect(proposals.map(({ name, found_in }) => [name, found_in.length])).toEqual([
      ["nginx", 600],
      ["redis", 1],
    ]);
    expect(skipped).toEqual([]);
  });

  test("what is more than can be proposed at once is named", async () => {
    const lines = Array.from({ length: 502 }, (_, index) => `acme/app-${index}`).join("\n");
    const { proposals, skipped } = await propose(lines, "images");
    expect(proposals).toHaveLength(500);
    expect(skipped).toEqual([
      { found_in: "line 501", ...toldAs("reason", say("imports.too_many", { limit: 500 })) },
      { found_in: "line 502", ...toldAs("reason", say("imports.too_many", { limit: 500 })) },
    ]);
  });
});

describe("a list of images", () => {
  const list = "# what runs\nnginx:1.27\n- ghcr.io/acme/app:2.0.0 # ours\n\n'grafana/grafana:11.4.0'\nnginx:1.27\n";

  test("gives one tracker for each image, in its order", async () => {
    const { format, proposals } = await propose(list);
    expect(format).toBe("images");
    expect(proposals.map(({ name, found_in }) => [name, found_in])).toEqual([
      ["nginx", ["line 2", "line 6"]],
      ["app", ["line 3"]],
      ["grafana", ["line 5"]],
    ]);
  });

  test("names what is no image", async () => {
    const { skipped } = await propose("nginx:1.27\nNot An Image\n", "images");
    expect(skipped.map(({ found_in }) => found_in)).toEqual(["line 2"]);
  });

  test("gives different images of one name different names", async () => {
    const { proposals } = await propose(
      "redis:7\nbitnami/redis:7.4.1\nquay.io/bitnami/redis:7.4.1\nbitnami/redis:7.2.0-debian-12\n",
    );
    expect(proposals.map(({ name }) => name)).toEqual(["redis", "bitnami-redis", "quay.io-bitnami-redis", "redis-2"]);
  });
});

test("Diun's file provider gives images with their patterns", async () => {
  const { format, proposals } = await propose(`
- name: docker.io/crazymax/nextcloud:latest
- name: crazymax/swarm-cronjob
  watch_repo: true
  include_tags: ["^1\\\\.2\\\\..*", "^2\\\\."]
  exclude_tags: ["-rc"]
- name: registry.test:5000/acme/app:4.0.0
  regopt: ours
`);
  expect(format).toBe("diun");
  expect(proposals.map(({ name }) => name)).toEqual(["nextcloud", "swarm-cronjob", "app"]);
  expect(sourcesOf(proposals[1])).toMatchObject([
    { channels: [{ include_pattern: "(?:^1\\.2\\..*)|(?:^2\\.)", exclude_pattern: "-rc" }] },
  ]);
  expect(proposals[2]?.remarks).toContainEqual({ code: "credential_missing", subject: "ours" });
});

test("Argus gives the repository and the image of a service, and says what follows a web page", async () => {
  const { format, proposals, skipped } = await propose(`
service:
  release-argus/Argus:
    options: { interval: 6h30m, semantic_versioning: false, active: false }
    latest_version:
      type: github
      url: release-argus/Argus
      use_prerelease: false
      require:
        regex_version: "^[0-9.]+$"
        docker: { type: ghcr, image: release-argus/argus, tag: "{{ version }}" }
  golang:
    latest_version: { type: url, url: https://go.dev/dl/ }
`);
  expect(format).toBe("argus");
  expect(skipped).toMatchObject([{ found_in: "service.golang" }]);
  expect(proposals[0]?.tracker).toMatchObject({
    name: "Argus",
    is_enabled: false,
    check_interval_minutes: 390,
    sorting: "publish_time",
    sources: [
      {
        key: "github",
        kind: "github",
        config: { repository: "release-argus/Argus" },
        channels: [{ type: "stable", include_pattern: "^[0-9.]+$", release_type: "release" }],
      },
      { key: "image", kind: "oci", config: { image: "ghcr.io/release-argus/argus" } },
    ],
  });
});

test("ReleaseTracker gives trackers with their sources, channels and settings", async () => {
  const { format, proposals } = await propose(
    JSON.stringify({
      items: [
        {
          name: "app",
          description: "Ours",
          enabled: true,
          interval: 60,
          fetch_limit: 500,
          fetch_timeout: 20,
          version_sort_mode: "semver",
          sources: [
            {
              source_key: "image",
              source_type: "container",
              credential_name: "hub",
              source_config: { image: "acme/app", registry: "ghcr.io", published_at_mode: "prefer_real" },
              release_channels: [
                { name: "stable", include_pattern: "^v", exclude_pattern: null, enabled: true },
                { name: "beta", enabled: false },
              ],
            },
          ],
        },
      ],
    }),
  );
  expect(format).toBe("release_tracker");
  expect(proposals[0]).toMatchObject({
    state: "new",
    tracker: {
      name: "app",
      description: "Ours",
      check_interval_minutes: 60,
      fetch_depth: 100,
      request_timeout_seconds: 20,
      sorting: "semantic",
      sources: [
        {
          kind: "oci",
          config: { image: "acme/app", registry: "ghcr.io", published_at_mode: "build_time" },
          channels: [{ type: "stable", include_pattern: "^v" }],
        },
      ],
    },
    remarks: [
      { code: "credential_missing", subject: "hub" },
      { code: "channel_disabled", subject: "beta" },
    ],
  });
});

test("a release type that ReleaseTracker keeps for an image or a chart is none of ours", async () => {
  const { proposals } = await propose(
    JSON.stringify({
      trackers: [
        {
          name: "app",
          sources: [
            {
              source_type: "helm",
              source_config: { chart: "app", repo: "https://charts.example.com" },
              release_channels: [{ name: "stable", type: "release" }],
            },
          ],
        },
      ],
    }),
  );
  expect(proposals).toMatchObject([{ state: "new", errors: {} }]);
});

test("several channels of one type in ReleaseTracker are kept, by their keys or numbered", async () => {
  const channels = [
    { name: "stable", include_pattern: "^16\\.", release_channel_key: "16" },
    { name: "stable", include_pattern: "^17\\.", release_channel_key: "Line 17" },
    { name: "stable", include_pattern: "^18\\.", release_channel_key: "beta" },
    { name: "beta", release_channel_key: "main-beta" },
  ];
  const source = { source_type: "container", source_config: { image: "postgres" }, release_channels: channels };
  const { proposals } = await propose(JSON.stringify({ trackers: [{ name: "postgres", sources: [source] }] }));
  expect(proposals).toMatchObject([{ state: "new", errors: {} }]);
  expect(sourcesOf(proposals[0])).toMatchObject([
    {
      channels: [
        { type: "stable", name: "16", include_pattern: "^16\\." },
        { type: "stable", include_pattern: "^17\\." },
        { type: "stable", name: "stable-2", include_pattern: "^18\\." },
        { type: "beta" },
      ],
    },
  ]);
});

describe("what is tracked already", () => {
  const known = (tracker: string, image: string, include_pattern = "") => ({
    tracker,
    identity: JSON.stringify(["oci", { image }]),
    include_pattern,
    exclude_pattern: "",
  });
  const states = async (channels: readonly KnownChannel[], text: string) =>
    (await importer(channels)({ text })).proposals.map(({ name, state, existing }) => [name, state, existing]);

  test("is told by its upstream, not by its name", async () => {
    expect(
      await states([known("web", "nginx"), known("grafana", "other")], "nginx:1.27\ngrafana/grafana:11.4.0\n"),
    ).toEqual([
      ["nginx", "exists", "web"],
      ["grafana-grafana", "new", null],
    ]);
  });

  test("leaves another line and another variant of its image to be tracked", async () => {
    const channels = [known("database", "postgres", "^v?16(\\.\\d+)*-alpine$")];
    expect(
      await states(channels, "postgres:16-alpine\npostgres:16.9-alpine\npostgres:14-alpine\npostgres:16\n"),
    ).toEqual([
      ["postgres", "exists", "database"],
      ["postgres", "exists", "database"],
      ["postgres", "new", null],
      ["postgres-2", "new", null],
    ]);
  });

  test("is a name that moves, by its tag or by the numbered versions that were chosen instead", async () => {
    for (const pattern of ["^alpine$", "^v?\\d+(\\.\\d+)+-alpine$"]) {
      expect(await states([known("web", "nginx", pattern)], "nginx:alpine\n")).toEqual([["nginx", "exists", "web"]]);
    }
  });
});

describe("refuses", () => {
  const bomb = `a: &a [x, x, x, x, x, x, x, x, x, x]\n${"bcdefghi"
    .split("")
    .map((name, n) => `${name}: &${name} [${Array(10).fill(`*${"abcdefgh"[n]}`).join(", ")}]`)
    .join("\n")}\n`;
  test.each([
    ["an empty text", "  \n ", "Paste a compose file"],
    ["YAML with a mistake", "services:\n  web: {image: nginx:1\n  - x", "cannot be parsed as YAML"],
    ["a key that is there twice", "services:\n  web: {image: nginx}\n  web: {image: redis}\n", '"web" appears twice'],
    ["aliases that multiply", bomb, "aliases expand"],
    ["nesting without end", `${"[".repeat(200)}${"]".repeat(200)}`, "too deeply nested"],
    ["brackets without end", "[".repeat(500_000), "too deeply nested"],
    ["list marks without end", "- ".repeat(250_000), "too deeply nested"],
    ["brackets that seem to be closed", '["]",'.repeat(100_000), "too deeply nested"],
    ["documents without end", "---\n".repeat(125_000), "too deeply nested"],
    ["a mistake, with its place", "services: {}\nweb: }", "at line 2, column 6"],
    ["a document of another kind", "apiVersion: v1\nkind: Pod\n", "Paste a compose file, a list of image references"],
    ["too much text", "x".repeat(600_000), "Use at most"],
  ])("%s with a sentence about the text", async (_name, text, message) => {
    const refusal = await refusalOf(propose(text));
    expect(refusal.status).toBe(422);
    expect(refusal.fields?.text).toContain(message);
  });

  test("a text that is not of the format that was chosen", async () => {
    const refusal = await refusalOf(propose("services: { web: { image: nginx } }", "argus"));
    expect(refusal.fields?.text).toContain('it needs a "service"');
  });
});
