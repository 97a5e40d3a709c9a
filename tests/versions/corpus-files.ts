import { readdirSync, readFileSync } from "node:fs";
import * as v from "valibot";

const Tag = v.pipe(v.string(), v.regex(/^\S+$/));
const Answer = v.optional(v.nullable(Tag));
const Facts = v.strictObject({
  repository: v.string(),
  upstream: v.picklist(["github releases", "github tags", "container tags"]),
  tags: v.array(v.string()),
  stable: Tag,
  stable_by_version: v.optional(Tag),
  prerelease: Answer,
  prerelease_by_version: Answer,
  beta: Answer,
  canary: Answer,
  steps: v.array(v.strictObject({ from: Tag, to: v.nullable(Tag) })),
  incomparable: v.array(v.tuple([Tag, Tag])),
  downgrades: v.array(v.strictObject({ from: Tag, to: Tag })),
  moving: v.array(Tag),
});

const folder = new URL("../fixtures/corpus/", import.meta.url);
/** Tag lists of real projects with what is right about them: see the folder's README. */
export const corpus = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .toSorted()
  .map((file) => {
    const facts = v.parse(Facts, JSON.parse(readFileSync(new URL(file, folder), "utf8")));
    const tags = facts.tags.flatMap((line) => line.split(" "));
    return { name: file.slice(0, -".json".length), facts, tags };
  });
