import { type ConnectionView, validCheck } from "../../src/connections/schema.ts";
import { ActionForm } from "../components/button.tsx";
import { Code, withCode } from "../components/code.tsx";
import { Facts } from "../components/facts.tsx";
import { Icon } from "../components/icon.tsx";
import { Banner } from "../components/notice.tsx";
import { Panel, Section } from "../components/page-header.tsx";
import { Time } from "../components/time.tsx";
import type { PageContext } from "../page.ts";
import { translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { adviceOn } from "./advice.ts";
import { failureCode } from "./state.tsx";

/** The last test's result; also the response to "Test now", which replaces it. */
export function ConnectionCheck({ ctx, connection }: { ctx: PageContext; connection: ConnectionView }) {
  const t = texts(ctx).connections;
  return (
    <Section
      id="connection-check"
      title={t.last_test}
      aside={
        <ActionForm
          ctx={ctx}
          action={`/connections/${connection.id}/checks`}
          target="#connection-check"
          icon="activity"
          small
        >
          {t.test_now}
        </ActionForm>
      }
    >
      <CheckResult ctx={ctx} connection={connection} />
    </Section>
  );
}

/** What it found; stays up to date on an open page. */
export function CheckResult({ ctx, connection }: { ctx: PageContext; connection: ConnectionView }) {
  const t = texts(ctx).connections;
  const check = validCheck(connection);
  const failed = connection.last_check;
  const advice = check === null ? null : adviceOn(check);
  return (
    <div id="connection-checked" class="stack">
      {check === null && failed !== null ? (
        <Panel>
          <p>
            {t.responded_since} <Time ctx={ctx} at={failed.checked_at} form="short" />
          </p>
        </Panel>
      ) : check === null ? (
        <Panel>
          <p>{t.not_tested}</p>
          <p class="quiet">{t.not_tested_text}</p>
        </Panel>
      ) : check.ok ? (
        <>
          <Facts
            items={[
              [t.tested, <Time ctx={ctx} at={check.checked_at} />],
              check.version === null ? null : [texts(ctx).common.version, <span class="version">{check.version}</span>],
              check.api_version === null ? null : [t.api_version, <span class="version">{check.api_version}</span>],
              check.platform === null ? null : [t.platform, <span class="version">{check.platform}</span>],
              check.identity === null ? null : [t.identity, <span class="version">{check.identity}</span>],
            ]}
          />
          {check.warnings.length === 0 ? null : (
            <Banner tone="attention">
              {check.warnings.map((warning) => (
                <p>{withCode(translateSentence(ctx.language, warning.message_data))}</p>
              ))}
            </Banner>
          )}
          <Remedy ctx={ctx} remedy={check.remedy} />
        </>
      ) : (
        <>
          <Banner tone="failed" title={t.failures[failureCode(check)]}>
            <p>{withCode(translateSentence(ctx.language, check.message_data))}</p>
            {advice === null ? null : <p>{t.next_steps[advice]}</p>}
            <p class="quiet">
              {t.tested} <Time ctx={ctx} at={check.checked_at} />
            </p>
          </Banner>
          <Remedy ctx={ctx} remedy={check.remedy} />
        </>
      )}
    </div>
  );
}

/** What grants the missing rights, to copy. */
function Remedy({ ctx, remedy }: { ctx: PageContext; remedy: string | null }) {
  const t = texts(ctx).connections.remedy;
  if (remedy === null) return null;
  return (
    <details class="advanced" id="remedy">
      <summary>
        <Icon name="chevron-right" />
        <b>{t.title}</b>
        <span>{t.lead}</span>
      </summary>
      <div class="advanced-fields">
        <p>{withCode(t.text)}</p>
        <Code ctx={ctx} text={remedy} what={t.what} />
      </div>
    </details>
  );
}
