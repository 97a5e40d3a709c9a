import type { Child } from "hono/jsx";
import type { FieldErrors } from "../../src/errors.ts";
import type { FieldDescription } from "../../src/forms/fields.ts";
import type { ProposalView } from "../../src/trackers/import/schema.ts";
import type { SourceView, TrackerView } from "../../src/trackers/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { Form } from "../components/form.tsx";
import { Banner } from "../components/notice.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { Version } from "../components/version.tsx";
import { Layout } from "../layout.tsx";
import { type PageContext, partsOf, url, withQuery } from "../page.ts";
import { translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { trackerFormId as formId, trackerPath } from "./address.ts";
import { liveId } from "./preview.tsx";
import { Sources } from "./sources.tsx";

interface TrackerFormPageProps {
  ctx: PageContext;
  /** Null for a new one. */
  tracker: TrackerView | null;
  /** The proposal for a running image that the form started with. */
  proposal: ProposalView | null;
  fields: readonly FieldDescription[];
  values: Readonly<Record<string, unknown>>;
  errors: FieldErrors;
  /** Those for the kinds of the form's sources. */
  credentials: readonly { value: string; title: string }[];
  /** Keys of the form's sources that can have a changelog. */
  repositories: readonly string[];
  /** The stored sources of kinds that only a later version knows. */
  unknown: readonly SourceView[];
  /** The names of the stored sources' credentials by their ids. */
  credential_names: ReadonlyMap<string, string>;
}

/** Not with a source of an unknown kind among them. */
export function hasSources(fields: readonly FieldDescription[]): boolean {
  return fields.some(({ name }) => name === "sources");
}

/** The form, and beside it what its rules would currently pick from upstream. */
export function TrackerFormPage({
  ctx,
  tracker,
  proposal,
  fields,
  values,
  errors,
  credentials,
  repositories,
  unknown,
  credential_names,
}: TrackerFormPageProps) {
  const t = texts(ctx).trackers;
  const title = tracker === null ? t.add : texts(ctx).common.edit_title(tracker.name);
  const path = tracker === null ? "/trackers" : trackerPath(tracker.name);
  // With the same sources as the form was opened with.
  const sources = partsOf(ctx.path).query.get("sources");
  const action = tracker === null ? "/trackers" : withQuery(`${path}/edit`, { sources });
  return (
    <Layout ctx={ctx} title={title} section="trackers">
      <PageHeader
        ctx={ctx}
        title={title}
        {...(proposal === null ? {} : { lead: <Kept ctx={ctx} proposal={proposal} /> })}
        parent={tracker === null ? { title: t.title, href: "/trackers" } : { title: tracker.name, href: path }}
        actions={
          tracker === null ? undefined : (
            <LinkButton ctx={ctx} href={`${path}/delete`} icon="trash" opens_dialog>
              {t.delete}
            </LinkButton>
          )
        }
      />
      <UnknownSources ctx={ctx} tracker={tracker} unknown={unknown} is_removal={hasSources(fields)} />
      <div class="with-preview">
        <Form
          ctx={ctx}
          id={formId}
          area="trackers"
          action={action}
          fields={drawnFields(fields, (path) => credentials.length > 0 || errors[path] !== undefined)}
          values={values}
          errors={errors}
          submit={tracker === null ? t.add : t.save}
          cancel_href={path}
          is_edit={tracker !== null}
          folded={["sources.channels"]}
          choices={{
            "sources.credential_id": credentials,
            "sources.channels.release_type": releaseTypes(ctx),
            "release_notes.changelog_source_key": repositories.map((key) => ({ value: key, title: key })),
          }}
          below={livePlaces(fields)}
        />
        {tracker !== null && !hasSources(fields) ? (
          <aside class="preview">
            <Sources ctx={ctx} tracker={tracker} credentials={credential_names} />
          </aside>
        ) : (
          <Preview ctx={ctx} />
        )}
      </div>
    </Layout>
  );
}

/** Why the sources are not in the form, or which are no longer among them once it is saved. */
function UnknownSources({
  ctx,
  tracker,
  unknown,
  is_removal,
}: Pick<TrackerFormPageProps, "ctx" | "tracker" | "unknown"> & { is_removal: boolean }) {
  if (tracker === null || unknown.length === 0) return null;
  const t = texts(ctx).trackers.unknown_sources;
  if (is_removal) {
    return (
      <Banner tone="attention" title={t.removal(unknown.map(({ key }) => key))}>
        {t.removal_text}
      </Banner>
    );
  }
  const hasOthers = unknown.length < tracker.sources.length;
  const reasons = new Map(unknown.flatMap(({ kind, error }) => (error === null ? [] : [[kind, error] as const])));
  return (
    <Banner
      tone="failed"
      title={t.title}
      action={
        hasOthers ? (
          <LinkButton ctx={ctx} href={`${trackerPath(tracker.name)}/edit?sources=known`}>
            {t.edit_others}
          </LinkButton>
        ) : (
          <LinkButton ctx={ctx} href={`${trackerPath(tracker.name)}/delete`} opens_dialog>
            {texts(ctx).trackers.delete}
          </LinkButton>
        )
      }
    >
      {[...reasons.values()].map(({ message_data }) => (
        <p>{translateSentence(ctx.language, message_data)}</p>
      ))}
    </Banner>
  );
}

/** What the form's rules would pick. */
function Preview({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).trackers;
  return (
    <aside class="preview scripted" aria-label={t.preview.title}>
      <h2>{t.preview.title}</h2>
      <div
        id="tracker-preview"
        aria-live="polite"
        hx-post={url(ctx, "/trackers/preview")}
        hx-include={`#${formId}`}
        hx-trigger={`load, input delay:400ms from:#${formId}, htmx:after:swap from:#${formId}`}
        hx-sync="this:replace"
        hx-swap="innerMorph"
      >
        <p class="quiet">{t.preview.waits}</p>
      </div>
    </aside>
  );
}

/** With nothing selected, all release types are taken. */
function releaseTypes(ctx: PageContext) {
  const t = texts(ctx).trackers.release_types;
  return [
    { value: "", title: t.any },
    { value: "release", title: t.release },
    { value: "prerelease", title: t.prerelease },
  ];
}

/**
 * Only what has no default is open: the location, and the name that comes from it. Without credentials there is nothing to choose, so the
 * field only appears with an error.
 */
function drawnFields(
  fields: readonly FieldDescription[],
  offersCredential: (path: string) => boolean,
): readonly FieldDescription[] {
  if (!hasSources(fields)) return fields;
  const named = (name: string) => fields.filter((field) => field.name === name);
  const isShown = (field: FieldDescription) => field.name !== "credential_id" || offersCredential(field.path);
  const [only, ...more] = named("sources").flatMap((field) => field.entries);
  // A single source has no other to agree with, and needs no key to distinguish it.
  const isAlone = more.length === 0;
  const isAsked = (field: FieldDescription) => !isAlone || field.name !== "requires_agreement";
  // The location comes before the key, which has a default.
  const order = ["kind", "config", "credential_id", ...(isAlone ? [] : ["key"]), "channels"];
  const drawnSource = (entry: readonly FieldDescription[]) =>
    order
      .flatMap((name) => entry.filter((field) => field.name === name && isShown(field)))
      .map((field) => ({ ...field, entries: field.entries.map((inner) => inner.filter(isAsked)) }));
  const others = [
    ...fields.filter(({ name }) => name !== "sources" && name !== "name"),
    ...(isAlone ? (only ?? []).filter(({ name }) => name === "key") : []),
  ];
  return [
    ...named("sources").map((field) => ({ ...field, entries: field.entries.map(drawnSource) })),
    ...named("name"),
    ...others.map((field) => ({ ...field, is_advanced: true })),
  ];
}

/** Places below fields for the preview's messages: empty until there are any. */
function livePlaces(fields: readonly FieldDescription[]): Readonly<Record<string, Child>> {
  const paths = fields
    .filter((field) => field.name === "sources")
    .flatMap((field) => field.entries.flatMap(judgedPaths));
  return Object.fromEntries(paths.map((path) => [path, <div class="live" id={liveId(path)} />]));
}

/** The paths of a source's fields, including those of its address and channels. */
export function judgedPaths(entry: readonly FieldDescription[]): readonly string[] {
  return entry.flatMap((field) => {
    if (field.kind === "group") return judgedPaths(field.children);
    if (field.kind === "list") return field.entries.flatMap((channel) => channel.map(({ path }) => path));
    return [field.path];
  });
}

/** What runs, and which parts of it the form's rules keep. */
function Kept({ ctx, proposal }: { ctx: PageContext; proposal: ProposalView }) {
  const t = texts(ctx).imports;
  const remarks = proposal.remarks.map(({ code, subject }) => t.remarks[code](subject));
  return (
    <>
      {t.running} <Version>{proposal.running.join(" ")}</Version>
      {remarks.length === 0 ? null : <br />}
      {remarks.join(" · ")}
    </>
  );
}
