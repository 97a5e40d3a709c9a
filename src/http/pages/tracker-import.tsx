import { texts } from "../../../templates/texts/texts.ts";
import { TrackerImportPage, type TrackerImportPageProps } from "../../../templates/trackers/import.tsx";
import { AppError, type FieldErrors } from "../../errors.ts";
import { decodeForm } from "../../forms/decode.ts";
import { fields } from "../../forms/fields.ts";
import { say } from "../../messages/message.ts";
import type { Services } from "../../services.ts";
import { ImportInput, type ProposalsView } from "../../trackers/import/schema.ts";
import type { App } from "../context.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import { respondDone, respondHtml } from "./respond.ts";

type Values = Readonly<Record<string, unknown>>;

const describe = (values: Values) => fields(ImportInput, values);

/** Trackers from a pasted text: shown first, then the selected ones are created. */
export function trackerImportPages(app: App, { trackers }: Services, page: PageSettings): void {
  app.get("/trackers/import", async (c) => {
    const ctx = await pageContext(c, page);
    const blank = {
      ctx,
      fields: describe({}),
      values: {},
      errors: {},
      found: null,
      chosen: null,
      by_version: new Set<string>(),
    };
    return respondHtml(c, <TrackerImportPage {...blank} />);
  });

  app.post("/trackers/import", async (c) => {
    const ctx = await pageContext(c, page);
    const form = await readForm(c);
    const values = decodeForm(form, describe);
    const ticked = (name: string) => new Set(form.getAll(name).filter((value) => typeof value === "string"));
    const by_version = ticked("by_version");
    const props: TrackerImportPageProps = {
      ctx,
      fields: describe(values),
      values,
      errors: {},
      found: null,
      chosen: null,
      by_version,
    };
    const refuse = (
      errors: FieldErrors,
      found: ProposalsView | null = null,
      chosen: ReadonlySet<string> | null = null,
    ) => respondHtml(c, <TrackerImportPage {...props} errors={errors} found={found} chosen={chosen} />, 422);
    let found: ProposalsView;
    try {
      found = await trackers.proposals(values);
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 422) throw error;
      return refuse(error.field_messages ?? { text: error.said });
    }
    if (formText(form, "_action") !== "create") {
      const asked = withUnset(values, found.unset_variables);
      return respondHtml(c, <TrackerImportPage {...props} values={asked} fields={describe(asked)} found={found} />);
    }
    const names = ticked("chosen");
    // Parsed again: what the browser sends may differ from what the page showed.
    const wanted = found.proposals.filter(({ name, state }) => state === "new" && names.has(name));
    if (wanted.length === 0) return refuse({ text: say("imports.none_chosen") }, found, names);
    for (const { name, tracker, alternative } of wanted) {
      await trackers.create(c.get("actor"), by_version.has(name) ? (alternative ?? tracker) : tracker);
    }
    const text = texts(ctx).imports.added(wanted.length);
    return respondDone(c, ctx.base_path, "/trackers", { tone: "running", text });
  });
}

/** The form with a line for every variable without a value. */
function withUnset(values: Values, unset: readonly string[]): Values {
  const given = typeof values.variables === "string" ? values.variables : "";
  const known = new Set(given.split(/\r?\n/).map((line) => line.replace(/^\s*(?:export\s+)?|\s*=.*$/g, "")));
  const lines = unset.filter((name) => !known.has(name)).map((name) => `${name}=`);
  const text = given.trimEnd() === "" ? lines.join("\n") : [given.trimEnd(), ...lines].join("\n");
  return lines.length === 0 ? values : { ...values, variables: text };
}
