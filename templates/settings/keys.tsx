import type { FieldErrors } from "../../src/errors.ts";
import type {
  EncryptionRotationView,
  SecurityKeysView,
  SecurityKeyView,
  SessionRotationView,
  UnreadableSecret,
} from "../../src/keys/schema.ts";
import { CurrentPassword, PasswordOwner } from "../auth/password-field.tsx";
import { Button, Csrf, LinkButton } from "../components/button.tsx";
import { Facts } from "../components/facts.tsx";
import { Link } from "../components/link.tsx";
import { Banner } from "../components/notice.tsx";
import { PageHeader, Panel, Section } from "../components/page-header.tsx";
import { Time } from "../components/time.tsx";
import { BareLayout, Layout } from "../layout.tsx";
import { type PageContext, url } from "../page.ts";
import { translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { SettingsTabs } from "./settings.tsx";

export type KeyName = "session" | "encryption";

export function SecurityKeysPage({ ctx, keys }: { ctx: PageContext; keys: SecurityKeysView }) {
  const t = texts(ctx).keys;
  return (
    <Layout ctx={ctx} title={t.title} section="settings">
      <PageHeader ctx={ctx} title={texts(ctx).settings.title} lead={t.lead} />
      <SettingsTabs ctx={ctx} current="keys" />
      <KeySection ctx={ctx} name="session" title={t.session} text={t.session_text} view={keys.session} />
      <KeySection ctx={ctx} name="encryption" title={t.encryption} text={t.encryption_text} view={keys.encryption} />
    </Layout>
  );
}

interface KeySectionProps {
  ctx: PageContext;
  name: KeyName;
  title: string;
  text: string;
  view: SecurityKeyView;
}

function KeySection({ ctx, name, title, text, view }: KeySectionProps) {
  const t = texts(ctx).keys;
  return (
    <Section title={title} id={`${name}-key`}>
      <Panel>
        <p class="note">{text}</p>
        <Facts
          wide
          items={[
            [t.fingerprint, <code>{view.fingerprint}</code>],
            [t.since, view.since === null ? t.since_unknown : <Time ctx={ctx} at={view.since} form="short" />],
            [t.place, view.managed_by === null ? t.place_file : t.place_environment(view.managed_by)],
          ]}
        />
        {view.rotation_refusal_data === null ? (
          <p>
            <LinkButton ctx={ctx} href={`/settings/keys/${name}`} kind="plain" icon="rotate-ccw">
              {name === "session" ? t.rotate_session : t.rotate_encryption}
            </LinkButton>
          </p>
        ) : (
          <Banner tone="quiet" title={t.not_here}>
            {translateSentence(ctx.language, view.rotation_refusal_data)}
          </Banner>
        )}
      </Panel>
    </Section>
  );
}

interface RotationPageProps {
  ctx: PageContext;
  name: KeyName;
  view: SecurityKeyView;
  errors: FieldErrors;
  /** What prevented it. */
  unreadable: readonly UnreadableSecret[];
}

/** The page on which a secret is entered again or deleted, by its table; some have none. */
const remedies: Readonly<Record<string, (secret: UnreadableSecret) => string>> = {
  credentials: ({ id }) => `/credentials/${id}/edit`,
  notifiers: ({ id }) => `/notifiers/${id}/edit`,
  oidc_providers: () => "/settings/sign-in-provider/edit",
  snapshots: ({ id, owner }) => `/executors/${owner}/snapshots/${id}`,
  run_logs: ({ owner }) => `/runs/${owner}#run-logs`,
};

/** More are not worth reading: a whole key is missing then. */
const maxUnreadable = 50;

function UnreadableSecrets({ ctx, secrets }: { ctx: PageContext; secrets: readonly UnreadableSecret[] }) {
  const t = texts(ctx).keys;
  const labels: Readonly<Record<string, string>> = t.unreadable;
  return (
    <Banner tone="failed" title={t.unreadable_title}>
      <p>{t.unreadable_text}</p>
      <ul>
        {secrets.slice(0, maxUnreadable).map((secret) => {
          const href = remedies[secret.table]?.(secret);
          return (
            <li>
              {labels[secret.table] ?? secret.table}{" "}
              {href === undefined ? null : (
                <Link ctx={ctx} href={href}>
                  <bdi>{secret.name ?? secret.id}</bdi>
                </Link>
              )}
            </li>
          );
        })}
        {secrets.length > maxUnreadable ? <li>{t.unreadable_more(secrets.length - maxUnreadable)}</li> : null}
      </ul>
    </Banner>
  );
}

/** The effects of the rotation, with the password prompt. */
export function RotationPage({ ctx, name, view, errors, unreadable }: RotationPageProps) {
  const t = texts(ctx).keys;
  const title = name === "session" ? t.session_question : t.encryption_question;
  return (
    <Layout ctx={ctx} title={title} section="settings">
      <PageHeader ctx={ctx} title={title} parent={{ title: t.title, href: "/settings/keys" }} />
      {unreadable.length === 0 ? null : <UnreadableSecrets ctx={ctx} secrets={unreadable} />}
      <Panel>
        <ul>
          {(name === "session" ? t.session_means : t.encryption_means).map((sentence) => (
            <li>{sentence}</li>
          ))}
        </ul>
        <Facts items={[[t.fingerprint, <code>{view.fingerprint}</code>]]} />
        <form class="sign-in" method="post" action={url(ctx, `/settings/keys/${name}`)}>
          <Csrf ctx={ctx} />
          <PasswordOwner ctx={ctx} />
          <CurrentPassword ctx={ctx} errors={errors} />
          <div class="sign-in-actions">
            <Button type="submit" kind="danger">
              {name === "session" ? t.rotate_session : t.rotate_encryption}
            </Button>
            <LinkButton ctx={ctx} href="/settings/keys" kind="bare">
              {texts(ctx).common.cancel}
            </LinkButton>
          </div>
        </form>
      </Panel>
    </Layout>
  );
}

/** The last page of a session that ended with the key. */
export function SessionRotatedPage({ ctx, done }: { ctx: PageContext; done: SessionRotationView }) {
  const t = texts(ctx).keys;
  return (
    <BareLayout ctx={ctx} title={t.session_done}>
      <h1>{t.session_done}</h1>
      <p class="lead">{t.session_ended(done.ended_sessions, done.ended_api_tokens)}</p>
      <Facts items={[[t.new_fingerprint, <code>{done.key.fingerprint}</code>]]} />
      <div class="sign-in sign-in-actions">
        <LinkButton ctx={ctx} href="/login" kind="main">
          {t.sign_in}
        </LinkButton>
      </div>
    </BareLayout>
  );
}

export function EncryptionRotatedPage({ ctx, done }: { ctx: PageContext; done: EncryptionRotationView }) {
  const t = texts(ctx).keys;
  return (
    <Layout ctx={ctx} title={t.encryption_done} section="settings">
      <PageHeader ctx={ctx} title={t.encryption_done} parent={{ title: t.title, href: "/settings/keys" }} />
      <Panel>
        <Facts
          items={[
            [t.new_fingerprint, <code>{done.key.fingerprint}</code>],
            [t.former, <code>{done.previous_id}</code>],
            [t.reencrypted, String(done.reencrypted_values)],
            [t.backup, <code>{done.backup.path}</code>],
          ]}
        />
        <p>{t.encryption_done_text}</p>
        <p>
          <LinkButton ctx={ctx} href="/settings/keys" kind="main">
            {t.done}
          </LinkButton>
        </p>
      </Panel>
    </Layout>
  );
}
