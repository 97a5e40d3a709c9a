import * as v from "valibot";
import { issue } from "../../messages/message.ts";
import { MessageSchema } from "../../messages/schema.ts";
import { remarkCodes } from "./draft.ts";

export const importFormats = ["compose", "images", "diun", "argus", "release_tracker"] as const;
export type ImportFormat = (typeof importFormats)[number];

/** Enough for one file or a list. */
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
    v.description("You see a preview before anything is added"),
    v.metadata({ multiline: true, code: true }),
  ),
  variables: v.pipe(
    v.optional(v.pipe(v.string(), v.maxLength(maxVariablesCharacters)), ""),
    v.title("Variables"),
    v.description(
      "The `.env` file next to the compose file, or `NAME=value` lines. Used to resolve image references; not stored",
    ),
    v.metadata({ multiline: true, code: true }),
  ),
});
export type ImportInput = v.InferOutput<typeof ImportInput>;

export const ProposalView = v.object({
  /** Proposed name of the tracker. */
  name: v.string(),
  /** Its place in the text: `services.web`, `line 3`. */
  found_in: v.array(v.string()),
  /** `exists`: a tracker already has this source; `invalid`: see `errors`. */
  state: v.picklist(["new", "exists", "invalid"]),
  /** The tracker that already has the source. */
  existing: v.nullable(v.string()),
  /** The input for `POST /api/trackers`. */
  tracker: v.record(v.string(), v.unknown()),
  errors: v.record(v.string(), v.string()),
  errors_data: v.record(v.string(), MessageSchema),
  /** What runs, as written in the text: `postgres:16-alpine`. */
  running: v.array(v.string()),
  /** False when a remark asks for something that decides what is tracked. */
  is_ready: v.boolean(),
  /** Another tracker that could be created instead: it follows numbered versions where the first follows a moving tag. */
  alternative: v.nullable(v.record(v.string(), v.unknown())),
  remarks: v.array(v.object({ code: v.picklist(remarkCodes), subject: v.string() })),
});
export type ProposalView = v.InferOutput<typeof ProposalView>;

export const ProposalsView = v.object({
  format: v.picklist(importFormats),
  proposals: v.array(ProposalView),
  /** Parts of the text that give no tracker, and why. */
  skipped: v.array(v.object({ found_in: v.string(), reason: v.string(), reason_data: MessageSchema })),
  /** Variables without a value that affect it; set them in `variables`. */
  unset_variables: v.array(v.string()),
});
export type ProposalsView = v.InferOutput<typeof ProposalsView>;
