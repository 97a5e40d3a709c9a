import type { Flavour } from "../engine/flavour.ts";
import { objectAt } from "../engine/raw.ts";

export const dockerFlavour: Flavour = {
  kind: "docker",
  component: null,
  oldest: null,
  changesRestartPolicy: true,
  keepsId: true,
  paths: {
    inspectContainer: (id) => `/containers/${id}/json`,
    inspectImage: (reference) => `/images/${reference}/json`,
    createContainer: "/containers/create",
    connectNetwork: (network) => `/networks/${network}/connect`,
  },
  imageOf: () => null,
  readContainer: (answer) => answer,
  readImage: (answer) => answer,
  createQuery: (name, platform) => (platform === null ? { name } : { name, platform }),
  // A starting engine starts containers that have a restart policy. Until a new one has started, only we may start it.
  createBody: (_name, body) => ({
    ...body,
    HostConfig: { ...objectAt(body.HostConfig), RestartPolicy: { Name: "no", MaximumRetryCount: 0 } },
  }),
  connectBody: (container, endpoint) => ({ Container: container, EndpointConfig: endpoint }),
  qualify: (reference) => reference,
};
