import { plain, say, told } from "../../src/messages/message.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty, NothingMatches } from "../components/empty.tsx";
import { Refusals } from "../components/field.tsx";
import { Later } from "../components/later.tsx";
import { Banner, DisabledBanner, Toast } from "../components/notice.tsx";
import { Section } from "../components/page-header.tsx";
import { SecretProblem } from "../components/secret-problem.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { tones } from "./states.tsx";

const unreadable = { code: "secret_unreadable", ...told(say("keys.secret_undecryptable")) };

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
        <DisabledBanner ctx={ctx} path="/design/connection" texts={texts(ctx).connections} />
        <SecretProblem ctx={ctx} problem={unreadable} title={texts(ctx).credentials.unreadable_title}>
          {texts(ctx).credentials.unreadable_text}
        </SecretProblem>
        <Refusals ctx={ctx} errors={{ name: plain(t.not_saved) }} shown={[]} />
      </Section>
      <Section title={t.later}>
        <Later ctx={ctx} text={t.loading} show={t.show} href="/design?part=messages" />
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
