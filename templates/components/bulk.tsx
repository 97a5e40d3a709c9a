import type { Child } from "hono/jsx";
import { type BulkAction, type BulkOutcome, type BulkResult, maxBulk } from "../../src/bulk/schema.ts";
import type { Message } from "../../src/messages/message.ts";
import type { Problem } from "../../src/messages/schema.ts";
import type { RunView } from "../../src/runs/schema.ts";
import { Layout } from "../layout.tsx";
import { type PageContext, type Tone, url } from "../page.ts";
import { isActiveRun, RunState } from "../runs/state.tsx";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { LinkButton } from "./button.tsx";
import { withCode } from "./code.tsx";
import { Confirm, NothingAsked } from "./confirm.tsx";
import { Icon } from "./icon.tsx";
import type { ListProps } from "./list-page.tsx";
import { PageHeader, Panel } from "./page-header.tsx";
import { Row, Rows } from "./rows.tsx";
import type { SelectionAction } from "./selection.tsx";
import { State } from "./state.tsx";

type Listed = "executors" | "trackers";

const icons = {
  update: "play",
  approve: "check",
  check: "refresh-cw",
  hold: "pause",
  resume: "play",
  dismiss: "check",
  undismiss: "undo-2",
  enable: "play",
  disable: "circle-minus",
  delete: "trash",
} as const;

/** What a list offers for its selected rows. */
export function selectionOf<Item>({ ctx, items, next_cursor, is_first_page, asked, counts }: ListProps<Item>) {
  const inState = (state: string) => counts.state?.[state] ?? 0;
  const matching = inState(asked.filters.state ?? "");
  const isWhole = is_first_page && next_cursor === null;
  return {
    matching: isWhole || matching > maxBulk ? null : matching,
    /**
     * Offers an action if an entry on this page calls for it. Of the other pages only the number of entries in `state` is known, the only
     * state that calls for it.
     */
    offer: (
      name: BulkAction,
      calls: (item: Item) => boolean = () => true,
      state = asked.filters.state ?? "",
    ): readonly SelectionAction[] => {
      const isPossible = !isWhole && inState(state) > 0 && [state, undefined].includes(asked.filters.state);
      if (!isPossible && !items.some(calls)) return [];
      return [{ name, word: texts(ctx).bulk.actions[name], icon: icons[name] }];
    },
  };
}

interface BulkConfirmProps {
  ctx: PageContext;
  section: Listed;
  /** The path of the action on several. */
  path: string;
  /** Where it was asked for. */
  back: string;
  action: BulkAction;
  title: string;
  verb: string;
  type_name?: string | undefined;
  error?: Message | undefined;
  /** The heading when nothing takes part. */
  nothing: string;
  /** Says what is done. */
  children: Child;
  /** A row for each that takes part. */
  ready: Child[];
  /** The others. */
  left: Child;
}

/** The one question before an action on several; without any that takes part, why there is none. */
export function BulkConfirm({
  ctx,
  section,
  path,
  back,
  action,
  nothing,
  children,
  ready,
  left,
  ...asked
}: BulkConfirmProps) {
  if (ready.length === 0) {
    return (
      <NothingAsked {...{ ctx, section, back }} title={nothing} heading={nothing} error={asked.error}>
        {left}
      </NothingAsked>
    );
  }
  return (
    <Confirm
      {...asked}
      {...{ ctx, section }}
      kind={action === "delete" ? "danger" : "main"}
      action={`${path}/confirmed`}
      fields={{ _action: action, next: back }}
      cancel_href={back}
    >
      {children}
      <Rows>{ready}</Rows>
      {left}
    </Confirm>
  );
}

interface LeftOutProps {
  ctx: PageContext;
  title: string;
  entries: readonly { name: string; href: string; problems: readonly Problem[] }[];
}

/** Those that do not take part, and why. */
export function LeftOut({ ctx, title, entries }: LeftOutProps) {
  if (entries.length === 0) return null;
  return (
    <section class="bulk-left">
      <h2>{title}</h2>
      <Rows>
        {entries.map(({ name, href, problems }) => (
          <Row ctx={ctx} title={name} href={href}>
            <Notes ctx={ctx} problems={problems} />
          </Row>
        ))}
      </Rows>
    </section>
  );
}

export function Notes({ ctx, problems }: { ctx: PageContext; problems: readonly Problem[] }) {
  if (problems.length === 0) return null;
  return (
    <ul class="bulk-notes">
      {problems.map(({ message_data }) => (
        <li>
          <Icon name="triangle-alert" />
          <span>{withCode(translateMessage(ctx.language, message_data))}</span>
        </li>
      ))}
    </ul>
  );
}

/** Of what was done. */
export function bulkTone(action: BulkAction): Tone {
  return action === "update" || action === "approve" || action === "check" ? "running" : "current";
}

/** "Started 3 updates, 1 not done" */
export function summaryOf<Action extends BulkAction>(
  ctx: PageContext,
  words: Readonly<Record<Action, (count: number) => string>>,
  { action, results }: BulkOutcome<Action>,
): string {
  const count = (of: BulkResult["outcome"]) => results.filter(({ outcome }) => outcome === of).length;
  const [done, refused] = [count("done"), count("refused")];
  return words[action](done) + (done > 0 && refused > 0 ? texts(ctx).bulk.and_not_done(refused) : "");
}

interface BulkPageProps {
  ctx: PageContext;
  section: Listed;
  title: string;
  /** Where it was asked for. */
  back: string;
  /** The words of the way back to the list. */
  to_list: string;
  actions?: Child;
}

interface BulkOutcomeProps extends BulkPageProps {
  outcome: BulkOutcome<BulkAction>;
  /** How the runs stand, by id. */
  runs?: ReadonlyMap<string, RunView> | undefined;
  pathOf: (result: BulkResult) => string;
}

/** What happened to each of several, what was not done first; while their runs are in progress it follows them. */
export function BulkOutcomePage({ outcome, runs, pathOf, ...page }: BulkOutcomeProps) {
  return <BulkPage {...page} results={<BulkResults ctx={page.ctx} {...{ outcome, runs, pathOf }} />} />;
}

/** In place of an outcome that is no longer kept; `text` says where to look instead. */
export function BulkGonePage({ text, ...page }: Omit<BulkPageProps, "title" | "back"> & { text: string }) {
  const { ctx, section } = page;
  const results = (
    <div id="bulk-results">
      <Panel>
        <p>{text}</p>
      </Panel>
    </div>
  );
  return <BulkPage {...page} title={texts(ctx).bulk.gone_title} back={`/${section}`} results={results} />;
}

function BulkPage({ ctx, section, title, back, to_list, actions, results }: BulkPageProps & { results: Child }) {
  const list = `/${section}`;
  if (ctx.is_fragment === true) return <>{results}</>;
  return (
    <Layout ctx={ctx} title={title} section={section}>
      <PageHeader
        ctx={ctx}
        title={title}
        actions={
          <>
            {actions}
            <LinkButton ctx={ctx} href={back.startsWith(list) ? back : list} kind="main">
              {to_list}
            </LinkButton>
          </>
        }
      />
      {results}
    </Layout>
  );
}

type BulkResultsProps = Pick<BulkOutcomeProps, "ctx" | "outcome" | "runs" | "pathOf">;

function BulkResults({ ctx, outcome: { action, results }, runs, pathOf }: BulkResultsProps) {
  const order = ["refused", "unchanged", "done"];
  const isLive = [...(runs?.values() ?? [])].some(isActiveRun);
  const live = { "hx-get": url(ctx, ctx.path), "hx-trigger": "every 3s", "hx-swap": "outerMorph" };
  return (
    <div id="bulk-results" {...(isLive ? live : {})}>
      <Rows>
        {results
          .toSorted((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome))
          .map((each) => (
            <ResultRow ctx={ctx} action={action} result={each} run={runs?.get(each.run_id ?? "")} pathOf={pathOf} />
          ))}
      </Rows>
    </div>
  );
}

interface ResultRowProps extends Pick<BulkOutcomeProps, "ctx" | "pathOf"> {
  action: BulkAction;
  result: BulkResult;
  run: RunView | undefined;
}

function ResultRow({ ctx, action, result, run, pathOf }: ResultRowProps) {
  const t = texts(ctx).bulk;
  const { name, outcome, problem } = result;
  const isGone = (action === "delete" && outcome === "done") || problem?.code === "not_found";
  const tone = outcome === "done" ? bulkTone(action) : outcome === "refused" ? "attention" : "quiet";
  return (
    <Row
      ctx={ctx}
      lead={
        outcome === "done" && run !== undefined ? (
          <RunState ctx={ctx} run={run} />
        ) : (
          <State ctx={ctx} tone={tone}>
            {outcome === "done" ? t.done[action] : t.outcomes[outcome]}
          </State>
        )
      }
      title={name}
      href={isGone ? undefined : pathOf(result)}
      meta={problem === null ? [] : [translateMessage(ctx.language, problem.message_data)]}
    />
  );
}
