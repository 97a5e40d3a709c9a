import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { type Message, say } from "../../messages/message.ts";
import { failure } from "../failure.ts";

/** Larger than any chart that Helm could store in a release. */
const maxArchiveBytes = 20 * 1024 * 1024;

/** Throws `malformed` for other content than a digest names; null: unknown. */
export function verifyDigest(bytes: Uint8Array, digest: string | null, action: Message): void {
  if (digest === null) return;
  const algorithm = digest.startsWith("sha512:") ? "sha512" : "sha256";
  const found = `${algorithm}:${createHash(algorithm).update(bytes).digest("hex")}`;
  if (found === digest) return;
  throw failure("malformed", action, say("sources.digest_mismatch", { digest: found, wanted: digest }));
}

/** The body as a chart's archive with this digest; null: unknown. Throws `malformed`. */
export async function readArchive(response: Response, digest: string | null, action: Message): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.byteLength;
    if (length > maxArchiveBytes) {
      throw failure("malformed", action, say("charts.archive_too_large", { bytes: maxArchiveBytes }));
    }
    parts.push(part);
  }
  const bytes = Buffer.concat(parts);
  // Also without a digest, a sign-in page is no chart.
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) throw failure("malformed", action, say("charts.no_archive"));
  verifyDigest(bytes, digest, action);
  return bytes;
}
