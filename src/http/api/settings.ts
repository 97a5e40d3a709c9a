import type { Services } from "../../services.ts";
import { SettingsPatch, SettingsView } from "../../settings/schema.ts";
import { type Route, routesOf } from "./route.ts";

export function settingsRoutes({ settings }: Pick<Services, "settings">): readonly Route[] {
  const route = routesOf("settings");
  return [
    route("GET", "/settings", {
      operation_id: "get_settings",
      summary: "Get the global settings",
      answer: { status: 200, description: "The current settings", schema: SettingsView },
      perform: () => settings.get(),
    }),
    route("PATCH", "/settings", {
      operation_id: "update_settings",
      summary: "Change global settings; they take effect immediately",
      body: SettingsPatch,
      answer: { status: 200, description: "The current settings", schema: SettingsView },
      perform: ({ context, body }) => settings.update(context.get("actor"), body),
    }),
  ];
}
