import { describe, expect, test } from "bun:test";
import { inEnglish, plain, say } from "../../src/messages/message.ts";
import { isolate } from "../../templates/texts/isolate.ts";
import { translateMessage } from "../../templates/texts/messages.ts";
import { texts } from "../../templates/texts/texts.ts";

const turned = "web\u202egpj";
const alone = `\u2068${turned}\u2069`;

describe("isolate()", () => {
  test.each([
    ["plain names", "web", "web"],
    ["other scripts", "网页 🦀 é", "网页 🦀 é"],
    ["an override", turned, alone],
    ["letters from right to left", "שלום", "\u2068שלום\u2069"],
    ["what is isolated already", alone, `\u2068${alone}\u2069`],
    ["an end of the isolation", "a\u2069\u202eb", "\u2068a\u202eb\u2069"],
    ["a beginning without an end", "a\u2067b", "\u2068ab\u2069"],
  ])("of %s", (_, text, expected) => {
    expect(isolate(text)).toBe(expected);
  });

  test("leaves what is no text", () => {
    expect([7, null, true].map(isolate)).toEqual([7, null, true]);
  });
});

describe("a name that turns the direction of text", () => {
  const said = say("phrases.about", { name: turned, said: plain("a \u202eb") });

  test("does so to nothing else of a page's sentence", () => {
    expect(translateMessage("en", said)).toBe(`"${alone}": \u2068a \u202eb\u2069`);
    expect(translateMessage("zh", said)).toContain(alone);
    expect(texts({ language: "en" }).executors.run_title(turned)).toBe(`Run ${alone} now?`);
    expect(texts({ language: "zh" }).executors.run_title(turned)).toContain(alone);
  });

  test("stays as it is for the API, logs and webhooks", () => {
    expect(inEnglish(said)).toBe(`"${turned}": a \u202eb`);
  });
});
