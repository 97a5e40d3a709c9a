import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { apiTokenService } from "../../src/auth/api-tokens.ts";
import { resetPassword } from "../../src/auth/reset-password.ts";
import type { Session } from "../../src/auth/schema.ts";
import { authService } from "../../src/auth/service.ts";
import { createThrottle } from "../../src/auth/throttle.ts";
import { countedTime } from "../../src/counted-time.ts";
import { endEverySession } from "../../src/db/end-sessions.ts";
import { createPasswords } from "../../src/secrets/password.ts";
import { type AuthHouse, actor, authHouse, goodPassword, origin } from "./auth-house.ts";

const HOUR = 3_600_000;
let house: AuthHouse;
beforeEach(async () => {
  house = await authHouse();
});
afterEach(() => house.close());

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => {
      throw new Error("nothing was thrown");
    },
    (error: unknown) => error,
  );
}

describe("signIn()", () => {
  test.each([
    ["a wrong password", { username: "admin", password: "not-the-password" }],
    ["an unknown name", { username: "root", password: goodPassword }],
    ["another case of the name", { username: "Admin", password: goodPassword }],
    ["a trimmed password", { username: "admin", password: ` ${goodPassword}` }],
    ["a password of a megabyte", { username: "admin", password: "x".repeat(1_000_000) }],
  ])("answers %s with one and the same error", async (_name, input) => {
    await house.settle();
    const failure = await failureOf(house.auth.signIn(origin, input));
    expect(failure).toMatchObject({
      status: 401,
      code: "invalid_credentials",
      message: "The user name or password is wrong",
    });
  });

  test.each([
    ["no body", undefined],
    ["a text", "admin"],
    ["no password", { username: "admin" }],
    ["an unknown field", { username: "admin", password: goodPassword, remember: true }],
    ["a polluting field", JSON.parse('{"username":"admin","password":"x","__proto__":{"a":1}}')],
    ["a number", { username: "admin", password: 1 }],
  ])("refuses %s with 422", async (_name, input) => {
    await house.settle();
    expect(await failureOf(house.auth.signIn(origin, input))).toMatchObject({ status: 422 });
  });

  test("gives a new session each time", async () => {
    await house.settle();
    const [one, two] = [await house.signIn(goodPassword), await house.signIn(goodPassword)];
    expect(one.session.id).not.toBe(two.session.id);
    expect(await house.auth.authenticate(one.token, "cookie")).toMatchObject({ via: "cookie" });
  });

  test("throttles one address with Retry-After, and lets the right password of another in", async () => {
    await house.settle();
    const wrong = { username: "admin", password: "not-the-password" };
    for (let attempt = 0; attempt < 5; attempt++) {
      expect(await failureOf(house.auth.signIn(origin, wrong))).toMatchObject({ status: 401 });
    }
    const right = { username: "admin", password: goodPassword };
    expect(await failureOf(house.auth.signIn(origin, right))).toMatchObject({ status: 429, retry_after_seconds: 2 });
    const elsewhere = { ...origin, actor: { ...actor, address: "203.0.113.9" } };
    expect((await house.signIn(goodPassword, "admin", elsewhere)).session.username).toBe("admin");
    await house.clock.advance(2000);
    expect((await house.signIn(goodPassword)).session.username).toBe("admin");
  });

  test("hashes again when the parameters have risen, and not otherwise", async () => {
    await house.settle();
    const stored = async () =>
      String((await house.db.client.execute("SELECT password_hash FROM administrators")).rows[0]?.[0]);
    const before = await stored();
    await house.signIn(goodPassword);
    expect(await stored()).toBe(before);
    const stronger = authService({
      ...house,
      counted: countedTime(house.clock, null),
      passwords: await createPasswords({ memory_kib: 128, passes: 2 }),
      throttle: createThrottle(house.clock),
    });
    await stronger.signIn(origin, { username: "admin", password: goodPassword });
    expect(await stored()).toContain("m=128,t=2");
    await house.signIn(goodPassword);
  });

  test("leaves an entry for success and failure, without what was typed", async () => {
    await house.settle();
    await house.clock.advance(1);
    await failureOf(house.auth.signIn(origin, { username: "my-secret-by-mistake", password: "typed-secret-12" }));
    await house.clock.advance(1);
    await house.signIn(goodPassword);
    const { items } = await house.audit_entries.list({ limit: 2 });
    expect(items.map((item) => [item.event, item.outcome, item.address])).toEqual([
      ["login", "ok", "198.51.100.7"],
      ["login", "failed", "198.51.100.7"],
    ]);
    expect(JSON.stringify(items)).not.toMatch(/secret/);
  });

  test("keeps 50 sign-ins, and ends the oldest beyond", async () => {
    const first = await house.settle();
    for (let index = 0; index < 50; index++) {
      await house.clock.advance(1000);
      await house.signIn(goodPassword);
    }
    expect(await house.auth.authenticate(first.token, "bearer")).toBeNull();
    expect(Number((await house.db.client.execute("SELECT count(*) FROM sessions")).rows[0]?.[0])).toBe(50);
  });
});

describe("authenticate()", () => {
  test("ends after 24 hours without use, and not before", async () => {
    const { token } = await house.settle();
    await house.clock.advance(24 * HOUR);
    expect(await house.auth.authenticate(token, "bearer")).not.toBeNull();
    await house.clock.advance(24 * HOUR + 60_000);
    expect(await house.auth.authenticate(token, "bearer")).toBeNull();
  });

  test("ends after 7 days however much it is used", async () => {
    const { token } = await house.settle();
    for (let hour = 0; hour < 7 * 24 - 1; hour += 1) {
      await house.clock.advance(HOUR);
      expect(await house.auth.authenticate(token, "bearer")).not.toBeNull();
    }
    await house.clock.advance(HOUR);
    expect(await house.auth.authenticate(token, "bearer")).toBeNull();
  });

  test("ends at once with signOut(), and leaves other sessions alone", async () => {
    const { token, session } = await house.settle();
    const other = await house.signIn(goodPassword);
    await house.auth.signOut(actor, session);
    expect(await house.auth.authenticate(token, "bearer")).toBeNull();
    expect(await house.auth.authenticate(other.token, "bearer")).not.toBeNull();
  });

  test("does not hold for a token whose row is gone, or which names another row or account", async () => {
    const { token, session } = await house.settle();
    const claims = await house.tokens.verify(token);
    if (claims === null) throw new Error("the token does not hold");
    const forged = [
      { ...claims, session_id: "018bcfe5-6800-7000-8000-000000000002" },
      { ...claims, administrator_id: "018bcfe5-6800-7000-8000-000000000001" },
      { ...claims, epoch: claims.epoch + 1 },
    ];
    for (const each of forged) {
      expect(await house.auth.authenticate(await house.tokens.sign(each), "bearer")).toBeNull();
    }
    await house.db.client.execute({ sql: "DELETE FROM sessions WHERE id = ?", args: [session.id] });
    expect(await house.auth.authenticate(token, "bearer")).toBeNull();
  });

  test("still reads when nothing can be written", async () => {
    const { token } = await house.settle();
    await house.clock.advance(2 * HOUR);
    await house.db.client.execute(
      "CREATE TRIGGER full BEFORE UPDATE ON sessions BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
    );
    expect(await house.auth.authenticate(token, "bearer")).not.toBeNull();
    expect(house.lines.at(-1)).toContain("WARNING The last use of a session could not be stored");
  });
});

describe("changePassword()", () => {
  test("ends every sign-in, also its own, and gives a new one; API tokens stay", async () => {
    const { token, session } = await house.settle();
    const other = await house.signIn(goodPassword);
    const apiToken = await house.api_tokens.create(actor, session, { name: "ci", current_password: goodPassword });
    const next = await house.auth.changePassword(origin, session, {
      current_password: goodPassword,
      new_password: "harbour-seal-compass",
    });
    expect(next.password_change_required).toBe(false);
    for (const old of [token, other.token]) expect(await house.auth.authenticate(old, "bearer")).toBeNull();
    for (const live of [next.token, apiToken.token]) {
      expect(await house.auth.authenticate(live, "bearer")).not.toBeNull();
    }
    expect(await failureOf(house.signIn(goodPassword))).toMatchObject({ status: 401 });
    await house.signIn("harbour-seal-compass");
  });

  test.each([
    ["a wrong current one", { current_password: "wrong", new_password: "harbour-seal-compass" }, "current_password"],
    ["the same one", { current_password: goodPassword, new_password: goodPassword }, "new_password"],
    ["a short one", { current_password: goodPassword, new_password: "short" }, "new_password"],
    ["a common one", { current_password: goodPassword, new_password: "Password1234!" }, "new_password"],
    ["no new one", { current_password: goodPassword }, "new_password"],
    ["an unknown field", { current_password: goodPassword, new_password: "harbour-seal-compass", x: 1 }, "x"],
  ])("refuses %s and changes nothing", async (_name, input, field) => {
    const { session, token } = await house.settle();
    const failure = await failureOf(house.auth.changePassword(origin, session, input));
    expect(failure).toMatchObject({ status: 422 });
    expect(failure).toHaveProperty(`fields.${field}`);
    expect(await house.auth.authenticate(token, "bearer")).not.toBeNull();
    await house.signIn(goodPassword);
  });

  test("is throttled by the session, whatever address it comes from", async () => {
    const { session } = await house.settle();
    const input = { current_password: "wrong", new_password: "harbour-seal-compass" };
    const from = (index: number) => ({ ...origin, actor: { ...actor, address: `203.0.113.${index}` } });
    for (let attempt = 0; attempt < 5; attempt++) {
      expect(await failureOf(house.auth.changePassword(from(attempt), session, input))).toMatchObject({ status: 422 });
    }
    expect(await failureOf(house.auth.changePassword(from(9), session, input))).toMatchObject({ status: 429 });
  });

  test("is refused to API tokens, and so are renaming and making tokens", async () => {
    const { session } = await house.settle();
    const { token } = await house.api_tokens.create(actor, session, { name: "ci", current_password: goodPassword });
    const automation = await house.auth.authenticate(token, "bearer");
    if (automation === null) throw new Error("the API token does not hold");
    const input = { current_password: goodPassword, new_password: "harbour-seal-compass" };
    for (const work of [
      house.auth.changePassword(origin, automation, input),
      house.auth.updateAccount(actor, automation, { username: "eve" }),
      house.api_tokens.create(actor, automation, { name: "another", current_password: goodPassword }),
      house.api_tokens.revoke(actor, automation, automation.id),
    ]) {
      expect(await failureOf(work)).toMatchObject({ status: 403, code: "session_required" });
    }
  });

  test("of two at once only one wins", async () => {
    const { session } = await house.settle();
    const change = (password: string) =>
      house.auth.changePassword(origin, session, { current_password: goodPassword, new_password: password });
    const results = await Promise.allSettled([change("harbour-seal-compass"), change("lighthouse-keeper-9")]);
    expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
  });
});

describe("updateAccount()", () => {
  test("renames: the new name signs in, the old does not, the id and the sessions stay", async () => {
    const { session, token } = await house.settle();
    const view = await house.auth.updateAccount(actor, session, { username: "harbourmaster" });
    expect(view).toMatchObject({ id: session.administrator_id, username: "harbourmaster" });
    expect(await house.auth.authenticate(token, "bearer")).toMatchObject({ id: session.id, username: "harbourmaster" });
    expect(await failureOf(house.signIn(goodPassword, "admin"))).toMatchObject({ status: 401 });
    expect((await house.signIn(goodPassword, "harbourmaster")).session.administrator_id).toBe(session.administrator_id);
    expect(await house.bootstrap()).toBe(session.administrator_id);
  });

  test.each(["", "   ", "a".repeat(65), "two words", "<b>", "tab\there", "-dash"])(
    "refuses the name %p",
    async (username) => {
      const { session } = await house.settle();
      const failure = await failureOf(house.auth.updateAccount(actor, session, { username }));
      expect(failure).toHaveProperty("fields.username");
    },
  );
});

describe("API tokens", () => {
  test.each<[string, (session: Session) => Promise<unknown>]>([
    ["was ended", (session) => house.auth.signOut(actor, session)],
    ["lost its password to another", () => house.db.write((tx) => endEverySession(tx, house.clock.now()))],
  ])("are not made by a sign-in that %s while the password was compared", async (_what, end) => {
    const { session } = await house.settle();
    const api_tokens = apiTokenService({
      ...house,
      confirmPassword: async (...asked) => {
        await house.auth.confirmPassword(...asked);
        await end(session);
      },
    });
    const made = api_tokens.create(actor, session, { name: "late", current_password: goodPassword });
    expect(await failureOf(made)).toMatchObject({ status: 401 });
    expect((await house.api_tokens.list({})).items).toEqual([]);
  });

  test("are listed without their text, and refused from the moment they are revoked", async () => {
    const { session } = await house.settle();
    const created = await house.api_tokens.create(actor, session, {
      name: "ci",
      scope: "read",
      expires_in_days: 30,
      current_password: goodPassword,
    });
    expect(await house.auth.authenticate(created.token, "bearer")).toMatchObject({ kind: "api_token", scope: "read" });
    const { items } = await house.api_tokens.list({});
    expect(items).toMatchObject([{ id: created.id, name: "ci", scope: "read", last_used_at: null }]);
    expect(JSON.stringify(items)).not.toContain(created.token.slice(-20));
    await house.api_tokens.revoke(actor, session, created.id);
    expect(await house.auth.authenticate(created.token, "bearer")).toBeNull();
    expect((await house.api_tokens.list({})).items).toEqual([]);
    expect(await failureOf(house.api_tokens.revoke(actor, session, created.id))).toMatchObject({ status: 404 });
  });

  test("tell their first use at once", async () => {
    const { session } = await house.settle();
    const made = { name: "ci", current_password: goodPassword };
    const { token } = await house.api_tokens.create(actor, session, made);
    await house.clock.advance(1000);
    await house.auth.authenticate(token, "bearer", actor.address);
    const { items } = await house.api_tokens.list({});
    expect(items).toMatchObject([{ last_used_at: house.clock.now(), last_used_address: actor.address }]);
  });

  test("hold for their days without use, and end then", async () => {
    const { session } = await house.settle();
    const { token } = await house.api_tokens.create(actor, session, {
      name: "ci",
      expires_in_days: 30,
      current_password: goodPassword,
    });
    await house.clock.advance(30 * 24 * HOUR - 1000);
    expect(await house.auth.authenticate(token, "bearer")).not.toBeNull();
    await house.clock.advance(1000);
    expect(await house.auth.authenticate(token, "bearer")).toBeNull();
  });

  test.each([
    [{ name: "" }, "name"],
    [{ name: "ci", scope: "root" }, "scope"],
    [{ name: "ci", expires_in_days: 0 }, "expires_in_days"],
    [{ name: "ci", expires_in_days: 366 }, "expires_in_days"],
    [{ name: "ci", expires_in_days: 1.5 }, "expires_in_days"],
    [{ name: "taken" }, "name"],
  ])("refuse %j", async (input, field) => {
    const { session } = await house.settle();
    await house.api_tokens.create(actor, session, { name: "taken", current_password: goodPassword });
    const refused = house.api_tokens.create(actor, session, { current_password: goodPassword, ...input });
    expect(await failureOf(refused)).toHaveProperty(`fields.${field}`);
  });

  test("page by cursor and are at most 100", async () => {
    const { session } = await house.settle();
    for (let index = 0; index < 100; index++) {
      await house.clock.advance(1);
      await house.api_tokens.create(actor, session, { name: `token ${index}`, current_password: goodPassword });
    }
    expect(
      await failureOf(house.api_tokens.create(actor, session, { name: "one more", current_password: goodPassword })),
    ).toMatchObject({
      status: 409,
    });
    const first = await house.api_tokens.list({ limit: 60 });
    const second = await house.api_tokens.list({ limit: 60, cursor: first.next_cursor });
    expect([...first.items, ...second.items].map((item) => item.name)).toEqual(
      Array.from({ length: 100 }, (_, index) => `token ${index}`),
    );
    expect(second.next_cursor).toBeNull();
  });
});

describe("resetPassword()", () => {
  test("sets the password, ends every session and API token, and asks for no change", async () => {
    const { session, token } = await house.settle();
    const apiToken = await house.api_tokens.create(actor, session, { name: "ci", current_password: goodPassword });
    expect(await resetPassword(house, "harbour-seal-compass")).toBe("admin");
    for (const old of [token, apiToken.token]) expect(await house.auth.authenticate(old, "bearer")).toBeNull();
    expect(await failureOf(house.signIn(goodPassword))).toMatchObject({ status: 401 });
    expect((await house.signIn("harbour-seal-compass")).password_change_required).toBe(false);
    expect(await house.events()).toContain("password_reset ok");
  });

  test("replaces a bootstrap password that was lost", async () => {
    await house.bootstrap();
    await resetPassword(house, "harbour-seal-compass");
    expect((await house.signIn("harbour-seal-compass")).session.is_password_change_required).toBe(false);
  });

  test("does not recreate a deleted administrator", async () => {
    await house.settle();
    await house.db.client.execute("DELETE FROM administrators");
    expect(String(await failureOf(resetPassword(house, "harbour-seal-compass")))).toContain("record is missing");
  });

  test("refuses a bad password and ends nothing", async () => {
    const { token } = await house.settle();
    expect(await failureOf(resetPassword(house, "tidemark-admin"))).toMatchObject({ status: 422 });
    expect(await house.auth.authenticate(token, "bearer")).not.toBeNull();
  });
});

describe("audit entries", () => {
  test("page newest first with a filter, and lose none that share a time", async () => {
    await house.settle();
    for (let index = 0; index < 130; index++) {
      await house.audit_entries.record(actor, {
        event: "destination_blocked",
        outcome: "refused",
        detail: { values: index },
      });
    }
    const seen: unknown[] = [];
    let cursor: string | null | undefined;
    do {
      const query = { event: "destination_blocked", limit: 50, ...(cursor == null ? {} : { cursor }) };
      const page = await house.audit_entries.list(query);
      seen.push(...page.items.map((item) => item.detail.values));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(new Set(seen).size).toBe(130);
    expect(
      (await house.audit_entries.list({ outcome: "ok", limit: 100 })).items.map((item) => item.event).sort(),
    ).toEqual(["administrator_created", "login", "password_changed"]);
  });

  test("encode control characters", async () => {
    await house.audit_entries.record(
      { ...actor, name: "a\nb" },
      { event: "login", outcome: "ok", detail: { path: "\u001b[31m" } },
    );
    expect((await house.audit_entries.list({})).items[0]).toMatchObject({
      actor: "a\\u000ab",
      detail: { path: "\\u001b[31m" },
    });
  });

  test("a stranger's refused attempts leave one entry a minute", async () => {
    await house.settle();
    const wrong = { username: "admin", password: "not-the-password" };
    for (let attempt = 0; attempt < 30; attempt++) await failureOf(house.auth.signIn(origin, wrong));
    const events = await house.events();
    expect(events.filter((event) => event === "login failed")).toHaveLength(5);
    expect(events.filter((event) => event === "login refused")).toHaveLength(1);
  });
});
