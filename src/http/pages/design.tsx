import * as v from "valibot";
import { DesignPage, designParts } from "../../../templates/design/design.tsx";
import { QuestionSample, questions } from "../../../templates/design/questions.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { fields } from "../../forms/fields.ts";
import { TrackerInput } from "../../trackers/schema.ts";
import type { App } from "../context.ts";
import { basePath } from "../paths.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { respondDone, respondHtml } from "./respond.ts";

/** Every component in every state, for whoever changes one. */
export function designPages(app: App, page: PageSettings): void {
  app.get("/design", async (c) => {
    const part = v.parse(v.fallback(v.picklist(designParts), "states"), c.req.query("part"));
    const ctx = await pageContext(c, page);
    return respondHtml(c, <DesignPage ctx={ctx} part={part} describe={(values) => fields(TrackerInput, values)} />);
  });

  app.get("/design/question", async (c) => {
    const name = v.parse(v.fallback(v.picklist(questions), "unused"), c.req.query("name"));
    const ctx = await pageContext(c, page);
    return respondHtml(c, <QuestionSample ctx={ctx} name={name} />);
  });

  // What the samples send: nothing is stored.
  app.post("/design/*", async (c) => {
    const ctx = await pageContext(c, page);
    const notice = { tone: "quiet", text: texts(ctx).design.lead } as const;
    return respondDone(c, basePath(page.settings.current().base_url), "/design?part=form", notice);
  });
}
