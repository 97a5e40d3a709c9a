import { SettingsPage } from "../../../templates/settings/settings.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { invalidInput } from "../../errors.ts";
import { fields, valuesOf } from "../../forms/fields.ts";
import { parseInput } from "../../forms/issues.ts";
import { say } from "../../messages/message.ts";
import type { Services } from "../../services.ts";
import { Settings, SettingsPatch, type SettingsView } from "../../settings/schema.ts";
import type { App, AppContext } from "../context.ts";
import { requireSession } from "../current-session.ts";
import { basePath } from "../paths.ts";
import { readSessionCookie, writeSessionCookie } from "../session-cookie.ts";
import { type FormState, submitForm, withMark } from "./form-page.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import { respondHtml } from "./respond.ts";

/** Every zone this runtime knows, plus the current one and "UTC", which the standard's list omits. */
function timeZones(current: string): readonly string[] {
  return [...new Set(["UTC", current, ...Intl.supportedValuesOf("timeZone")])].toSorted();
}

/** The request's address when it is not the base URL's host. Ignores the scheme: a proxy that terminates TLS uses http to reach us. */
function otherAddress(baseUrl: string, requestUrl: string): string | null {
  const { host, origin } = new URL(requestUrl);
  return baseUrl === "" || new URL(baseUrl).host === host ? null : origin;
}

/**
 * The browser's address when a new base URL differs from it: forms and cookies then belong to the base URL, and a mistyped one would lock
 * its author out. Null when no question is needed.
 */
function otherOrigin(current: string, wanted: unknown, origin: string | undefined): string | null {
  if (typeof wanted !== "string" || wanted === current || !URL.canParse(wanted)) return null;
  if (origin === undefined || !URL.canParse(origin)) return null;
  return new URL(wanted).origin === origin ? null : origin;
}

function openedForm(current: SettingsView): FormState {
  const described = fields(Settings, valuesOf(current));
  return { fields: described, values: withMark(described, valuesOf(current)), errors: {} };
}

export function settingsPages(app: App, services: Services, page: PageSettings): void {
  const { settings } = services;
  const questionOf = (c: AppContext, wanted: unknown) =>
    otherOrigin(settings.current().base_url, wanted, c.req.header("origin"));

  const settingsPage = async (c: AppContext, state: FormState | null) => {
    const ctx = await pageContext(c, page);
    const current = await settings.get();
    const form = state ?? openedForm(current);
    const about = { version: page.version, ...services.places, is_ready: await services.isReady() };
    return (
      <SettingsPage
        ctx={ctx}
        settings={current}
        {...form}
        asks_about_base_url={state !== null && questionOf(c, state.values.base_url) !== null}
        other_address={otherAddress(current.base_url, c.req.url)}
        address_in_use={new URL(c.req.url).origin}
        time_zones={timeZones(current.timezone)}
        about={about}
      />
    );
  };

  app.get("/settings", async (c) => respondHtml(c, await settingsPage(c, null)));

  app.post("/settings", async (c) => {
    return await submitForm(c, {
      // Read after the change: another base URL has another path.
      get base_path() {
        return basePath(settings.current().base_url);
      },
      describe: (values) => fields(Settings, values),
      render: (state) => settingsPage(c, state),
      current: async () => valuesOf(await settings.get()),
      save: async (input) => {
        // Validated first: a value that would be refused needs no question.
        const asked = questionOf(c, parseInput(SettingsPatch, input).base_url);
        if (asked !== null && formText(await readForm(c), "_confirm_base_url") !== "on") {
          throw invalidInput({ base_url: say("settings.base_url_elsewhere", { address: asked }) });
        }
        const token = readSessionCookie(c, services.baseUrl);
        await settings.update(c.get("actor"), { base_url: "", ...input });
        // The base URL decides the cookie's name and place: this sign-in moves with it.
        const seconds = Math.floor((requireSession(c).expires_at - services.clock.now()) / 1000);
        if (token !== null) writeSessionCookie(c, services.baseUrl, token, seconds);
        const ctx = await pageContext(c, page);
        return { path: "/settings", notice: { tone: "current", text: texts(ctx).settings.saved } };
      },
    });
  });
}
