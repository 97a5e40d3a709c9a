import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { outageView } from "../../src/executors/outage-schema.ts";
import { plain, saidAt, say, toldAs } from "../../src/messages/message.ts";
import { ProblemSchema } from "../../src/messages/schema.ts";
import { RunContainer } from "../../src/runs/schema.ts";

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

test("rows of runs from before sentences were data are told as they were written", () => {
  const container = {
    container: "web",
    service: "web",
    because: "desired",
    outcome: "down",
    downtime_ms: null,
  } as const;
  const was = (detail: string | null) => v.parse(RunContainer, { ...container, detail });
  expect(was("port is taken")).toMatchObject({ detail: "port is taken", detail_data: plain("port is taken") });
  expect(was(null)).toMatchObject({ detail: null, detail_data: null });
  const outage = { since: 1, way: "back", tries: 1, left: null, outcome: null, serving: null, ended_at: null };
  const shown = (detail: object) => outageView({ outage: { ...outage, ...detail }, outage_due_at: null });
  expect(shown({ detail: "port is taken" })).toMatchObject(toldAs("detail", plain("port is taken")));
  const blocked = say("net.destination_blocked", { entry: null });
  expect(shown(toldAs("detail", blocked))).toMatchObject(toldAs("detail", blocked));
});
