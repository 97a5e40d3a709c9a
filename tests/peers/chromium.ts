import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const executable = "/usr/bin/chromium";

/** Why there is no browser here, or null when there is one. */
export function chromiumMissing(): string | null {
  return existsSync(executable) ? null : `${executable} is not installed (Debian package chromium)`;
}

/** Debian's Chromium without its own traffic: it would otherwise look for updates, sync and more at every start. */
export function startChromium(extraArgs: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: executable,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...extraArgs,
    ],
  });
}
