import { afterAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { blueprint } from "../../../../src/runtimes/engine/carry.ts";
import { replaceUnits, type Unit } from "../../../../src/runtimes/engine/group/apply.ts";
import type { ContainerInspect } from "../../../../src/runtimes/engine/objects.ts";
import { objectAt, stringAt } from "../../../../src/runtimes/engine/raw.ts";
import { testClient } from "../../../support/engine-client.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { memoryJournal } from "../../../support/memory-journal.ts";
import { containerInspect, imageInspect } from "../inspect.ts";

// A compose beside us that hashes what it is given, and the file of today.
const folder = mkdtempSync(join(tmpdir(), "tidemark-hash-"));
const file = join(folder, "compose.yaml");
const content = "services:\n  web:\n    image: app:2\n    environment: [A=2]\n";
writeFileSync(file, content);
const compose = `#!/bin/sh
files=
while [ $# -gt 0 ]; do
  case "$1" in
    -f) files="$files $2"; shift 2 ;;
    --hash) services="$2"; shift 2 ;;
    *) shift ;;
  esac
done
for each in $(echo "$services" | tr , ' '); do echo "$each $(cat $files | sha256sum | cut -d' ' -f1)"; done
`;
writeFileSync(join(folder, "docker-compose"), compose, { mode: 0o755 });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hashLabel = "com.docker.compose.config-hash";
const image = imageInspect();

function containerOf(id: string, value: string, hash: string): ContainerInspect {
  const labels = {
    "com.docker.compose.project": "shop",
    "com.docker.compose.service": "web",
    "com.docker.compose.container-number": "1",
    "com.docker.compose.project.config_files": file,
    "com.docker.compose.project.working_dir": folder,
    [hashLabel]: hash,
  };
  return containerInspect({
    Id: id.repeat(64),
    Name: "/shop-web-1",
    Config: { Image: `app:${value}`, Env: [`A=${value}`], Labels: labels },
    State: { Status: "exited", Running: false },
  });
}

/** The labels with which a container is made that takes the place of one and has the settings of another. */
async function labelsAfter(
  old: ContainerInspect,
  settings: ContainerInspect,
): Promise<Readonly<Record<string, unknown>>> {
  const unit: Unit = {
    name: "shop-web-1",
    old,
    origin: settings,
    is_owed: false,
    is_to_run: false,
    blueprint: blueprint({
      container: settings,
      oldImage: image,
      newImage: image,
      reference: stringAt(settings.Config.Image),
      inherited: new Set(),
      apiVersion: "1.41",
    }),
    new_image_config: image.Config,
    platform: null,
    files: null,
    is_job: false,
    known_as: [settings.Id, old.Id],
  };
  let made: unknown = null;
  const client = testClient(({ method, path, body }) => {
    if (method === "POST" && path.endsWith("/containers/create")) made = body;
    return null;
  });
  const context = { client, clock: createFakeClock(), apiVersion: "1.41", composeFolders: [folder] };
  await replaceUnits(context, [[unit]], { order: "stop_first", drain_seconds: 0 }, new Map(), memoryJournal()).catch(
    () => null,
  );
  return objectAt(objectAt(made).Labels);
}

test("a rollback to other settings keeps the hash by which compose knew these, and not that of the file of today", async () => {
  const then = containerOf("1", "1", "a".repeat(64));
  const now = containerOf("2", "2", createHash("sha256").update(content).digest("hex"));
  expect((await labelsAfter(now, then))[hashLabel]).toBe("a".repeat(64));
});
