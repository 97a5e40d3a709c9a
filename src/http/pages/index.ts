import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { credentialPages } from "./credentials.tsx";
import type { PageSettings } from "./page-context.ts";
import { preferencePages } from "./preferences.ts";

/** Every page, one file per area. */
export function mountPages(app: App, services: Services, page: PageSettings): void {
  preferencePages(app, page);
  credentialPages(app, services, page);
}
