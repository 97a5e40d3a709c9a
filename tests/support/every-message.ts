import { chinese, english } from "../../src/messages/catalogue.ts";
import type { Message } from "../../src/messages/message.ts";
import type { Area, MessageParams, MessageValue, Tell } from "../../src/messages/types.ts";

const inner: Message = { code: "text.plain", params: { text: "乙" } };
/** What a value can be. Words are Chinese, so that those of a sentence alone are Latin. */
const candidates: readonly MessageValue[] = [
  "甲",
  inner,
  ["甲"],
  ["甲", "乙"],
  [inner, inner],
  1,
  2_000_000,
  true,
  false,
  null,
];
/** Values by which sentences choose among words. */
const choices: Readonly<Record<string, readonly string[]>> = {
  keys: ["key_file", "given"],
  name: ["session", "encryption"],
  kind: ["update", "rollback"],
  serving: ["desired", "previous", "mixed", "none", "unknown"],
  state: ["waiting", "running", "done", "failed"],
  move: ["stop", "start", "remove", "rename", "policy"],
};
const broken = /undefined|NaN|\[object |\b(?:true|false|null)\b/;
/** So many renderings of one sentence show its branches. */
const most = 24;

const tellText: Tell = ({ params }) => String((params as { text: string }).text);

function namesIn(sentences: readonly Area[string][]): string[] {
  const names = new Set<string>();
  for (const sentence of sentences) {
    for (const value of ["甲", inner, ["甲"]]) {
      const get = (_: object, name: string | symbol) => {
        names.add(String(name));
        return value;
      };
      const seen = new Proxy({}, { get });
      try {
        if (typeof sentence === "function") sentence(seen as never, tellText);
      } catch {
        // Another value is needed; the name is known.
      }
    }
  }
  return [...names];
}

function* combinations(names: readonly string[]): Generator<MessageParams> {
  const [name, ...others] = names;
  if (name === undefined) return yield {};
  for (const rest of combinations(others)) {
    for (const value of [...(choices[name] ?? []), ...candidates]) yield { ...rest, [name]: value };
  }
}

/** The sentence with values that both languages can say, told apart by what is said. */
function variantsOf(code: string, sentences: readonly [Area[string], Area[string]]): readonly Message[] {
  const found = new Map<string, Message>();
  for (const params of combinations(namesIn(sentences))) {
    try {
      const [told, other] = sentences.map((each) =>
        typeof each === "string" ? each : each(params as never, tellText),
      );
      // A word that is not among those that the sentence chooses from.
      if (typeof told !== "string" || typeof other !== "string") continue;
      if (typeof sentences[0] === "string" || !broken.test(told + other)) found.set(told, { code, params });
    } catch {
      // Not what the sentence takes.
    }
    if (found.size === most) break;
  }
  return [...found.values()];
}

/** Every sentence of the catalogue as it can be said; null for one that no value fits. */
export function everyMessage(): ReadonlyMap<string, readonly Message[]> {
  const areas: Readonly<Record<string, Area>> = chinese;
  return new Map(
    Object.entries<Area>(english).flatMap(([area, sentences]) =>
      area === "text"
        ? []
        : Object.entries(sentences).map(([key, sentence]) => {
            const code = `${area}.${key}`;
            return [code, variantsOf(code, [areas[area]?.[key] ?? sentence, sentence])] as const;
          }),
    ),
  );
}
