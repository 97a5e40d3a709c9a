import type { Child } from "hono/jsx";
import { classes, type PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { CopyButton } from "./code.tsx";
import { Icon } from "./icon.tsx";

/** Characters of a version that two fit of into a line of a list. */
const usualLength = 18;

/** A version or tag, never shortened: it may break anywhere instead. */
export function Version({ children, tone }: { children: Child; tone?: "old" | "new" | undefined }) {
  const isLong = typeof children === "string" && children.length > usualLength;
  return <span class={classes("version", tone, isLong && "long")}>{children}</span>;
}

/** An image with its tag or digest. It breaks between its parts; where a row has one line, its path is cut first and its tag last. */
export function Reference({ children: reference }: { children: string }) {
  const parts = /^(?<path>.*\/)?(?<name>[^/]+?)(?<tag>:[^:]+|@.+)?$/.exec(reference)?.groups ?? {};
  const { path = "", name = reference, tag = "" } = parts;
  return (
    <span class="version reference" title={reference}>
      {[path, name, tag]
        .filter((part) => part !== "")
        .map((part) => (
          <span>{breakable(part)}</span>
        ))}
    </span>
  );
}

/** May break after each separator; after hyphens the browser breaks by itself. */
function breakable(text: string): Child {
  return text.split(/(?<=[/:@])/).map((part) => (
    <>
      {part}
      {/[/:@]$/.test(part) ? <wbr /> : null}
    </>
  ));
}

/** "2.18.4 → 3.0.5": the current and the new version. */
export function FromTo({ ctx, from, to }: { ctx: PageContext; from: string | null; to: string }) {
  return (
    <span class="from-to">
      {from === null ? null : (
        <span class="from">
          <Version tone="old">{from}</Version>
          <Icon name="arrow-right" label={texts(ctx).common.to} class="arrow" />
        </span>
      )}
      <Version tone="new">{to}</Version>
    </span>
  );
}

/** Shortens `sha256:…` to twelve hexadecimal digits and a commit to ten, like the engines' own tools. */
export function shortDigest(digest: string): string {
  const [algorithm, hex] = digest.split(":", 2);
  if (hex !== undefined) return `${algorithm}:${hex.slice(0, 12)}`;
  return digest.slice(0, 10);
}

interface DigestProps {
  ctx: PageContext;
  /** `sha256:…` or a commit. */
  value: string;
  /** With a button that copies the full value. */
  copy?: boolean | undefined;
}

/** A digest or commit: shortened, with the full value in `title` and on the clipboard. */
export function Digest({ ctx, value, copy }: DigestProps) {
  return (
    <span class="digest">
      <span class="version" title={value}>
        {shortDigest(value)}
      </span>
      {copy === true ? <CopyButton ctx={ctx} value={value} /> : null}
    </span>
  );
}
