import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Session } from "../../src/auth/schema.ts";
import { type AuthHouse, actor, authHouse, goodPassword, origin } from "./auth-house.ts";

const HOUR = 3_600_000;
let house: AuthHouse;
let session: Session;
let token = "";
beforeEach(async () => {
  house = await authHouse();
  ({ session, token } = await house.settle());
});
afterEach(() => house.close());

const elsewhere = {
  actor: { ...actor, address: "203.0.113.5" },
  user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
};
const ids = async () => (await house.sessions.listFor(session).list({})).items.map(({ id }) => id);

describe("list()", () => {
  test("says from where, with what, how, since when, and which is the caller's", async () => {
    await house.clock.advance(HOUR);
    const other = await house.signIn(goodPassword, "admin", elsewhere);
    const { items } = await house.sessions.listFor(session).list({});
    expect(items).toEqual([
      {
        id: other.session.id,
        is_current: false,
        method: "password",
        address: "203.0.113.5",
        browser: "Firefox 128",
        system: "Linux",
        user_agent: elsewhere.user_agent,
        created_at: house.clock.now(),
        last_seen_at: house.clock.now(),
        expires_at: expect.any(Number),
      },
      expect.objectContaining({ id: session.id, is_current: true, browser: "Test 1", system: null }),
    ]);
    expect(JSON.stringify(items)).not.toContain(token.slice(-20));
  });

  test("leaves out API tokens and what ended, by hand, by time or without use", async () => {
    const created = await house.api_tokens.create(actor, session, { name: "ci", current_password: goodPassword });
    const ended = await house.signIn(goodPassword);
    await house.auth.signOut(actor, ended.session);
    const idle = await house.signIn(goodPassword);
    expect(await ids()).toEqual([idle.session.id, session.id]);
    await house.clock.advance(23 * HOUR);
    await house.auth.authenticate(token, "bearer");
    await house.clock.advance(2 * HOUR);
    expect(await ids()).toEqual([session.id]);
    expect(await ids()).not.toContain(created.id);
  });

  test("pages by cursor", async () => {
    for (let index = 0; index < 4; index += 1) {
      await house.clock.advance(1000);
      await house.signIn(goodPassword);
    }
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await house.sessions.listFor(session).list({ limit: 2, ...(cursor === "" ? {} : { cursor }) });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(await ids());
    expect(seen.length).toBe(5);
  });
});

describe("end()", () => {
  test("ends that one at once, for good, and leaves an entry", async () => {
    const other = await house.signIn(goodPassword, "admin", elsewhere);
    await house.sessions.end(actor, session, other.session.id);
    expect(await house.auth.authenticate(other.token, "bearer")).toBeNull();
    expect(await house.auth.holds(other.session)).toBe(false);
    expect(await house.auth.holds(session)).toBe(true);
    expect((await house.audit_entries.list({ event: "session_ended" })).items).toMatchObject([
      { outcome: "ok", subject: { kind: "session", id: other.session.id, name: "Firefox 128, Linux, 203.0.113.5" } },
    ]);
    expect(await house.sessions.end(actor, session, other.session.id).catch((error) => error.status)).toBe(404);
  });

  test("takes the caller's own", async () => {
    await house.sessions.end(actor, session, session.id);
    expect(await house.auth.authenticate(token, "bearer")).toBeNull();
  });

  test.each(["none", "", "' or 1=1", "../x"])("knows no %p", async (id) => {
    expect(await house.sessions.end(actor, session, id).catch((error) => error.status)).toBe(404);
  });

  test("does not end an API token, which has its own way", async () => {
    const created = await house.api_tokens.create(actor, session, { name: "ci", current_password: goodPassword });
    expect(await house.sessions.end(actor, session, created.id).catch((error) => error.status)).toBe(404);
    expect(await house.auth.authenticate(created.token, "bearer")).not.toBeNull();
  });
});

test("endOthers() ends all sign-ins but the caller's, and no API token", async () => {
  const others = [await house.signIn(goodPassword), await house.signIn(goodPassword, "admin", elsewhere)];
  const created = await house.api_tokens.create(actor, session, { name: "ci", current_password: goodPassword });
  expect(await house.sessions.endOthers(actor, session)).toEqual({ ended: 2 });
  for (const other of others) expect(await house.auth.authenticate(other.token, "bearer")).toBeNull();
  for (const live of [token, created.token]) expect(await house.auth.authenticate(live, "bearer")).not.toBeNull();
  expect(await house.sessions.endOthers(actor, session)).toEqual({ ended: 0 });
  expect((await house.events()).filter((event) => event.startsWith("other_sessions"))).toHaveLength(2);
});

test("an API token may end nobody's sign-in", async () => {
  const created = await house.api_tokens.create(actor, session, { name: "ci", current_password: goodPassword });
  const automation = await house.auth.authenticate(created.token, "bearer");
  if (automation === null) throw new Error("the token does not hold");
  const codes = await Promise.all(
    [
      house.sessions.end(actor, automation, session.id),
      house.sessions.endOthers(actor, automation),
      house.auth.confirmPassword(actor, automation, goodPassword, "session_key_rotated"),
    ].map((work) =>
      work.then(
        () => "done",
        (error) => error.code,
      ),
    ),
  );
  expect(codes).toEqual(["session_required", "session_required", "session_required"]);
  expect(await house.auth.holds(session)).toBe(true);
});

describe("holds()", () => {
  test("is false after a password change and a reset of the epoch, and is no use of the session", async () => {
    const other = await house.signIn(goodPassword);
    await house.clock.advance(23 * HOUR);
    expect(await house.auth.holds(other.session)).toBe(true);
    await house.clock.advance(2 * HOUR);
    expect(await house.auth.holds(other.session)).toBe(false);
    const again = await house.signIn(goodPassword);
    await house.auth.changePassword(origin, again.session, {
      current_password: goodPassword,
      new_password: "reed-heron-lagoon",
    });
    expect(await house.auth.holds(again.session)).toBe(false);
  });
});

describe("confirmPassword()", () => {
  const confirm = (password: string, from = actor) =>
    house.auth.confirmPassword(from, session, password, "session_key_rotated");

  test("passes for the password and leaves no entry of its own", async () => {
    const before = await house.events();
    await confirm(goodPassword);
    expect(await house.events()).toEqual(before);
  });

  test.each(["", "wrong-password-1", ` ${goodPassword}`, goodPassword.toUpperCase(), "x".repeat(5000), "a\ud800"])(
    "refuses %p at its field, and records it under the action",
    async (password) => {
      const refusal = await confirm(password).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ status: 422, fields: { current_password: "The password is wrong" } });
      expect((await house.audit_entries.list({ limit: 1 })).items).toMatchObject([
        { event: "session_key_rotated", outcome: "failed", detail: { reason: "wrong_password" } },
      ]);
    },
  );

  test("is throttled by the session from wherever, and the right password waits with it", async () => {
    for (let guess = 0; guess < 5; guess += 1) {
      await confirm("wrong-password-1", { ...actor, address: `203.0.113.${guess}` }).catch(() => null);
    }
    const refusal = await confirm(goodPassword, { ...actor, address: "203.0.113.200" }).catch(
      (error: unknown) => error,
    );
    expect(refusal).toMatchObject({ status: 429, retry_after_seconds: 2 });
    expect((await house.audit_entries.list({ limit: 1 })).items).toMatchObject([
      { event: "session_key_rotated", outcome: "refused", detail: { reason: "too_many_attempts" } },
    ]);
  });
});

describe("signInWithProvider()", () => {
  test("begins a session told as the provider's, for the administrator whom admit names", async () => {
    const view = await house.auth.signInWithProvider(elsewhere, async () => ({
      administrator_id: session.administrator_id,
      detail: { issuer: "https://id.example" },
    }));
    expect(await house.auth.authenticate(view.token, "cookie")).not.toBeNull();
    expect((await house.sessions.listFor(session).list({ limit: 1 })).items).toMatchObject([{ method: "oidc" }]);
    expect((await house.audit_entries.list({ limit: 1 })).items).toMatchObject([
      { event: "login", outcome: "ok", detail: { method: "oidc", issuer: "https://id.example" } },
    ]);
  });

  test("begins nothing for another id or a refusal", async () => {
    const before = await ids();
    const another = house.auth.signInWithProvider(origin, async () => ({ administrator_id: "x", detail: {} }));
    expect(await another.catch((error) => error.status)).toBe(401);
    const refused = house.auth.signInWithProvider(origin, () => Promise.reject(new Error("not bound")));
    expect(await refused.catch((error) => error.message)).toBe("not bound");
    expect(await ids()).toEqual(before);
  });
});
