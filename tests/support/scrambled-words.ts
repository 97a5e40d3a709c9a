import { english as catalogue } from "../../src/messages/catalogue.ts";
import type { Message } from "../../src/messages/message.ts";
import type { Tell } from "../../src/messages/types.ts";
import "./english.ts";

/**
 * A preload: every sentence that the product says becomes words that nobody can read, also inside others. What looks for words in
 * a sentence, instead of asking for its code and values, finds none.
 */
type Sentences = Record<string, string | ((params: never, tell: Tell) => string)>;
for (const sentences of Object.values<Sentences>(catalogue)) {
  for (const [key, sentence] of Object.entries(sentences)) {
    const said = typeof sentence === "string" ? () => sentence : sentence;
    sentences[key] = (params: Message["params"], tell: Tell) =>
      `⟦${Bun.hash(said(params as never, tell)).toString(36)}⟧`;
  }
}
