import { expect, test } from "bun:test";
import { sources } from "../../../src/sources/index.ts";
import type { RemarkCode } from "../../../src/trackers/import/draft.ts";
import { trackerImports } from "../../../src/trackers/import/import.ts";
import { trackerSchemas } from "../../../src/trackers/schema.ts";
import { composeCases } from "./compose-files.ts";

const propose = trackerImports({
  TrackerInput: trackerSchemas(sources).TrackerInput,
  identityOf: () => null,
  knownChannels: async () => [],
});

const words: Readonly<Record<RemarkCode, (subject: string) => string>> = {
  line_kept: (subject) => `stays on ${subject}`,
  variant_kept: (subject) => `keeps ${subject}`,
  tag_followed: (subject) => `follows ${subject}`,
  tag_unknown: (subject) => `asks ${subject}`,
  series_unknown: (subject) => `asks for the series of ${subject}`,
  digest_dropped: () => "the digest goes",
  pattern_refused: (subject) => `the pattern ${subject} goes`,
  credential_missing: (subject) => `signs in with ${subject}`,
  page_source_skipped: (subject) => `the page ${subject}`,
  channel_disabled: (subject) => `the channel ${subject}`,
};

test.each(composeCases.map((each) => [each.project, each] as const))(
  "a compose file of %s",
  async (_project, { text, variables, wanted }) => {
    const found = await propose({ text, ...(variables === undefined ? {} : { variables }) });
    const services = new Map<string, readonly string[]>();
    for (const { found_in, running, remarks, errors, is_ready } of found.proposals) {
      expect(errors).toEqual({});
      const proposed = remarks.map(({ code, subject }) => words[code](subject));
      // What has to be answered first is not chosen for anybody.
      expect([found_in, is_ready]).toEqual([found_in, !proposed.some((each) => each.startsWith("asks"))]);
      for (const place of found_in) services.set(place, [running.join(" "), ...proposed]);
    }
    for (const { found_in, reason } of found.skipped) services.set(found_in, ["", reason]);
    const expected = Object.entries(wanted).map(([service, line]) => [`services.${service}`, line] as const);
    expect(Object.fromEntries(services)).toEqual(Object.fromEntries(expected));
  },
);
