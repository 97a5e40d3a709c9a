/** What a user agent reports, in plain words; null for what it leaves out. */
export interface BrowserView {
  /** "Firefox 128", "Chrome 126", "curl 8.5". */
  browser: string | null;
  /** "Windows", "macOS", "Android". */
  system: string | null;
}

// Most browsers also name their ancestors, so the specific ones come first.
const browsers: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["Edge", /\b(?:Edg|EdgA|EdgiOS|Edge)\/(\d{1,4})/],
  ["Opera", /\b(?:OPR|OPiOS)\/(\d{1,4})/],
  ["Vivaldi", /\bVivaldi\/(\d{1,4})/],
  ["Samsung Internet", /\bSamsungBrowser\/(\d{1,4})/],
  ["Firefox", /\b(?:Firefox|FxiOS)\/(\d{1,4})/],
  ["Chrome", /\b(?:HeadlessChrome|CriOS|Chrome)\/(\d{1,4})/],
  ["Chromium", /\bChromium\/(\d{1,4})/],
  ["Safari", /\bVersion\/(\d{1,4})[\d.]* (?:Mobile\/\w{1,10} )?Safari\//],
];

const systems: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["Android", /\bAndroid\b/],
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Windows", /\bWindows NT\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["macOS", /\bMac OS X\b|\bMacintosh\b/],
  ["Linux", /\bLinux\b|\bX11\b/],
];

// Programs put their own name first: "curl/8.5.0", "python-requests/2.32.3".
const program = /^([A-Za-z][\w.-]{0,39})\/(\d{1,4}(?:\.\d{1,4})?)/;

/** A guess for people, never for a decision: clients choose this text freely. */
export function describeBrowser(userAgent: string | null): BrowserView {
  const text = (userAgent ?? "").slice(0, 300);
  for (const [name, pattern] of browsers) {
    const found = pattern.exec(text);
    if (found !== null) return { browser: `${name} ${found[1]}`, system: systemOf(text) };
  }
  const found = text.startsWith("Mozilla/") ? null : program.exec(text);
  return { browser: found === null ? null : `${found[1]} ${found[2]}`, system: systemOf(text) };
}

function systemOf(text: string): string | null {
  return systems.find(([, pattern]) => pattern.test(text))?.[0] ?? null;
}
