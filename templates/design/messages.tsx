import { Button, LinkButton } from "../components/button.tsx";
import { Confirm } from "../components/confirm.tsx";
import { Empty, NothingMatches } from "../components/empty.tsx";
import { Banner, Toast } from "../components/notice.tsx";
import { Section } from "../components/page-header.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { tones } from "./states.tsx";

export function MessageSamples({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).design;
  return (
    <>
      <Section title={t.banners}>
        {tones.map((tone) => (
          <Banner
            tone={tone}
            title={t.situation}
            action={tone === "failed" ? <Button small>{texts(ctx).common.retry}</Button> : undefined}
          >
            {t.sentence}
          </Banner>
        ))}
      </Section>
      <Section title={t.results}>
        <div class="stack">
          <Toast ctx={ctx} notice={{ tone: "current", text: t.done, href: "/design" }} />
          <Toast ctx={ctx} notice={{ tone: "failed", text: t.failed }} />
        </div>
      </Section>
      <Section title={t.empty}>
        <div class="stack">
          <Empty
            ctx={ctx}
            icon="send"
            title={t.empty_title}
            example={t.example}
            action={
              <LinkButton ctx={ctx} href="/notifiers/new" kind="main" icon="plus">
                {t.add}
              </LinkButton>
            }
          >
            {t.empty_text}
          </Empty>
          <NothingMatches ctx={ctx} href="/design?part=messages" />
        </div>
      </Section>
    </>
  );
}

/** Asked in the dialog of the controls' page. Nothing is deleted: the answer leads back. */
export function QuestionSample({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).design;
  return (
    <Confirm
      ctx={ctx}
      section="settings"
      title={t.question}
      verb={t.verb}
      action="/design/form"
      cancel_href="/design?part=controls"
      type_name="traefik"
    >
      <p>{t.question_text}</p>
    </Confirm>
  );
}
