import type { TestEngine } from "../peers/engine.ts";
import { type Registry, startRegistry } from "../peers/registry.ts";
import { kindOf } from "./engine-modes.ts";
import { type ImageOptions, pushImage } from "./oci-image.ts";
import { type RealRuns, realRuns } from "./real-runs.ts";
import { containersNamed, runContainer, runTyped } from "./update-target.ts";

export const labRepository = "lab/app";

/** An engine, a registry with images, and the product's runs on them. */
export interface Lab {
  engine: TestEngine;
  registry: Registry;
  runs: RealRuns;
  connection: string;
  /** What to offer, by tag. */
  offer(tag: string): { image: string; tag: string; digest: string };
  /** A container from version 1.0.0. */
  begin(name: string, body?: Readonly<Record<string, unknown>>): Promise<string>;
  /** `name state tag` of everything that has to do with a container. */
  found(name: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** `tags`: what is pushed beside version 1.0.0; `address`: of a way to the engine. */
export async function startLab(
  engine: TestEngine,
  tags: Readonly<Record<string, ImageOptions>>,
  address = engine.address,
): Promise<Lab> {
  const registry = await startRegistry();
  const image = `${registry.host}/${labRepository}`;
  const digests = new Map<string, string>();
  for (const [tag, options] of Object.entries({ "1.0.0": {}, ...tags })) {
    const digest = await pushImage(registry.url, registry.auth, labRepository, tag, { version: tag, ...options });
    digests.set(tag, digest);
  }
  await engine.pullImage(`${image}:1.0.0`);
  const runs = await realRuns();
  return {
    engine,
    registry,
    runs,
    connection: await runs.connect(kindOf(engine.mode), address),
    offer: (tag) => ({ image, tag, digest: digests.get(tag) ?? "" }),
    begin: (name, body) =>
      body === undefined
        ? runTyped(engine, name, `${image}:1.0.0`)
        : runContainer(engine, name, { Image: `${image}:1.0.0`, ...body }),
    found: async (name) =>
      (await containersNamed(engine, name)).map((each) => {
        return `${each.name} ${each.state} ${each.image.split("@")[0]?.split(":").at(-1)}`;
      }),
    stop: async () => {
      await runs.close();
      await registry.stop();
    },
  };
}
