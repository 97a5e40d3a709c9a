import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { plain, saidAt, say, toldAs } from "../../src/messages/message.ts";
import { ProblemSchema } from "../../src/messages/schema.ts";

describe("a message in JSON of ours", () => {
  const redirect = say("net.redirect_not_followed", { host: "a" });

  test("stands there in English and as data, and is read again as data", () => {
    const facts = toldAs("reason", redirect);
    expect(facts).toEqual({ reason: '"a" redirects, which is not followed', reason_data: redirect });
    expect(saidAt(facts, "reason")).toEqual(redirect);
    expect(toldAs("reason", null)).toEqual({ reason: null, reason_data: null });
  });

  test("is the text that an earlier version stored, word for word", () => {
    expect(saidAt({ reason: "It was so" }, "reason")).toEqual(plain("It was so"));
    expect(saidAt({ reason: null }, "reason")).toBeNull();
    const old = { code: "unreachable", message: "Nothing answers" };
    expect(v.parse(ProblemSchema, old)).toEqual({ ...old, message_data: plain("Nothing answers") });
    const now = { code: "rejected", ...toldAs("message", redirect) };
    expect(v.parse(ProblemSchema, now)).toEqual(now);
  });
});
