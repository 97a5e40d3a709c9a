import type { ExecutorView } from "../../src/executors/schema.ts";
import type { SnapshotView } from "../../src/runs/schema.ts";
import { Button, Csrf, LinkButton } from "../components/button.tsx";
import { withCode } from "../components/code.tsx";
import { Asked } from "../components/confirm.tsx";
import { type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";

interface SnapshotExportProps {
  ctx: PageContext;
  executor: ExecutorView;
  snapshot: SnapshotView;
}

/** Chooses the format, with or without secrets; the response is a download, and the page stays. */
export function SnapshotExport({ ctx, executor, snapshot }: SnapshotExportProps) {
  const t = texts(ctx).snapshots;
  return (
    <Asked ctx={ctx} title={t.export} section="executors" back={`/executors/${executor.id}`}>
      <form
        class="confirm"
        method="post"
        action={url(ctx, `/executors/${executor.id}/snapshots/${snapshot.id}/export`)}
        data-download=""
      >
        <Csrf ctx={ctx} />
        <h1 id="dialog-title" tabindex={-1}>
          {t.export_title(executor.name)}
        </h1>
        <div class="confirm-facts">
          <p>{t.export_text}</p>
          <fieldset class="checks">
            <legend>{t.format}</legend>
            <Choice name="format" type="radio" value="script" title={t.script} text={t.script_text} checked />
            <Choice name="format" type="radio" value="compose" title={t.compose} text={t.compose_text} />
          </fieldset>
          <div class="checks">
            <Choice
              name="with_secrets"
              type="checkbox"
              value="true"
              title={t.with_secrets}
              text={t.with_secrets_text}
            />
          </div>
        </div>
        <div class="confirm-actions">
          <LinkButton ctx={ctx} href={`/executors/${executor.id}`} kind="bare" attributes={{ "data-close": "" }}>
            {texts(ctx).common.close}
          </LinkButton>
          <Button type="submit" kind="main" icon="arrow-down-to-line">
            {t.download}
          </Button>
        </div>
      </form>
    </Asked>
  );
}

interface ChoiceProps {
  name: string;
  type: "radio" | "checkbox";
  value: string;
  title: string;
  text: string;
  checked?: boolean;
}

function Choice({ name, type, value, title, text, checked }: ChoiceProps) {
  return (
    <label class="check">
      <input type={type} id={`export-${name}-${value}`} name={name} value={value} checked={checked === true} />
      <span>
        <b>{title}</b>
        <br />
        <span class="quiet">{withCode(text)}</span>
      </span>
    </label>
  );
}
