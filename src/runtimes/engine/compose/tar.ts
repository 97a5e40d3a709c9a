import { packTar, unpackTar } from "modern-tar";
import { toDate } from "../../../clock.ts";
import { PluginError, saidBy } from "../../../errors.ts";
import { say } from "../../../messages/message.ts";

/** A regular file in a POSIX archive; other entries are ignored. */
export interface TarFile {
  path: string;
  /** Permission bits, set-id bits included. */
  mode: number;
  uid: number;
  gid: number;
  /** Whole seconds. */
  mtime: number;
  content: Uint8Array;
}

/** The regular files of an archive. Throws `malformed` for a damaged or truncated one. */
export async function readTar(archive: Uint8Array): Promise<readonly TarFile[]> {
  if (archive.length === 0) return [];
  try {
    const entries = await unpackTar(archive, { strict: true });
    return entries.flatMap(({ header, data }) => {
      const { name: path, mode = 0o644, uid = 0, gid = 0, mtime } = header;
      const seconds = Math.floor((mtime?.getTime() ?? 0) / 1000);
      const content = Uint8Array.from(data ?? []);
      return header.type === "file" ? [{ path, mode: mode & 0o7777, uid, gid, mtime: seconds, content }] : [];
    });
  } catch (cause) {
    throw new PluginError("malformed", say("engine.archive_unreadable", { cause: saidBy(cause) }), { cause });
  }
}

/** The same files in the same order give the same bytes. */
export async function writeTar(files: readonly TarFile[]): Promise<Uint8Array> {
  return await packTar(
    files.map(({ path, mode, uid, gid, mtime, content }) => ({
      header: { name: path, size: content.length, type: "file", mode, uid, gid, mtime: toDate(mtime * 1000) },
      body: content,
    })),
  );
}
