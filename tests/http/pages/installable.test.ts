import { expect, test } from "bun:test";
import { testApp } from "../../support/test-app.ts";

interface Manifest {
  start_url: string;
  scope: string;
  icons: { src: string; sizes: string; type: string; purpose: string }[];
}

test("the manifest names icons of the sizes it says, below the base path, for anybody", async () => {
  const app = await testApp({ env: { BASE_URL: "https://tidemark.example/ops" } });
  const page = await app.browser().get("/login");
  expect(page.text).toContain('<link rel="manifest" href="/ops/manifest.webmanifest"/>');
  const answer = await app.send("/ops/manifest.webmanifest");
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/manifest+json"]);
  const manifest = (await answer.json()) as Manifest;
  expect([manifest.start_url, manifest.scope]).toEqual(["/ops/", "/ops/"]);
  expect(manifest.icons.map(({ purpose }) => purpose)).toContain("maskable");
  for (const icon of manifest.icons) {
    const file = await app.send(icon.src);
    expect([file.status, file.headers.get("content-type")]).toEqual([200, icon.type]);
    if (icon.type !== "image/png") continue;
    const header = Buffer.from(await file.arrayBuffer());
    expect(`${header.readUInt32BE(16)}x${header.readUInt32BE(20)}`).toBe(icon.sizes);
  }
  await app.close();
});
