import { mkdirSync } from "node:fs";
import { startChromium } from "../peers/chromium.ts";
import { galleryPages, startGallery } from "./server.tsx";

// Pictures of the gallery to look at: `bun tests/gallery/shots.ts DIRECTORY [PATH…]`.
const [directory = "", ...wanted] = process.argv.slice(2);
if (directory === "") throw new Error("Say where to put the pictures: bun tests/gallery/shots.ts DIRECTORY");
mkdirSync(directory, { recursive: true });
const looks = [
  { width: 1280, theme: "light", lang: "en" },
  { width: 1280, theme: "dark", lang: "en" },
  { width: 390, theme: "light", lang: "en" },
  { width: 390, theme: "dark", lang: "zh" },
  { width: 1600, theme: "light", lang: "zh" },
];
const gallery = startGallery();
const browser = await startChromium();
for (const look of looks) {
  const page = await browser.newPage({ viewport: { width: look.width, height: look.width === 390 ? 844 : 900 } });
  page.on("console", (message) => console.log(look.width, message.text()));
  for (const path of wanted.length > 0 ? wanted : Object.keys(galleryPages)) {
    await page.goto(`${gallery.origin}${path}?lang=${look.lang}&theme=${look.theme}`);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    if (overflow > 0) console.log(`${path} at ${look.width}: ${overflow} px too wide`);
    const name = path.slice(1).replaceAll("/", "-");
    await page.screenshot({
      path: `${directory}/${name}-${look.width}-${look.theme}-${look.lang}.png`,
      fullPage: true,
    });
  }
  await page.close();
}
await browser.close();
gallery.stop();
