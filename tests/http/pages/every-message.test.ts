import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PluginError } from "../../../src/errors.ts";
import { tellers } from "../../../src/messages/languages.ts";
import { type Message, say } from "../../../src/messages/message.ts";
import { catalogue, everyPage, everything } from "../../support/every-page.ts";
import { htmlFaults } from "../../support/html-faults.ts";

/** Latin words in a row of which the second is no name. Commands and headers stand in quotes or backticks. */
function englishIn(text: string): readonly string[] {
  const own = text.replaceAll(/“[^”]*”|`[^`]*`|openid email profile/g, "“”");
  return own.match(/[A-Za-z][A-Za-z']*[ ,;]+[a-z][a-z']+[^“”\n]{0,60}/g) ?? [];
}

describe("every sentence of the catalogue", () => {
  test("has values with which it can be said", () => {
    expect([...catalogue].flatMap(([code, variants]) => (variants.length === 0 ? [code] : []))).toEqual([]);
  });

  test("is Chinese on a Chinese page, in each of its branches", () => {
    const found = [...catalogue].flatMap(([code, variants]) =>
      variants.flatMap((message) => englishIn(tellers.zh(message)).map((words) => `${code}: ${words}`)),
    );
    expect(found).toEqual([]);
  });
});

/** A page without what is code. */
function proseIn(html: string): string {
  return html.replaceAll(/<(script|style|code|pre|textarea)\b.*?<\/\1>/gs, " ");
}

/** What a page shows or reads aloud. */
function shownIn(html: string): string {
  const body = proseIn(html);
  const attributes = [
    ...body.matchAll(/ (?:title|aria-label|alt|data-(?:asks|lost|refused|reload|responds|unsure|waits))="([^"]*)"/g),
  ];
  return [body.replaceAll(/<[^>]*>/g, "\n"), ...attributes.map(([, text = ""]) => text)]
    .join("\n")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'");
}

/** Where a page says what the product has to say: without the sentence, it would not be looked at here. */
const places = [
  "/",
  ..."/connections /connections/connection-1 /connections/connection-1/adopt /connections/connection-1/images /connections/connection-1/targets".split(
    " ",
  ),
  ..."/credentials /credentials/c/edit".split(" "),
  ..."/executors/e /executors/e/edit /executors/e/plan /executors/e/run".split(" "),
  ..."/executors/e/snapshots/p/diff /executors/e/snapshots/p/restore /executors/new /notifiers/n".split(" "),
  ..."/runs /runs/r /runs/r/approve /runs/r/parts /runs/r/refuse /runs/w /runs/w/approve /runs/w/parts /runs/w/refuse".split(
    " ",
  ),
  ..."/settings/audit /trackers /trackers/app /trackers/app/notes?to=1.1 /upstreams".split(" "),
  "POST /executors",
];

describe("every page with every sentence", () => {
  let world: Awaited<ReturnType<typeof everyPage>>;
  beforeAll(async () => {
    world = await everyPage();
  });
  afterAll(() => world.app.close());

  test("is Chinese, and shows commands and settings as code", async () => {
    const { person, engine, paths, notifier_id, credential_id } = world;
    const headers = { "accept-language": "zh-CN" };
    const notices: { code: string; message: Message }[] = [{ code: "stack", message: everything }];
    const fault = new PluginError("rejected", everything);
    const marker = tellers.zh(say("net.host_unreachable"));
    const [found, showing, broken] = [new Set<string>(), new Set<string>(), new Set<string>()];
    const ticked = new Set<string>();
    expect(paths.length).toBeGreaterThan(60);
    for (const isFailing of [false, true]) {
      engine.warnings = notices;
      engine.refusals = isFailing ? [] : notices;
      engine.inspectFault = isFailing ? fault : null;
      engine.failures = new Map(isFailing ? [["discover", fault]] : []);
      const refused = {
        connection_id: "connection-1",
        "target.kind": "container",
        "target.id": "甲",
        trigger: "manual",
      };
      const answers: [string, { status: number; text: string }][] = [
        ["POST /executors", await person.post("/executors", refused, { headers })],
      ];
      for (const path of paths) answers.push([path, await person.get(path, { headers })]);
      for (const [path, { status, text }] of answers) {
        if (!text.startsWith("<")) continue;
        for (const words of englishIn(shownIn(text))) found.add(`${path}: ${words}`);
        for (const [raw] of proseIn(text)
          .replaceAll(/<[^>]*>/g, "\n")
          .matchAll(/[^\n]{0,20}`[^\n]{0,20}/g)) {
          ticked.add(`${path}: ${raw}`);
        }
        if (text.includes(marker)) showing.add(path);
        if (status === 500) broken.add(path);
      }
    }
    expect([...broken]).toEqual([]);
    expect([...found]).toEqual([]);
    expect([...ticked]).toEqual([]);
    const named = [...showing].map((path) => path.replace(notifier_id, "n").replace(credential_id, "c"));
    expect(named.toSorted()).toEqual(places);
  });

  test("has nothing that the policy refuses, each id once, and a token in each form", async () => {
    const found: string[] = [];
    for (const path of world.paths) {
      const { text } = await world.person.get(path);
      if (text.startsWith("<")) found.push(...htmlFaults(text).map((fault) => `${path}: ${fault}`));
    }
    expect(found).toEqual([]);
  });
});
