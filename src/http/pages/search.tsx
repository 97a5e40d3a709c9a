import type { PageContext } from "../../../templates/page.ts";
import {
  type Command,
  commandsAbout,
  executorCommands,
  generalCommands,
  pageCommands,
  trackerCommands,
} from "../../../templates/search/commands.ts";
import { PaletteAnswer, type PaletteGroup } from "../../../templates/search/palette.tsx";
import { type FoundCommands, SearchPage } from "../../../templates/search/search.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { trackerPath } from "../../../templates/trackers/address.ts";
import type { Services } from "../../services.ts";
import type { SearchView } from "../../stats/schema.ts";
import type { App, AppContext } from "../context.ts";
import { type PageSettings, pageContext, pathShown } from "./page-context.ts";
import { respondHtml } from "./respond.ts";

/** The form has the same limit; a longer query in the address is cut, not refused. */
const maxQueryCharacters = 100;
/** Found things whose commands the palette offers, of each kind: more would bury what was found. */
const mostWithCommands = 3;
/** Connections to adopt from. */
const mostConnections = 5;

export function searchPages(app: App, services: Services, page: PageSettings): void {
  app.get("/search", async (c) => {
    const { found, commands, general, ctx } = await foundFor(services, c, await pageContext(c, page));
    return respondHtml(c, <SearchPage ctx={ctx} found={found} commands={commands} general={general} />);
  });

  app.get("/search/palette", async (c) => {
    const asked = await pageContext(c, page);
    const ctx = { ...asked, path: pathShown(c, asked) };
    const found = await foundFor(services, c, ctx, mostWithCommands);
    return respondHtml(c, <PaletteAnswer ctx={ctx} query={queryOf(c)} groups={groupsOf(found)} />);
  });
}

function queryOf(c: AppContext): string {
  return (c.req.query("q") ?? "").slice(0, maxQueryCharacters);
}

interface Found {
  ctx: PageContext;
  found: SearchView;
  /** The words name a thing together with what to do about it. */
  is_command: boolean;
  commands: FoundCommands;
  general: readonly Command[];
}

/** Things with every word of the query; "update web" finds what can be done about "web". */
async function foundFor(
  { stats, ...services }: Services,
  c: AppContext,
  ctx: PageContext,
  withCommands?: number,
): Promise<Found> {
  const q = queryOf(c);
  const exact = await stats.search({ q });
  const { terms } = exact;
  const shorter = isNothing(exact) && terms.length > 1 ? [terms.slice(1), terms.slice(0, -1)] : [];
  const loose = await Promise.all(shorter.map((words) => stats.search({ q: words.join(" ") })));
  const found = loose.find((each) => !isNothing(each)) ?? exact;
  const is_command = found !== exact;
  const about = (all: readonly Command[]) => (is_command ? commandsAbout(all, terms) : all);
  const [executors, connections] = await Promise.all([
    services.executors.byIds(found.executors.slice(0, withCommands).map(({ id }) => id)),
    services.connections.list({ limit: mostConnections }),
  ]);
  const snapshots = await services.snapshots.latestOf(executors.map(({ id }) => id));
  const enabled = connections.items.filter((connection) => connection.is_enabled);
  return {
    ...{ ctx, found, is_command },
    commands: {
      executors: new Map(
        executors.map((each) => [each.id, about(executorCommands(ctx, each, snapshots.get(each.id) ?? null))]),
      ),
      trackers: new Map(
        found.trackers.slice(0, withCommands).map(({ name }) => [name, about(trackerCommands(ctx, name))]),
      ),
    },
    general: commandsAbout([...generalCommands(ctx, enabled), ...pageCommands(ctx)], terms),
  };
}

function isNothing({ trackers, executors, releases, runs }: SearchView): boolean {
  return trackers.length + executors.length + releases.length + runs.length === 0;
}

/** Things first, each followed by its commands; what the words name a command of, the command first. */
function groupsOf({ ctx, found, is_command, commands, general }: Found): readonly PaletteGroup[] {
  const t = texts(ctx);
  const things = {
    executors: found.executors.map(
      ({ id, name }): Command => ({ title: name, icon: "rocket", href: `/executors/${id}` }),
    ),
    trackers: found.trackers.map(({ name }): Command => ({ title: name, icon: "tag", href: trackerPath(name) })),
    releases: found.releases.map(
      ({ tracker, tag }): Command => ({ title: tag, subject: tracker, icon: "package", href: trackerPath(tracker) }),
    ),
    runs: found.runs.map(
      ({ id, executor, to }): Command => ({
        ...{ title: executor, icon: "list-checks", href: `/runs/${id}` },
        ...(to.tag === null ? {} : { subject: to.tag }),
      }),
    ),
  };
  const acts = [...commands.executors.values(), ...commands.trackers.values()].flat();
  const kinds: readonly PaletteGroup[] = [
    { title: t.common.executors, commands: things.executors },
    { title: t.common.trackers, commands: things.trackers },
  ];
  const others: readonly PaletteGroup[] = [
    { title: t.overview.search.releases, commands: things.releases },
    { title: t.common.runs, commands: things.runs },
  ];
  const about = { title: t.overview.search.commands, commands: [...acts, ...general] };
  return is_command ? [about, ...kinds, ...others] : [...kinds, about, ...others];
}
