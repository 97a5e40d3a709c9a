import { expect } from "bun:test";
import type { TestEngine } from "../peers/engine.ts";
import { containerStates, groupImages, inspectOne, runService } from "./group-target.ts";

const { old, next } = groupImages;

/** One with a volume of its own, one in its network, and one that needs the second; all of them are to move. */
export async function runTrio(engine: TestEngine, project: string): Promise<void> {
  const a = await runService(engine, project, "a", { body: { Volumes: { "/data": {} } } });
  await runService(engine, project, "b", { host: { NetworkMode: `container:${a}` } });
  await runService(engine, project, "c", { dependsOn: "b:service_started:false" });
}

export const wholeTrio = { a: next, b: next, c: next } as const;

export async function trioVolume(engine: TestEngine, project: string): Promise<string> {
  return (await inspectOne(engine, `${project}-a-1`)).Mounts[0]?.Name ?? "";
}

/** Either all are as before or all are new, each running once under its name, in the first one's network, with its volume. */
export async function expectWholeTrio(
  engine: TestEngine,
  project: string,
  label: string,
  volume: string,
): Promise<"old" | "new"> {
  const found = await containerStates(engine, project);
  const image = found[0]?.endsWith(next) === true ? next : old;
  const wanted = ["a", "b", "c"].map((each) => `${project}-${each}-1 running ${image}`);
  expect([label, ...found]).toEqual([label, ...wanted]);
  const a = await inspectOne(engine, `${project}-a-1`);
  const b = await inspectOne(engine, `${project}-b-1`);
  expect([label, b.HostConfig.NetworkMode]).toEqual([label, `container:${a.Id}`]);
  expect([label, a.Mounts[0]?.Name]).toEqual([label, volume]);
  expect([label, a.HostConfig.RestartPolicy.Name]).toEqual([label, "always"]);
  return image === next ? "new" : "old";
}
