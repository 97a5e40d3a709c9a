import { engineRuntime } from "../engine/engine-runtime.ts";

/** Podman over its Docker-compatible API, rootful or rootless. */
export const podman = engineRuntime({
  kind: "podman",
  title: "Podman",
  example: "unix:///run/podman/podman.sock",
});
