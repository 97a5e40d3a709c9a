import { engineRuntime } from "../engine/engine-runtime.ts";
import { dockerFlavour } from "./flavour.ts";

/** Docker Engine. */
export const docker = engineRuntime({
  kind: "docker",
  flavour: dockerFlavour,
  title: "Docker Engine",
  example: "unix:///var/run/docker.sock",
});
