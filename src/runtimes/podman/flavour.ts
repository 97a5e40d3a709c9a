import type { Flavour } from "../engine/flavour.ts";
import { objectAt, stringAt } from "../engine/raw.ts";
import { qualifyReference } from "../engine/reference.ts";
import { connectSpec, createSpec } from "./create.ts";
import { readContainer } from "./read.ts";
import { readImage } from "./read-image.ts";

/** The oldest version of Podman's own API that is asked for; every Podman since 4.0 speaks it. */
const libpod = "/v4.0.0/libpod";

/**
 * Podman. Containers are inspected and made by its own API, on the same socket: the Docker-compatible one tells less and forgets
 * settings without a word. Everything else goes through the compatible one.
 */
export const podmanFlavour: Flavour = {
  kind: "podman",
  component: "Podman Engine",
  oldest: "4.0.0",
  // It can be given at create alone. Podman has no process that would start containers again when it comes up; a unit of the
  // system does at boot, for those with `always`, the previous one included: whoever recovers stops it.
  changesRestartPolicy: false,
  paths: {
    inspectContainer: (id) => `${libpod}/containers/${id}/json`,
    inspectImage: (reference) => `${libpod}/images/${reference}/json`,
    createContainer: `${libpod}/containers/create`,
    connectNetwork: (network) => `${libpod}/networks/${network}/connect`,
  },
  imageOf: (answer) => {
    const id = stringAt(objectAt(answer).Image);
    return id === "" ? null : id;
  },
  readContainer,
  readImage,
  createQuery: () => ({}),
  createBody: createSpec,
  connectBody: connectSpec,
  // Short names are looked up in a list of registries by Podman; what we mean is always said in full.
  qualify: qualifyReference,
};
