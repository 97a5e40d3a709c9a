import type { Page } from "playwright-core";

/** Opens every fold of the page's form, as somebody does who wants more than the defaults. */
export async function openFolds(page: Page): Promise<void> {
  await page.locator("details.advanced").evaluateAll((folds) => {
    for (const fold of folds) if (fold instanceof HTMLDetailsElement) fold.open = true;
  });
}
