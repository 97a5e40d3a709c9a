import { engineRuntime } from "../engine/engine-runtime.ts";

/** Docker Engine. */
export const docker = engineRuntime({
  kind: "docker",
  title: "Docker Engine",
  example: "unix:///var/run/docker.sock",
});
