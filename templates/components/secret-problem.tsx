import type { Child } from "hono/jsx";
import { isMessage } from "../../src/messages/message.ts";
import type { Problem } from "../../src/messages/schema.ts";
import type { PageContext } from "../page.ts";
import { translateSentence } from "../texts/messages.ts";
import { Banner } from "./notice.tsx";

interface SecretReasonProps {
  ctx: PageContext;
  problem: Problem;
  /** What to do on this page. Not shown for an unknown kind, whose reason says it. */
  children: Child;
}

interface SecretProblemProps extends Omit<SecretReasonProps, "problem"> {
  /** Null if the stored secret can be read. */
  problem: Problem | null;
  title: string;
}

/** Why a stored secret cannot be used, and what to do about it. */
export function SecretProblem({ ctx, problem, title, children }: SecretProblemProps) {
  if (problem === null) return null;
  return (
    <Banner tone="failed" title={title}>
      <SecretReason ctx={ctx} problem={problem}>
        {children}
      </SecretReason>
    </Banner>
  );
}

/** The same below a heading. */
export function SecretReason({ ctx, problem, children }: SecretReasonProps) {
  const { cause } = problem.message_data.params;
  return (
    <>
      <p>{translateSentence(ctx.language, isMessage(cause) ? cause : problem.message_data)}</p>
      {problem.code === "kind_unknown" ? null : <p>{children}</p>}
    </>
  );
}
