import { createHash } from "node:crypto";
import { orderTags } from "../../versions/order.ts";
import { sharePlaces } from "../places.ts";
import type { ListRequest } from "../source.ts";

/** Questions whose answers are remembered; each answer has a few hundred names at most. */
const maxRemembered = 4_000;
const remembered = new Map<string, readonly string[]>();

/** The answer of `ask`, or the one that it gave to the same question before; the question is told by everything that decides. */
function rememberedAnswer(question: readonly string[], ask: () => readonly string[]): readonly string[] {
  const digest = createHash("sha256");
  for (const part of question) digest.update(`${part.length} ${part}`);
  const key = digest.digest("base64");
  const answer = remembered.get(key) ?? ask();
  remembered.delete(key);
  remembered.set(key, answer);
  const oldest = remembered.keys().next();
  if (remembered.size > maxRemembered && !oldest.done) remembered.delete(oldest.value);
  return answer;
}

/**
 * The first `limit` of `orderTags`. Ordering 10,000 tags takes some 50 ms, and between two checks a list is nearly always the same: the
 * answer is remembered by the digest of the question, so that it can never be out of date.
 */
export function highestTags(tags: readonly string[], limit: number): readonly string[] {
  return rememberedAnswer([String(limit), tags.join(",")], () => orderTags(tags).slice(0, limit));
}

/** The highest of the tags that each channel takes, `limit` in all: judged once for a list and its rules. */
export function highestAccepted(
  tags: readonly string[],
  request: Pick<ListRequest, "accepts" | "limit" | "most_each" | "rules">,
): readonly string[] {
  const { accepts, limit, most_each = limit, rules } = request;
  const judge = () => {
    const groups = accepts.map((accept) =>
      highestTags(
        tags.filter((tag) => accept(tag, "tag")),
        limit,
      ),
    );
    return sharePlaces(groups, limit, most_each);
  };
  return rules === undefined ? judge() : rememberedAnswer([rules, `${limit} ${most_each}`, tags.join(",")], judge);
}
