import { expect, test } from "bun:test";
import { plain, toldAs } from "../../src/messages/message.ts";
import { memberJournal } from "../../src/runtimes/engine/group/member-journal.ts";
import type { RolloutProgress } from "../../src/runtimes/journal.ts";
import { durableJournal } from "../support/durable-journal.ts";
import { eventually } from "../support/eventually.ts";

const secret = "harbor";

test("what identifies something stays as it is, also with a secret in its name, for this process and the next", async () => {
  await using journals = await durableJournal(secret);
  const facts = {
    reference: "harbor.example/web:2",
    images: [{ container: "harbor", before: "harbor.example/web:1", after: "harbor.example/web:2" }],
    old_id: null,
    is_skipped: true,
    at: 7,
  };
  const journal = await journals.open();
  await memberJournal(journal, "harbor-web").begin("stop", facts);
  for (const each of [journal, await journals.open()]) {
    expect(memberJournal(each, "harbor-web").entries().at(-1)?.facts).toEqual({ ...facts, container: "harbor-web" });
  }
});

test("text from outside is stored without secrets, wherever its message stands", async () => {
  await using journals = await durableJournal(secret);
  const said = plain("login admin:harbor refused");
  const rollout: RolloutProgress = {
    ...{ part: "", desired: 1, more_pods: 0, why: said },
    new: { name: "2", pods: 1, ready: 0, available: 0 },
    old: { name: "1", pods: 1, ready: 1, available: 1 },
    pods: [{ name: "web-2-a", is_new: true, state: "failing", restarts: 0, why: said }],
  };
  const journal = await journals.open();
  await journal.fail("rollout", { ...toldAs("error", said), rollout });
  journal.progress({ step: "rollout", done: 1, total: 1, detail: said, rollout });
  const progress = await eventually("the progress is stored", () => journals.progress());
  const masked = plain("login admin:[redacted] refused");
  const shown = { ...rollout, why: masked, pods: [{ ...rollout.pods[0], why: masked }] };
  const expected = { ...toldAs("error", masked), rollout: shown };
  expect(journal.entries().at(-1)?.facts).toEqual(expected);
  expect((await journals.facts()).at(-1)).toEqual(expected);
  expect(progress).toEqual({ step: "rollout", done: 1, total: 1, ...toldAs("detail", masked), rollout: shown });
});
