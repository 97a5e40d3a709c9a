/** What a user agent says of itself, in the product's own words; null for what it does not say. */
export interface BrowserView {
  /** "Firefox 128", "Chrome 126", "curl 8.5". */
  browser: string | null;
  /** "Windows", "macOS", "Android". */
  system: string | null;
}

// In the order of telling: most browsers name their ancestors too, so that the particular ones come first.
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

// A program's own name stands first: "curl/8.5.0", "python-requests/2.32.3".
const program = /^([A-Za-z][\w.-]{0,39})\/(\d{1,4}(?:\.\d{1,4})?)/;

/** A guess for people, never for a decision: whoever asks writes this text as he likes. */
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
