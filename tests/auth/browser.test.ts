import { expect, test } from "bun:test";
import { describeBrowser } from "../../src/auth/browser.ts";

const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
const cases: [string | null, string | null, string | null][] = [
  [null, null, null],
  ["", null, null],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox 128", "Linux"],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/126.0.0.0 Safari/537.36`, "Chrome 126", "Windows"],
  [`Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.2592.68`, "Edge 126", "Windows"],
  [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/125.0.0.0 Safari/537.36 OPR/111.0`, "Opera 111", "Linux"],
  [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} HeadlessChrome/140.0.0.0 Safari/537.36`, "Chrome 140", "Linux"],
  [
    `Mozilla/5.0 (Linux; Android 14; SM-S911B) ${webkit} SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36`,
    "Samsung Internet 25",
    "Android",
  ],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
    "Safari 17",
    "macOS",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
    "Safari 17",
    "iPhone",
  ],
  [
    "Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/126.0 Mobile/15E148 Safari/604.1",
    "Chrome 126",
    "iPad",
  ],
  ["curl/8.5.0", "curl 8.5", null],
  ["python-requests/2.32.3", "python-requests 2.32", null],
  ["Mozilla/5.0", null, null],
  ["<script>alert(1)</script>", null, null],
  ["' or 1=1 --/3", null, null],
  [`Firefox/${"9".repeat(500)}`, "Firefox 9999", null],
];
test.each(cases)("describeBrowser() of %p is %p on %p", (agent, browser, system) => {
  expect(describeBrowser(agent)).toEqual({ browser, system });
});
