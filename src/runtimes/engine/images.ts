import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { RuntimeImages, UnusedImage } from "../session.ts";
import type { EngineClient } from "./client.ts";
import type { ImageInspect, ImageSummary } from "./objects.ts";
import { splitReference } from "./reference.ts";
import { orNull } from "./survey.ts";

/**
 * Images of snapshots get a name in this repository, so that they do not become dangling when their tag moves. Names below `.invalid`
 * never resolve (RFC 2606), so not even a `pull` or `push` of all images can send a request to this host.
 */
const keptRepository = "tidemark.invalid/kept";
/** Long enough to be unique; a tag has at most 128 characters. */
const tagLength = 32;
/** More names than any image has; only an engine that never removes one would reach it. */
const maxNames = 200;

export function keptName(id: string): string {
  return `${keptRepository}:${bareId(id).slice(0, tagLength)}`;
}

function bareId(id: string): string {
  return id.replace(/^sha256:/, "");
}

function isOurs(reference: string): boolean {
  return splitReference(reference).repository === keptRepository;
}

/** Keeps, lists and removes images of an engine. */
export function engineImages(client: EngineClient): RuntimeImages {
  /** The images of all containers, running or not. */
  const used = async () => {
    const containers = await client.listContainers();
    return new Set(containers.map(({ ImageID }) => bareId(ImageID ?? "")));
  };
  const refuseUsed = async (id: string) => {
    if (!(await used()).has(bareId(id))) return;
    throw new PluginError("rejected", say("engine.image_used", { id }));
  };

  return {
    async keep(ids) {
      for (const id of new Set(ids)) {
        const { repository, tag } = splitReference(keptName(id));
        await orNull(client.tagImage(id, repository, tag ?? ""));
      }
    },

    async findPresent(ids) {
      const found = await Promise.all(
        ids.map(async (id) => ((await orNull(client.inspectImage(id))) === null ? [] : [id])),
      );
      return found.flat();
    },

    async listUnused() {
      const inUse = await used();
      const images = await client.listImages();
      return images.filter((image) => !inUse.has(bareId(image.Id))).map(unusedImage);
    },

    async remove(id) {
      await refuseUsed(id);
      const taken: string[] = [];
      try {
        for (let image = await orNull(client.inspectImage(id)); image !== null; ) {
          const name = nextName(image);
          if (taken.length > maxNames) throw new PluginError("rejected", say("engine.image_renamed_again", { id }));
          await orNull(client.removeImage(name ?? image.Id));
          if (name === null) return;
          taken.push(name);
          image = await orNull(client.inspectImage(id));
        }
      } catch (error) {
        await nameAgain(client, id, taken);
        throw error;
      }
    },
  };
}

function unusedImage(image: ImageSummary): UnusedImage {
  const names = [...(image.RepoTags ?? []), ...(image.RepoDigests ?? [])].filter((each) => !each.includes("<none>"));
  return {
    id: image.Id,
    references: names.filter((each) => !isOurs(each)),
    size_bytes: image.Size ?? 0,
    created_at: image.Created === null || image.Created === undefined ? null : image.Created * 1000,
    is_kept: names.some(isOurs),
  };
}

/**
 * The name to remove next: tags first, ours last. An engine removes the digests of a repository with its last tag; those
 * without a tag are removed on their own. Null if no name is left.
 */
function nextName(image: ImageInspect): string | null {
  const tags = (image.RepoTags ?? []).filter((each) => !each.includes("<none>"));
  const tagged = new Set(tags.map((tag) => splitReference(tag).repository));
  const digests = (image.RepoDigests ?? []).filter((each) => {
    const { repository } = splitReference(each);
    return repository !== "<none>" && !tagged.has(repository) && !isOurs(each);
  });
  return [...tags.filter((each) => !isOurs(each)), ...digests, ...tags.filter(isOurs)][0] ?? null;
}

/** Restores the tags that were removed before the removal failed, for example because a container now uses the image. */
async function nameAgain(client: EngineClient, id: string, taken: readonly string[]): Promise<void> {
  for (const name of taken) {
    const { repository, tag, digest } = splitReference(name);
    if (tag !== null && digest === null) await orNull(client.tagImage(id, repository, tag));
  }
}
