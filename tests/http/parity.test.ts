import { describe, expect, test } from "bun:test";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { credentials, notifiers, settings } from "../../src/db/tables.ts";
import { asSealed } from "../../src/secrets/sealed.ts";
import { fieldId } from "../../templates/components/field.tsx";
import { type FormFields, type TestApp, testApp } from "../support/test-app.ts";

type Input = Readonly<Record<string, unknown>>;

interface ParityCase {
  resource: string;
  /** Where the form is posted, and its twin of the API. */
  form: string;
  api: readonly [method: "POST" | "PATCH", path: string];
  table: SQLiteTable;
  /** What both must store alike. */
  accepted: readonly (readonly [name: string, input: Input])[];
  /** What both must refuse with the same words at the same fields. */
  refused: readonly (readonly [name: string, input: Input])[];
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

/** One entry for each resource with a form; another resource is another entry. */
const cases: readonly ParityCase[] = [
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
      ["a key of several lines", { name: "tls", kind: "docker", description: "", secret: { client_key: "a\nb\n" } }],
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

const volatile = ["id", "created_at", "updated_at"];

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
  const found = html.matchAll(/<p class="field-error" id="([\w-]+)-error">.*?<span>(.*?)<\/span>/g);
  return Object.fromEntries([...found].map(([, id = "", message = ""]) => [id, plainText(message)]));
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
    const fields: FormFields = asForm(input);
    return { person, answer: await person.post(each.form, fields) };
  };
  const byApi = async (app: TestApp, input: Input) => {
    const person = await app.signedIn();
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
      expect((await person.post(`${each.form}/${items[0]?.id}`, asForm(form))).status).toBe(303);
      return await rows(app, each.table);
    });
    const twin = await withApp(async (app) => {
      const { person, answer } = await byApi(app, first[1]);
      expect((await person.api("PATCH", `${path}/${answer.body.id}`, patch)).status).toBe(200);
      return await rows(app, each.table);
    });
    expect(stored).toEqual(twin);
  });
});
