import { engineRuntime } from "../engine/engine-runtime.ts";
import { podmanFlavour } from "./flavour.ts";

/** Podman over its Docker-compatible API, rootful or rootless. */
export const podman = engineRuntime({
  kind: "podman",
  flavour: podmanFlavour,
  title: "Podman",
  example: "unix:///run/podman/podman.sock",
});
