import { describe, expect, test } from "bun:test";
import { type Newest, newestLooks, standingOf } from "../../src/adoption/newest.ts";
import { PluginError } from "../../src/errors.ts";
import { plain } from "../../src/messages/message.ts";
import type { TrackerService } from "../../src/trackers/service.ts";
import { eventually } from "../support/eventually.ts";
import { createFakeClock } from "../support/fake-clock.ts";

type Preview = Awaited<ReturnType<TrackerService["preview"]>>;

const known = (...tags: string[]): Newest => ({
  state: "known",
  tag: tags[0] ?? null,
  history: {
    versions: tags.map((tag) => ({
      ...{ tag, digest: `sha256:${tag}`, is_prerelease: false, published_at: null, first_observed_at: 0 },
    })),
    ...{ depth: Infinity, keep: Infinity },
  },
});

describe("standingOf()", () => {
  const patches = (patch: number) => ({
    is_newest: false,
    behind: { releases: patch, steps: { major: 0, minor: 0, patch }, days: null, is_at_least: false },
  });
  const unknown = { is_newest: false, behind: null };
  const newest = { is_newest: true, behind: null };
  test.each([
    [known("1.3.2", "1.3.1", "1.3.0"), "1.3.0", null, patches(2)],
    [known("1.3.2", "1.3.1"), "1.3.2", null, newest],
    [known("1.3.0", "1.2.0"), "v1.3.0", null, newest],
    [known("7.4.1", "7.4.0"), "7", "sha256:7.4.1", newest],
    [known("7.4.1", "7.4.0"), "7", null, unknown],
    [known(), "1.0", null, unknown],
    [known("1.3"), null, null, unknown],
    [{ state: "pending" }, "1.0", null, unknown],
  ] as const)("%j and %p with %p", (found, tag, of, standing) => {
    expect(standingOf(found as Newest, { tag, digest: of })).toEqual(standing as never);
  });

  test("says so if what runs is older than what is known", () => {
    expect(standingOf(known("2.0.0", "1.9.0"), { tag: "1.0.0", digest: null }).behind?.is_at_least).toBe(true);
  });
});

function world() {
  const clock = createFakeClock();
  const asked: string[] = [];
  const answers = new Map<string, PromiseWithResolvers<Preview>>();
  const preview = async (input: unknown): Promise<Preview> => {
    asked.push(String(input));
    const answer = Promise.withResolvers<Preview>();
    answers.set(String(input), answer);
    return await answer.promise;
  };
  const looks = newestLooks({ clock, preview, outside: (work) => work() });
  const ask = (...keys: string[]) =>
    looks.request(keys.map((key) => ({ key, host: key.split("/")[0] ?? "", input: key })));
  const answer = (key: string, tag: string) => {
    const found = { channels: [{ latest: tag }], tags: [{ tag, verdicts: [{ accepted: true }] }] };
    answers.get(key)?.resolve(found as unknown as Preview);
  };
  return { clock, asked, answers, looks, ask, answer };
}

describe("newestLooks()", () => {
  test("asks two of one host and four in all at once", async () => {
    const { ask, asked, answer } = world();
    ask("a/1", "a/2", "a/3", "b/1", "b/2", "c/1");
    expect(asked).toEqual(["a/1", "a/2", "b/1", "b/2"]);
    answer("a/1", "1.0");
    await eventually("the next one", () => asked.includes("a/3"));
    expect(asked).not.toContain("c/1");
    answer("b/1", "1.0");
    await eventually("the last one", () => asked.includes("c/1"));
  });

  test("keeps an answer for ten minutes and a failure for one", async () => {
    const { ask, asked, answer, answers, looks, clock } = world();
    ask("a/1", "b/1");
    answer("a/1", "2.0");
    answers.get("b/1")?.reject(new PluginError("rate_limited", plain("Wait")));
    await eventually("both", () => looks.find("a/1").state === "known" && looks.find("b/1").state === "failed");
    ask("a/1", "b/1");
    expect(asked).toHaveLength(2);
    await clock.advance(61_000);
    ask("a/1", "b/1");
    expect(asked).toEqual(["a/1", "b/1", "b/1"]);
    await clock.advance(600_000);
    ask("a/1");
    expect(asked).toEqual(["a/1", "b/1", "b/1", "a/1"]);
  });
});
