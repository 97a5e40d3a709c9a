import { createHash } from "node:crypto";
import { say } from "../../messages/message.ts";
import type { Message } from "../../messages/types.ts";
import { failure } from "../failure.ts";

/** Larger than any chart that Helm could store in a release. */
export const maxArchiveBytes = 20 * 1024 * 1024;

/** The body as an archive with this digest; null: unknown. Throws `malformed`. */
export async function readArchive(response: Response, digest: string | null, action: Message): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.byteLength;
    if (length > maxArchiveBytes)
      throw failure("malformed", action, say("charts.archive_too_large", { bytes: maxArchiveBytes }));
    parts.push(part);
  }
  const bytes = Buffer.concat(parts);
  const [algorithm = "sha256"] = digest?.split(":") ?? [];
  const found = `${algorithm}:${createHash(algorithm === "sha512" ? "sha512" : "sha256")
    .update(bytes)
    .digest("hex")}`;
  if (digest !== null && found !== digest) {
    throw failure("malformed", action, say("sources.digest_mismatch", { digest: found, wanted: digest }));
  }
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) throw failure("malformed", action, say("charts.no_archive"));
  return bytes;
}
