import * as v from "valibot";
import type { Actor } from "../auth/schema.ts";
import { storedBaseUrl } from "../base-url.ts";
import type { Reader } from "../db/client.ts";
import { invalidInput } from "../errors.ts";
import { parseInput } from "../forms/issues.ts";
import { say } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import { storedSettings, storeSetting } from "./queries.ts";
import { defaultSettings, type SettingName, Settings, SettingsPatch, type SettingsView } from "./schema.ts";

interface SettingsServiceOptions extends Pick<Parts, "db" | "clock" | "log" | "audit"> {
  /** From the environment, which wins; null when not set there. */
  environment: { base_url: string | null; log_level: Settings["log_level"] | null };
  /** Called after each change and once at start, so that settings apply without a restart. */
  onChange: (settings: Settings) => void;
}

/** The global settings, cached after the first read; changes by other processes arrive with `refresh`. */
export async function settingsService(options: SettingsServiceOptions) {
  const { db, clock, log, audit, environment } = options;
  /** Stored values that were ignored, so that each is logged once. */
  const passedOver = new Map<string, unknown>();
  const settingsOf = (stored: Readonly<Record<string, unknown>>): Settings => {
    const result: Record<string, unknown> = { ...defaultSettings };
    for (const [name, schema] of Object.entries(Settings.entries)) {
      // A value stored by an older version that is no longer valid falls back to the default and never stops the start.
      const value = stored[name];
      const parsed = v.safeParse(schema, name === "base_url" ? (storedBaseUrl(value) ?? value) : value);
      if (parsed.success) result[name] = parsed.output;
      else if (name in stored && passedOver.get(name) !== value) {
        passedOver.set(name, value);
        log.warning("A stored setting cannot be used, so its default applies; save it again", { name, value });
      }
    }
    for (const [name, value] of Object.entries(environment)) if (value !== null) result[name] = value;
    return v.parse(Settings, result);
  };
  let loaded: { text: string; settings: Settings } | null = null;
  /** The same object until something is stored: this runs every second. */
  const load = async (read: Reader): Promise<Settings> => {
    const stored = await storedSettings(read);
    const text = JSON.stringify(stored);
    if (loaded?.text !== text) loaded = { text, settings: settingsOf(stored) };
    return loaded.settings;
  };
  let current = await load(db.read);
  options.onChange(current);

  const apply = async (): Promise<void> => {
    const found = await load(db.read);
    if (found === current) return;
    current = found;
    options.onChange(current);
  };
  const overridden = (["base_url", "log_level"] as const).filter((name) => environment[name] !== null);
  const view = (): SettingsView => ({ ...current, from_environment: [...overridden] });

  return {
    /** The effective values, from memory. */
    current: (): Settings => current,
    /** The stored values as a transaction sees them: code that removes data must take its limit from here, never from memory. */
    within: (read: Reader): Promise<Settings> => load(read),
    get: async (): Promise<SettingsView> => view(),
    refresh: apply,

    update: async (actor: Actor, input: unknown): Promise<SettingsView> => {
      const patch = parseInput(SettingsPatch, input);
      const names = Object.keys(Settings.entries).filter((name): name is SettingName => name in patch);
      for (const name of overridden) {
        if (patch[name] !== undefined && patch[name] !== current[name]) {
          throw invalidInput({ [name]: say("settings.set_by_environment", { variable: name.toUpperCase() }) });
        }
      }
      const now = clock.now();
      await db.write(async (tx) => {
        for (const name of names) {
          if (overridden.some((item) => item === name)) continue;
          await storeSetting(tx, name, patch[name], now);
        }
        await audit(tx, actor, { event: "settings_updated", outcome: "ok", detail: { fields: names } });
      });
      await apply();
      return view();
    },
  };
}
