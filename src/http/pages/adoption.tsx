import { AdoptPage } from "../../../templates/adoption/adopt.tsx";
import { countAnswered, NewestCells, NewestPoll } from "../../../templates/adoption/newest.tsx";
import { type AdoptPageProps, adoptPath } from "../../../templates/adoption/props.ts";
import { AdoptedPage } from "../../../templates/adoption/result.tsx";
import { shownAtFirst } from "../../../templates/connections/targets.tsx";
import { partsOf, type QueryChanges, url, withQuery } from "../../../templates/page.ts";
import { texts } from "../../../templates/texts/texts.ts";
import { AppError, reasonOf } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import type { StoredNotice } from "../cookies.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import { isFragmentRequest, orFailure, respondDone, respondHtml } from "./respond.ts";

/** Of the entries for 1,000 targets, whether or not a filter shows them. */
const maxFields = 10_000;

/** What runs behind a connection, adopted many at a time; see `src/adoption/`. */
export function adoptionPages(app: App, services: Services, page: PageSettings): void {
  const { adoption, connections, credentials } = services;

  /** `entered`: a form that also has filters, those of the page. */
  const propsOf = async (c: AppContext, isKnown: boolean, entered: FormData | null = null): Promise<AdoptPageProps> => {
    const requested = await pageContext(c, page);
    const ctx = { ...requested, path: withQuery(requested.path, filtersIn(entered)) };
    const { query: filters } = partsOf(ctx.path);
    const connection = await connections.get(c.req.param("id") ?? "");
    const [search, namespace] = [filters.get("search") ?? "", filters.get("namespace")];
    const limit = filters.get("show") === "all" ? {} : { limit: shownAtFirst };
    const query = { search, ...(namespace === null ? {} : { namespace }), ...limit };
    const known = isKnown ? await adoption.remembered(connection.id, query) : null;
    const discover = async () => ({ list: await adoption.proposals(connection.id, query, c.req.raw.signal) });
    const found = known !== null ? { list: known } : connection.is_enabled ? await orFailure(discover) : null;
    const { items } = await credentials.list({ kind: "oci", limit: 100 });
    return {
      ...{ ctx, connection, found, credentials: items, entered },
      filters: { search, namespace, is_none_chosen: filters.get("select") === "none" },
    };
  };

  /** The only connection's page; with several, the list to choose from. */
  app.get("/adopt", async (c) => {
    const ctx = await pageContext(c, page);
    const { items } = await connections.list({ limit: 2 });
    const [only, other] = items;
    const path = only === undefined || other !== undefined ? "/connections" : adoptPath(only.id);
    return respondDone(c, ctx.base_path, path);
  });

  app.get("/connections/:id/adopt", async (c) => {
    // A filter changes while somebody types: the engine is not asked for each letter.
    const props = await propsOf(c, isFragmentRequest(c));
    return respondHtml(c, <AdoptPage {...props} />);
  });

  app.get("/connections/:id/adopt/newest", async (c) => {
    const { ctx, found } = await propsOf(c, true);
    if (found === null || !("list" in found)) return respondHtml(c, "");
    const { list } = found;
    const isNew = String(countAnswered(list)) !== c.req.query("seen");
    return respondHtml(
      c,
      <>
        <NewestPoll ctx={ctx} list={list} />
        {isNew ? <NewestCells ctx={ctx} list={list} /> : null}
      </>,
    );
  });

  app.post("/connections/:id/adopt", async (c) => {
    const form = await readForm(c, maxFields);
    const actor = c.get("actor");
    const id = c.req.param("id");
    const targets = chosenIn(form);
    const again = async (status: number, error?: Message) => {
      const props = await propsOf(c, true, form);
      if (status === 200) c.header("HX-Push-Url", url(props.ctx, props.ctx.path));
      return respondHtml(c, <AdoptPage {...props} error={error} />, status);
    };
    if (formText(form, "_action") === "show") return await again(200);
    if (targets.length === 0) return await again(422, say("adoption.none_chosen"));
    const ctx = await pageContext(c, page);
    if (formText(form, "_action") === "ignore") {
      await adoption.ignore(actor, id, { targets: targets.map(({ kind, id: target }) => ({ kind, id: target })) });
      const notice: StoredNotice = { tone: "current", text: texts(ctx).adoption.ignored_now(targets.length) };
      return respondDone(c, ctx.base_path, adoptPath(id), notice);
    }
    const connection = await connections.get(id);
    const adopt = async () => ({ result: await adoption.adopt(actor, id, inputOf(form, targets), c.req.raw.signal) });
    try {
      const adopted = await orFailure(adopt);
      if ("result" in adopted) {
        return respondHtml(c, <AdoptedPage ctx={ctx} connection={connection} result={adopted.result} />);
      }
      // With any status but 422, the page would also report a failed request beside the reason.
      return await again(isFragmentRequest(c) ? 422 : 424, adopted.failure);
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 422) throw error;
      return await again(422, reasonOf(error));
    }
  });

  app.post("/connections/:id/ignored-targets/:ignored/delete", async (c) => {
    const ctx = await pageContext(c, page);
    const id = c.req.param("id");
    const { items } = await adoption.ignored(id);
    const name = items.find((item) => item.id === c.req.param("ignored"))?.name ?? "";
    await adoption.unignore(c.get("actor"), id, c.req.param("ignored"));
    const notice: StoredNotice = { tone: "current", text: texts(ctx).adoption.unignored(name) };
    return respondDone(c, ctx.base_path, adoptPath(id), notice);
  });
}

interface ChosenTarget {
  hash: string;
  kind: string;
  id: string;
}

/** What filters the list, where a form has it. */
function filtersIn(form: FormData | null): QueryChanges {
  const names = ["search", "namespace", "show", "select"];
  return Object.fromEntries(
    [...(form ?? [])].flatMap(([name, value]) => (names.includes(name) ? [[name, String(value)]] : [])),
  );
}

/** `hash kind id`: an id may contain spaces. */
function chosenIn(form: FormData): ChosenTarget[] {
  return form.getAll("chosen").flatMap((value) => {
    const [, hash = "", kind = "", id = ""] = /^(\S+) (\S+) (.+)$/s.exec(String(value)) ?? [];
    return id === "" ? [] : [{ hash, kind, id }];
  });
}

/** What was chosen, as the API takes it. */
function inputOf(form: FormData, targets: readonly ChosenTarget[]) {
  const given = (name: string, field: string) => {
    const value = formText(form, field).trim();
    return value === "" ? {} : { [name]: value };
  };
  const ticked = (name: string) => new Set(form.getAll(name).map(String));
  const [byVersion, repositories] = [ticked("by_version"), ticked("repository")];
  const named = (prefix: string) =>
    [...new Set(form.keys())].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
  return {
    ...given("trigger", "trigger"),
    targets: targets.map((target) => ({
      ...target,
      ...given("name", `executor.${target.hash}`),
      ...given("trigger", `trigger.${target.hash}`),
      lines: named(`line.${target.hash}.`).flatMap((service) => {
        const line = formText(form, `line.${target.hash}.${service}`);
        return line === "" ? [] : [{ service, line }];
      }),
    })),
    trackers: named("tracker.").map((key) => ({
      key,
      ...given("name", `tracker.${key}`),
      by_version: byVersion.has(key),
      follow_repository: repositories.has(key),
    })),
    credentials: named("credential.").flatMap((registry) => {
      const credential_id = formText(form, `credential.${registry}`);
      return credential_id === "" ? [] : [{ registry, credential_id }];
    }),
  };
}
