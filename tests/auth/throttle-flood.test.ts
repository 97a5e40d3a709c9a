import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { authService } from "../../src/auth/service.ts";
import { createThrottle } from "../../src/auth/throttle.ts";
import { countedTime } from "../../src/counted-time.ts";
import type { Passwords } from "../../src/secrets/password.ts";
import { until } from "../support/fake-clock.ts";
import { actor, authHouse, goodPassword } from "./auth-house.ts";

type House = Awaited<ReturnType<typeof authHouse>>;

let house: House;
beforeEach(async () => {
  house = await authHouse();
  await house.bootstrap();
  const password_hash = await house.passwords.hash(goodPassword);
  await house.db.client.execute({ sql: "UPDATE administrators SET password_hash = ?", args: [password_hash] });
});
afterEach(() => house.close());

const from = (address: string) => ({ actor: { ...actor, address }, user_agent: "Test/1" });
const right = { username: "admin", password: goodPassword };
const wrong = { username: "admin", password: "not the password" };
let strangers = 0;
const stranger = () => {
  strangers += 1;
  return from(`2001:db8:${strangers.toString(16)}::1`);
};
const statusOf = async (work: Promise<unknown>): Promise<number> =>
  await work.then(
    () => 201,
    (error: { status: number }) => error.status,
  );

/** As many at once as there are workers, each try from an address of its own, until `work` is done. */
async function duringFlood<T>(workers: number, work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const guess = async () => {
    while (!isOver) await statusOf(house.auth.signIn(stranger(), wrong));
  };
  const flood = Array.from({ length: workers }, guess);
  try {
    return await work();
  } finally {
    isOver = true;
    await Promise.all(flood);
  }
}

/** The same account, where comparing a password waits until it is let go. */
function heldHouse() {
  const held: { stored: string | null; go: () => void }[] = [];
  const passwords: Passwords = {
    ...house.passwords,
    verify: async (stored, password) => {
      const gate = Promise.withResolvers<void>();
      held.push({ stored, go: gate.resolve });
      await gate.promise;
      return await house.passwords.verify(stored, password);
    },
  };
  const { db, clock, log, audit, tokens } = house;
  const throttle = createThrottle(clock);
  return {
    auth: authService({ db, clock, counted: countedTime(clock, null), log, audit, passwords, tokens, throttle }),
    held,
  };
}

describe("while many addresses guess at once", () => {
  test("the right password of an address that nobody knows gets in, each time", async () => {
    const answers = await duringFlood(20, async () => {
      while ((await statusOf(house.auth.signIn(stranger(), wrong))) !== 429);
      const statuses: number[] = [];
      for (let count = 0; count < 10; count++) {
        const origin = from(`192.0.2.${count}`);
        statuses.push(await statusOf(house.auth.signIn(origin, right)));
        await house.db.client.execute("DELETE FROM sessions");
      }
      return statuses;
    });
    expect(answers).toEqual(Array.from({ length: 10 }, () => 201));
  });

  test("strangers are compared two at a time, and the password of a live session's address beside them", async () => {
    await house.signIn(goodPassword, "admin", from("192.0.2.1"));
    const { auth, held } = heldHouse();
    const guesses = Array.from({ length: 30 }, () => statusOf(auth.signIn(stranger(), wrong)));
    await until(() => held.length === 2);
    const mine = statusOf(auth.signIn(from("192.0.2.1"), right));
    await until(() => held.length === 3);
    held[2]?.go();
    expect(await mine).toBe(201);
    expect(held.length).toBe(3);
    for (let index = 0; index < 31; index++) {
      await until(() => held.length > index);
      held[index]?.go();
    }
    expect(new Set(await Promise.all(guesses))).toEqual(new Set([401]));
  });

  test("who waits in vain for a turn is refused, and the audit has it", async () => {
    const { auth, held } = heldHouse();
    const compared = [stranger(), stranger()].map((origin) => statusOf(auth.signIn(origin, wrong)));
    await until(() => held.length === 2);
    let late = 0;
    void statusOf(auth.signIn(stranger(), right)).then((status) => {
      late = status;
    });
    await until(() => {
      void house.clock.advance(1000);
      return late !== 0;
    });
    expect(late).toBe(429);
    const { rows } = await house.db.client.execute("SELECT event, detail FROM audit_entries WHERE outcome = 'refused'");
    expect(rows.map(({ event, detail }) => [event, detail])).toEqual([["login", '{"reason":"too_many_attempts"}']]);
    for (const { go } of held) go();
    await Promise.all(compared);
  });

  test("an address stays familiar after its session has ended", async () => {
    const { auth, held } = heldHouse();
    const first = auth.signIn(from("192.0.2.1"), right);
    await until(() => held.length === 1);
    held[0]?.go();
    await first;
    await house.db.client.execute("DELETE FROM sessions");
    await house.clock.advance(24 * 3_600_000);
    expect([...(await auth.familiarClients())]).toEqual(["address 192.0.2.1"]);
    await house.clock.advance(30 * 24 * 3_600_000);
    expect([...(await auth.familiarClients())]).toEqual([]);
  });

  test("a session that asks for the password again waits for no stranger", async () => {
    const { session } = await house.signIn(goodPassword, "admin", from("192.0.2.1"));
    const { auth, held } = heldHouse();
    const guesses = Array.from({ length: 5 }, () => statusOf(auth.signIn(stranger(), wrong)));
    await until(() => held.length === 2);
    const elsewhere = { ...actor, address: "203.0.113.9" };
    const asked = statusOf(auth.confirmPassword(elsewhere, session, goodPassword, "api_token_created"));
    await until(() => held.length === 3);
    held[2]?.go();
    expect(await asked).toBe(201);
    for (let index = 0; index < 6; index++) {
      await until(() => held.length > index);
      held[index]?.go();
    }
    await Promise.all(guesses);
  });

  test("who mistypes at a familiar address is told so, and gets in at once with the next try", async () => {
    await house.signIn(goodPassword, "admin", from("192.0.2.1"));
    while ((await statusOf(house.auth.signIn(stranger(), wrong))) !== 429);
    expect(await statusOf(house.auth.signIn(from("192.0.2.1"), wrong))).toBe(401);
    expect(await statusOf(house.auth.signIn(from("192.0.2.1"), right))).toBe(201);
  });
});
