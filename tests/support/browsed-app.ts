import type { BrowserContextOptions } from "playwright-core";
import { startChromium } from "../peers/chromium.ts";
import { goodPassword, type TestApp } from "./test-app.ts";

/** A browser in which the administrator of the application has signed in, on its overview. Needs `signedIn` before. */
export async function browsedApp(app: TestApp, options: BrowserContextOptions = {}) {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => app.app.fetch(request, { peer_address: "127.0.0.1" }),
  });
  const browser = await startChromium([`--host-resolver-rules=MAP tidemark.test:80 127.0.0.1:${server.port}`]);
  const context = await browser.newContext({ locale: "en-GB", baseURL: app.origin, ...options });
  const page = await context.newPage();
  await page.goto("/login");
  await page.fill("[name=username]", "admin");
  await page.fill("[name=password]", goodPassword);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname === "/");
  return {
    page,
    context,
    close: async () => {
      await browser.close();
      await server.stop(true);
    },
  };
}
