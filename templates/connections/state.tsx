import {
  type ConnectionCheckView,
  type ConnectionView,
  connectionStateOf,
  failureOf,
  validCheck,
} from "../../src/connections/schema.ts";
import { State } from "../components/state.tsx";
import { Time } from "../components/time.tsx";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

type FailureCode = keyof ReturnType<typeof texts>["connections"]["failures"];

/** The closed codes of a failed test; an unknown code is shown as the general one. */
export function failureCode(check: Pick<ConnectionCheckView, "code">): FailureCode {
  switch (check.code) {
    case "unauthorized":
    case "not_found":
    case "rate_limited":
    case "rejected":
    case "malformed":
      return check.code;
    default:
      return "unreachable";
  }
}

interface ConnectionStateProps {
  ctx: PageContext;
  connection: Pick<ConnectionView, "is_enabled" | "last_check" | "reach">;
  solid?: boolean;
}

/** Whether it responds, else the last test's result; "disabled" comes first, because nothing else matters then. */
export function ConnectionState({ ctx, connection, solid = false }: ConnectionStateProps) {
  const t = texts(ctx).connections;
  const look = { ctx, solid };
  switch (connectionStateOf(connection)) {
    case "disabled":
      return <State {...look} tone="quiet" icon="pause" children={texts(ctx).common.disabled} />;
    case "unknown": {
      const { problem } = connection.reach;
      const word = problem === null ? t.not_checked : translateMessage(ctx.language, problem.message_data);
      return <State {...look} tone="unknown" children={word} />;
    }
    case "failing": {
      const error = failureOf(connection)?.error ?? null;
      const title = error === null ? undefined : translateMessage(ctx.language, error.message_data);
      return (
        <State
          {...look}
          tone="failed"
          title={title}
          children={t.failures[failureCode({ code: error?.code ?? null })]}
        />
      );
    }
    case "ok": {
      const isWarned = (validCheck(connection)?.warnings.length ?? 0) > 0;
      return (
        <State {...look} tone={isWarned ? "attention" : "current"} children={isWarned ? t.answers_warned : t.answers} />
      );
    }
  }
}

/** When it last responded; the exact time while it does not, because "just now" would contradict that. */
export function LastResponse({ ctx, connection }: Pick<ConnectionStateProps, "ctx" | "connection">) {
  const isSilent = failureOf(connection)?.error.code === "unreachable";
  return <Time ctx={ctx} at={connection.reach.seen_at} form={isSilent ? "short" : "relative"} />;
}
