import { afterAll, beforeAll, expect, test } from "bun:test";
import { type FormFields, type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeAll(async () => {
  app = await testApp();
  person = await app.signedIn();
});
afterAll(() => app.close());

const login = { token: "canary-token-of-the-cluster" };

/** A kubeconfig with these contexts, each with its own cluster and user of the same name. */
function kubeconfig(users: Readonly<Record<string, object>>, current: string | null): string {
  const names = Object.keys(users);
  return JSON.stringify({
    ...(current === null ? {} : { "current-context": current }),
    clusters: names.map((name) => ({ name, cluster: { server: `https://${name}.invalid:6443` } })),
    users: Object.entries(users).map(([name, user]) => ({ name, user })),
    contexts: names.map((name) => ({ name, context: { cluster: name, user: name } })),
  });
}

const form = { kind: "kubernetes", is_enabled: "on", credential_id: "new", "config.helm": "on" };
const post = async (name: string, changes: FormFields, htmx = false) =>
  await person.post("/connections", { ...form, name, ...changes }, { htmx });

interface Stored {
  id: string;
  name: string;
  kind: string;
  credential_id: string | null;
  secret_fields: readonly string[];
  config: Record<string, unknown>;
}

async function named(collection: string, name: string): Promise<Stored | undefined> {
  const { body } = await person.api("GET", `/${collection}`);
  return (body.items as unknown as readonly Stored[]).find((each) => each.name === name);
}
const ofText = (text: string) => ({ "secret.kubeconfig": text });

test("a new cluster's form takes a kubeconfig, pasted or as a file, without script", async () => {
  const { text } = await person.get("/connections/new?kind=kubernetes");
  expect(text).toContain('enctype="multipart/form-data"');
  expect(text).toMatch(/<textarea[^>]*name="secret.kubeconfig"/);
  expect(text).toMatch(/<input type="file" name="secret.kubeconfig"/);
  expect(text).toMatch(/<option value="new" selected/);
});

test.each([
  ["pasted", (text: string) => text],
  ["uploaded", (text: string) => new File([text], "config.yaml")],
])("a kubeconfig that is %s becomes a credential like any other", async (how, sent) => {
  const text = kubeconfig({ home: login }, "home");
  expect((await post(`shop ${how}`, { "secret.kubeconfig": sent(text) })).status).toBe(303);
  const [connection, credential] = [
    await named("runtime-connections", `shop ${how}`),
    await named("credentials", `shop ${how}`),
  ];
  expect(connection?.credential_id).toBe(credential?.id ?? null);
  expect([credential?.kind, credential?.secret_fields]).toEqual(["kubernetes", ["kubeconfig"]]);
  const opened = await app.services.credentials.openSecret("kubernetes", credential?.id ?? "");
  expect(opened).toEqual({ kubeconfig: text });
});

test("a file that was not chosen leaves the pasted text", async () => {
  const text = kubeconfig({ home: login }, "home");
  const empty = new File([], "");
  expect((await post("both", { "secret.kubeconfig": [text, empty] })).status).toBe(303);
});

test.each([
  ["an exec plug-in", { home: { exec: { command: "aws" } } }, "exec"],
  ["a file of this machine", { home: { ...login, tokenFile: "/var/run/token" } }, "tokenFile"],
])("%s is refused at its field, nothing is stored and nothing is sent back", async (what, users, member) => {
  const answer = await post(what, { "secret.kubeconfig": kubeconfig(users, "home") });
  expect(answer.status).toBe(422);
  expect(answer.text).toContain(`does not use &quot;${member}&quot;`);
  expect(answer.text).toContain('href="#f-secret-kubeconfig"');
  expect(answer.text).toContain("enter this one again");
  for (const hidden of ["aws", "/var/run/token", login.token]) expect(answer.text).not.toContain(hidden);
  expect(await named("credentials", what)).toBeUndefined();
  expect(await named("runtime-connections", what)).toBeUndefined();
});

test("of several contexts one has to be chosen, and the choice is stored", async () => {
  const text = kubeconfig({ staging: login, production: login }, "staging");
  const asked = await post("two", ofText(text));
  expect(asked.status).toBe(422);
  expect(asked.text).toContain("choose one of &quot;staging&quot;, &quot;production&quot;");
  expect(asked.text).toContain('<option value="staging" selected');
  expect(asked.text).toContain("production (https://production.invalid:6443)");
  expect(asked.text).not.toContain(login.token);
  expect((await post("two", { ...ofText(text), "config.context": "production" })).status).toBe(303);
  expect((await named("runtime-connections", "two"))?.config.context).toBe("production");
  expect((await person.get("/connections")).text).toContain('title="production"');
});

test("the contexts of a pasted kubeconfig are shown before anything is stored, and so is what is wrong with it", async () => {
  const text = kubeconfig({ staging: { exec: {} }, production: login }, null);
  const redrawn = await post("later", { ...ofText(text), _action: "redraw" }, true);
  expect(redrawn.text).toContain('<option value="production"');
  expect(redrawn.text).toContain("Choose…");
  const chosen = await post("later", { ...ofText(text), "config.context": "staging", _action: "redraw" }, true);
  expect(chosen.text).toContain("does not use &quot;exec&quot;");
  const spoilt = await post("later", { ...ofText("not: [a kubeconfig"), _action: "redraw" }, true);
  expect(spoilt.text).toContain("This is not a kubeconfig");
  expect(await named("credentials", "later")).toBeUndefined();
});

test("a credential that has the name already prevents both", async () => {
  const secret = { token: "another" };
  expect((await person.api("POST", "/credentials", { name: "taken", kind: "kubernetes", secret })).status).toBe(201);
  const answer = await post("taken", ofText(kubeconfig({ home: login }, "home")));
  expect(answer.status).toBe(422);
  expect(answer.text).toContain("credential");
  expect(await named("runtime-connections", "taken")).toBeUndefined();
});

test("no credential is stored with a connection that is refused", async () => {
  const answer = await post("spoilt", {
    ...ofText(kubeconfig({ home: login }, "home")),
    "config.namespaces": "Not a namespace!",
  });
  expect(answer.status).toBe(422);
  expect(await named("credentials", "spoilt")).toBeUndefined();
});

test("what is wrong with the secret is told with everything else", async () => {
  const cluster = await post("", { "config.namespaces": "Not a namespace!" });
  for (const field of ["secret-kubeconfig", "config-namespaces", "name"]) {
    expect(cluster.text).toContain(`href="#f-${field}"`);
  }
  for (const key of ["", "ptr a key"]) {
    const wrong = { "config.url": "", "config.endpoint_id": "", "secret.api_key": key };
    const of = { kind: "portainer", name: "p", credential_id: "new" };
    const portainer = await person.post("/connections", { ...of, ...wrong });
    for (const field of ["config-url", "config-endpoint_id", "secret-api_key"]) {
      expect(portainer.text).toContain(`href="#f-${field}"`);
    }
  }
});

test("a kubeconfig without contexts is refused at its field", async () => {
  const answer = await post("empty", ofText("apiVersion: v1\nclusters: []\n"));
  expect(answer.status).toBe(422);
  expect(answer.text).toContain('href="#f-secret-kubeconfig"');
  expect(answer.text).toMatch(/<input[^>]*name="config.context"/);
});

test("a blank kubeconfig is asked for", async () => {
  const answer = await post("blank", {});
  expect(answer.status).toBe(422);
  expect(answer.text).toContain('href="#f-secret-kubeconfig"');
});

test("in a cluster nothing of it is asked for", async () => {
  const { text } = await post("inside", { "config.in_cluster": "on", _action: "redraw" });
  for (const name of ["credential_id", "secret.kubeconfig", "config.server", "config.context"])
    expect(text).not.toContain(`name="${name}"`);
  const saved = await person.post("/connections", {
    ...{ kind: "kubernetes", name: "inside", is_enabled: "on", "config.in_cluster": "on" },
  });
  expect(saved.status).toBe(303);
  expect((await named("runtime-connections", "inside"))?.credential_id).toBeNull();
});

test("a stored credential offers its contexts, too, and a blank one stays blank", async () => {
  const secret = { kubeconfig: kubeconfig({ staging: login, production: login }, "staging") };
  const { body } = await person.api("POST", "/credentials", { name: "kept", kind: "kubernetes", secret });
  const { text } = await post("kept", { credential_id: String(body.id), _action: "redraw" });
  expect(text).toContain('<option value="" selected="">Current: staging (https://staging.invalid:6443)');
  expect(text).toContain('<option value="production"');
  expect(text).not.toContain(login.token);
});

test("a Portainer's key is entered with the connection, an engine's secret only if it is asked for", async () => {
  const { text } = await person.get("/connections/new?kind=portainer");
  expect(text).toMatch(
    /<input[^>]*type="password"[^>]*name="secret.api_key"|name="secret.api_key"[^>]*type="password"/,
  );
  const answer = await person.post("/connections", {
    ...{ kind: "portainer", name: "stacks", is_enabled: "on", credential_id: "new" },
    ...{ "config.url": "https://portainer.invalid", "config.endpoint_id": "1", "secret.api_key": "ptr_canary" },
  });
  expect(answer.status).toBe(303);
  expect((await named("credentials", "stacks"))?.secret_fields).toEqual(["api_key"]);
  expect((await person.get("/connections")).text).toContain("https://portainer.invalid");
  expect((await person.get("/connections/new?kind=docker")).text).not.toContain("secret.");
});

test("every part of it is in Chinese", async () => {
  const text = kubeconfig({ staging: login, production: login }, null);
  const answer = await person.post(
    "/connections",
    { ...form, name: "zh", ...ofText(text) },
    { headers: { "accept-language": "zh" } },
  );
  for (const words of ["新凭据", "或上传文件", "请重新填写", "有多个可选项"]) expect(answer.text).toContain(words);
});
