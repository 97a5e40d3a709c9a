import { docker } from "./docker/index.ts";
import { kubernetes } from "./kubernetes/index.ts";
import { podman } from "./podman/index.ts";
import { portainer } from "./portainer/index.ts";
import type { Runtimes } from "./runtime.ts";

/** Every runtime kind; a further kind is a folder beside `docker/` and a line here. */
export const runtimes = { docker, podman, kubernetes, portainer } satisfies Runtimes;
