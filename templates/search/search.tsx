import type { Child } from "hono/jsx";
import type { SearchView } from "../../src/stats/schema.ts";
import { ActionForm, LinkButton } from "../components/button.tsx";
import { Menu } from "../components/menu.tsx";
import { PageHeader, Panel, Section } from "../components/page-header.tsx";
import { Row, Rows } from "../components/rows.tsx";
import { Time } from "../components/time.tsx";
import { Version } from "../components/version.tsx";
import { formatList } from "../format.ts";
import { Layout } from "../layout.tsx";
import { type PageContext, url } from "../page.ts";
import { RunState } from "../runs/state.tsx";
import { RunVersions } from "../runs/versions.tsx";
import { texts } from "../texts/texts.ts";
import { trackerPath } from "../trackers/address.ts";
import type { Command } from "./commands.ts";
import { markedParts } from "./marked.ts";

interface SearchPageProps {
  ctx: PageContext;
  found: SearchView;
  /** Of found trackers by name and executors by id. */
  commands: FoundCommands;
  /** Those about no single thing that have every word. */
  general: readonly Command[];
}

export interface FoundCommands {
  trackers: ReadonlyMap<string, readonly Command[]>;
  executors: ReadonlyMap<string, readonly Command[]>;
}

/** The database limit: at this number the list says that it is cut. */
const mostOfEach = 10;
const example = "nginx 1.29";

export function SearchPage({ ctx, found, commands, general }: SearchPageProps) {
  const t = texts(ctx).overview.search;
  const { query, terms } = found;
  const total =
    found.trackers.length + found.executors.length + found.releases.length + found.runs.length + general.length;
  const title = terms.length === 0 ? t.title : total === 0 ? t.nothing_for(query) : t.found_for(query);
  return (
    <Layout ctx={ctx} title={terms.length === 0 ? t.title : `${query} · ${t.title}`}>
      <PageHeader ctx={ctx} title={title} />
      {terms.length === 0 ? <Teach ctx={ctx} /> : null}
      {terms.length > 0 && total === 0 ? <p class="panel nothing">{t.nothing_text}</p> : null}
      <Groups ctx={ctx} found={found} commands={commands} />
      {general.length === 0 ? null : (
        <Section title={t.commands}>
          <div class="panel commands">
            <CommandItems ctx={ctx} commands={general} />
          </div>
        </Section>
      )}
    </Layout>
  );
}

function CommandItems({ ctx, commands }: { ctx: PageContext; commands: readonly Command[] }) {
  return (
    <>
      {commands.map(({ title, subject, icon, href, opens_dialog, fields }) => {
        const words = subject === undefined ? title : `${title} · ${subject}`;
        return fields === undefined ? (
          <LinkButton ctx={ctx} kind="entry" href={href} icon={icon} opens_dialog={opens_dialog}>
            {words}
          </LinkButton>
        ) : (
          <ActionForm ctx={ctx} kind="entry" action={href} fields={fields} icon={icon}>
            {words}
          </ActionForm>
        );
      })}
    </>
  );
}

/** What can be done about one found thing. */
function CommandMenu({ ctx, commands = [] }: { ctx: PageContext; commands: readonly Command[] | undefined }) {
  const subject = commands[0]?.subject;
  if (subject === undefined) return null;
  const own = commands.map(({ subject: _same, ...command }) => command);
  return (
    <Menu
      label={texts(ctx).overview.search.commands_of(subject)}
      small
      items={<CommandItems ctx={ctx} commands={own} />}
    />
  );
}

function Teach({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).overview.search;
  return (
    <Panel>
      <p>{t.teach}</p>
      <p class="meta">
        {texts(ctx).common.example}:{" "}
        <a href={url(ctx, "/search", { q: example })}>
          <Version>{example}</Version>
        </a>{" "}
        {t.example_text}
      </p>
    </Panel>
  );
}

function Groups({ ctx, found, commands }: Omit<SearchPageProps, "general">) {
  const t = texts(ctx);
  const { terms } = found;
  const mark = (text: string) => <Marked text={text} terms={terms} />;
  return (
    <>
      <Group ctx={ctx} title={t.common.trackers} count={found.trackers.length}>
        {found.trackers.map(({ name, description, images }) => (
          <Row
            ctx={ctx}
            href={trackerPath(name)}
            title={mark(name)}
            meta={[...images.map(mark), description === "" ? null : mark(description)]}
            action={<CommandMenu ctx={ctx} commands={commands.trackers.get(name)} />}
          />
        ))}
      </Group>
      <Group ctx={ctx} title={t.common.executors} count={found.executors.length}>
        {found.executors.map(({ id, name, target, connection, services }) => (
          <Row
            ctx={ctx}
            href={`/executors/${id}`}
            title={mark(name)}
            meta={[
              mark(t.executors.target_on(target, connection)),
              services.length === 0 ? null : mark(formatList(ctx.language, services)),
            ]}
            action={<CommandMenu ctx={ctx} commands={commands.executors.get(id)} />}
          />
        ))}
      </Group>
      <Group ctx={ctx} title={t.overview.search.releases} count={found.releases.length}>
        {found.releases.map((release) => (
          <Row
            ctx={ctx}
            href={trackerPath(release.tracker)}
            title={mark(release.tracker)}
            fact={<Version>{mark(release.tag)}</Version>}
            meta={[
              release.source,
              release.published_at === null ? (
                <>
                  {t.overview.search.seen} <Time ctx={ctx} at={release.first_observed_at} />
                </>
              ) : (
                <>
                  {t.overview.published} <Time ctx={ctx} at={release.published_at} />
                </>
              ),
            ]}
          />
        ))}
      </Group>
      <Group ctx={ctx} title={t.common.runs} count={found.runs.length}>
        {found.runs.map((run) => (
          <Row
            ctx={ctx}
            href={`/runs/${run.id}`}
            title={mark(run.executor)}
            fact={<RunVersions ctx={ctx} run={run} empty="" />}
            meta={[<RunState ctx={ctx} run={run} />, <Time ctx={ctx} at={run.created_at} />]}
          />
        ))}
      </Group>
    </>
  );
}

function Group({ ctx, title, count, children }: { ctx: PageContext; title: string; count: number; children: Child }) {
  if (count === 0) return null;
  const t = texts(ctx).overview.search;
  return (
    <Section title={title} aside={count < mostOfEach ? undefined : t.only_first(count)}>
      <Rows>{children}</Rows>
    </Section>
  );
}

function Marked({ text, terms }: { text: string; terms: readonly string[] }) {
  return <>{markedParts(text, terms).map((part) => (part.is_match ? <mark>{part.text}</mark> : part.text))}</>;
}
