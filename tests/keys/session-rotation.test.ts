import { afterEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { runs, sessions } from "../../src/db/tables.ts";
import { createApprovalTokens } from "../../src/secrets/approval-tokens.ts";
import { keyId } from "../../src/secrets/keys.ts";
import { goodPassword } from "../support/test-app.ts";
import { actor, keyHouse, password } from "./key-house.ts";

type House = Awaited<ReturnType<typeof keyHouse>>;
let house: House;

afterEach(async () => await house.close());

/** A run that awaits approval, and the path of its link. */
async function pendingApproval({ db, keys, clock }: House): Promise<string> {
  const approval_until = clock.now() + 3_600_000;
  const plan_hash = "a".repeat(64);
  const plan = { hash: plan_hash, services: [], refusals: [], warnings: [], is_noop: false };
  await db.write((tx) =>
    tx.insert(runs).values({
      ...{ id: "01900000-0000-7000-8000-000000000001", executor_id: "executor-1", kind: "update", state: "pending" },
      ...{ trigger: "immediate", desired_revision: "r", approval: "awaiting", approval_until, plan, plan_hash },
      ...{ due_at: clock.now(), created_at: clock.now() },
    }),
  );
  const subject = { run: "01900000-0000-7000-8000-000000000001", plan_hash, approval_until };
  return `/approvals/${subject.run}/${createApprovalTokens(keys.session).token(subject)}`;
}

describe("rotateSessionKey()", () => {
  test("ends every cookie, token and approval link within the process, and a new sign-in works at once", async () => {
    house = await keyHouse();
    const { person, send, db } = house;
    const other = house.browser();
    await other.post("/login", { username: "admin", password: goodPassword });
    const made = await person.api("POST", "/api-tokens", { name: "ci", ...password });
    expect([made.status, (await other.get("/account")).status]).toEqual([201, 200]);
    const link = await pendingApproval(house);
    expect((await send(link)).status).toBe(200);
    const programs = { authorization: `Bearer ${String(made.body.token)}` };
    expect((await send("/api/account", { headers: programs })).status).toBe(200);

    const { status, body } = await person.api("POST", "/security-keys/session/rotations", password);
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({ ended_sessions: 3, ended_api_tokens: 1, rotated_at: expect.stringMatching(/Z$/) }),
    ]);
    expect((await send("/api/account", { headers: programs })).status).toBe(401);
    expect((await person.api("GET", "/account")).status).toBe(401);
    for (const browser of [other, person]) expect((await browser.get("/account")).location).toStartWith("/login");
    expect((await send(link)).status).toBe(404);
    expect(await db.read.select().from(sessions)).toEqual([]);

    const again = house.browser();
    await again.post("/login", { username: "admin", password: goodPassword });
    expect((await again.get("/account")).status).toBe(200);
    const text = house.stored().session;
    expect(text).not.toBe(Buffer.from(house.keys.session).toString("base64url"));
    expect(house.stored().encryption).toEqual({ primary: house.keys.encryption.primary });
    const { session } = await house.services.security_keys.get();
    expect(session).toMatchObject({ id: keyId(Buffer.from(text, "base64url")), since: house.clock.now() });
    expect(await house.audited("session_key_rotated")).toMatchObject([
      { outcome: "ok", actor: "admin", detail: { from: keyId(house.keys.session), to: session.id } },
    ]);
    expect(JSON.stringify(body)).not.toContain(text);
  });

  test.each([2, 5])(
    "answers one alone of %p at once: the others' session has ended, or they came too early",
    async (count) => {
      house = await keyHouse();
      const { person } = house;
      const asked = Array.from({ length: count }, () =>
        person.api("POST", "/security-keys/session/rotations", password),
      );
      const statuses = (await Promise.all(asked)).map(({ status }) => status).toSorted();
      expect(statuses[0]).toBe(201);
      for (const status of statuses.slice(1)) expect([401, 409]).toContain(status);
      expect(await house.audited("session_key_rotated")).toMatchObject([{ outcome: "ok" }]);
    },
  );

  test("says that the new key is in force when the end of the sessions could not be stored", async () => {
    house = await keyHouse();
    const { person, db } = house;
    const former = house.stored().session;
    await db.client.execute(
      "CREATE TRIGGER refuse BEFORE UPDATE OF session_epoch ON administrators BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    const { status, body } = await person.api("POST", "/security-keys/session/rotations", password);
    const said = { code: "keys.rotation_incomplete", params: { name: "session" } };
    expect([status, body]).toMatchObject([500, { error: { code: "rotation_incomplete", message_data: said } }]);
    expect(house.stored().session).not.toBe(former);
    expect((await person.api("GET", "/account")).status).toBe(401);
  });

  test("refuses a session that ended while the password was compared", async () => {
    house = await keyHouse();
    const { services, session } = house;
    await services.security_keys.rotateSessionKey(actor, session, password);
    const late = services.security_keys.rotateSessionKey(actor, session, password);
    expect(await late.catch((error: unknown) => error)).toMatchObject({ status: 401 });
    expect(await house.audited("session_key_rotated")).toHaveLength(1);
  });

  test("ends the live pages of every session, and nothing more is told there", async () => {
    house = await keyHouse();
    const { person, send, db, clock } = house;
    const other = house.browser();
    await other.post("/login", { username: "admin", password: goodPassword });
    const run = {
      id: "run-1",
      executor_id: "executor-1",
      kind: "update",
      state: "pending",
      trigger: "manual",
    } as const;
    await db.write((tx) =>
      tx.insert(runs).values({ ...run, due_at: clock.now() + 3_600_000, created_at: clock.now() }),
    );
    const open = async ({ cookies }: Pick<typeof other, "cookies">) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const stream = await send("/runs/run-1/stream", { headers: { cookie } });
      expect(stream.status).toBe(200);
      return { cookie, ended: stream.text() };
    };
    const streams = [await open(other), await open(person)];
    await clock.advance(3000);
    await person.api("POST", "/security-keys/session/rotations", password);
    // What happens now is not for them.
    await db.write((tx) => tx.update(runs).set({ state: "failed", ended_at: clock.now() }).where(eq(runs.id, "run-1")));
    await clock.advance(1000);
    for (const { cookie, ended } of streams) {
      const told = await ended;
      expect(told).toStartWith("event: ping");
      expect(told).not.toContain("id:");
      expect((await send("/runs/run-1/stream", { headers: { cookie } })).status).toBe(303);
    }
  });

  test("a session that was signed with the former key after the rotation does not hold", async () => {
    house = await keyHouse();
    const before = house.browser();
    await Promise.all([
      before.post("/login", { username: "admin", password: goodPassword }),
      house.services.security_keys.rotateSessionKey(actor, house.session, password),
      ...Array.from({ length: 5 }, () => house.browser().post("/login", { username: "admin", password: goodPassword })),
    ]);
    const { location, status } = await before.get("/account");
    // Signed before or after: either it works whole, or it leads to the sign-in.
    if (status !== 200) expect(location).toStartWith("/login");
    const rows = await house.db.read.select().from(sessions);
    for (const row of rows) expect(row.epoch).toBe(2);
  });

  test.each([
    ["a wrong password", { current_password: "not the one at all" }, 422],
    ["nothing", undefined, 422],
  ])("refuses %s, and everything goes on", async (_name, input, wanted) => {
    house = await keyHouse();
    const { status } = await house.person.api("POST", "/security-keys/session/rotations", input);
    expect(status).toBe(wanted);
    expect((await house.person.get("/account")).status).toBe(200);
    expect(house.stored().session).toBe(Buffer.from(house.keys.session).toString("base64url"));
  });

  test("refuses an API token, whatever its scope, and a read one cannot even ask", async () => {
    house = await keyHouse();
    for (const scope of ["full", "read"]) {
      const made = await house.person.api("POST", "/api-tokens", { name: scope, scope, ...password });
      for (const key of ["session", "encryption"]) {
        const answer = await house.send(`/api/security-keys/${key}/rotations`, {
          method: "POST",
          headers: { authorization: `Bearer ${String(made.body.token)}`, "content-type": "application/json" },
          body: JSON.stringify(password),
        });
        expect(answer.status).toBe(403);
      }
    }
  });

  test.each([
    ["SESSION_KEY", { SESSION_KEY: Buffer.alloc(32, "0123456789abcdefghij").toString("base64") }],
    ["KEYS_FILE", { KEYS_FILE: "/run/secrets/keys.json" }],
  ])("refuses a key that %s gives, and the page says why", async (variable, env) => {
    house = await keyHouse(env);
    const { status, body } = await house.person.api("POST", "/security-keys/session/rotations", password);
    expect([status, body]).toMatchObject([409, { error: { code: "rotation_refused" } }]);
    expect(await house.audited("session_key_rotated")).toMatchObject([
      { outcome: "refused", actor: "admin", detail: { reason: expect.stringContaining(variable) } },
    ]);
    const { text } = await house.person.get("/settings/keys");
    expect(text).toContain(`${variable} `);
    expect(text).toContain("This key cannot be rotated here");
    const chinese = await house.person.get("/settings/keys", { headers: { "accept-language": "zh" } });
    expect(chinese.text).toContain("无法在此轮换");
    expect(chinese.text).not.toContain("gives this key");
  });
});

describe("the pages of the keys", () => {
  test("show fingerprints and no key, and say what each rotation means before it", async () => {
    house = await keyHouse();
    const { text } = await house.person.get("/settings/keys");
    const keys = await house.services.security_keys.get();
    for (const { fingerprint, id } of [keys.session, keys.encryption]) {
      expect(text).toContain(fingerprint);
      expect(text).not.toContain(id);
    }
    const { session, encryption } = house.stored();
    for (const page of [text, (await house.person.get("/settings/keys/session")).text]) {
      expect(page).not.toContain(session);
      expect(page).not.toContain(encryption.primary);
    }
    expect((await house.person.get("/settings/keys/session")).text).toContain("All API tokens are revoked");
    expect((await house.person.get("/settings/keys/encryption")).text).toContain("This cannot be undone");
  });

  test("rotate the session key, say what has ended, and take the cookie back", async () => {
    house = await keyHouse();
    const wrong = await house.person.post("/settings/keys/session", { current_password: "not the one at all" });
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining("The password is wrong")]);
    expect(wrong.text).toMatch(/<input[^>]*name="current_password"[^>]* autofocus/);
    const done = await house.person.post("/settings/keys/session", password);
    expect([done.status, done.text]).toEqual([200, expect.stringContaining("including this one, and revoked")]);
    expect(done.text).toContain((await house.services.security_keys.get()).session.fingerprint);
    expect([...house.person.cookies.keys()].filter((name) => name.includes("session"))).toEqual([]);
    expect((await house.person.get("/settings/keys")).location).toStartWith("/login");
  });

  test("rotate the encryption key and show the backup's path and the new fingerprint", async () => {
    house = await keyHouse();
    const done = await house.person.post("/settings/keys/encryption", password);
    expect(done.status).toBe(200);
    const { encryption } = await house.services.security_keys.get();
    expect(done.text).toContain(encryption.fingerprint);
    expect(done.text).toContain((await house.services.backups.read().list({})).items[0]?.path ?? "none");
    expect((await house.person.get("/settings/keys")).status).toBe(200);
  });
});
