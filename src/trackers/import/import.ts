import { invalidInput } from "../../errors.ts";
import { parseInput } from "../../forms/issues.ts";
import { type Message, say, toldAs } from "../../messages/message.ts";
import { isArgus, readArgus } from "./argus.ts";
import { isCompose, readCompose } from "./compose.ts";
import { isDiun, readDiun } from "./diun.ts";
import { ImportError, readDocuments } from "./document.ts";
import type { Draft, Reading, Skipped } from "./draft.ts";
import { imageDraft } from "./image.ts";
import { type KnownChannel, type ProposalOptions, proposeTrackers } from "./propose.ts";
import { isReleaseTracker, readReleaseTracker } from "./release-tracker.ts";
import { type ImportFormat, ImportInput, importFormats, type ProposalsView } from "./schema.ts";
import { readVariables, type Variables } from "./variables.ts";

/** One image reference per line; ignores blank lines, `#` comments, list dashes and quotes. */
function readImageList(text: string): Reading {
  const drafts: Draft[] = [];
  const skipped: Skipped[] = [];
  for (const [position, raw] of text.split(/\r\n|\r|\n/).entries()) {
    const reference = raw
      .replace(/\s#.*$/, "")
      .trim()
      .replace(/^-\s+/, "")
      .replace(/^(["'])(.*)\1$/, "$2");
    if (reference === "" || reference.startsWith("#")) continue;
    const found = imageDraft(reference, `line ${position + 1}`);
    if ("reason" in found) skipped.push(found);
    else drafts.push(found);
  }
  return { drafts, skipped };
}

interface ImportOptions extends ProposalOptions {
  /** Channels that are already tracked. */
  knownChannels: () => Promise<readonly KnownChannel[]>;
}

type DocumentFormat = Exclude<ImportFormat, "images">;

const readers: Readonly<
  Record<
    DocumentFormat,
    { recognises(document: unknown): boolean; read(document: unknown, variables: Variables): Reading; refusal: Message }
  >
> = {
  compose: { recognises: isCompose, read: readCompose, refusal: say("imports.no_compose_file") },
  diun: { recognises: isDiun, read: readDiun, refusal: say("imports.no_diun_file") },
  argus: { recognises: isArgus, read: readArgus, refusal: say("imports.no_argus_file") },
  release_tracker: {
    recognises: isReleaseTracker,
    read: readReleaseTracker,
    refusal: say("imports.no_release_tracker_file"),
  },
};
/** In order of detection: the first format that recognises a text wins. */
const documentFormats = importFormats.filter((format) => format !== "images");

/** Reads pasted text and proposes trackers. Stores nothing and sends no request. */
export function trackerImports(options: ImportOptions) {
  return async (input: unknown): Promise<ProposalsView> => {
    const { format: asked, text, variables } = parseInput(ImportInput, input);
    const { format, reading } = await readAs(asked, text, readVariables(variables));
    const { proposals, surplus } = proposeTrackers(options, reading.drafts, await options.knownChannels());
    const skipped = [...reading.skipped, ...surplus].map(({ found_in, reason }) => ({
      found_in,
      ...toldAs("reason", reason),
    }));
    return { format, proposals, skipped, unset_variables: [...(reading.unset ?? [])] };
  };
}

async function readAs(
  asked: ImportInput["format"],
  text: string,
  variables: Variables,
): Promise<{ format: ImportFormat; reading: Reading }> {
  if (asked === "images") return { format: asked, reading: readImageList(text) };
  let documents: readonly unknown[];
  try {
    documents = await readDocuments(text);
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    if (asked === "auto" && looksLikeList(text)) return { format: "images", reading: readImageList(text) };
    throw invalidInput({ text: error.said });
  }
  const formats = asked === "auto" ? documentFormats : [asked];
  for (const format of formats) {
    const known = documents.filter(readers[format].recognises);
    if (known.length > 0)
      return { format, reading: joined(known.map((document) => readers[format].read(document, variables))) };
  }
  if (asked !== "auto") throw invalidInput({ text: readers[asked].refusal });
  if (looksLikeList(text)) return { format: "images", reading: readImageList(text) };
  throw invalidInput({ text: say("imports.text_wanted") });
}

/** Whether every line could be an image reference. */
function looksLikeList(text: string): boolean {
  const { drafts, skipped } = readImageList(text);
  return drafts.length > 0 && skipped.length <= drafts.length;
}

function joined(readings: readonly Reading[]): Reading {
  return {
    drafts: readings.flatMap(({ drafts }) => drafts),
    skipped: readings.flatMap(({ skipped }) => skipped),
    unset: [...new Set(readings.flatMap(({ unset = [] }) => unset))],
  };
}
