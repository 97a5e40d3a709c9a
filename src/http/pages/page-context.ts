import { getCookie } from "hono/cookie";
import type { Language, Notice, PageContext, Theme } from "../../../templates/page.ts";
import type { AppContext } from "../context.ts";
import { isLocalPath, readNotice } from "../cookies.ts";
import { basePath, belowBasePath } from "../paths.ts";
import { isFragmentRequest } from "./respond.ts";
import type { Away } from "./stand-ins.tsx";

/** What pages need besides the services. */
export interface PageSettings {
  assets: { path(name: string): string };
  away: Away;
  clock: { now(): number };
  settings: { current(): { timezone: string; base_url: string } };
  /** Tidemark's version. */
  version: string;
  /** The OpenAPI document, for the documentation. */
  openapi(requestUrl: string): Readonly<Record<string, unknown>>;
  /** Numbers of the navigation and the status line, for a signed-in administrator. */
  status(language: Language): Promise<Pick<PageContext, "counts" | "status">>;
}

/** The browser's language, unless the administrator chose one; English when neither is supported. */
export function languageOf(c: AppContext): Language {
  const chosen = getCookie(c, "tidemark_language");
  if (chosen === "en" || chosen === "zh") return chosen;
  const accepted = (c.req.header("accept-language") ?? "")
    .slice(0, 200)
    .split(",")
    .map((part) => {
      const [tag = "", ...parameters] = part.trim().toLowerCase().split(";");
      const quality = parameters.map((text) => text.trim()).find((text) => text.startsWith("q="));
      const weight = quality === undefined ? 1 : Number(quality.slice(2));
      return { language: tag.split("-")[0], weight: Number.isNaN(weight) ? 0 : weight };
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight);
  for (const { language } of accepted) if (language === "en" || language === "zh") return language;
  return "en";
}

export function themeOf(c: AppContext): Theme {
  const chosen = getCookie(c, "tidemark_theme");
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

/** The page that asks for a fragment: what it changes returns there. */
export function pathShown(c: AppContext, { base_path }: PageContext): string {
  const address = c.req.header("hx-current-url") ?? "";
  if (!URL.canParse(address)) return "/";
  const { pathname, search } = new URL(address);
  const path = belowBasePath(pathname, base_path) + search;
  return isLocalPath(path) ? path : "/";
}

/** What every template gets for this request. */
export async function pageContext(c: AppContext, page: PageSettings): Promise<PageContext> {
  // Missing when the request failed before the session was read.
  const session = c.get("session") ?? null;
  const current = page.settings.current();
  const prefix = basePath(current.base_url);
  const { pathname, search } = new URL(c.req.url);
  const path = belowBasePath(pathname, prefix);
  const notice: Notice | null = readNotice(c, prefix);
  const [language, theme] = [languageOf(c), themeOf(c)];
  const status = session === null || session.is_password_change_required ? {} : await page.status(language);
  return {
    language,
    theme,
    time_zone: current.timezone,
    now: page.clock.now(),
    base_path: prefix,
    user: session === null ? null : { name: session.username },
    csrf_token: c.get("csrf_token") ?? "",
    path: isLocalPath(path) ? `${path}${search}` : "/",
    assets: (name) => prefix + page.assets.path(name),
    away: page.away.namedBy(language, theme, prefix),
    notices: notice === null ? [] : [notice],
    is_fragment: isFragmentRequest(c),
    ...status,
  };
}
