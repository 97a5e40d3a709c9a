import type { Services } from "../../services.ts";
import { credentialRoutes } from "./credentials.ts";
import { notifierRoutes } from "./notifiers.ts";
import type { Route } from "./route.ts";
import { settingsRoutes } from "./settings.ts";

/** Every operation of the API, in the order of the documentation. */
export function apiRoutes(services: Services): readonly Route[] {
  return [...settingsRoutes(services), ...credentialRoutes(services), ...notifierRoutes(services)];
}
