import type { Page } from "playwright-core";
import type { IdentityAccount, IdentityProvider } from "../peers/identity.ts";

/** How each provider's own pages ask. */
const forms: Readonly<Record<IdentityProvider["name"], { login: string; password: string; consent: string }>> = {
  "oidc-provider": { login: "[name=login]", password: "[name=password]", consent: "button.login-submit" },
  dex: { login: "#login", password: "#password", consent: "button.theme-btn--success" },
  gitea: { login: "[name=user_name]", password: "[name=password]", consent: "#authorize-app" },
};
/** A sign-in and a consent, and one page to spare. */
const maximumPages = 3;
const limitMs = 60_000;

/**
 * Does at the provider what a person does: signs in where it asks, agrees where it asks, until the browser is back at `home`. A
 * provider that knows the browser already asks for less.
 */
export async function passProvider(
  page: Page,
  provider: IdentityProvider,
  person: IdentityAccount,
  home: string,
): Promise<void> {
  const form = forms[provider.name];
  for (let count = 0; count < maximumPages; count += 1) {
    // Ours have the mark of the product; a page of the provider has one of its forms.
    const known = [form.login, form.consent, ".brand"].join(", ");
    await page.locator(known).first().waitFor({ timeout: limitMs, state: "attached" });
    const before = page.url();
    if (before.startsWith(home)) return;
    if ((await page.locator(form.login).count()) > 0) {
      await page.fill(form.login, person.login);
      await page.fill(form.password, person.password);
      await page.press(form.password, "Enter");
    } else {
      await page.click(form.consent);
    }
    await page.waitForURL((url) => url.href !== before, { timeout: limitMs });
  }
  if (!page.url().startsWith(home)) throw new Error(`${provider.name} did not lead back; it shows ${page.url()}`);
}
