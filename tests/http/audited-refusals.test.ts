import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { apiRoutes } from "../../src/http/api/index.ts";
import { goodPassword } from "../support/test-app.ts";
import { type AuditHouse, auditHouse } from "./audit-house.ts";

// What is refused changes nothing, and leaves nothing: with an entry for each, a stranger could fill the audit. But what somebody
// tried who had come as far as the password or the provider is told, once.

let house: AuditHouse;
let apiToken = "";
let readToken = "";
const current = { current_password: goodPassword };
const wrong = { current_password: "not the password" };

beforeAll(async () => {
  house = await auditHouse();
  const token = async (scope: string) => {
    const { body } = await house.call("POST", "/api-tokens", { name: scope, scope, ...current });
    return String(body.token);
  };
  [apiToken, readToken] = [await token("full"), await token("read")];
});
afterAll(() => house.close());

const operations = () =>
  apiRoutes(house.app.services)
    .filter(({ method }) => method !== "GET")
    .map((route) => ({ ...route, placed: route.path.replaceAll(/\{\w+\}/g, "none") }));
type Operation = ReturnType<typeof operations>[number];

/** One answer for each operation that was asked, and no entry by all of them. */
async function expectNothing(
  which: (operation: Operation) => boolean,
  ask: (operation: Operation) => Promise<{ status: number }>,
  status: number,
) {
  const asked = operations().filter(which);
  const { result, left } = await house.leftBy(async () => {
    const answers: [string, number][] = [];
    for (const operation of asked) answers.push([operation.operation_id, (await ask(operation)).status]);
    return answers;
  });
  expect(result).toEqual(asked.map(({ operation_id }) => [operation_id, status]));
  expect(left).toEqual([]);
  expect(asked.length).toBeGreaterThan(15);
}

describe("no operation leaves an entry", () => {
  test("for nobody", async () => {
    const isOurs = ({ access }: Operation) => access !== "public";
    await expectNothing(isOurs, ({ method, placed }) => house.call(method, placed, undefined, null), 401);
  });

  test("for a token that may only read", async () => {
    const changes = ({ access }: Operation) => access === "full";
    await expectNothing(changes, ({ method, placed }) => house.call(method, placed, undefined, readToken), 403);
  });

  test("for a field that it does not have", async () => {
    const takesBody = ({ body }: Operation) => body !== undefined;
    await expectNothing(takesBody, ({ method, placed }) => house.call(method, placed, { surprise: "x" }), 422);
  });

  test("for what is not there", async () => {
    // What is judged before the place is right in these; an image's id has a form of its own, and a test below.
    const target = { kind: "container", id: "web" };
    const bodies: Record<string, object> = {
      adopt_targets: { targets: [{ ...target, hash: "a" }] },
      ignore_targets: { targets: [target] },
      authorize_admin_binding: current,
      create_approval: { decision: "refuse", plan_hash: "a".repeat(64) },
      act_on_executor: { action: "hold" },
      update_snapshot: { is_locked: true },
    };
    await expectNothing(
      ({ path, operation_id }) => path.includes("{") && operation_id !== "remove_unused_image",
      ({ method, placed, body, operation_id }) => house.call(method, placed, body && (bodies[operation_id] ?? {})),
      404,
    );
  });
});

interface Refused {
  what: string;
  method?: string;
  path: string | (() => Promise<string>);
  /** Or what makes it. */
  body?: unknown;
  status: number;
}

const ended = { end_other: "/sessions", password: "/account/password" };
const rotations = ["/security-keys/session/rotations", "/security-keys/encryption/rotations"];
const authorize = async () => `/oidc-providers/${await house.madeProvider()}/admin-binding/authorize`;
const unbind = async () => {
  await house.madeBinding();
  return "/oidc-providers/admin-binding/unbind";
};

const asked = async ({ method = "POST", path, body }: Refused, bearer?: string) => {
  const whole = typeof path === "string" ? path : await path();
  const sent: unknown = typeof body === "function" ? body() : body;
  return await house.leftBy(() => house.call(method, whole, sent, bearer));
};

describe("nothing is left of", () => {
  test.each<Refused>([
    {
      ...{ what: "a second provider", status: 409 },
      path: async () => {
        await house.madeProvider();
        return "/oidc-providers";
      },
      body: () => house.provider(),
    },
    {
      ...{ what: "a change of the provider that holds the binding", method: "PATCH", body: { display_name: "x" } },
      ...{ path: async () => `/oidc-providers/${await house.madeBinding()}`, status: 409 },
    },
    {
      ...{ what: "deleting the provider that holds the binding", method: "DELETE", status: 409 },
      path: async () => `/oidc-providers/${await house.madeBinding()}`,
    },
    {
      ...{ what: "a second binding", body: current, status: 409 },
      path: async () => `/oidc-providers/${await house.madeBinding()}/admin-binding/authorize`,
    },
    {
      what: "a binding of no provider",
      path: "/oidc-providers/none/admin-binding/authorize",
      body: current,
      status: 404,
    },
    {
      ...{ what: "unbinding without a binding", body: current, status: 409 },
      path: async () => {
        await house.madeProvider();
        return "/oidc-providers/admin-binding/unbind";
      },
    },
    {
      ...{ what: "an image of nobody", method: "DELETE", status: 409 },
      path: async () => `/runtime-connections/${await house.madeConnection()}/images/sha256:${"c".repeat(64)}`,
    },
  ])("$what", async (refused) => {
    const { result, left } = await asked(refused);
    expect([result.status, left]).toEqual([refused.status, []]);
  });

  test.each<Refused>([
    { what: "a binding", path: authorize, body: current, status: 403 },
    { what: "unbinding", path: unbind, body: current, status: 403 },
    ...rotations.map((path) => ({ what: path, path, body: current, status: 403 })),
    { what: "a token", path: "/api-tokens", body: { name: "more", ...current }, status: 403 },
    { what: "the end of sessions", method: "DELETE", path: ended.end_other, status: 403 },
    {
      ...{ what: "the password", method: "PUT", path: ended.password, status: 403 },
      body: { ...current, new_password: "reed-heron-lagoon" },
    },
  ])("$what, with an API token", async (refused) => {
    const { result, left } = await asked(refused, apiToken);
    expect([result.status, left]).toEqual([refused.status, []]);
  });
});

describe("one entry says that the password was wrong, at", () => {
  test.each<Refused & { event: string }>([
    { what: "binding", path: authorize, body: wrong, status: 422, event: "oidc_binding_started" },
    { what: "unbinding", path: unbind, body: wrong, status: 422, event: "oidc_unbound" },
    ...["session", "encryption"].map((key) => ({
      ...{ what: `rotating the ${key} key`, path: `/security-keys/${key}/rotations`, body: wrong, status: 422 },
      event: `${key}_key_rotated`,
    })),
    {
      ...{ what: "making a token", path: "/api-tokens", body: { name: "more", ...wrong }, status: 422 },
      event: "api_token_created",
    },
    {
      ...{ what: "a new password", method: "PUT", path: ended.password, status: 422, event: "password_changed" },
      body: { ...wrong, new_password: "reed-heron-lagoon" },
    },
  ])("$what", async (refused) => {
    const { result, left } = await asked(refused);
    expect(result.status).toBe(refused.status);
    expect(left).toMatchObject([
      { event: refused.event, outcome: "failed", actor: "admin", detail: { reason: "wrong_password" } },
    ]);
    expect(left).toHaveLength(1);
    // A right one gives the free failures back.
    await house.call("POST", await authorize(), current);
  });

  test.each([
    ["the name of the administrator", "admin"],
    ["a name of nobody", "root\n"],
  ])("signing in with %s", async (_name, username) => {
    const body = { username, password: "wrong-password-1" };
    const { result, left } = await house.leftBy(() => house.call("POST", "/session", body, null));
    expect(result.status).toBe(401);
    const detail = { reason: "wrong_password" };
    expect(left).toMatchObject([{ event: "login", outcome: "failed", actor: null, detail }]);
    expect(left).toHaveLength(1);
    await house.call("POST", await authorize(), current);
  });
});

describe("one entry is left by the way back from the provider", () => {
  test("of a binding", async () => {
    const { query, browser } = await house.begunBinding(await house.madeProvider());
    const { result, left } = await house.leftBy(() => house.back(query, browser));
    expect([result.status, left]).toMatchObject([303, [{ event: "oidc_bound", outcome: "ok", actor: "admin" }]]);
    expect(left).toHaveLength(1);
  });

  test("of a sign-in", async () => {
    await house.madeBinding();
    const { query, browser } = await house.begunLogin("person-1");
    const { result, left } = await house.leftBy(() => house.back(query, browser, null));
    expect([result.status, left]).toMatchObject([
      303,
      [{ event: "login", outcome: "ok", actor: "admin", detail: { method: "oidc" } }],
    ]);
    expect(left).toHaveLength(1);
  });

  test("of somebody else, and nothing by the way there", async () => {
    await house.madeBinding();
    const begun = await house.leftBy(() => house.begunLogin("person-2"));
    expect(begun.left).toEqual([]);
    const { query, browser } = begun.result;
    const { result, left } = await house.leftBy(() => house.back(query, browser, null));
    const detail = { method: "oidc", reason: "subject_not_bound" };
    expect(result.headers.get("location")).toStartWith("/auth/oidc/failed");
    expect(left).toMatchObject([{ event: "login", outcome: "failed", actor: null, detail }]);
    expect(left).toHaveLength(1);
  });

  test("that nobody had begun", async () => {
    const { result, left } = await house.leftBy(() => house.back({ code: "a", state: "b" }, null, null));
    const detail = { reason: "state_unknown" };
    expect(result.headers.get("location")).toStartWith("/auth/oidc/failed");
    expect(left).toMatchObject([{ event: "login", outcome: "failed", actor: null, detail }]);
    expect(left).toHaveLength(1);
  });
});
