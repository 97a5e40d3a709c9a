import { SettingsPatch, SettingsView } from "../../settings/schema.ts";
import type { SettingsService } from "../../settings/service.ts";
import type { Route } from "./route.ts";

export function settingsRoutes(services: { settings: SettingsService }): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/settings",
      operation_id: "get_settings",
      summary: "Read the global settings",
      tag: "settings",
      access: "read",
      answer: { status: 200, description: "The settings in force", schema: SettingsView },
      perform: () => services.settings.get(),
    },
    {
      method: "PATCH",
      path: "/settings",
      operation_id: "update_settings",
      summary: "Change global settings; applied at once",
      tag: "settings",
      access: "full",
      body: SettingsPatch,
      answer: { status: 200, description: "The settings in force", schema: SettingsView },
      perform: ({ context, body }) => services.settings.update(context.get("actor"), body),
    },
  ];
}
