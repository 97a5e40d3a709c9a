import type { BackupView } from "../../src/backups/schema.ts";
import type { Message } from "../../src/messages/message.ts";
import { Button, Csrf, LinkButton } from "../components/button.tsx";
import { Code } from "../components/code.tsx";
import { DeleteQuestion, type QuestionProps } from "../components/confirm.tsx";
import { Empty } from "../components/empty.tsx";
import { Facts } from "../components/facts.tsx";
import { Pagination } from "../components/navigation.tsx";
import { Banner } from "../components/notice.tsx";
import { PageHeader, Panel, Section } from "../components/page-header.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { formatBytes } from "../format.ts";
import { Layout } from "../layout.tsx";
import { type PageContext, url } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { SettingsTabs } from "./settings.tsx";

interface BackupsPageProps {
  ctx: PageContext;
  backups: readonly BackupView[];
  next_cursor: string | null;
  is_first_page: boolean;
  /** How many there can be. */
  maximum: number;
  /** Why the last attempt to make one failed. */
  error: Message | null;
}

export function BackupsPage({ ctx, backups, next_cursor, is_first_page, maximum, error }: BackupsPageProps) {
  const t = texts(ctx).backups;
  return (
    <Layout ctx={ctx} title={t.title} section="settings">
      <PageHeader ctx={ctx} title={texts(ctx).settings.title} lead={t.lead(maximum)} />
      <SettingsTabs ctx={ctx} current="backups" />
      {error === null ? null : <Banner tone="failed">{translateMessage(ctx.language, error)}</Banner>}
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
      {backups.length === 0 ? (
        <Empty ctx={ctx} icon="file-clock" title={t.empty_title}>
          {t.empty}
        </Empty>
      ) : (
        <Section title={t.kept}>
          <p class="section-lead">{t.folder(folderOf(backups[0]))}</p>
          <BackupTable ctx={ctx} backups={backups} />
        </Section>
      )}
      <Pagination ctx={ctx} newer={is_first_page ? null : ""} older={next_cursor} />
      <Section title={t.restore_title}>
        <Panel>
          <p>{t.restore_text}</p>
          <Code ctx={ctx} text={`bun run restore ${backups[0]?.path ?? "FOLDER"}`} wraps />
          <p>{t.no_download}</p>
        </Panel>
      </Section>
    </Layout>
  );
}

/** All are in one folder. */
function folderOf(backup: BackupView | undefined): string {
  return backup === undefined ? "" : backup.path.slice(0, -backup.name.length - 1);
}

function BackupTable({ ctx, backups }: { ctx: PageContext; backups: readonly BackupView[] }) {
  const t = texts(ctx).backups;
  return (
    <Table
      ctx={ctx}
      caption={t.title}
      columns={[
        { key: "name", title: t.name, grows: true },
        { key: "kind", title: t.kind },
        { key: "keys", title: t.keys },
        { key: "size", title: texts(ctx).common.size, align: "end" },
        { key: "at", title: texts(ctx).backups.taken_at, align: "end" },
      ]}
      rows={backups.map((backup) => ({
        id: `backup-${backup.name.replaceAll(".", "-")}`,
        cells: {
          name: <code title={backup.path}>{backup.name}</code>,
          kind: t.kinds[backup.kind],
          keys: backup.has_keys ? t.keys_in : t.keys_out,
          size: formatBytes(ctx.language, backup.size_bytes),
          at: <Time ctx={ctx} at={backup.created_at} form="short" />,
        },
        actions: (
          <LinkButton ctx={ctx} href={`/settings/backups/${backup.name}/delete`} kind="bare" small opens_dialog>
            {texts(ctx).common.delete}
          </LinkButton>
        ),
      }))}
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
          [texts(ctx).backups.taken_at, <Time ctx={ctx} at={backup.created_at} form="short" />],
        ]}
      />
    </DeleteQuestion>
  );
}
