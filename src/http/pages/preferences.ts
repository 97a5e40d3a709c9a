import { setCookie } from "hono/cookie";
import type { App } from "../context.ts";
import { isLocalPath, placeOf } from "../cookies.ts";
import { basePath } from "../paths.ts";
import type { PageSettings } from "./page-context.ts";
import { readForm } from "./read-form.ts";
import { respondDone } from "./respond.ts";

const yearSeconds = 31_536_000;

/** Language and theme: kept in the browser, because they belong to its user and not to the installation. */
export function preferencePages(app: App, page: PageSettings): void {
  app.post("/preferences", async (c) => {
    const data = await readForm(c);
    const prefix = basePath(page.settings.current().base_url);
    const cookie = { ...placeOf(c, prefix), maxAge: yearSeconds };
    const language = data.get("language");
    if (language === "en" || language === "zh") setCookie(c, "tidemark_language", language, cookie);
    const theme = data.get("theme");
    if (theme === "light" || theme === "dark" || theme === "system") setCookie(c, "tidemark_theme", theme, cookie);
    const next = data.get("next");
    const path = typeof next === "string" && isLocalPath(next) ? next : "/";
    return respondDone(c, prefix, path);
  });
}
