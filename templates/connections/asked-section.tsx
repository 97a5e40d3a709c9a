import type { Child } from "hono/jsx";
import { type ConnectionView, validCheck } from "../../src/connections/schema.ts";
import type { Message } from "../../src/messages/message.ts";
import { LinkButton } from "../components/button.tsx";
import { Later } from "../components/later.tsx";
import { Banner } from "../components/notice.tsx";
import { Section } from "../components/page-header.tsx";
import { type PageContext, partsOf, url } from "../page.ts";
import { translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

/** What the engine listed, why it could not, or null before it was asked. */
export type Found<List> = { list: List } | { failure: Message } | null;

export type AskedConnection = Pick<ConnectionView, "id" | "is_enabled" | "last_check" | "reach">;

/** The event of an open page after "Test now": what failed to load before may load now, or fail for another reason. */
export const connectionTested = "connection-tested";

interface AskedSectionProps<List> {
  ctx: PageContext;
  /** The section's id, and the last part of its address. */
  id: "targets" | "images";
  /** A disabled connection has no section. */
  connection: AskedConnection;
  title: string;
  found: Found<List>;
  words: { asking: string; show: string; again: string; failed: string };
  /** How much was found, beside the reload button. */
  lead: (list: List) => string;
  draw: (list: List) => Child;
}

/** What an engine lists. It loads once the page is open, so a silent engine never delays the page. */
export function AskedSection<List>(props: AskedSectionProps<List>) {
  const { ctx, id, connection, title, found, words } = props;
  if (!connection.is_enabled) return null;
  const address = `/connections/${connection.id}/${id}`;
  const target = { "hx-target": `#${id}`, "hx-swap": "outerMorph" };
  if (found === null) {
    return (
      <div hx-get={url(ctx, address)} hx-trigger="load" {...target}>
        <Section id={id} title={title}>
          <Later ctx={ctx} text={words.asking} show={words.show} href={address} />
        </Section>
      </div>
    );
  }
  const shown = partsOf(ctx.path).bare === address ? ctx.path : address;
  const isFailed = "failure" in found;
  const asking = {
    "hx-get": url(ctx, shown),
    ...target,
    ...(isFailed ? { "hx-trigger": `click, ${connectionTested} from:body` } : {}),
  };
  const again = (
    <LinkButton ctx={ctx} href={shown} small icon="refresh-cw" attributes={asking}>
      {words.again}
    </LinkButton>
  );
  if (isFailed) {
    return (
      <Section id={id} title={title} aside={again}>
        <Banner tone="failed" title={words.failed}>
          <Reason ctx={ctx} connection={connection} failure={found.failure} />
        </Banner>
      </Section>
    );
  }
  const aside = (
    <span class="section-tools">
      <span>{props.lead(found.list)}</span> {again}
    </span>
  );
  return (
    <Section id={id} title={title} aside={aside}>
      {props.draw(found.list)}
    </Section>
  );
}

/** The last test, on the same page, mostly shows the same reason already. */
function Reason({ ctx, connection, failure }: { ctx: PageContext; connection: AskedConnection; failure: Message }) {
  const known = validCheck(connection)?.message_data;
  const sentence = translateSentence(ctx.language, failure);
  const isKnown = known !== undefined && translateSentence(ctx.language, known) === sentence;
  return <>{isKnown ? texts(ctx).connections.reason_above : sentence}</>;
}
