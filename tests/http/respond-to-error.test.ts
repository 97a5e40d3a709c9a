import { describe, expect, test } from "bun:test";
import { PluginError } from "../../src/errors.ts";
import { toAppError } from "../../src/http/respond-to-error.ts";
import { plain } from "../../src/messages/message.ts";
import { createRedactor } from "../../src/secrets/redaction.ts";

describe("toAppError()", () => {
  test("takes the secrets out of what an upstream said", () => {
    const { excerpt, register } = createRedactor();
    register("kelp-otter-lantern");
    const said = `${"x".repeat(495)} the password kelp-otter-lantern is wrong`;
    const error = toAppError(new PluginError("rejected", plain(`"engine" said: kelp-otter-lantern`)), excerpt);
    expect(error).toMatchObject({ code: "upstream_rejected", status: 424, message: '"engine" said: [redacted]' });
    // Also one that the cut would leave the beginning of.
    expect(toAppError(new PluginError("rejected", plain(said)), excerpt).message).not.toContain("kelp");
  });
});
