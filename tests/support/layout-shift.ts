import type { Page } from "playwright-core";

declare global {
  /** Filled by the page from its first moment on. */
  var layoutShifts: { value: number; moved: readonly string[] }[];
}

/** Notes for every page from now on what moves by itself while it loads and refreshes. */
export async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    globalThis.layoutShifts = [];
    type Shift = PerformanceEntry & { value: number; hadRecentInput: boolean; sources: { node: Node | null }[] };
    const name = (node: Node | null) =>
      node instanceof Element ? `${node.localName}#${node.id}.${node.className}` : "";
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries() as Shift[]) {
        if (!hadRecentInput) globalThis.layoutShifts.push({ value, moved: sources.map(({ node }) => name(node)) });
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
}

/** The cumulative layout shift of the page so far, with what moved, and begins anew. */
export async function takeShift(page: Page): Promise<{ value: number; moved: readonly string[] }> {
  const shifts = await page.evaluate(() => globalThis.layoutShifts.splice(0));
  return {
    value: shifts.reduce((sum, { value }) => sum + value, 0),
    moved: shifts.flatMap(({ value, moved }) => moved.map((each) => `${each} (${value.toFixed(3)})`)),
  };
}
