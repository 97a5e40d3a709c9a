import type { Budget } from "../../../templates/overview/aside.tsx";
import { OverviewPage, type OverviewProps, OverviewRefresh } from "../../../templates/overview/overview.tsx";
import type { PageContext } from "../../../templates/page.ts";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { isFragmentRequest, renewForms, respondHtml } from "./respond.ts";

const shownEvents = 20;
const shownBudgets = 5;

/** The start page; for htmx it returns its current content. */
export function overviewPages(app: App, services: Services, page: PageSettings): void {
  app.get("/", async (c) => {
    const props = await overviewProps(services, page, () => pageContext(c, page));
    if (!isFragmentRequest(c)) return respondHtml(c, <OverviewPage {...props} />);
    renewForms(c);
    return respondHtml(c, <OverviewRefresh {...props} />);
  });
}

export async function overviewProps(
  services: Services,
  page: PageSettings,
  context: () => Promise<PageContext>,
): Promise<OverviewProps> {
  // First, so that the numbers in the navigation match this page.
  const stats = await services.stats.get();
  const failed = [...stats.bad_runs, ...stats.shared_failures.flatMap(({ runs }) => runs)];
  const [ctx, events, budgets, snapshots, unadopted] = await Promise.all([
    context(),
    services.notifications.listEvents({ limit: shownEvents }),
    budgetsOf(services, page.clock.now()),
    services.snapshots.latestOf(failed.map(({ executor_id }) => executor_id)),
    services.adoption.unadopted(),
  ]);
  return { ctx, stats, events: events.items, budgets, snapshots, unadopted };
}

/** Hosts with a current rate limit, the scarcest first. */
async function budgetsOf(services: Services, now: number): Promise<readonly Budget[]> {
  const isBlocked = (rate: { blocked_until: number | null }) => rate.blocked_until !== null && rate.blocked_until > now;
  const inForce = services
    .rates()
    .filter((rate) => isBlocked(rate) || (rate.limit !== null && rate.limit > 0 && (rate.reset_at ?? now) >= now));
  if (inForce.length === 0) return [];
  const { items } = await services.credentials.list({ limit: "100" });
  const names = new Map(items.map(({ id, name }) => [id, name]));
  const left = (budget: Budget) =>
    budget.limit === null || budget.remaining === null ? 0 : budget.remaining / budget.limit;
  return inForce
    .map(({ host, credential_id, limit, remaining, reset_at, blocked_until }) => ({
      host,
      credential: credential_id === null ? null : (names.get(credential_id) ?? credential_id),
      limit,
      remaining,
      reset_at,
      blocked_until,
    }))
    .toSorted((a, b) => left(a) - left(b))
    .slice(0, shownBudgets);
}
