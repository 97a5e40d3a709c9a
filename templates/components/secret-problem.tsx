import type { Child } from "hono/jsx";
import type { Problem } from "../../src/messages/schema.ts";
import type { PageContext } from "../page.ts";
import { translateSentence } from "../texts/messages.ts";
import { Banner } from "./notice.tsx";

interface SecretProblemProps {
  ctx: PageContext;
  /** Null if the stored secret can be read. */
  problem: Problem | null;
  title: string;
  action?: Child;
  /** What happens until it is mended. */
  children?: Child;
}

/** Why a stored secret cannot be used, and what to do about it. */
export function SecretProblem({ ctx, problem, title, action, children }: SecretProblemProps) {
  if (problem === null) return null;
  return (
    <Banner tone="failed" title={title} action={action}>
      <p>{translateSentence(ctx.language, problem.message_data)}</p>
      {children === undefined ? null : <p>{children}</p>}
    </Banner>
  );
}
