import * as v from "valibot";
import type { FieldErrors } from "../../errors.ts";
import { issue, say, toText } from "../../messages/message.ts";
import { extractionModes } from "../../versions/changelog.ts";
import { PatternError, parsePattern } from "../../versions/pattern.ts";
import {
  checkHeadingTemplate,
  checkPathTemplate,
  headingPattern,
  maxTemplateCharacters,
  TemplateError,
} from "../../versions/placeholders.ts";
import type { SourceRegistry } from "../schema.ts";
import { pluginOf } from "../upstreams/source-session.ts";

const fileRefs = ["default_branch", "release_tag", "specific"] as const;

/** Refuses with the error of `check`. */
function checked(check: (value: string) => void) {
  return v.rawCheck<string>(({ dataset, addIssue }) => {
    if (!dataset.typed || dataset.issues !== undefined || dataset.value.trim() === "") return;
    try {
      check(dataset.value);
    } catch (error) {
      if (!(error instanceof TemplateError || error instanceof PatternError)) throw error;
      addIssue({ message: toText(error.said) });
    }
  });
}

function text(max: number) {
  return [v.string(), v.maxLength<string, number>(max)] as const;
}

/** A valid git branch, tag or the start of a commit; nothing that a forge could read as another part of its address. */
const Ref = v.pipe(
  ...text(200),
  v.check(
    (ref) =>
      ref === "" || (/^[^\s\p{Cc}~^:?*[\\/-][^\s\p{Cc}~^:?*[\\]*$/u.test(ref) && !/\.\.|@\{|\/\/|[./]$/.test(ref)),
    issue("changelogs.ref_invalid"),
  ),
  v.title("Specific ref"),
  v.description("A branch, a tag or a commit"),
  v.metadata({ code: true, placeholder: "main", required: true, shown_when: { field: "ref", is: ["specific"] } }),
);

const sourceEntry = <K extends "release" | "changelog">(kind: K) =>
  v.pipe(
    v.literal(kind),
    v.title("Release notes source"),
    v.metadata({ option_titles: { release: "Use release notes", changelog: "Use custom changelog" } }),
  );

const changelogEntries = {
  source: sourceEntry("changelog"),
  changelog_source_key: v.pipe(
    v.optional(v.nullable(v.pipe(...text(50))), null),
    v.title("Changelog repository source"),
    v.description("Blank if the tracker has one repository"),
    v.metadata({ code: true }),
  ),
  path_template: v.optional(
    v.pipe(
      ...text(maxTemplateCharacters),
      v.trim(),
      v.minLength(1, issue("changelogs.path_wanted")),
      checked(checkPathTemplate),
      v.title("Changelog path template"),
      v.description("Path in the repository. `{tag}`, `{version}`, `{major}`, `{minor}` and `{patch}` are replaced"),
      v.metadata({ code: true, placeholder: "CHANGELOG.md" }),
    ),
    "CHANGELOG.md",
  ),
  ref: v.pipe(
    v.optional(v.picklist(fileRefs), "default_branch"),
    v.title("File ref"),
    v.metadata({
      option_titles: { default_branch: "Default branch", release_tag: "Release tag", specific: "Specific ref" },
    }),
  ),
  specific_ref: v.optional(Ref, ""),
  extraction: v.pipe(
    v.optional(v.picklist(extractionModes), "section"),
    v.title("Extraction mode"),
    v.metadata({
      option_titles: {
        entire_file: "Entire file",
        section: "Matched version section",
        subheading: "From subheading in matched section",
      },
    }),
  ),
  heading_template: v.optional(
    v.pipe(
      ...text(maxTemplateCharacters),
      checked((template) => {
        checkHeadingTemplate(template);
        parsePattern(headingPattern(template, { tag: "v1.2.3", version: "1.2.3" }, "exact"));
      }),
      v.title("Version heading template"),
      v.description("A pattern with `{tag}` or `{version}`. Blank matches common forms"),
      v.metadata({
        code: true,
        placeholder: "## [{version}]",
        shown_when: { field: "extraction", is: ["section", "subheading"] },
      }),
    ),
    "",
  ),
  subheading: v.optional(
    v.pipe(
      ...text(200),
      v.title("Starting subheading"),
      v.description("The text that it begins with"),
      v.metadata({
        placeholder: "Highlights",
        required: true,
        shown_when: { field: "extraction", is: ["subheading"] },
      }),
    ),
    "",
  ),
};

const ChangelogNotes = v.pipe(
  v.strictObject(changelogEntries),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const input = dataset.value;
    const need = (key: "specific_ref" | "subheading", message: string) =>
      addIssue({ message, path: [{ type: "object", origin: "value", input, key, value: input[key] }] });
    if (input.ref === "specific" && input.specific_ref === "") need("specific_ref", issue("changelogs.ref_wanted"));
    if (input.extraction === "subheading" && input.subheading.trim() === "") {
      need("subheading", issue("changelogs.subheading_wanted"));
    }
  }),
);

/** Where a tracker's release notes come from: the releases themselves, or a file in a repository. */
export const ReleaseNotes = v.pipe(
  v.variant("source", [v.strictObject({ source: sourceEntry("release") }), ChangelogNotes]),
  v.title("Release notes"),
  v.metadata({ advanced: true }),
);
export type ReleaseNotes = v.InferOutput<typeof ReleaseNotes>;
export type ChangelogSettings = Extract<ReleaseNotes, { source: "changelog" }>;

/** The stored settings; unreadable ones mean the releases' own notes. */
export function storedNotesSettings(stored: unknown): ReleaseNotes {
  const parsed = v.safeParse(ReleaseNotes, stored);
  return parsed.success ? parsed.output : { source: "release" };
}

interface KeyedSource {
  key: string;
  kind: string;
}

/** Sources with readable files. */
export function repositories<S extends KeyedSource>(sources: readonly S[], registry: SourceRegistry): readonly S[] {
  return sources.filter(({ kind }) => pluginOf(registry, kind).reads_files === true);
}

/** The changelog's source: the named one, or the only repository; null when there is none. */
export function changelogSource<S extends KeyedSource>(
  settings: Pick<ChangelogSettings, "changelog_source_key">,
  sources: readonly S[],
  registry: SourceRegistry,
): S | null {
  const candidates = repositories(sources, registry);
  const { changelog_source_key: key } = settings;
  if (key !== null) return candidates.find((source) => source.key === key) ?? null;
  return candidates.length === 1 ? (candidates[0] ?? null) : null;
}

/** What is wrong with settings for a tracker with these sources, by field; null when they fit. */
export function notesRefusal(
  settings: ReleaseNotes,
  sources: readonly KeyedSource[],
  registry: SourceRegistry,
): FieldErrors | null {
  if (settings.source === "release" || changelogSource(settings, sources, registry) !== null) return null;
  const keys = repositories(sources, registry).map(({ key }) => key);
  if (keys.length === 0) {
    return { "release_notes.source": say("changelogs.repository_wanted") };
  }
  const { changelog_source_key: key } = settings;
  const said =
    key === null ? say("changelogs.source_wanted", { keys }) : say("changelogs.no_such_source", { key, keys });
  return { "release_notes.changelog_source_key": said };
}
