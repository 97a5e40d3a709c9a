import type { CredentialView } from "../../src/credentials/schema.ts";
import { withCode } from "../components/code.tsx";
import { Link } from "../components/link.tsx";
import { Banner } from "../components/notice.tsx";
import { State } from "../components/state.tsx";
import { Time } from "../components/time.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { reasonOf } from "../trackers/state.tsx";

const looks = {
  unreadable: { tone: "failed" },
  refused: { tone: "failed" },
  used: { tone: "current" },
  unused: { tone: "quiet", icon: "circle-minus" },
} as const;

interface CredentialStateProps {
  ctx: PageContext;
  credential: Pick<CredentialView, "state" | "problem" | "refusals">;
}

export function CredentialState({ ctx, credential: { state, problem, refusals } }: CredentialStateProps) {
  const errors = [...(problem === null ? [] : [problem]), ...refusals.map(({ error }) => error)];
  const reasons = errors.map(({ message_data }) => reasonOf(ctx, message_data));
  return (
    <State ctx={ctx} {...looks[state]} title={reasons.length === 0 ? undefined : reasons.join("\n")}>
      {texts(ctx).credentials.states[state]}
    </State>
  );
}

/** Where a credential is refused, since when and how; nothing if it is not. */
export function CredentialRefusals({ ctx, credential: { refusals } }: CredentialStateProps) {
  if (refusals.length === 0) return null;
  const t = texts(ctx).credentials;
  return (
    <Banner tone="failed" title={t.refused_title}>
      <ul>
        {refusals.map(({ name, id, since, error }) => (
          <li>
            <b>
              {id === null ? (
                name
              ) : (
                <Link ctx={ctx} href={`/connections/${id}`}>
                  {name}
                </Link>
              )}
            </b>{" "}
            {since === null ? null : (
              <>
                {texts(ctx).overview.lost_since} <Time ctx={ctx} at={since} form="short" />
              </>
            )}
            <br />
            {withCode(reasonOf(ctx, error.message_data))}
          </li>
        ))}
      </ul>
      <p>{t.refused_text}</p>
    </Banner>
  );
}
