import type { Child } from "hono/jsx";
import { say } from "../../src/messages/message.ts";
import { Button, Csrf } from "../components/button.tsx";
import { OwnCommand } from "../components/code.tsx";
import { Icon } from "../components/icon.tsx";
import { formatWait } from "../format.ts";
import { BareLayout } from "../layout.tsx";
import { type PageContext, url } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { type Texts, texts } from "../texts/texts.ts";
import { PasswordField } from "./password-field.tsx";

export type SignInReason = keyof Texts["auth"]["reasons"];

interface SignInPageProps {
  ctx: PageContext;
  /** The entered name; a password never comes back. */
  username: string;
  /** Where to go afterwards, below the base path; "" for the Overview. */
  next: string;
  /** Why the last attempt was refused. An unknown name and a wrong password read the same. */
  refusal: { kind: "wrong" } | { kind: "throttled"; retry_after_seconds: number } | null;
  /** Why the page is shown instead of another; null if the user opened it. */
  reason: SignInReason | null;
  /** Other ways to sign in: the button of an enabled and bound identity provider. */
  others?: Child;
}

export function SignInPage({ ctx, username, next, refusal, reason, others }: SignInPageProps) {
  const t = texts(ctx).auth;
  return (
    <BareLayout ctx={ctx} title={t.sign_in}>
      <h1>{t.sign_in}</h1>
      {reason === null ? null : <p class="lead">{t.reasons[reason]}</p>}
      <form class="sign-in" method="post" action={url(ctx, "/login")}>
        <Csrf ctx={ctx} />
        <input type="hidden" name="next" value={next} />
        {refusal === null ? null : (
          <p class="field-error refusal" role="alert" id="refusal">
            <Icon name="triangle-alert" />
            <span>
              {refusal.kind === "wrong"
                ? translateMessage(ctx.language, say("auth.wrong_credentials"))
                : t.throttled(formatWait(ctx.language, refusal.retry_after_seconds))}
            </span>
          </p>
        )}
        <div class="field">
          <label for="f-username">{t.user_name}</label>
          <input
            class="input"
            type="text"
            id="f-username"
            name="username"
            value={username}
            required
            autocomplete="username"
            autocapitalize="none"
            spellcheck={false}
            autofocus={username === ""}
            aria-describedby={refusal === null ? undefined : "refusal"}
          />
        </div>
        <PasswordField
          ctx={ctx}
          name="password"
          title={t.password}
          autocomplete="current-password"
          autofocus={username !== ""}
        />
        <Button type="submit" kind="main">
          {t.sign_in}
        </Button>
        {others}
      </form>
      <details class="aid">
        <summary>
          <Icon name="chevron-right" />
          {t.trouble}
        </summary>
        <h2>{t.first_start_title}</h2>
        <p>{t.first_start}</p>
        <h2>{t.forgot_title}</h2>
        <p>{t.forgot}</p>
        <OwnCommand ctx={ctx} text="bun run reset-password" compose="exec" />
      </details>
    </BareLayout>
  );
}
