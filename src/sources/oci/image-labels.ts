/** The OCI annotations of an image; null if absent. */
export interface ImageLabels {
  /** The commit it was built from. */
  source_revision: string | null;
  labelled_version: string | null;
}

export const unlabelled: ImageLabels = { source_revision: null, labelled_version: null };

/** Longer than any commit or version. */
const maxLabelCharacters = 256;

function readLabel(labels: object, name: string): string | null {
  const value: unknown = Object.entries(labels).find(([key]) => key === `org.opencontainers.image.${name}`)?.[1];
  if (typeof value !== "string") return null;
  const text = value.trim();
  const isUsable = text !== "" && text.length <= maxLabelCharacters && !/[\p{Cc}\p{Cs}\u2028\u2029\ufffd]/u.test(text);
  return isUsable ? text : null;
}

/** Reads labels or annotations. Anything but a short plain text counts as absent. */
export function readLabels(labels: unknown): ImageLabels {
  if (typeof labels !== "object" || labels === null) return unlabelled;
  return { source_revision: readLabel(labels, "revision"), labelled_version: readLabel(labels, "version") };
}

/** Each label from the first source that has it. */
export function mergedLabels(...all: readonly ImageLabels[]): ImageLabels {
  return {
    source_revision: all.find((one) => one.source_revision !== null)?.source_revision ?? null,
    labelled_version: all.find((one) => one.labelled_version !== null)?.labelled_version ?? null,
  };
}
