import type { Child } from "hono/jsx";
import { type AdoptionProposalsView, maxProposedTargets } from "../../src/adoption/schema.ts";
import { ActionForm, Button, LinkButton } from "../components/button.tsx";
import { withCode } from "../components/code.tsx";
import { Empty } from "../components/empty.tsx";
import { Find, searchedFrom } from "../components/find.tsx";
import { Icon } from "../components/icon.tsx";
import { Filters } from "../components/navigation.tsx";
import { Banner, DisabledBanner } from "../components/notice.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { Layout } from "../layout.tsx";
import { type PageContext, url, withQuery } from "../page.ts";
import { translateMessage, translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { AdoptionForm, formId } from "./form.tsx";
import { NewestPoll } from "./newest.tsx";
import { type AdoptPageProps, adoptPath } from "./props.ts";

/** Everything that runs behind a connection and has no executor, as what adopting it would create. */
export function AdoptPage(props: AdoptPageProps) {
  const { ctx, connection, found } = props;
  const t = texts(ctx).adoption;
  const path = `/connections/${connection.id}`;
  const title = t.title(connection.name);
  const counts = found !== null && "list" in found ? found.list.counts : null;
  return (
    <Layout ctx={ctx} title={title} section="connections">
      <PageHeader
        ctx={ctx}
        title={title}
        parent={{ title: connection.name, href: path }}
        lead={counts === null || counts.new + counts.adopted === 0 ? undefined : t.lead(counts.new, counts.adopted)}
        actions={
          counts === null ? undefined : (
            <LinkButton ctx={ctx} href={adoptPath(connection.id)} icon="refresh-cw">
              {t.refresh}
            </LinkButton>
          )
        }
      />
      {found === null ? (
        <DisabledBanner ctx={ctx} path={path} texts={texts(ctx).connections} />
      ) : "failure" in found ? (
        <Banner
          tone="failed"
          title={t.failed}
          action={
            <LinkButton ctx={ctx} href={adoptPath(connection.id)} kind="main">
              {t.retry}
            </LinkButton>
          }
        >
          {translateSentence(ctx.language, found.failure)}
        </Banner>
      ) : (
        <Found {...props} list={found.list} />
      )}
    </Layout>
  );
}

const partId = "adoption";

function Found(props: AdoptPageProps & { list: AdoptionProposalsView }) {
  const { ctx, list, error } = props;
  const t = texts(ctx).adoption;
  if (list.counts.new === 0) {
    return (
      <>
        <Empty
          ctx={ctx}
          icon="circle-check"
          title={t.empty_title}
          action={
            <LinkButton ctx={ctx} href={`/executors`} kind="main">
              {t.to_executors}
            </LinkButton>
          }
        >
          {t.empty_text(list.counts.adopted, list.counts.ignored)}
        </Empty>
        <Others ctx={ctx} list={list} />
      </>
    );
  }
  return (
    <div id={partId} class="choices">
      <p class="adopt-explained">{t.explained}</p>
      <EnterButtons ctx={ctx} />
      {error === undefined ? null : <Banner tone="failed">{translateSentence(ctx.language, error)}</Banner>}
      <Selection {...props} />
      {list.targets.length < list.matching ? (
        <Banner tone="quiet" action={<ShowMore ctx={ctx} list={list} />}>
          {t.only_first(list.targets.length, list.matching)}
        </Banner>
      ) : null}
      <AdoptionForm {...props} />
      <Others ctx={ctx} list={list} />
      <NewestPoll ctx={ctx} list={list} />
    </div>
  );
}

/** Shows the list at an address with what was entered so far. */
function ShowButton({ ctx, path, children }: { ctx: PageContext; path: string; children?: Child }) {
  const address = url(ctx, path);
  const part = `#${partId}`;
  return (
    <Button
      type="submit"
      name="_action"
      value="show"
      form={formId}
      formaction={address}
      attributes={{ "hx-post": address, "hx-target": part, "hx-select": part, "hx-swap": "outerMorph" }}
    >
      {children}
    </Button>
  );
}

/** Enter in a field presses the first button of its form, at a box the first that is enabled: it must neither adopt nor ignore. */
function EnterButtons({ ctx }: { ctx: PageContext }) {
  return (
    <div hidden>
      <button type="submit" form={formId} disabled />
      <ShowButton ctx={ctx} path={ctx.path} />
    </div>
  );
}

function ShowMore({ ctx, list }: { ctx: PageContext; list: AdoptionProposalsView }) {
  const count = Math.min(list.matching, maxProposedTargets);
  if (count === list.targets.length) return null;
  return (
    <ShowButton ctx={ctx} path={withQuery(ctx.path, { show: "all" })}>
      {texts(ctx).adoption.show_first(count)}
    </ShowButton>
  );
}

/** Filters narrow what is shown, and only that is adopted. */
function Selection({ ctx, list, filters }: AdoptPageProps & { list: AdoptionProposalsView }) {
  const t = texts(ctx).adoption;
  const namespaces = list.namespaces.map((value) => ({ title: value, value }));
  const group = { name: "namespace", title: t.namespace, all: t.all_namespaces, options: namespaces };
  return (
    <div class="adopt-selection">
      <Filters
        ctx={ctx}
        groups={namespaces.length < 2 ? [] : [{ ...group, current: filters.namespace }]}
        search={{ name: "search", value: filters.search, label: t.find }}
        target={`#${partId}`}
        keeps={`#${formId}`}
      />
      <a href={url(ctx, withQuery(ctx.path, { select: filters.is_none_chosen ? null : "none" }))}>
        {filters.is_none_chosen ? t.select_all : t.select_none}
      </a>
    </div>
  );
}

/** What is not offered, and why. */
function Others({ ctx, list }: { ctx: PageContext; list: AdoptionProposalsView }) {
  const t = texts(ctx).adoption;
  const { refused, ignored, connection } = list;
  return (
    <div class="adopt-others">
      <Folded
        ctx={ctx}
        id="adopt-refused"
        title={t.refused_title(refused.length)}
        entries={refused}
        draw={({ name, reasons }) => (
          <>
            <b>{name}</b>
            {reasons.map(({ message_data }) => (
              <div class="quiet">{withCode(translateMessage(ctx.language, message_data))}</div>
            ))}
          </>
        )}
      />
      <Folded
        ctx={ctx}
        id="adopt-ignored"
        title={t.ignored_title(ignored.length)}
        help={t.ignored_text}
        entries={ignored}
        draw={({ name, ignored_id }) => (
          <div class="adopt-ignored">
            <span>{name}</span>
            <ActionForm
              ctx={ctx}
              action={`/connections/${connection.id}/ignored-targets/${ignored_id}/delete`}
              kind="bare"
              small
              icon="undo-2"
              label={t.unignore_of(name)}
            >
              {t.unignore}
            </ActionForm>
          </div>
        )}
      />
    </div>
  );
}

interface FoldedProps<Entry> {
  ctx: PageContext;
  id: string;
  title: string;
  help?: string;
  entries: readonly Entry[];
  draw(entry: Entry): Child;
}

function Folded<Entry extends { name: string }>({ ctx, id, title, help, entries, draw }: FoldedProps<Entry>) {
  const t = texts(ctx).adoption;
  if (entries.length === 0) return null;
  return (
    <details class="advanced" id={id}>
      <summary>
        <Icon name="chevron-right" />
        <b>{title}</b>
        <span>{entries.map(({ name }) => name).join(", ")}</span>
      </summary>
      <div class="advanced-fields">
        {help === undefined ? null : <p class="help">{help}</p>}
        {entries.length < searchedFrom ? null : <Find label={t.find_name} within={`#${id}`} />}
        <ul>
          {entries.map((entry) => (
            <li data-found={entry.name.toLowerCase()}>{draw(entry)}</li>
          ))}
        </ul>
        <p class="quiet found-nothing">{t.no_name_found}</p>
      </div>
    </details>
  );
}
