import { formatBytes } from "../format.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

interface SizeChangeProps {
  ctx: PageContext;
  /** Null if it is not known. */
  from_bytes: number | null;
  to_bytes: number;
}

/** "412 MB (12 MB more)": what it takes to download a version, and the difference to another one. */
export function SizeChange({ ctx, from_bytes, to_bytes }: SizeChangeProps) {
  const t = texts(ctx).common.image_size;
  const size = formatBytes(ctx.language, to_bytes);
  if (from_bytes === null) return <span class="num">{size}</span>;
  const difference = formatBytes(ctx.language, Math.abs(to_bytes - from_bytes));
  const words = to_bytes === from_bytes ? t.same : to_bytes > from_bytes ? t.more(difference) : t.less(difference);
  return (
    <span class="num">
      {size} <small class="quiet">{words}</small>
    </span>
  );
}
