import type { Setup } from "../../src/stats/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { Row, Rows } from "../components/rows.tsx";
import { State } from "../components/state.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

const steps = ["connection", "executor", "notifier"] as const;
type StepName = (typeof steps)[number];

const isDone: Readonly<Record<StepName, (setup: Setup) => boolean>> = {
  connection: (setup) => setup.has_connection,
  executor: (setup) => setup.has_executor,
  notifier: (setup) => setup.has_notifier,
};

/** Where a step is taken. */
const places: Readonly<Record<StepName, string>> = {
  connection: "/connections/new",
  executor: "/adopt",
  notifier: "/notifiers/new",
};

/** First steps of a fresh installation, ticked when done. The first open one has the main button. */
export function SetupSteps({ ctx, setup }: { ctx: PageContext; setup: Setup }) {
  const t = texts(ctx).overview.setup;
  const next = steps.find((step) => !isDone[step](setup));
  return (
    <Rows id="setup" ordered>
      {steps.map((step, index) => {
        const done = isDone[step](setup);
        return (
          <Row
            ctx={ctx}
            id={`setup-${step}`}
            lead={
              done ? (
                <State ctx={ctx} tone="current">
                  {t.done}
                </State>
              ) : (
                <State ctx={ctx} tone="quiet" icon={step === next ? "arrow-right" : "circle-dashed"}>
                  {step === "notifier" ? t.afterwards : t.step(index + 1)}
                </State>
              )
            }
            title={t[step]}
            meta={[t[`${step}_text`]]}
            action={
              done ? (
                <LinkButton ctx={ctx} href={`/${step}s`} kind="bare">
                  {t[`open_${step}s`]}
                </LinkButton>
              ) : (
                <LinkButton ctx={ctx} href={places[step]} kind={step === next ? "main" : "plain"}>
                  {t[`${step}_action`]}
                </LinkButton>
              )
            }
          />
        );
      })}
    </Rows>
  );
}
