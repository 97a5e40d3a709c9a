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

interface ConnectionStateProps {
  ctx: PageContext;
  connection: Pick<ConnectionView, "is_enabled" | "last_check">;
  solid?: boolean;
}

/** The last test's result in words; "disabled" comes first, because nothing else matters then. */
export function ConnectionState({ ctx, connection, solid = false }: ConnectionStateProps) {
  const t = texts(ctx).connections;
  const { last_check: check } = connection;
  if (!connection.is_enabled) {
    return (
      <State ctx={ctx} tone="quiet" icon="pause" solid={solid}>
        {texts(ctx).common.disabled}
      </State>
    );
  }
  if (check === null) {
    return (
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
