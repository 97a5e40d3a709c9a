import { describe, expect, test } from "bun:test";
import { tellers } from "../../src/messages/languages.ts";
import { inEnglish, type Message, plain, say } from "../../src/messages/message.ts";

const refused = say("engine.refused", { request: "POST /containers/web/start", status: 500, answer: "Port is taken" });

describe("a nested message", () => {
  test.each<[string, Message, string]>([
    [
      "begins in lower case inside a sentence",
      say("runs.failed", { kind: "update", container: null, cause: refused }),
      "The update failed: the engine refused POST /containers/web/start (500): Port is taken",
    ],
    [
      "begins with a capital where a sentence begins",
      say("kubernetes.because", {
        said: say("kubernetes.stalled", { seconds: 60, cause: say("kubernetes.not_observed") }),
        why: say("kubernetes.image_not_pulled", { container: "web", image: "nginx:2", said: plain("Back-off") }),
      }),
      'The rollout made no progress for 60 s: the controller has not processed the change yet. The image nginx:2 of "web" cannot be pulled: Back-off',
    ],
    [
      "begins in lower case in parentheses and lists",
      say("phrases.joined", {
        items: [
          say("compose.not_run", { cause: say("net.connection_refused") }),
          say("connections.not_checked"),
          say("compose.no_hashes"),
        ],
      }),
      "Compose could not be run (the connection was refused); not checked recently; compose reports no hashes for its files",
    ],
    [
      "keeps the capital of a product",
      say("compose.not_run", { cause: say("compose.not_visible", { path: "/srv/web.yml" }) }),
      'compose could not be run ("/srv/web.yml" is not visible to Tidemark)',
    ],
    [
      "keeps the capital of Tidemark at its start",
      say("compose.not_run", { cause: say("compose.not_allowed", { path: "/srv/web.yml" }) }),
      'compose could not be run (Tidemark is not allowed to read "/srv/web.yml")',
    ],
    [
      "keeps an abbreviation",
      say("sources.failed", {
        action: say("sources.list_tags", { name: "a/b" }),
        reason: say("sources.github_error", { said: "" }),
      }),
      'Could not list the tags of "a/b": GitHub returned an error',
    ],
    [
      "keeps a name that it begins with",
      say("kubernetes.owned", { owner: say("kubernetes.owner", { kind: "Application", name: "shop" }) }),
      'It is managed by Application "shop", which may revert an update of its images',
    ],
    [
      "keeps what others wrote",
      say("changelogs.unreadable", { cause: plain("It hung up") }),
      "The changelog could not be read: It hung up",
    ],
    ["leaves nothing where it is blank", say("kubernetes.not_created", { said: plain("") }), "Pods cannot be created"],
  ])("%s", (_, said, expected) => {
    expect(inEnglish(said)).toBe(expected);
  });

  test("is left as it is in Chinese, which has no capitals", () => {
    const cause = say("compose.no_hashes");
    expect(tellers.zh(say("runs.unfinished", { cause }))).toBe(`运行在一天之内都未能结束：${tellers.zh(cause)}`);
  });
});
