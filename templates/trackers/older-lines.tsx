import type { PreviewView } from "../../src/trackers/previews/schema.ts";
import { patchProofs } from "../../src/versions/line-patches.ts";
import { Button } from "../components/button.tsx";
import { Banner } from "../components/notice.tsx";
import { formatDate } from "../format.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { trackerFormId } from "./address.ts";

type Found = NonNullable<PreviewView["channels"][number]["older_lines"]>;

/** The evidence that the project patches older lines, and a button that keeps such a patch from becoming the latest. */
export function OlderLines({ ctx, view }: { ctx: PageContext; view: PreviewView }) {
  const t = texts(ctx).trackers.older_lines;
  const all = view.channels.flatMap(({ older_lines }) => older_lines ?? []);
  const [found] = all.toSorted((a, b) => patchProofs.indexOf(a.proof) - patchProofs.indexOf(b.proof));
  if (found === undefined) return null;
  return (
    <Banner
      tone={found.proof === "listed" ? "quiet" : "attention"}
      title={found.proof === "listed" ? t.may_patch : t.patches}
      action={
        <Button type="submit" small form={trackerFormId} name="_action" value="set:sorting=semantic">
          {t.sort}
        </Button>
      }
    >
      <p>{evidence(ctx, found)}</p>
      <p>{t.effect}</p>
    </Banner>
  );
}

function evidence(ctx: PageContext, { proof, count, examples, lines }: Found): string {
  const t = texts(ctx).trackers.older_lines;
  const [example] = examples;
  if (example === undefined) return t.listed(lines.join(", "));
  const { tag, at, after } = example;
  const first =
    at === null || proof !== "published" ? t.built(tag, after) : t.published(tag, formatDate(ctx, at), after);
  return count > 1 ? `${first}${t.more(count - 1)}` : first;
}
