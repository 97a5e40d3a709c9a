import type { Child } from "hono/jsx";
import { PageHeader } from "../components/page-header.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** A page below the list of trackers, with a link back. */
export function TrackersSubpage(props: { ctx: PageContext; title: string; lead: string; children: Child }) {
  const { ctx, title, lead, children } = props;
  return (
    <Layout ctx={ctx} title={title} section="trackers">
      <PageHeader
        ctx={ctx}
        title={title}
        lead={lead}
        parent={{ title: texts(ctx).trackers.title, href: "/trackers" }}
      />
      {children}
    </Layout>
  );
}
