import type { ReleaseRemark } from "../../src/notifications/schema.ts";
import { Badge } from "../components/state.tsx";
import { Version } from "../components/version.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** Says that a channel's latest is not the newest version, and which one is; nothing when it is. */
export function OlderRemark({ ctx, remark }: { ctx: PageContext; remark: ReleaseRemark | null }) {
  if (remark === null) return null;
  const t = texts(ctx).events;
  return (
    <>
      {" "}
      <Badge>{t[remark.code]}</Badge>
      <small class="quiet">
        {" "}
        {t.newest_is} <Version>{remark.params.newest}</Version>
      </small>
    </>
  );
}
