import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { revokeSession } from "../../src/auth/queries.ts";
import { sessions } from "../../src/db/tables.ts";
import { actor, authHouse, goodPassword, origin } from "./auth-house.ts";

let house: Awaited<ReturnType<typeof authHouse>>;

beforeEach(async () => {
  house = await authHouse();
  await house.settle();
  house.fillDisk(true);
});
afterEach(async () => await house.close());

const input = { username: "admin", password: goodPassword };
const hour = 3_600_000;
const holds = async (token: string) => (await house.auth.authenticate(token, "cookie")) !== null;
const rows = async () => (await house.db.read.select().from(sessions)).map(({ id }) => id);

describe("on a full disk", () => {
  test("the right password signs in, and nothing is stored", async () => {
    const before = await rows();
    const { token, session } = await house.signIn(goodPassword);
    expect(session.username).toBe("admin");
    expect(await holds(token)).toBe(true);
    expect(await house.auth.holds(session)).toBe(true);
    expect(await rows()).toEqual(before);
    expect(house.lines.join("\n")).toContain("The disk is full: a session is kept in memory");
  });

  test("a wrong password and a wrong name are refused as ever, and throttled", async () => {
    for (const wrong of [
      { ...input, password: "not-the-password" },
      { ...input, username: "root" },
    ]) {
      await expect(house.auth.signIn(origin, wrong)).rejects.toMatchObject({ code: "invalid_credentials" });
    }
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const wrong = house.auth.signIn(origin, { ...input, password: "not-the-password" });
      await expect(wrong).rejects.toMatchObject({ status: 401 });
    }
    await expect(house.auth.signIn(origin, input)).rejects.toMatchObject({ status: 429 });
    expect(house.lines.join("\n")).toContain("an entry could not be written to the audit");
  });

  test("the sign-in ends by signing out, by idleness, and in the end", async () => {
    const out = await house.signIn(goodPassword);
    await house.auth.signOut(actor, out.session);
    expect(await holds(out.token)).toBe(false);

    const idle = await house.signIn(goodPassword);
    await house.clock.advance(25 * hour);
    expect(await holds(idle.token)).toBe(false);

    const used = await house.signIn(goodPassword);
    for (let day = 0; day < 6; day += 1) {
      await house.clock.advance(23 * hour);
      expect(await holds(used.token)).toBe(true);
    }
    for (let day = 0; day < 2; day += 1) {
      await house.clock.advance(23 * hour);
      await holds(used.token);
    }
    expect(await holds(used.token)).toBe(false);
  });

  test("it ends with the password and with every session", async () => {
    const one = await house.signIn(goodPassword);
    await house.db.client.execute("UPDATE administrators SET session_epoch = session_epoch + 1");
    expect(await holds(one.token)).toBe(false);
    const two = await house.signIn(goodPassword);
    const hash = await house.passwords.hash("another-lantern-kelp");
    await house.db.client.execute({ sql: "UPDATE administrators SET password_hash = ?", args: [hash] });
    expect(await holds(two.token)).toBe(false);
  });

  test("it ends when another sign-in ends all others, also once there is room", async () => {
    const [one, two] = [await house.signIn(goodPassword), await house.signIn(goodPassword)];
    house.fillDisk(false);
    await house.sessions.endOthers(actor, two.session);
    expect([await holds(one.token), await holds(two.token)]).toEqual([false, true]);
    await house.sessions.listFor(two.session).list({});
    expect(await rows()).not.toContain(one.session.id);
  });

  test("20 are kept, and the oldest beyond ends", async () => {
    const tokens: string[] = [];
    for (let count = 0; count < 21; count += 1) tokens.push((await house.auth.signIn(origin, input)).token);
    const held = await Promise.all(tokens.map(holds));
    expect(held).toEqual([false, ...Array.from({ length: 20 }, () => true)]);
  });
});

describe("once there is room", () => {
  test("the next use stores the sign-in with its audit entry, and it goes on", async () => {
    const { token, session } = await house.signIn(goodPassword);
    const begun = house.clock.now();
    await house.clock.advance(hour);
    house.fillDisk(false);
    expect(await holds(token)).toBe(true);
    expect(await rows()).toContain(session.id);
    const { items } = await house.audit_entries.list({ event: "login", limit: 1 });
    const begun_at = new Date(begun).toISOString();
    expect(items).toMatchObject([{ outcome: "ok", actor: "admin", detail: { method: "password", begun_at } }]);
    // From here on its row says whether it holds.
    await house.db.write((tx) => revokeSession(tx, session.id, house.clock.now()));
    expect(await holds(token)).toBe(false);
  });

  test("one that was signed out meanwhile is not stored", async () => {
    const { session } = await house.signIn(goodPassword);
    house.fillDisk(false);
    await Promise.all([house.auth.held.settle(), house.auth.signOut(actor, session)]);
    expect(await house.auth.holds(session)).toBe(false);
  });
});
