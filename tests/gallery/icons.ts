import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startChromium } from "../peers/chromium.ts";

// Draws the application's icons from `public/icon.svg`: `bun tests/gallery/icons.ts`, whenever that changes.
const folder = join(import.meta.dir, "../../public");
const mark = readFileSync(join(folder, "icon.svg"), "utf8");
/** Systems that cut icons to a shape of their own get the ground to the edge, and the mark within the part that none of them cuts. */
const bled = mark.replace(' rx="7"', "");
const masked = bled.replace(/<g id="mark"/, '<g transform="translate(4.8 4.8) scale(0.7)"');
const pictures = [
  ["icon-180.png", 180, bled],
  ["icon-192.png", 192, mark],
  ["icon-512.png", 512, mark],
  ["icon-maskable-512.png", 512, masked],
] as const;

const browser = await startChromium();
for (const [name, size, svg] of pictures) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  const source = `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
  await page.setContent(
    `<style>body{margin:0}img{display:block;width:100vw;height:100vh}</style><img src="${source}">`,
  );
  await page.locator("img").evaluate((image) => (image as HTMLImageElement).decode());
  await page.screenshot({ path: join(folder, name), omitBackground: true });
  await page.close();
}
await browser.close();
