import { type PageContext, withQuery } from "../../../templates/page.ts";
import { texts } from "../../../templates/texts/texts.ts";
import { trackerPath } from "../../../templates/trackers/address.ts";
import {
  TrackerAnswer,
  TrackerDelete,
  TrackerPage,
  type TrackerPageProps,
} from "../../../templates/trackers/detail.tsx";
import { ExplanationDialog } from "../../../templates/trackers/explain.tsx";
import { hasSources, TrackerFormPage } from "../../../templates/trackers/form.tsx";
import {
  TrackerChanges,
  TrackerList,
  TrackersPage,
  type TrackersPageProps,
} from "../../../templates/trackers/list.tsx";
import { PreviewAnswer } from "../../../templates/trackers/preview.tsx";
import { isChecking } from "../../../templates/trackers/state.tsx";
import type { Actor } from "../../auth/schema.ts";
import { AppError } from "../../errors.ts";
import { decodeForm } from "../../forms/decode.ts";
import type { Services } from "../../services.ts";
import { isSourceKind } from "../../sources/source.ts";
import type { ProposalView } from "../../trackers/import/schema.ts";
import type { TrackerView } from "../../trackers/schema.ts";
import type { TrackerService } from "../../trackers/service.ts";
import type { App, AppContext } from "../context.ts";
import { isLocalPath } from "../cookies.ts";
import type { FormState } from "./form-page.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { questionRoutes } from "./question.ts";
import { formText, readForm } from "./read-form.ts";
import { listAll, pagesOf, readShown, type Shown } from "./read-list.ts";
import { formRoutes } from "./resource-pages.ts";
import { isFragmentRequest, respondDone, respondHtml } from "./respond.ts";
import { trackerBulkPages } from "./tracker-bulk.tsx";
import { checkNotice, checkOfAllNotice } from "./tracker-checks.ts";
import {
  chosenCredentials,
  describeTracker,
  namedBySource,
  newValues,
  repositoryKeys,
  storedValues,
  unknownSources,
  withBeginnings,
  withDefaults,
} from "./tracker-form.ts";
import { previewForm } from "./tracker-preview.ts";

const historySize = 50;
const shownEvents = 10;
/** Longer references are invalid. */
const maxReferenceCharacters = 1_024;

export function trackerPages(app: App, services: Services, page: PageSettings): void {
  const { trackers } = services;

  app.get("/trackers", async (c) => {
    const asked = await pageContext(c, page);
    const query = queryOf(asked.path);
    const ctx = { ...asked, path: withoutChecks(asked.path) };
    if (isFragmentRequest(c) && (query.has("awaited") || query.has("checking"))) {
      return await respondChecked(c, services, ctx, query);
    }
    const props = await readTrackers(services, ctx);
    return respondHtml(c, isFragmentRequest(c) ? <TrackerList {...props} /> : <TrackersPage {...props} />);
  });

  app.post("/trackers/checks", async (c) => {
    const ctx = await pageContext(c, page);
    const next = nextPath(formText(await readForm(c), "next"), "/trackers");
    const since = page.clock.now();
    const count = await requestAll(trackers, c.get("actor"));
    const text = texts(ctx).trackers.checked.asked_all(count);
    if (!isFragmentRequest(c)) return respondDone(c, ctx.base_path, next, { tone: "running", text });
    const props = await readTrackers(services, { ...ctx, path: next, now: page.clock.now() });
    return respondHtml(c, <TrackerList {...props} awaited={{ name: "*", since }} />);
  });

  app.post("/trackers/:name/checks", async (c) => {
    const ctx = await pageContext(c, page);
    const name = c.req.param("name");
    const next = nextPath(formText(await readForm(c), "next"), trackerPath(name));
    const { requested_at: since } = await trackers.requestCheck(c.get("actor"), name);
    const text = texts(ctx).trackers.checked.asked(name);
    if (!isFragmentRequest(c)) return respondDone(c, ctx.base_path, next, { tone: "running", text });
    const isList = next.split("?")[0] === "/trackers";
    if (isList) {
      const { id } = await trackers.get(name);
      const props = await readTrackers(services, { ...ctx, path: next, now: since }, { also: [id] });
      return respondHtml(c, <TrackerChanges {...props} changed={[id]} awaited={{ name, since }} notice={null} />);
    }
    return await respondTracker(c, services, { ...ctx, path: withQuery(next, { since }) }, name);
  });

  trackerBulkPages(app, services, page);
  trackerForms(app, services, page);
  questionRoutes(app, page, {
    path: "/trackers/:name/delete",
    find: async (c) => ({ tracker: await trackers.get(c.req.param("name") ?? "") }),
    draw: (asked) => <TrackerDelete {...asked} />,
    perform: async (c, ctx, { tracker: { name } }) => {
      await trackers.remove(c.get("actor"), name);
      return { path: "/trackers", notice: { tone: "current", text: texts(ctx).common.deleted(name) } };
    },
  });

  app.get("/trackers/:name", async (c) => {
    const ctx = await pageContext(c, page);
    return await respondTracker(c, services, ctx, c.req.param("name"));
  });
}

/** Where a check was requested, below the base path. */
function nextPath(path: string, otherwise: string): string {
  const isOurs = isLocalPath(path) && /^\/trackers(?=[/?]|$)/.test(path);
  return isOurs ? withoutChecks(path) : otherwise;
}

/** The address of the list, without what it asks for while checks run. */
function withoutChecks(path: string): string {
  return withQuery(path, { awaited: null, since: null, checking: null });
}

function queryOf(path: string): URLSearchParams {
  return new URLSearchParams(path.split("?", 2)[1] ?? "");
}

function instantOf(text: string | null): number | null {
  return text !== null && /^\d{1,16}$/.test(text) ? Number(text) : null;
}

/** The page of the list that the path of `ctx` asks for. */
export async function readTrackers(
  { trackers, stats }: Services,
  ctx: PageContext,
  shown?: Shown,
): Promise<TrackersPageProps> {
  const list = await readShown(ctx, trackers, shown);
  return { ...list, uses: await stats.uses(list.items.map(({ id }) => id)), awaited: null };
}

/** What the open list asks for while checks run: the rows of those that have begun or ended since it showed them. */
async function respondChecked(c: AppContext, services: Services, ctx: PageContext, query: URLSearchParams) {
  const shown = query.getAll("checking");
  const [name, since] = [query.get("awaited"), instantOf(query.get("since"))];
  const awaited = name === null || since === null ? null : { name, since };
  const props = await readTrackers(services, ctx, { also: shown });
  const checking = props.items.filter((tracker) => isChecking(ctx, tracker)).map(({ id }) => id);
  const changed = [...new Set(shown).symmetricDifference(new Set(checking))];
  const notice = awaited === null ? null : await noticeOf(services, ctx, props.items, awaited);
  const rest = { changed, notice, awaited: notice === null ? awaited : null };
  return respondHtml(c, <TrackerChanges {...props} {...rest} />);
}

async function noticeOf(
  { trackers }: Services,
  ctx: PageContext,
  shown: readonly TrackerView[],
  awaited: { name: string; since: number },
) {
  if (awaited.name === "*") return await checkOfAllNotice(trackers, ctx, shown, awaited.since);
  return await checkNotice(trackers, ctx, awaited.name, awaited.since);
}

/** Requests a check of every enabled tracker; returns how many there are. */
async function requestAll(trackers: TrackerService, actor: Actor): Promise<number> {
  let count = 0;
  for await (const items of pagesOf(trackers.list)) {
    const enabled = items.filter((tracker) => tracker.is_enabled);
    const requested = await Promise.all(enabled.map(({ name }) => requestUnlessGone(trackers, actor, name)));
    count += requested.filter(Boolean).length;
  }
  return count;
}

/** False for a tracker that was deleted since it was listed. */
async function requestUnlessGone(trackers: TrackerService, actor: Actor, name: string): Promise<boolean> {
  try {
    await trackers.requestCheck(actor, name);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") return false;
    throw error;
  }
}

/** A tracker for the path of `ctx`: the page, for htmx its content, or one explanation. */
async function respondTracker(c: AppContext, services: Services, asked: PageContext, name: string) {
  const { trackers } = services;
  const query = queryOf(asked.path);
  const ctx = { ...asked, path: withQuery(asked.path, { since: null }) };
  const tag = query.get("explain");
  const explanation = tag === null || tag === "" ? null : await trackers.explain(name, { tag: tag.slice(0, 1000) });
  // The dialog requests only the explanation.
  if (explanation !== null && isFragmentRequest(c) && (c.req.header("hx-target") ?? "").includes("dialog")) {
    return respondHtml(c, <ExplanationDialog ctx={ctx} explanation={explanation} />);
  }
  const tracker = await trackers.get(name);
  const since = instantOf(query.get("since"));
  const notice = since === null ? null : await checkNotice(trackers, ctx, name, since);
  const props: TrackerPageProps = {
    ctx,
    tracker,
    ...(await historyOf(services, tracker, query)),
    uses: (await services.stats.uses([tracker.id])).get(tracker.id) ?? [],
    deployed: await services.executors.versionsUnder(tracker.id),
    events: (await services.notifications.listEvents({ tracker_id: tracker.id, limit: shownEvents })).items,
    credentials: await credentialNames(services, tracker),
    explanation,
    awaited_since: notice === null ? since : null,
  };
  if (!isFragmentRequest(c)) return respondHtml(c, <TrackerPage {...props} />);
  return respondHtml(c, <TrackerAnswer {...props} notice={notice} />);
}

async function historyOf({ trackers }: Services, tracker: TrackerView, query: URLSearchParams) {
  const names = tracker.sources.flatMap(({ channels }) => channels.map(({ name }) => name));
  const channel = names.find((name) => name === query.get("channel"));
  const source = tracker.sources.find(({ key }) => key === query.get("source"))?.key;
  const cursor = query.get("cursor") ?? undefined;
  const history = await trackers.history(tracker.name, { limit: historySize, channel, source, cursor });
  const { items: versions, ...page } = history;
  const marks = await trackers.notesMarks(versions.flatMap(({ releases }) => releases.map(({ id }) => id)));
  const filters = { ...(channel === undefined ? {} : { channel }), ...(source === undefined ? {} : { source }) };
  return { versions, marks, ...page, is_first_page: cursor === undefined, filters };
}

async function credentialNames({ credentials }: Services, tracker: TrackerView | null) {
  return await credentials.names(tracker?.sources.flatMap(({ credential_id }) => credential_id ?? []) ?? []);
}

/** Credentials for the kinds of the form's sources. */
async function credentialChoices(
  services: Services,
  ctx: PageContext,
  { values, fields }: Pick<FormState, "values" | "fields">,
) {
  const kinds = new Set(
    fields
      .filter((field) => field.name === "sources")
      .flatMap((field) => field.entries)
      .map((entry) => entry.find((field) => field.is_discriminant)?.default_value),
  );
  const fitting = (await listAll(services.credentials.list)).filter((credential) => kinds.has(credential.kind));
  const gone = chosenCredentials(values).filter((id) => fitting.every((credential) => credential.id !== id));
  return [
    ...fitting.map(({ id, name }) => ({ value: id, title: name })),
    ...gone.map((id) => ({ value: id, title: texts(ctx).trackers.credential_gone(id) })),
  ];
}

/** The proposal for a running image; null when its reference names no repository. */
async function proposalFor(trackers: TrackerService, image: string): Promise<ProposalView | null> {
  if (image === "") return null;
  const services = { main: { image: image.slice(0, maxReferenceCharacters).replaceAll("$", "$$$$") } };
  const { proposals } = await trackers.proposals({ format: "compose", text: JSON.stringify({ services }) });
  return proposals[0] ?? null;
}

function trackerForms(app: App, services: Services, page: PageSettings): void {
  const { trackers } = services;
  /** Made once for a request: the form begins with it, and says what it keeps. */
  const made = new WeakMap<AppContext, Promise<ProposalView | null>>();
  const proposalOf = (c: AppContext) => {
    const proposal = made.get(c) ?? proposalFor(trackers, c.req.query("image") ?? "");
    made.set(c, proposal);
    return proposal;
  };

  formRoutes(app, page, {
    path: "/trackers",
    stored_path: "/trackers/:id/edit",
    service: trackers,
    begin: async (c) => newValues(c.req.query(), await proposalOf(c)),
    shown: (stored, c) => {
      if (unknownSources(stored).length === 0) return storedValues(stored);
      // With the others alone, saving removes those of an unknown kind.
      const isOfOthers = c.req.query("sources") === "known";
      return storedValues(stored, isOfOthers ? stored.sources.filter(({ kind }) => isSourceKind(kind)) : []);
    },
    describe: describeTracker,
    draw: async ({ ctx, stored, ...state }, c) =>
      await drawForm(services, ctx, stored, state, stored === null ? await proposalOf(c) : null),
    input: async (sent, stored) => {
      if (stored === null) return await namedBySource(trackers, sent);
      const { name: _fixed, ...changes } = sent;
      return withDefaults(changes);
    },
    saved: ({ ctx, view, is_new }) => {
      const t = texts(ctx).trackers;
      const text = `${is_new ? t.added(view.name) : texts(ctx).common.kept(view.name, false)} · ${costOf(ctx, view)}`;
      return { path: trackerPath(view.name), notice: { tone: "current", text } };
    },
  });

  app.post("/trackers/preview", async (c) => {
    const ctx = await pageContext(c, page);
    const values = decodeForm(await readForm(c), (sent) => describeTracker(sent, null));
    return respondHtml(c, <PreviewAnswer ctx={ctx} parts={await previewForm(trackers, values)} />);
  });
}

/** The requests of its checks to the upstreams. */
function costOf(ctx: PageContext, tracker: TrackerView): string {
  const requests = tracker.sources.reduce((sum, source) => sum + source.requests_per_hour, 0);
  return texts(ctx).upstreams.saved_cost(requests);
}

/** The form with initial values for an added source or channel, unless something was refused. */
async function drawForm(
  services: Services,
  ctx: PageContext,
  tracker: TrackerView | null,
  state: FormState,
  proposal: ProposalView | null,
): Promise<string> {
  const isRefused = Object.keys(state.errors).length > 0;
  const values = isRefused ? state.values : withBeginnings(state.values);
  const fields = describeTracker(values, tracker);
  const props = {
    ...{ ctx, tracker, proposal, errors: state.errors, values, fields },
    credentials: await credentialChoices(services, ctx, { values, fields }),
    repositories: repositoryKeys(hasSources(fields) ? values : { ...tracker }),
    unknown: unknownSources(tracker),
    credential_names: await credentialNames(services, tracker),
  };
  return String(await (<TrackerFormPage {...props} />));
}
