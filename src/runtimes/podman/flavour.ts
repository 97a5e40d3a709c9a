import type { Flavour } from "../engine/flavour.ts";
import { objectAt, stringAt } from "../engine/raw.ts";
import { qualifyReference } from "../engine/reference.ts";
import { connectSpec, createSpec } from "./create.ts";
import { readContainer } from "./read.ts";
import { readImage } from "./read-image.ts";

/** The oldest version of Podman's own API that is used; every Podman since 4.0 supports it. */
const libpod = "/v4.0.0/libpod";

/**
 * Podman. Containers are inspected and created through its own API on the same socket, because the Docker-compatible one reports less and
 * silently drops settings. Everything else uses the compatible one.
 */
export const podmanFlavour: Flavour = {
  kind: "podman",
  component: "Podman Engine",
  oldest: "4.0.0",
  // Podman only takes it at create. It has no daemon that starts containers when it comes up; a systemd unit starts those with `always` at
  // boot, including the previous one, which recovery then stops.
  changesRestartPolicy: false,
  paths: {
    inspectContainer: (id) => `${libpod}/containers/${id}/json`,
    inspectImage: (reference) => `${libpod}/images/${reference}/json`,
    createContainer: `${libpod}/containers/create`,
    connectNetwork: (network) => `${libpod}/networks/${network}/connect`,
  },
  // The ID that Podman reports is a new one each time, and nothing else distinguishes two machines.
  keepsId: false,
  imageOf: (answer) => {
    const id = stringAt(objectAt(answer).Image);
    return id === "" ? null : id;
  },
  readContainer,
  readImage,
  createQuery: () => ({}),
  createBody: createSpec,
  connectBody: connectSpec,
  // Podman looks short names up in a list of registries, so references are always written in full.
  qualify: qualifyReference,
};
