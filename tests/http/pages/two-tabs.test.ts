import { afterAll, beforeAll, expect, test } from "bun:test";
import { addSurroundings } from "../../support/surroundings.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

// A form that is open while something else saves: in another tab, or through the API.

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
interface Edited {
  /** The page with the form, and where it is sent. */
  page: string;
  action: string;
  /** Of the resource in the API. */
  api: string;
  /** What is entered: a field and its value. */
  entered: readonly [field: string, value: string];
  /** What is changed meanwhile. */
  changed: readonly [field: string, value: unknown];
}
const edited = new Map<string, Edited>();

beforeAll(async () => {
  app = await testApp();
  person = await app.signedIn();
  await addSurroundings(app);
  const make = async (path: string, input: unknown) => {
    const { status, body } = await person.api("POST", path, input);
    expect([path, status, body]).toEqual([path, 201, body]);
    return String(body.id);
  };
  const add = (name: string, path: string, changed: Edited["changed"], rest: Partial<Edited> = {}) => {
    const entered = ["description", "entered here"] as const;
    edited.set(name, { page: `${path}/edit`, action: path, api: path, entered, changed, ...rest });
  };
  const secret = { username: "a", password: "a password of a registry" };
  const credential = await make("/credentials", { name: "hub", kind: "oci", secret });
  const webhook = { kind: "webhook", url: "https://hooks.example.org/a", trigger_events: ["new_release"] };
  const notifier = await make("/notifiers", { name: "chat", language: "en", ...webhook });
  const binding = { service: "main", tracker: "app", source: "main", channel: "stable" };
  const target = { connection_id: "connection-1", target: { kind: "container", id: "web" } };
  const executor = await make("/executors", { name: "web", ...target, trigger: "manual", bindings: [binding] });
  const issuer = { is_discovery_enabled: true, issuer_url: "https://id.example.org" };
  const client = { display_name: "House", slug: "house", client_id: "tidemark", client_secret: "of the provider" };
  const provider = await make("/oidc-providers", { ...client, ...issuer });
  add("connections", "/connections/connection-1", ["concurrent_runs", 3], { api: "/runtime-connections/connection-1" });
  add("credentials", `/credentials/${credential}`, ["name", "another"]);
  add("notifiers", `/notifiers/${notifier}`, ["is_enabled", false]);
  add("executors", `/executors/${executor}`, ["requires_approval", true]);
  add("trackers", "/trackers/app", ["fetch_depth", 33], { action: "/trackers/app/edit" });
  add("settings", "/settings", ["version_history_count", 44], { page: "/settings", entered: ["log_level", "debug"] });
  const providerForm = "/settings/sign-in-provider/edit";
  const paths = { page: providerForm, action: providerForm, api: `/oidc-providers/${provider}` };
  add("provider", providerForm, ["client_id", "elsewhere"], paths);
});
afterAll(() => app.close());

function find(name: string): Edited {
  const found = edited.get(name);
  if (found === undefined) throw new Error(`${name} is not prepared`);
  return found;
}

/** What a browser sends of the form of a page. */
function fieldsOf(html: string): Record<string, string[]> {
  const sent: Record<string, string[]> = {};
  const add = (name: string | null, value: string) => {
    if (name !== null && name !== "csrf_token" && name !== "_action") sent[name] = [...(sent[name] ?? []), value];
  };
  let select: string | null = null;
  const rewriter = new HTMLRewriter()
    .on("form.form input[name]", {
      element: (input) => {
        const type = input.getAttribute("type");
        const isTicked = (type !== "checkbox" && type !== "radio") || input.hasAttribute("checked");
        if (isTicked) add(input.getAttribute("name"), input.getAttribute("value") ?? "");
      },
    })
    .on("form.form select[name]", {
      element: (found) => {
        select = found.getAttribute("name");
      },
    })
    .on("form.form select option[selected]", {
      element: (option) => add(select, option.getAttribute("value") ?? ""),
    });
  rewriter.transform(html);
  return sent;
}

test.each(["connections", "credentials", "notifiers", "executors", "trackers", "settings", "provider"])(
  "%s: what was saved meanwhile is not overwritten unasked",
  async (name) => {
    const { page, action, api, entered, changed } = find(name);
    const [field, text] = entered;
    const sent = { ...fieldsOf((await person.get(page)).text), [field]: [text] };
    expect(sent).toHaveProperty("_seen");
    expect((await person.api("PATCH", api, Object.fromEntries([changed]))).status).toBe(200);
    const stored = async () => (await person.api("GET", api)).body as Record<string, unknown>;

    const refused = await person.post(action, sent);
    expect(refused.status).toBe(409);
    expect(refused.text).toContain("Other values have been stored since you opened this form");
    expect((await stored())[changed[0]]).toEqual(changed[1]);
    expect((await stored())[field]).not.toEqual(text);

    // What was entered is still there, and is saved when it is sent again.
    const again = { ...fieldsOf(refused.text), [field]: [text] };
    expect((await person.post(action, again)).status).toBe(303);
    expect((await stored())[field]).toBe(text);
  },
);

test("a form that is sent twice is saved, and so is one that changes nothing", async () => {
  const { page, action } = find("executors");
  const sent = { ...fieldsOf((await person.get(page)).text), description: ["sent twice"] };
  expect((await person.post(action, sent)).status).toBe(303);
  expect((await person.post(action, sent)).status).toBe(303);
  const same = fieldsOf((await person.get(page)).text);
  expect((await person.post(action, { ...same, description: ["sent twice"] })).status).toBe(303);
});

test("drawing the form again does not forget when it was opened", async () => {
  const { page, action, api } = find("notifiers");
  const sent = fieldsOf((await person.get(page)).text);
  await person.api("PATCH", api, { description: "Changed in another tab" });
  const drawn = await person.post(action, { ...sent, _action: "redraw" });
  expect(drawn.status).toBe(200);
  expect((await person.post(action, fieldsOf(drawn.text))).status).toBe(409);
});

test("a form that is sent again while it is being saved is not refused", async () => {
  const { page, action } = find("connections");
  const sent = { ...fieldsOf((await person.get(page)).text), description: ["sent at once"] };
  const answers = await Promise.all([person.post(action, sent), person.post(action, sent)]);
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
});

test("a secret that another tab has replaced is not overwritten unasked", async () => {
  const { page, action, api } = find("credentials");
  const sent = { ...fieldsOf((await person.get(page)).text), "secret.password": ["entered in this tab"] };
  await app.clock.advance(1_000);
  await person.api("PATCH", api, { secret: { username: "a", password: "entered in the other" } });
  const refused = await person.post(action, sent);
  expect(refused.status).toBe(409);
  expect(refused.text).not.toContain("entered in");
});
