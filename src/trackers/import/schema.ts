import * as v from "valibot";
import { issue } from "../../messages/message.ts";
import { MessageSchema } from "../../messages/schema.ts";
import { remarkCodes } from "./draft.ts";

export const importFormats = ["compose", "images", "diun", "argus", "release_tracker"] as const;
export type ImportFormat = (typeof importFormats)[number];

/** A person pastes one file, or a list. */
const maxImportCharacters = 512 * 1024;
const maxVariablesCharacters = 64 * 1024;

export const ImportInput = v.strictObject({
  format: v.pipe(
    v.optional(v.picklist(["auto", ...importFormats]), "auto"),
    v.title("Format"),
    v.metadata({
      option_titles: {
        auto: "Detect automatically",
        compose: "Compose file, with the labels of Diun and WUD",
        images: "List of image references",
        diun: "Diun: file provider",
        argus: "Argus: configuration",
        release_tracker: "ReleaseTracker: trackers as JSON",
      },
    }),
  ),
  text: v.pipe(
    v.string(),
    v.regex(/\S/, issue("imports.text_wanted")),
    v.maxLength(maxImportCharacters),
    v.title("Text"),
    v.description("You see a preview before anything is created"),
    v.metadata({ multiline: true, code: true }),
  ),
  variables: v.pipe(
    v.optional(v.pipe(v.string(), v.maxLength(maxVariablesCharacters)), ""),
    v.title("Variables"),
    v.description(
      "The .env file next to the compose file, or NAME=value lines. Used to resolve image references; not stored",
    ),
    v.metadata({ multiline: true, code: true }),
  ),
});
export type ImportInput = v.InferOutput<typeof ImportInput>;

export const ProposalView = v.object({
  /** What the tracker would be called. */
  name: v.string(),
  /** Where in the text it stands: `services.web`, `line 3`. */
  found_in: v.array(v.string()),
  /** `exists`: a tracker has this source already; `invalid`: see `errors`. */
  state: v.picklist(["new", "exists", "invalid"]),
  /** The tracker that has the source already. */
  existing: v.nullable(v.string()),
  /** What `POST /api/trackers` would take. */
  tracker: v.record(v.string(), v.unknown()),
  errors: v.record(v.string(), v.string()),
  errors_data: v.record(v.string(), MessageSchema),
  /** What runs, as the text names it: `postgres:16-alpine`. */
  running: v.array(v.string()),
  /** False where the remarks ask for something that decides what is followed. */
  is_ready: v.boolean(),
  /** Another tracker that could be created instead, which follows numbered versions where the first follows a tag that moves. */
  alternative: v.nullable(v.record(v.string(), v.unknown())),
  remarks: v.array(v.object({ code: v.picklist(remarkCodes), subject: v.string() })),
});
export type ProposalView = v.InferOutput<typeof ProposalView>;

export const ProposalsView = v.object({
  format: v.picklist(importFormats),
  proposals: v.array(ProposalView),
  /** What gives no tracker, and why. */
  skipped: v.array(v.object({ found_in: v.string(), reason: v.string(), reason_data: MessageSchema })),
  /** Variables without a value that decide about something of it: a value belongs in `variables`. */
  unset_variables: v.array(v.string()),
});
export type ProposalsView = v.InferOutput<typeof ProposalsView>;
