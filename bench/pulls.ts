// What the process needs while ten images are pulled at once from a real registry, by ten sessions. See README.md.
import { randomBytes } from "node:crypto";
import { startEngine } from "../tests/peers/engine.ts";
import { registryMissing, startRegistry } from "../tests/peers/registry.ts";
import { pushImage } from "../tests/support/oci-image.ts";
import { images, importImages } from "../tests/support/update-target.ts";
import { startChild } from "./child.ts";
import { chosenModes } from "./engines.ts";
import { countOption, megabytes, ms, printFigures } from "./figures.ts";

export interface PullsAnswer {
  idle_bytes: number;
  peak_bytes: number;
  after_bytes: number;
  progressed: number;
  wall_ms: number;
  cpu_ms: number;
  stall_ms: number;
}

const missing = registryMissing();
if (missing !== null) {
  console.error(`Not measured: ${missing}`);
  process.exit(1);
}
const count = countOption("pulls", 10, 50);
const size = countOption("megabytes", 20, 500);
for (const mode of chosenModes(["docker-20", "docker-29-containerd", "podman"])) {
  const engine = await startEngine({ mode });
  const registry = await startRegistry();
  const child = startChild("pulls/puller.ts");
  try {
    await importImages(engine);
    const changes: { container: string; reference: string; digest: string }[] = [];
    for (let index = 0; index < count; index += 1) {
      const repository = `bench/app-${index}`;
      // Three quarters of a base64 text is what is left of it when it is packed.
      const files = { "/data/noise": randomBytes(size * 1e6).toString("base64") };
      const digest = await pushImage(registry.url, registry.auth, repository, "2.0.0", { files });
      const name = `pull-${index}`;
      await engine.call("POST", `/containers/create?name=${name}`, { Image: images.old });
      const place = `${registry.host}/${repository}`;
      changes.push({ container: name, reference: `${place}:2.0.0`, digest: `${place}@${digest}` });
    }
    const { mode: engineMode, address } = engine;
    const answer = await child.ask<PullsAnswer>({ mode: engineMode, address, changes });
    const above = answer.peak_bytes - answer.idle_bytes;
    printFigures(`${mode}: ${count} pulls of ${size} MB at once, by ${count} sessions`, [
      { what: "resident memory, idle", measured: megabytes(answer.idle_bytes) },
      { what: "peak while they run, above idle", measured: megabytes(above) },
      { what: "for each pull", measured: megabytes(above / count) },
      { what: "afterwards, above idle", measured: megabytes(answer.after_bytes - answer.idle_bytes) },
      { what: "reports of progress", measured: String(answer.progressed) },
      { what: "time, CPU of the process", measured: `${ms(answer.wall_ms)}, ${ms(answer.cpu_ms)}` },
      { what: "longest stall of the event loop", measured: ms(answer.stall_ms) },
    ]);
  } finally {
    await child.stop();
    await registry.stop();
    await engine.stop();
  }
}
process.exit(0);
