import type { Child } from "hono/jsx";
import type { Message } from "../../src/messages/message.ts";
import { LinkButton } from "../components/button.tsx";
import { Later } from "../components/later.tsx";
import { Banner } from "../components/notice.tsx";
import { Section } from "../components/page-header.tsx";
import { type PageContext, url } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";

/** What was found, why it could not be looked for, or null while it is still to be asked. */
export type Found<List> = { list: List } | { failure: Message } | null;

interface AskedSectionProps {
  ctx: PageContext;
  id: string;
  /** A path of ours that answers with the section. */
  address: string;
  title: string;
  found: Found<unknown>;
  words: { asking: string; show: string; again: string; failed: string };
  /** How much was found, beside the button that asks again. */
  lead?: string | undefined;
  children?: Child;
}

/** What a runtime is asked for. It asks for itself once the page is there, so a silent runtime never holds the page up. */
export function AskedSection({ ctx, id, address, title, found, words, lead, children }: AskedSectionProps) {
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
  const again = (
    <LinkButton
      ctx={ctx}
      href={address}
      small
      icon="refresh-cw"
      attributes={{ "hx-get": url(ctx, address), ...target }}
    >
      {words.again}
    </LinkButton>
  );
  if ("failure" in found) {
    return (
      <Section id={id} title={title} aside={again}>
        <Banner tone="failed" title={words.failed}>
          {translateMessage(ctx.language, found.failure)}
        </Banner>
      </Section>
    );
  }
  const aside = (
    <span class="section-tools">
      <span>{lead}</span> {again}
    </span>
  );
  return (
    <Section id={id} title={title} aside={aside}>
      {children}
    </Section>
  );
}
