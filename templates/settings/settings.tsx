import type { FieldErrors } from "../../src/errors.ts";
import type { FieldDescription } from "../../src/forms/fields.ts";
import type { SettingsView } from "../../src/settings/schema.ts";
import { Facts } from "../components/facts.tsx";
import { Form } from "../components/form.tsx";
import { Icon } from "../components/icon.tsx";
import type { IconName } from "../components/icons.ts";
import { Tabs } from "../components/navigation.tsx";
import { Banner } from "../components/notice.tsx";
import { PageHeader, Panel, Section } from "../components/page-header.tsx";
import { Row, Rows } from "../components/rows.tsx";
import { State } from "../components/state.tsx";
import { Time } from "../components/time.tsx";
import { joinSentences } from "../format.ts";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

export interface About {
  version: string;
  database: string;
  data_dir: string;
  is_ready: boolean;
}

interface SettingsPageProps {
  ctx: PageContext;
  settings: SettingsView;
  fields: readonly FieldDescription[];
  values: Readonly<Record<string, unknown>>;
  errors: FieldErrors;
  /** This request's origin; null when it is the base URL's. */
  other_address: string | null;
  address_in_use: string;
  /** The submitted base URL differs from the browser's address and must be confirmed. */
  asks_about_base_url: boolean;
  time_zones: readonly string[];
  about: About;
}

type SettingsTab = "general" | "sign_in_provider" | "keys" | "backups" | "audit";

/** Views of the installation's settings. */
export function SettingsTabs({ ctx, current }: { ctx: PageContext; current: SettingsTab }) {
  const t = texts(ctx).settings;
  return (
    <Tabs
      ctx={ctx}
      label={t.title}
      items={[
        { title: t.general, href: "/settings", current: current === "general" },
        {
          title: texts(ctx).oidc.title,
          href: "/settings/sign-in-provider",
          current: current === "sign_in_provider",
        },
        { title: texts(ctx).keys.title, href: "/settings/keys", current: current === "keys" },
        { title: texts(ctx).backups.title, href: "/settings/backups", current: current === "backups" },
        { title: t.audit, href: "/settings/audit", current: current === "audit" },
      ]}
    />
  );
}

const variables: Readonly<Record<SettingsView["from_environment"][number], string>> = {
  base_url: "BASE_URL",
  log_level: "LOG_LEVEL",
};

export function SettingsPage(props: SettingsPageProps) {
  const { ctx, settings, other_address, about } = props;
  const t = texts(ctx).settings;
  const fixed = new Set<string>(settings.from_environment);
  const notes = Object.fromEntries(
    settings.from_environment.map((name) => [name, <p class="note">{t.from_environment(variables[name])}</p>]),
  );
  return (
    <Layout ctx={ctx} title={t.title} section="settings">
      <PageHeader ctx={ctx} title={t.title} />
      <SettingsTabs ctx={ctx} current="general" />
      {other_address === null ? null : (
        <Banner tone="attention" title={t.base_url_differs}>
          {t.base_url_differs_text(settings.base_url, other_address)}
        </Banner>
      )}
      <Form
        ctx={ctx}
        id="settings-form"
        area="settings"
        action="/settings"
        fields={props.fields.map((field) => ({ ...field, is_immutable: fixed.has(field.name) }))}
        values={props.values}
        errors={props.errors}
        submit={t.save}
        cancel_href="/settings"
        is_edit
        choices={{ timezone: props.time_zones.map((zone) => ({ value: zone, title: zone })) }}
        below={{
          base_url: (
            <>
              {props.asks_about_base_url ? (
                <div>
                  <label class="check">
                    <input type="checkbox" name="_confirm_base_url" value="on" />
                    {t.base_url_confirm_check}
                  </label>
                </div>
              ) : null}
              <p class="note">
                {joinSentences(ctx.language, [
                  ...(settings.base_url === "" ? [t.base_url_missing] : []),
                  t.address_in_use(props.address_in_use),
                ])}
              </p>
            </>
          ),
          ...notes,
        }}
      />
      <Section title={t.elsewhere}>
        <Elsewhere ctx={ctx} />
      </Section>
      <Section title={t.about}>
        <Panel>
          <Facts
            wide
            items={[
              [texts(ctx).common.version, <span class="version">{`Tidemark ${about.version}`}</span>],
              [t.database, <code>{about.database}</code>],
              [
                texts(ctx).common.state_title,
                <State ctx={ctx} tone={about.is_ready ? "current" : "failed"}>
                  {about.is_ready ? t.database_answers : t.database_silent}
                </State>,
              ],
              [t.data_directory, <code>{about.data_dir}</code>],
              [t.server_time, <Time ctx={ctx} at={ctx.now} form="short" />],
              [t.license, "Apache-2.0"],
            ]}
          />
        </Panel>
      </Section>
    </Layout>
  );
}

function Elsewhere({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).settings;
  const common = texts(ctx).common;
  const places: readonly (readonly [title: string, text: string, href: string, icon: IconName])[] = [
    [texts(ctx).common.user_settings, t.account_text, "/account", "user"],
    [common.credentials, t.credentials_text, "/credentials", "key-round"],
    [common.connections, t.connections_text, "/connections", "plug"],
    [common.notifiers, t.notifiers_text, "/notifiers", "send"],
    [texts(ctx).docs.title, t.api_documentation_text, "/docs", "webhook"],
  ];
  return (
    <Rows>
      {places.map(([title, text, href, icon]) => (
        <Row ctx={ctx} title={title} href={href} meta={[text]} action={<Icon name={icon} />} />
      ))}
    </Rows>
  );
}
