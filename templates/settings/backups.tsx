import type { BackupView } from "../../src/backups/schema.ts";
import type { Message } from "../../src/messages/message.ts";
import { Button, Csrf, LinkButton } from "../components/button.tsx";
import { OwnCommand } from "../components/code.tsx";
import { DeleteQuestion, type QuestionProps } from "../components/confirm.tsx";
import { Empty } from "../components/empty.tsx";
import { Facts } from "../components/facts.tsx";
import { ListBody, type ListProps } from "../components/list-page.tsx";
import { Banner } from "../components/notice.tsx";
import { PageHeader, Panel, Section } from "../components/page-header.tsx";
import { Time } from "../components/time.tsx";
import { formatBytes } from "../format.ts";
import { Layout } from "../layout.tsx";
import { url } from "../page.ts";
import { translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { SettingsTabs } from "./settings.tsx";

interface BackupsPageProps extends ListProps<BackupView> {
  newest: BackupView | null;
  /** How many there can be. */
  maximum: number;
  /** Why the last attempt to make one failed. */
  error: Message | null;
}

export function BackupsPage({ newest, maximum, error, ...list }: BackupsPageProps) {
  const { ctx } = list;
  const t = texts(ctx).backups;
  return (
    <Layout ctx={ctx} title={t.title} section="settings">
      <PageHeader ctx={ctx} title={texts(ctx).settings.title} lead={t.lead(maximum)} />
      <SettingsTabs ctx={ctx} current="backups" />
      {error === null ? null : <Banner tone="failed">{translateSentence(ctx.language, error)}</Banner>}
      <Panel>
        <form class="sign-in" method="post" action={url(ctx, "/settings/backups")}>
          <Csrf ctx={ctx} />
          <label class="check">
            <input type="checkbox" name="with_keys" value="on" checked />
            {t.with_keys}
          </label>
          <p class="help">{t.with_keys_help}</p>
          <div class="sign-in-actions">
            <Button type="submit" kind="main">
              {t.back_up}
            </Button>
          </div>
        </form>
      </Panel>
      {newest === null ? (
        <Empty ctx={ctx} icon="file-clock" title={t.empty_title}>
          {t.empty}
        </Empty>
      ) : (
        <Section title={t.kept}>
          <p class="section-lead">{t.folder(folderOf(newest))}</p>
          <BackupList {...list} />
        </Section>
      )}
      <Section title={t.restore_title}>
        <Panel>
          <p>{t.restore_text}</p>
          <OwnCommand ctx={ctx} text={`bun run restore ${newest?.path ?? "FOLDER"}`} compose="run --rm" />
          <p>{t.no_download}</p>
        </Panel>
      </Section>
    </Layout>
  );
}

/** All are in one folder. */
function folderOf({ path, name }: BackupView): string {
  return path.slice(0, -name.length - 1);
}

function BackupList(list: ListProps<BackupView>) {
  const { ctx } = list;
  const t = texts(ctx).backups;
  return (
    <ListBody
      {...list}
      id="backup-list"
      is_section
      caption={t.title}
      filters={[
        { name: "kind", title: t.kind, options: Object.entries(t.kinds) },
        {
          name: "keys",
          title: t.keys,
          options: [
            ["with", t.with_keys_filter],
            ["without", t.without_keys_filter],
          ],
        },
      ]}
      table={{
        columns: [
          { key: "name", title: t.name, grows: true },
          { key: "kind", title: t.kind },
          { key: "keys", title: t.keys },
          { key: "size", title: texts(ctx).common.size, align: "end", sort: "-size" },
          { key: "at", title: t.taken_at, align: "end", leads: true, sort: "-time" },
        ],
        rows: list.items.map((backup) => ({
          id: `backup-${backup.name.replaceAll(".", "-")}`,
          cells: {
            name: <code title={backup.path}>{backup.name}</code>,
            kind: t.kinds[backup.kind],
            keys: backup.has_keys ? t.keys_in : t.keys_out,
            size: formatBytes(ctx.language, backup.size_bytes),
            at: <Time ctx={ctx} at={backup.created_at} form="short" />,
          },
          actions: (
            <LinkButton
              ctx={ctx}
              href={`/settings/backups/${backup.name}/delete`}
              kind="bare"
              small
              icon="trash"
              opens_dialog
            >
              {texts(ctx).common.delete}
            </LinkButton>
          ),
        })),
      }}
    />
  );
}

export function BackupDelete({ ctx, backup, error }: QuestionProps<{ backup: BackupView }>) {
  const t = texts(ctx).backups;
  return (
    <DeleteQuestion
      ctx={ctx}
      section="settings"
      texts={{ ...t, delete: t.delete_verb }}
      name={backup.name}
      path={`/settings/backups/${backup.name}`}
      cancel_href="/settings/backups"
      error={error}
    >
      <p>{t.delete_text}</p>
      <Facts
        items={[
          [t.kind, t.kinds[backup.kind]],
          [t.keys, backup.has_keys ? t.keys_in : t.keys_out],
          [texts(ctx).common.size, formatBytes(ctx.language, backup.size_bytes)],
          [texts(ctx).backups.taken_at, <Time ctx={ctx} at={backup.created_at} form="short" />],
        ]}
      />
    </DeleteQuestion>
  );
}
