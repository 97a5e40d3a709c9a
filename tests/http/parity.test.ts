import { describe, expect, test } from "bun:test";
import { rootCertificates } from "node:tls";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import {
  connections,
  credentials,
  executors,
  notifiers,
  oidc_providers,
  settings,
  tracker_channels,
  tracker_sources,
  trackers,
} from "../../src/db/tables.ts";
import { asSealed } from "../../src/secrets/sealed.ts";
import { fieldId } from "../../templates/components/field.tsx";
import { addSurroundings } from "../support/surroundings.ts";
import { type FormFields, type TestApp, testApp } from "../support/test-app.ts";

type Input = Readonly<Record<string, unknown>>;

const [ca_certificate] = rootCertificates;

interface ParityCase {
  resource: string;
  /** Where the form is posted, and its twin of the API. */
  form: string;
  api: readonly [method: "POST" | "PATCH", path: string];
  table: SQLiteTable;
  /** What must be there before: with ids of its own, so that both apps have the same. */
  prepare?: (app: TestApp) => Promise<void>;
  /** What both must store alike. */
  accepted: readonly (readonly [name: string, input: Input])[];
  /** What both must refuse with the same words at the same fields. */
  refused: readonly (readonly [name: string, input: Input])[];
  /** Where an edit is sent, when that is not the path of the list with the id. */
  edit?: { form: string; api?: string };
  /** Changes to what the first accepted input made, and the path of the new thing. */
  edits?: readonly (readonly [name: string, patch: Input, asForm: Input])[];
}

const notifier = {
  name: "Chat",
  description: "Where people\nare",
  is_enabled: true,
  kind: "webhook",
  url: "https://hooks.example.org/services/a",
  language: "zh",
  trigger_events: ["new_release", "executor_run_failed"],
};

const connection = {
  name: "Home",
  kind: "docker",
  description: "",
  is_enabled: true,
  config: { address: "unix:///nowhere/docker.sock", tls_verification: true },
  concurrent_runs: 3,
};

const provider = {
  display_name: "The House",
  slug: "house",
  client_id: "tidemark",
  client_secret: "issued by the provider",
  is_discovery_enabled: true,
  issuer_url: "https://id.example.org/o/tidemark/",
  scopes: "openid  email openid",
  icon_url: "https://id.example.org/icon.svg",
  description: "For the\nfamily",
  is_enabled: true,
};

const manualProvider = {
  ...provider,
  is_discovery_enabled: false,
  authorization_url: "https://id.example.org/authorize?tenant=a",
  token_url: "https://id.example.org/token",
  jwks_url: "https://id.example.org/keys",
  userinfo_url: "https://id.example.org/me",
};

const executor = {
  name: "web",
  description: "The page\nof the house",
  is_enabled: true,
  connection_id: "connection-1",
  target: { kind: "container", id: "web" },
  bindings: [{ service: "main", tracker: "app", source: "main", channel: "stable" }],
  trigger: "manual",
  image_selection: "keep_name",
  reference_mode: "digest",
  health_check: { strategy: "auto", on_failure: "degraded", initial_delay_seconds: 3 },
  restore_on_failure: false,
  allow_downgrade: true,
  minimum_age_hours: 12,
  requires_approval: true,
  approval_hours: 24,
  start_first: true,
  drain_seconds: 45,
};

const group = {
  ...executor,
  target: { kind: "compose", id: "shop" },
  bindings: ["web", "worker"].map((service) => ({ service, tracker: "app", source: "main", channel: "stable" })),
};

const source = {
  key: "main",
  kind: "oci",
  config: { image: "library/nginx", registry: "registry.test", published_at_mode: "build_time" },
  channels: [
    { type: "stable", include_pattern: "^\\d+\\.\\d+$", exclude_pattern: "-rc" },
    { type: "beta", include_pattern: "-beta", exclude_pattern: "" },
    { type: "stable", name: "16", include_pattern: "^16\\.", exclude_pattern: "" },
  ],
};

const tracker = {
  name: "web.1",
  description: "The page\nof the house",
  is_enabled: false,
  sources: [
    source,
    { ...source, key: "mirror", config: { image: "mirror.test/nginx" }, channels: [{ type: "canary" }] },
  ],
  check_interval_minutes: 5,
  fetch_depth: 100,
  request_timeout_seconds: 180,
  sorting: "semantic",
  release_fallback: true,
};

const project = {
  key: "git",
  kind: "gitlab",
  config: { project: "group/web" },
  channels: [{ type: "stable", release_type: "release", include_pattern: "", exclude_pattern: "" }],
};

const changelog = {
  source: "changelog",
  changelog_source_key: "git",
  path_template: "docs/{major}/CHANGES.md",
  ref: "specific",
  specific_ref: "next",
  extraction: "subheading",
  heading_template: "## [{version}]",
  subheading: "Highlights",
};

const withChangelog = (change: Input) => ({
  ...tracker,
  sources: [source, project],
  release_notes: { ...changelog, ...change },
});

/** What a tracker consists of, table by table. */
const trackerCases: readonly ParityCase[] = [trackers, tracker_sources, tracker_channels].map((table, position) => ({
  resource: ["trackers", "sources of trackers", "channels of trackers"][position] ?? "",
  form: "/trackers",
  api: ["POST", "/trackers"],
  table,
  edit: { form: "/trackers/web.1/edit", api: "/trackers/web.1" },
  accepted: [
    ["all fields", tracker],
    ["a changelog", withChangelog({})],
    ["a changelog with what is usual", { ...tracker, sources: [project], release_notes: { source: "changelog" } }],
    [
      "the whole file at the release's tag",
      {
        ...tracker,
        sources: [project],
        release_notes: { source: "changelog", ref: "release_tag", extraction: "entire_file" },
      },
    ],
    ["only what must be", { name: "n", is_enabled: true, sources: [{ ...source, config: { image: "nginx" } }] }],
    [
      "a GitHub repository by its address",
      {
        ...tracker,
        name: "app",
        sources: [
          { ...source, kind: "github", config: { repository: "https://github.com/acme/app", fetch_mode: "rest" } },
        ],
      },
    ],
  ],
  refused: [
    [
      "a form left blank",
      {
        name: "",
        is_enabled: true,
        sources: [{ key: "", kind: "oci", config: { image: "" }, channels: [{ type: "" }] }],
      },
    ],
    ["a name that is taken by a page", { ...tracker, name: "new" }],
    ["a name that is no part of an address", { ...tracker, name: "a/b" }],
    [
      "lookaround in a pattern",
      { ...tracker, sources: [{ ...source, channels: [{ type: "stable", include_pattern: "(?<!x)1" }] }] },
    ],
    ["a channel twice", { ...tracker, sources: [{ ...source, channels: [{ type: "beta" }, { type: "beta" }] }] }],
    [
      "a channel by another type's word",
      { ...tracker, sources: [{ ...source, channels: [{ type: "stable", name: "beta" }] }] },
    ],
    ["a source twice", { ...tracker, sources: [source, source] }],
    ["an image that is none", { ...tracker, sources: [{ ...source, config: { image: "Not An Image" } }] }],
    ["a credential that is not there", { ...tracker, sources: [{ ...source, credential_id: "nobody" }] }],
    [
      "GraphQL without a credential",
      {
        ...tracker,
        sources: [{ ...source, kind: "github", config: { repository: "acme/app", fetch_mode: "graphql" } }],
      },
    ],
    ["a changelog without a repository", { ...tracker, release_notes: { source: "changelog" } }],
    ["a changelog of a source that is not there", withChangelog({ changelog_source_key: "nobody" })],
    [
      "a changelog of two repositories",
      { ...withChangelog({ changelog_source_key: null }), sources: [project, { ...project, key: "fork" }] },
    ],
    ["a changelog's path with an unknown placeholder", withChangelog({ path_template: "{name}/x" })],
    ["a changelog's path that leads out", withChangelog({ path_template: "../x" })],
    ["a changelog at no ref", withChangelog({ specific_ref: "" })],
    ["a changelog from no subheading", withChangelog({ subheading: "" })],
    ["a heading template without a version", withChangelog({ heading_template: "## Notes" })],
    ["a heading template that is no pattern", withChangelog({ heading_template: "({version}" })],
    [
      "numbers out of bounds",
      { ...tracker, check_interval_minutes: 0, fetch_depth: 101, request_timeout_seconds: 1.5 },
    ],
  ],
  edits: [
    [
      "other rules and defaults, a source less",
      {
        description: "",
        is_enabled: true,
        sources: [{ ...source, channels: [{ type: "stable" }] }],
        check_interval_minutes: 360,
        fetch_depth: 10,
        release_fallback: false,
      },
      {
        ...tracker,
        description: "",
        is_enabled: true,
        sources: [{ ...source, channels: [{ type: "stable", include_pattern: "", exclude_pattern: "" }] }],
        check_interval_minutes: "",
        fetch_depth: "",
        release_fallback: false,
      },
    ],
  ],
}));

/** One entry for each resource with a form; another resource is another entry. */
const cases: readonly ParityCase[] = [
  {
    resource: "sign-in providers",
    form: "/settings/sign-in-provider",
    api: ["POST", "/oidc-providers"],
    table: oidc_providers,
    edit: { form: "/settings/sign-in-provider/edit" },
    accepted: [
      ["discovery", provider],
      ["endpoints", manualProvider],
      ["least", { ...provider, icon_url: null, description: "", scopes: "openid", is_enabled: false }],
    ],
    refused: [
      ["a slug of capitals", { ...provider, slug: "House" }],
      ["a slug that ends with a hyphen", { ...provider, slug: "house-" }],
      ["scopes without openid", { ...provider, scopes: "email profile" }],
      ["no openid in another case", { ...provider, scopes: "OpenID" }],
      ["an issuer over http", { ...provider, issuer_url: "http://id.example.org" }],
      ["an issuer with a query", { ...provider, issuer_url: "https://id.example.org/?a=b" }],
      ["an issuer with a user", { ...provider, issuer_url: "https://me@id.example.org" }],
      ["an icon over http", { ...provider, icon_url: "http://id.example.org/icon.svg" }],
      ["an icon that is script", { ...provider, icon_url: "javascript:alert(1)" }],
      ["no endpoints without discovery", { ...provider, is_discovery_enabled: false }],
      ["an endpoint over http", { ...manualProvider, token_url: "http://id.example.org/token" }],
      ["a blank name", { ...provider, display_name: "  " }],
    ],
    edits: [
      ["another name", { display_name: "Home" }, { ...provider, client_secret: "", display_name: "Home" }],
      ["another secret", { client_secret: "a newer one" }, { ...provider, client_secret: "a newer one" }],
      [
        "endpoints of its own",
        { ...manualProvider, slug: undefined, client_secret: "" },
        { ...manualProvider, client_secret: "" },
      ],
    ],
  },
  ...trackerCases,
  {
    resource: "connections",
    form: "/connections",
    api: ["POST", "/runtime-connections"],
    table: connections,
    accepted: [
      ["a local socket", { ...connection, description: "Under\nthe stairs" }],
      ["a path", { ...connection, config: { ...connection.config, address: "/run/docker.sock", api_version: "1.41" } }],
      [
        "an unverified tcp address that is disabled",
        { ...connection, is_enabled: false, config: { address: "tcp://127.0.0.1:1", tls_verification: false } },
      ],
    ],
    refused: [
      ["a long name", { ...connection, name: "n".repeat(101) }],
      ["a relative address", { ...connection, config: { ...connection.config, address: "docker.sock" } }],
      ["a strange API version", { ...connection, config: { ...connection.config, api_version: "latest" } }],
      ["an unknown credential", { ...connection, credential_id: "nobody" }],
    ],
    edits: [
      [
        "another name and address, the API version taken away",
        { name: "Cellar", config: { address: "/run/docker.sock", api_version: null } },
        {
          ...connection,
          name: "Cellar",
          config: { ...connection.config, address: "/run/docker.sock", api_version: "" },
          description: "Under\nthe stairs",
        },
      ],
    ],
  },
  {
    resource: "executors",
    form: "/executors",
    api: ["POST", "/executors"],
    table: executors,
    prepare: addSurroundings,
    accepted: [
      ["all fields", executor],
      [
        "a window",
        { ...executor, trigger: "window", window: { days: ["monday", "sunday"], start: "22:00", end: "02:00" } },
      ],
      [
        "an HTTP probe",
        {
          ...executor,
          health_check: {
            strategy: "http",
            probe: { protocol: "http", host: "web.example.org", port: 8080, path: "/health", method: "HEAD" },
          },
        },
      ],
      ["a TCP probe", { ...executor, health_check: { strategy: "tcp", probe: { host: "10.0.0.3", port: 5432 } } }],
      ["no health check", { ...executor, health_check: { strategy: "disabled" } }],
      ["services of a group", group],
    ],
    refused: [
      ["no name and no target", { ...executor, name: "", target: { kind: "container", id: "" } }],
      ["a tracker that is not there", { ...executor, bindings: [{ ...executor.bindings[0], tracker: "nobody" }] }],
      ["a channel that the source has not", { ...executor, bindings: [{ ...executor.bindings[0], channel: "beta" }] }],
      ["a connection that is not there", { ...executor, connection_id: "nobody" }],
      [
        "a channel that the second service's source has not",
        { ...group, bindings: [group.bindings[0], { ...group.bindings[1], channel: "beta" }] },
      ],
      ["more hours of waiting than there may be", { ...executor, approval_hours: 721 }],
      ["a window without days", { ...executor, trigger: "window", window: { days: [], start: "24:00", end: "7:5" } }],
      [
        "a probe of a private address",
        {
          ...executor,
          health_check: {
            strategy: "http",
            probe: { protocol: "http", host: "127.0.0.1", port: 8080, path: "/", method: "GET" },
          },
        },
      ],
    ],
    edits: [
      [
        "another name, the rest back to its defaults",
        {
          name: "shop",
          description: "",
          health_check: { strategy: "auto" },
          minimum_age_hours: 0,
          allow_downgrade: false,
          restore_on_failure: false,
        },
        {
          ...executor,
          name: "shop",
          description: "",
          health_check: { strategy: "auto" },
          minimum_age_hours: "",
          allow_downgrade: false,
        },
      ],
    ],
  },
  {
    resource: "notifiers",
    form: "/notifiers",
    api: ["POST", "/notifiers"],
    table: notifiers,
    accepted: [
      ["all fields", { ...notifier, signing_secret: "0123456789abcdef" }],
      ["a disabled one without description", { ...notifier, description: "", is_enabled: false }],
    ],
    refused: [
      ["a form left blank", { name: "", language: "", trigger_events: [] }],
      ["a private destination", { ...notifier, url: "http://10.0.0.1/" }],
      ["a port that is not allowed", { ...notifier, url: "https://hooks.example.org:22/" }],
      ["a short signing secret", { ...notifier, signing_secret: "short" }],
      ["no event", { ...notifier, trigger_events: [] }],
      ["a long name", { ...notifier, name: "n".repeat(101) }],
      ["an unknown language", { ...notifier, language: "fr" }],
    ],
    edits: [
      [
        "another name, the address kept",
        { name: "Phone" },
        { ...notifier, kind: undefined, url: "", signing_secret: "", name: "Phone" },
      ],
    ],
  },
  {
    resource: "credentials",
    form: "/credentials",
    api: ["POST", "/credentials"],
    table: credentials,
    accepted: [
      ["a registry login", { name: "hub", kind: "oci", description: "d", secret: { username: "u", password: "p" } }],
      ["a token", { name: "forge", kind: "github", description: "", secret: { token: "ghp_abcdefgh" } }],
      ["several lines", { name: "tls", kind: "docker", description: "", secret: { ca_certificate } }],
    ],
    refused: [
      ["a form left blank", { name: "", kind: "oci", secret: { username: "" } }],
      ["a token of another platform", { name: "x", kind: "github", secret: { token: "glpat-1" } }],
      ["a login without its colon", { name: "x", kind: "helm", secret: { basic_auth: "user" } }],
    ],
    edits: [
      [
        "another description, the password kept",
        { description: "new", secret: { username: "u2" } },
        { name: "hub", kind: "oci", description: "new", secret: { username: "u2", password: "" } },
      ],
    ],
  },
  {
    resource: "settings",
    form: "/settings",
    api: ["PATCH", "/settings"],
    table: settings,
    accepted: [
      [
        "all five",
        {
          base_url: "http://tidemark.test/",
          timezone: "Asia/Shanghai",
          log_level: "debug",
          version_history_count: 5,
          snapshot_history_count: 1000,
        },
      ],
    ],
    refused: [
      [
        "five wrong values",
        {
          base_url: "ftp://x",
          timezone: "Mars/Olympus",
          log_level: "loud",
          version_history_count: 0,
          snapshot_history_count: 1.5,
        },
      ],
    ],
  },
];

/** The input as a browser would send it: dotted names, one entry a chosen box, nothing for an empty one. */
function asForm(value: unknown, path = ""): Record<string, string | readonly string[]> {
  if (value === undefined || value === null || value === false) return {};
  if (value === true) return { [path]: "on" };
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return { [path]: value };
  if (Array.isArray(value)) return Object.assign({}, ...value.map((item, index) => asForm(item, `${path}.${index}`)));
  if (typeof value === "object") {
    const parts = Object.entries(value).map(([key, item]) => asForm(item, path === "" ? key : `${path}.${key}`));
    return Object.assign({}, ...parts);
  }
  // A browser sends the line ends of a textarea as CRLF.
  return { [path]: String(value).replaceAll("\n", "\r\n") };
}

const looks = ["seen_at", "missed_looks", "missed_since", "fault_code", "fault", "next_look_at"];
/** What a test of a connection found is no input: the form tests what it stored, the API does that when it is asked to. */
const volatile = [
  "id",
  "tracker_id",
  "source_id",
  "created_at",
  "updated_at",
  "last_check",
  "last_checked_at",
  ...looks,
];

/** Every row of the table without what must differ, with sealed values opened. */
async function rows(app: TestApp, table: SQLiteTable): Promise<unknown[]> {
  const found = await app.db.read.select().from(table);
  return found.map((row) =>
    Object.fromEntries(
      Object.entries(row)
        .filter(([key]) => !volatile.includes(key))
        .map(([key, value]) => [key, key.startsWith("sealed_") ? app.sealer.open(asSealed(String(value))) : value]),
    ),
  );
}

function plainText(html: string): string {
  return html
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

/** The messages at the fields of a page, by the id of the control. */
function pageErrors(html: string): Record<string, string> {
  const found = html.matchAll(/<p class="field-error" id="([\w-]+)-error">.*?<span>(.*?)<\/span><\/p>/g);
  // What pages show as code is in backquotes elsewhere.
  const words = (message: string) => plainText(message.replaceAll(/<\/?code>/g, "`").replaceAll(/<\/?span[^>]*>/g, ""));
  return Object.fromEntries([...found].map(([, id = "", message = ""]) => [id, words(message)]));
}

async function withApp<T>(work: (app: TestApp) => Promise<T>): Promise<T> {
  const app = await testApp();
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}

describe.each(cases.map((each) => [each.resource, each] as const))("%s by form and by API", (_, each) => {
  const [method, path] = each.api;
  const byForm = async (app: TestApp, input: Input) => {
    const person = await app.signedIn();
    await each.prepare?.(app);
    const fields: FormFields = asForm(input);
    return { person, answer: await person.post(each.form, fields) };
  };
  const byApi = async (app: TestApp, input: Input) => {
    const person = await app.signedIn();
    await each.prepare?.(app);
    return { person, answer: await person.api(method, path, input) };
  };

  test.each([...each.accepted])("store the same row for %s", async (_name, input) => {
    const stored = await withApp(async (app) => {
      const { answer } = await byForm(app, input);
      expect([answer.status, pageErrors(answer.text)]).toEqual([303, {}]);
      return await rows(app, each.table);
    });
    const twin = await withApp(async (app) => {
      const { answer } = await byApi(app, input);
      expect(answer.status).toBeLessThan(300);
      return await rows(app, each.table);
    });
    expect(stored.length).toBeGreaterThan(0);
    expect(stored).toEqual(twin);
  });

  test.each([...each.refused])("refuse %s with the same words at the same fields", async (_name, input) => {
    await withApp(async (app) => {
      const before = await rows(app, each.table);
      const { answer: page, person } = await byForm(app, input);
      const api = await person.api(method, path, input);
      expect([page.status, api.status]).toEqual([422, 422]);
      const { fields } = api.body.error as unknown as { fields: Record<string, string> };
      const expected = Object.fromEntries(Object.entries(fields).map(([key, message]) => [fieldId(key), message]));
      expect(pageErrors(page.text)).toEqual(expected);
      expect(await rows(app, each.table)).toEqual(before);
    });
  });

  test.each([...(each.edits ?? [])])("store the same row after an edit: %s", async (_name, patch, form) => {
    const [first] = each.accepted;
    if (first === undefined) throw new Error("An edit needs something to edit");
    const stored = await withApp(async (app) => {
      const { person } = await byForm(app, first[1]);
      const { items } = (await person.api("GET", path)).body as unknown as { items: { id: string }[] };
      const address = each.edit?.form ?? `${each.form}/${items[0]?.id}`;
      expect((await person.post(address, asForm(form))).status).toBe(303);
      return await rows(app, each.table);
    });
    const twin = await withApp(async (app) => {
      const { person, answer } = await byApi(app, first[1]);
      const address = each.edit?.api ?? `${path}/${answer.body.id}`;
      expect((await person.api("PATCH", address, patch)).status).toBe(200);
      return await rows(app, each.table);
    });
    expect(stored).toEqual(twin);
  });
});
