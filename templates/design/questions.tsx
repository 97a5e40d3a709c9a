import { say, told } from "../../src/messages/message.ts";
import { BulkConfirm, LeftOut, Notes } from "../components/bulk.tsx";
import { DeleteUnused } from "../components/confirm.tsx";
import { Row } from "../components/rows.tsx";
import { FromTo } from "../components/version.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

export const questions = ["unused", "used", "several"] as const;
export type QuestionName = (typeof questions)[number];

const problem = (said: ReturnType<typeof say>) => ({ code: said.code, ...told(said) });
const back = "/design?part=controls";

/** Asked in the dialog of the controls' page. Nothing is deleted or updated: the answer leads back. */
export function QuestionSample({ ctx, name }: { ctx: PageContext; name: QuestionName }) {
  if (name === "several") return <SeveralSample ctx={ctx} />;
  const t = texts(ctx).design;
  return (
    <DeleteUnused
      ctx={ctx}
      section="settings"
      texts={{ delete: t.verb, delete_text: t.question_text, in_use_text: t.in_use }}
      name="traefik"
      type_name="traefik"
      path="/design"
      cancel_href={back}
      users={name === "used" ? ["edge", "edge-internal"] : []}
    />
  );
}

function SeveralSample({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).design;
  const left = problem(say("executors.already_current"));
  return (
    <BulkConfirm
      ctx={ctx}
      section="executors"
      path="/design"
      back={back}
      action="update"
      title={t.several}
      verb={t.several_verb}
      nothing={t.several_none}
      ready={[
        <Row ctx={ctx} title="traefik" fact={<FromTo ctx={ctx} from="3.6.23" to="3.6.24" />} />,
        <Row ctx={ctx} title="grafana" fact={<FromTo ctx={ctx} from="11.6.0" to="12.0.2" />}>
          <Notes ctx={ctx} problems={[problem(say("bulk.major", { from: "11.6.0", to: "12.0.2" }))]} />
        </Row>,
      ]}
      left={
        <LeftOut ctx={ctx} title={t.several_left} entries={[{ name: "gitea", href: "/executors", problems: [left] }]} />
      }
    >
      <p>{t.several_text}</p>
    </BulkConfirm>
  );
}
