import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Without the windows of the whole browser, which take half of the processor's time; the engine is the same. */
const shell = "/usr/lib/chromium/chromium-headless-shell";
const executable = existsSync(shell) ? shell : "/usr/bin/chromium";

/** Why there is no browser here, or null when there is one. */
export function chromiumMissing(): string | null {
  return existsSync(executable) ? null : `${shell} is not installed (Debian package chromium-headless-shell)`;
}

/**
 * The shell's network has to be a process of its own, as the browser's is: otherwise all requests are dropped whenever a network interface
 * comes or goes, as those of containers do. The others are what Playwright disables, since Chromium only knows the last list.
 */
const disabled = [
  "NetworkServiceInProcess2",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
];

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
      `--disable-features=${disabled.join()}`,
      ...extraArgs,
    ],
  });
}
