import { afterAll, beforeAll, expect, test } from "bun:test";
import * as v from "valibot";
import { authorityMissing } from "../../peers/authority.ts";
import { type ApiServer, json, startApiServer } from "../../support/api-server.ts";
import { peerSuite } from "../../support/peer.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

const Asked = v.object({ verb: v.string(), resource: v.string(), namespace: v.string() });

peerSuite("a cluster that grants too little", authorityMissing(), () => {
  let app: TestApp;
  let person: Awaited<ReturnType<TestApp["signedIn"]>>;
  let server: ApiServer;
  let credential_id: string;
  /** What the account may do. */
  let isAllowed: (asked: v.InferOutput<typeof Asked>) => boolean;

  beforeAll(async () => {
    app = await testApp();
    person = await app.signedIn();
    server = await startApiServer(async (request, response, { pathname }) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const { spec } = v.parse(
        v.object({ spec: v.optional(v.object({ resourceAttributes: Asked })) }),
        text === "" ? {} : JSON.parse(text),
      );
      if (pathname === "/version")
        json(response, 200, { major: "1", minor: "36", gitVersion: "v1.36.0", platform: "linux/amd64" });
      else if (pathname.endsWith("/selfsubjectreviews")) {
        json(response, 201, { status: { userInfo: { username: "system:serviceaccount:tools:updater" } } });
      } else if (spec === undefined)
        json(response, 403, { kind: "Status", reason: "Forbidden", message: "no", code: 403 });
      else json(response, 201, { status: { allowed: isAllowed(spec.resourceAttributes) } });
    });
    const secret = { token: "canary-of-the-account", ca_certificate: server.access.ca };
    const { body } = await person.api("POST", "/credentials", { name: "account", kind: "kubernetes", secret });
    credential_id = String(body.id);
  });
  afterAll(async () => {
    await app.close();
    await server[Symbol.asyncDispose]();
  });

  let connected: unknown = null;
  /** In place of the connection before, which leads to the same cluster. */
  const connect = async (name: string, config: object) => {
    if (connected !== null) await person.api("DELETE", `/runtime-connections/${connected}`);
    const input = {
      name,
      kind: "kubernetes",
      credential_id,
      config: { server: server.access.server.origin, helm: false, ...config },
    };
    const { body } = await person.api("POST", "/runtime-connections", input);
    connected = body.id;
    const check = await person.api("POST", `/runtime-connections/${body.id}/checks`);
    return { path: `/connections/${body.id}`, check: check.body as Record<string, unknown> };
  };

  test("the page of a connection has the role that grants what is missing, as plain text", async () => {
    isAllowed = ({ verb }) => verb !== "patch";
    const { path, check } = await connect("shop", { namespaces: "shop" });
    expect(check.ok).toBe(true);
    expect(String(check.remedy)).toContain("# Missing: patch deployments, statefulsets, daemonsets");
    const { text } = await person.get(path);
    expect(text).toContain("Role to apply");
    expect(text).toContain("# Missing: patch cronjobs");
    expect(text).toContain("namespace: shop");
    expect(text).toMatch(/data-copy="apiVersion: rbac/);
    const tested = await person.post(`${path}/checks`, {}, { htmx: true, headers: { "accept-language": "zh" } });
    expect(tested.text).toContain("需要应用的角色");
    expect(tested.text).not.toContain("canary");
  });

  test("so has that of one that failed because nothing may be listed: for the whole cluster", async () => {
    isAllowed = () => false;
    const { path, check } = await connect("all", {});
    expect([check.ok, check.code]).toEqual([false, "unauthorized"]);
    const { text } = await person.get(path);
    expect(text).toContain("Access denied");
    expect(text).toContain("kind: ClusterRoleBinding");
    expect(text).toContain("name: updater");
  });

  test("where nothing is missing there is none", async () => {
    isAllowed = () => true;
    const { path, check } = await connect("fine", { namespaces: "shop" });
    expect(check.remedy).toBeNull();
    expect((await person.get(path)).text).not.toContain("Role to apply");
  });
});
