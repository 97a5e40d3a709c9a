import * as v from "valibot";
import type { Actor } from "../auth/schema.ts";
import type { Database } from "../db/client.ts";
import { AppError, inUse, invalidInput, notFound, PluginError } from "../errors.ts";
import { listOperations } from "../forms/page.ts";
import { viewOf } from "../forms/view.ts";
import { say } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import { beginChange } from "../request-scope.ts";
import type { RuntimeImages, RuntimeSession, UnusedImage } from "../runtimes/session.ts";
import { ImageReferenceError, parseImageReference } from "../versions/image-reference.ts";
import { type ImageReason, imageList, imageReasons, namesOf, UnusedImageView } from "./images-schema.ts";
import { imageLists, observationsOf, referencesOfSnapshots } from "./queries.ts";
import type { ConnectionService } from "./service.ts";

/** A snapshot that needs an image. */
type ImageUser = UnusedImageView["named_by"][number] & { image_id: string };

interface ConnectionImageOptions extends Pick<Parts, "db" | "clock" | "audit"> {
  connections: Pick<ConnectionService, "get" | "open">;
  snapshots: { usersOfImages(ids: readonly string[]): Promise<readonly ImageUser[]> };
}

const Observed = v.object({
  services: v.array(v.object({ found: v.nullish(v.object({ image: v.string() })) })),
});

/** `registry/repository`; null without one, as for an image id. */
function repositoryOf(reference: string): string | null {
  try {
    const { registry, repository } = parseImageReference(reference);
    return `${registry}/${repository}`;
  } catch (error) {
    if (error instanceof ImageReferenceError) return null;
    throw error;
  }
}

function bareId(id: string): string {
  return id.replace(/^sha256:/, "");
}

function imageOperations({ read }: Database, images: readonly UnusedImageView[]) {
  const rank = ({ reason }: UnusedImageView) => imageReasons.indexOf(reason);
  const listed = images
    .toSorted((a, b) => rank(a) - rank(b) || b.size_bytes - a.size_bytes)
    .map((image, place) => ({
      ...image,
      place,
      name: namesOf(image)[0] ?? image.id,
      words: [image.id, ...image.references, ...image.named_by.map(({ executor }) => executor)].join("\n"),
    }));
  return listOperations({
    shape: imageList,
    page: (ask) => imageLists.page(read, listed, ask),
    counts: (ask) => imageLists.counts(read, listed, ask),
    views: async (rows) => rows.map((row) => viewOf(UnusedImageView, row)),
  });
}

/**
 * Images of a connection that no container uses. Only those related to Tidemark are offered, and they are only removed manually: nothing
 * here is automatic.
 */
export function connectionImageService(options: ConnectionImageOptions) {
  const { db, clock, audit, connections, snapshots } = options;

  const repositories = async (id: string): Promise<ReadonlySet<string | null>> => {
    const observed = (await observationsOf(db.read, id)).flatMap((each) => {
      const parsed = v.safeParse(Observed, each);
      return parsed.success ? parsed.output.services.flatMap(({ found }) => (found ? [found.image] : [])) : [];
    });
    const all = [...observed, ...(await referencesOfSnapshots(db.read, id))];
    return new Set(all.map(repositoryOf).filter((each) => each !== null));
  };
  const reasonOf = (image: UnusedImage, known: ReadonlySet<string | null>): ImageReason | null => {
    if (image.is_kept) return "kept";
    if (image.references.some((each) => known.has(repositoryOf(each)))) return "repository";
    return image.references.every((each) => each.includes("@")) ? "untagged" : null;
  };
  const offered = async (id: string, found: readonly UnusedImage[]): Promise<UnusedImageView[]> => {
    const known = await repositories(id);
    const users = await snapshots.usersOfImages(found.map((image) => image.id));
    return found.flatMap((image): UnusedImageView[] => {
      const named = users.filter((user) => bareId(user.image_id) === bareId(image.id));
      const reason = named.length > 0 ? "needed" : reasonOf(image, known);
      if (reason === null) return [];
      const { id: imageId, references, size_bytes, created_at } = image;
      const named_by = named.map(({ image_id: _id, ...user }) => user);
      return [{ id: imageId, references: [...references], size_bytes, created_at, reason, named_by }];
    });
  };
  const openImages = async (
    id: string,
    signal: AbortSignal,
  ): Promise<{ session: RuntimeSession; images: RuntimeImages }> => {
    const connection = await connections.get(id);
    if (!connection.is_enabled) {
      throw new AppError("connection_disabled", 409, say("connections.disabled", { connection: connection.name }));
    }
    const session = await connections.open(id, signal);
    if (session.images !== undefined) return { session, images: session.images };
    await session[Symbol.asyncDispose]();
    throw notFound("image_list", id);
  };

  return {
    /** Those that the engine has now. Throws `PluginError`. */
    unused: async (id: string, signal: AbortSignal) => {
      const { session, images } = await openImages(id, signal);
      await using _ended = session;
      const found = await images.listUnused();
      const items = await offered(id, found);
      return { items, list: imageOperations(db, items), others: found.length - items.length, listed_at: clock.now() };
    },

    /** Refused with `in_use` while a container or snapshot needs it, and for images unrelated to Tidemark. */
    remove: async (actor: Actor, id: string, imageId: string, signal: AbortSignal): Promise<void> => {
      if (!/^(sha256:)?[0-9a-f]{64}$/.test(imageId)) {
        throw invalidInput({ image_id: say("images.id_wanted") });
      }
      const { session, images } = await openImages(id, signal);
      await using _ended = session;
      const connection = await connections.get(id);
      const found = (await images.listUnused()).filter((image) => bareId(image.id) === bareId(imageId));
      const [image] = await offered(id, found);
      if (image === undefined) throw await refusal(images, imageId, found.length > 0);
      if (image.named_by.length > 0) {
        const executors = [...new Set(image.named_by.map((user) => user.executor))];
        throw inUse(
          "image",
          imageId,
          executors.map((executor) => say("images.snapshot_of", { executor })),
        );
      }
      beginChange();
      try {
        await images.remove(image.id);
      } catch (error) {
        if (error instanceof PluginError && error.code === "rejected") {
          throw new AppError("in_use", 409, error.said, { cause: error });
        }
        throw error;
      }
      await db.write((tx) =>
        audit(tx, actor, {
          event: "image_removed",
          outcome: "ok",
          subject: { kind: "connection", id, name: connection.name },
          detail: { image: image.id, references: image.references, size_bytes: image.size_bytes },
        }),
      );
    },
  };

  async function refusal(images: RuntimeImages, imageId: string, isUnused: boolean): Promise<AppError> {
    if (isUnused) {
      return new AppError("not_offered", 409, say("images.not_ours", { image: imageId }));
    }
    const present = await images.findPresent([imageId]);
    return present.length > 0 ? inUse("image", imageId, [say("images.container")]) : notFound("image", imageId);
  }
}
