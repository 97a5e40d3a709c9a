import type { App } from "../context.ts";
import { basePath } from "../paths.ts";
import type { PageSettings } from "./page-context.ts";

/** What a browser needs to install Tidemark as an application. Public, and the same for everybody. */
export function installablePages(app: App, page: PageSettings): void {
  app.get("/manifest.webmanifest", (c) => {
    const prefix = basePath(page.settings.current().base_url);
    const icon = (name: string, sizes: string, type: string, purpose = "any") => ({
      ...{ src: prefix + page.assets.path(name), sizes, type, purpose },
    });
    const manifest = {
      ...{ id: `${prefix}/`, name: "Tidemark", short_name: "Tidemark", start_url: `${prefix}/`, scope: `${prefix}/` },
      ...{ display: "standalone", background_color: "#f7f8f7", theme_color: "#f7f8f7" },
      icons: [
        icon("icon.svg", "any", "image/svg+xml"),
        icon("icon-192.png", "192x192", "image/png"),
        icon("icon-512.png", "512x512", "image/png"),
        icon("icon-maskable-512.png", "512x512", "image/png", "maskable"),
      ],
    };
    return c.body(JSON.stringify(manifest), 200, { "Content-Type": "application/manifest+json" });
  });
}
