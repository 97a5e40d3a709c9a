import {
  EncryptionRotatedPage,
  type KeyName,
  RotationPage,
  SecurityKeysPage,
  SessionRotatedPage,
} from "../../../templates/settings/keys.tsx";
import { AppError } from "../../errors.ts";
import { CorruptSecretError } from "../../keys/schema.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import { requireSession } from "../current-session.ts";
import { clearSessionCookie } from "../session-cookie.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import { respondHtml } from "./respond.ts";

/** Both keys, and their rotation. */
export function securityKeyPages(app: App, services: Services, page: PageSettings): void {
  const { security_keys, baseUrl } = services;

  app.get("/settings/keys", async (c) => {
    const ctx = await pageContext(c, page);
    return respondHtml(c, <SecurityKeysPage ctx={ctx} keys={await security_keys.get()} />);
  });

  const question = async (c: AppContext, name: KeyName, error: AppError | null) => {
    const ctx = await pageContext(c, page);
    const view = (await security_keys.get())[name];
    const unreadable = error instanceof CorruptSecretError ? error.places : [];
    const errors = error === null || unreadable.length > 0 ? {} : (error.field_messages ?? { body: error.said });
    if (error?.retry_after_seconds !== undefined) c.header("Retry-After", String(Math.ceil(error.retry_after_seconds)));
    return respondHtml(c, <RotationPage {...{ ctx, name, view, errors, unreadable }} />, error?.status ?? 200);
  };

  /** Performs it and shows the result; it cannot be asked again. A refusal returns to the question. */
  const answer = async (c: AppContext, name: KeyName, perform: (input: unknown) => Promise<Response>) => {
    const input = { current_password: formText(await readForm(c), "current_password") };
    try {
      return await perform(input);
    } catch (error) {
      const isShown = error instanceof AppError && [409, 422, 429, 507].includes(error.status);
      if (!isShown) throw error;
      return await question(c, name, error);
    }
  };

  for (const name of ["session", "encryption"] as const) {
    app.get(`/settings/keys/${name}`, (c) => question(c, name, null));
  }

  app.post("/settings/keys/session", (c) =>
    answer(c, "session", async (input) => {
      const ctx = await pageContext(c, page);
      const done = await security_keys.rotateSessionKey(c.get("actor"), requireSession(c), input);
      clearSessionCookie(c, baseUrl);
      return respondHtml(c, <SessionRotatedPage ctx={{ ...ctx, user: null }} done={done} />);
    }),
  );

  app.post("/settings/keys/encryption", (c) =>
    answer(c, "encryption", async (input) => {
      const done = await security_keys.rotateEncryptionKey(c.get("actor"), requireSession(c), input);
      const ctx = await pageContext(c, page);
      return respondHtml(c, <EncryptionRotatedPage ctx={ctx} done={done} />);
    }),
  );
}
