import type { ConnectionCheckView, ConnectionView } from "../../src/connections/schema.ts";
import { State } from "../components/state.tsx";
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

/** The last test, unless it could not reach the runtime and the runtime has responded since. */
export function validCheck({ last_check, reach }: Pick<ConnectionView, "last_check" | "reach">) {
  const isOver = last_check?.code === "unreachable" && (reach.seen_at ?? 0) > last_check.checked_at;
  return isOver ? null : last_check;
}

interface ConnectionStateProps {
  ctx: PageContext;
  connection: Pick<ConnectionView, "is_enabled" | "last_check" | "reach">;
  solid?: boolean;
}

/** Whether it responds, else the last test's result; "disabled" comes first, because nothing else matters then. */
export function ConnectionState({ ctx, connection, solid = false }: ConnectionStateProps) {
  const t = texts(ctx).connections;
  const check = validCheck(connection);
  const { reach } = connection;
  if (!connection.is_enabled) {
    return (
      <State ctx={ctx} tone="quiet" icon="pause" solid={solid}>
        {texts(ctx).common.disabled}
      </State>
    );
  }
  if (reach.problem !== null) {
    const isKnown = reach.state === "unreachable";
    const title = translateMessage(ctx.language, reach.problem.message_data);
    return (
      <State ctx={ctx} tone={isKnown ? "failed" : "unknown"} title={title} solid={solid}>
        {isKnown ? t.failures[failureCode(reach.problem)] : t.unknown}
      </State>
    );
  }
  if (check === null) {
    return reach.state === "reachable" ? (
      <State ctx={ctx} tone="current" solid={solid}>
        {t.answers}
      </State>
    ) : (
      <State ctx={ctx} tone="unknown" solid={solid}>
        {t.not_tested}
      </State>
    );
  }
  if (!check.ok) {
    return (
      <State ctx={ctx} tone="failed" title={translateMessage(ctx.language, check.message_data)} solid={solid}>
        {t.failures[failureCode(check)]}
      </State>
    );
  }
  return (
    <State ctx={ctx} tone={check.warnings.length > 0 ? "attention" : "current"} solid={solid}>
      {check.warnings.length > 0 ? t.answers_warned : t.answers}
    </State>
  );
}
