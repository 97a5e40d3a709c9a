import { type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Partial } from "./notice.tsx";

/** Where a sign-in in another tab ends: it says to go back to the first. */
export const signedInPath = "/account/signed-in";

/** `gone`: the session of the open page has ended. `back`: there is one again. */
type Standing = "gone" | "back" | undefined;

/** The line on an open page whose session has ended. What was entered stays, so signing in takes another tab. */
export function SignedOutLine({ ctx, standing }: { ctx: PageContext; standing?: Standing }) {
  const t = texts(ctx).auth.signed_out_line;
  return (
    <output id="signed-out" class="away">
      {standing === "back" ? t.back : null}
      {standing === "gone" ? (
        <>
          {t.gone}{" "}
          <a href={url(ctx, "/login", { next: signedInPath })} target="_blank" rel="noopener">
            {t.sign_in}
          </a>
          {/* What the page asks next says so. */}
          <input type="hidden" name="signed_out" value="yes" />
        </>
      ) : null}
    </output>
  );
}

/** Updates the line on an open page: alone when its session has ended, or beside another response. */
export function SignedOutPartial(props: { ctx: PageContext; standing?: Standing }) {
  return (
    <Partial target="#signed-out">
      <SignedOutLine {...props} />
    </Partial>
  );
}
