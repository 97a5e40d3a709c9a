import { ActionForm, Button, LinkButton } from "../../templates/components/button.tsx";
import { NothingMatches } from "../../templates/components/empty.tsx";
import { Filters, Pagination } from "../../templates/components/navigation.tsx";
import { PageHeader } from "../../templates/components/page-header.tsx";
import { State } from "../../templates/components/state.tsx";
import { Table } from "../../templates/components/table.tsx";
import { Time } from "../../templates/components/time.tsx";
import { Version } from "../../templates/components/version.tsx";
import { Layout } from "../../templates/layout.tsx";
import type { PageContext, Tone } from "../../templates/page.ts";
import { texts } from "../../templates/texts/texts.ts";

const minute = 60_000;

const trackerRows: readonly [string, string, string, string, Tone, string, number][] = [
  ["authentik", "GitHub, OCI, Helm", "2026.10.2", "2026.12.0-rc1", "current", "", 12],
  ["caddy", "GitHub, OCI", "2.10.2", "–", "current", "", 12],
  ["gitea", "Gitea, OCI", "1.26.0", "–", "unknown", "Unknown, 9 h", 540],
  ["home-assistant", "OCI", "2026.11.2", "2026.12.0b3", "running", "Updating", 3],
  ["immich", "GitHub, OCI", "2.0.0", "–", "attention", "Breaking update", 2],
  ["kube-prometheus-stack", "Helm", "79.2.1", "–", "update", "1 behind", 40],
  ["paperless", "GitHub, OCI", "3.0.5", "–", "failed", "Failed, restored", 5],
  [
    "postgres-with-a-very-long-name-of-a-tracker-that-wraps",
    "OCI",
    "17.6-bookworm-with-extensions",
    "18beta3",
    "update",
    "Republished",
    60,
  ],
];

export function TrackersSample({ ctx, count = trackerRows.length }: { ctx: PageContext; count?: number }) {
  const t = texts(ctx);
  const rows = Array.from(
    { length: count },
    (_, index) => trackerRows[index % trackerRows.length] ?? trackerRows[0],
  ).flatMap((row, index) => {
    if (row === undefined) return [];
    const [name, sources, stable, pre, tone, word, age] = row;
    return [
      {
        id: `tracker-${index}`,
        href: `/trackers/${name}`,
        muted: index === 1,
        cells: {
          name,
          sources: <span class="quiet">{sources}</span>,
          stable: <Version>{stable}</Version>,
          pre: <Version tone="old">{pre}</Version>,
          state: (
            <State ctx={ctx} tone={tone}>
              {word === "" || ctx.language === "zh" ? undefined : word}
            </State>
          ),
          checked: (
            <span class="quiet">
              <Time ctx={ctx} at={ctx.now - age * minute} />
            </span>
          ),
        },
        actions: (
          <ActionForm
            ctx={ctx}
            action="/check"
            kind="bare"
            small
            icon="refresh-cw"
            label={t.common.retry}
            target="#rows"
          />
        ),
      },
    ];
  });
  return (
    <Layout ctx={ctx} title={t.trackers.title} section="trackers">
      <PageHeader
        ctx={ctx}
        title={t.trackers.title}
        actions={
          <>
            <Button icon="refresh-cw">Check all</Button>
            <LinkButton ctx={ctx} href="/trackers/new" kind="main" icon="plus">
              {t.trackers.add}
            </LinkButton>
          </>
        }
      />
      <Filters
        ctx={ctx}
        search={{ name: "q", value: "", label: t.common.search }}
        target="#rows"
        groups={[
          {
            name: "state",
            title: "State",
            current: "update",
            options: [
              { title: t.common.state.update, value: "update" },
              { title: t.common.state.failed, value: "failed" },
              { title: t.common.state.unknown, value: "unknown" },
            ],
          },
          {
            name: "kind",
            title: "Source",
            current: null,
            options: [
              { title: "GitHub", value: "github" },
              { title: "OCI", value: "oci" },
            ],
          },
        ]}
      />
      <div id="rows">
        {rows.length === 0 ? (
          <NothingMatches ctx={ctx} href="/trackers" />
        ) : (
          <Table
            ctx={ctx}
            caption={t.trackers.title}
            columns={[
              { key: "name", title: t.common.name, grows: true },
              { key: "sources", title: "Sources", wide_only: true },
              { key: "stable", title: "Stable" },
              { key: "pre", title: "Prerelease" },
              { key: "state", title: "State", card_label: "none" },
              { key: "checked", title: "Checked", align: "end" },
            ]}
            rows={rows}
          />
        )}
      </div>
      <Pagination ctx={ctx} newer={null} older="abc" />
    </Layout>
  );
}
