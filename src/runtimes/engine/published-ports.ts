import { nameInList } from "./names.ts";
import type { ContainerSummary } from "./objects.ts";
import { isObject, listAt } from "./raw.ts";

/** Docker's own record of ports refuses it; for a port of another process, the system reports "address already in use". */
const allocated = /:(\d{1,5}) failed: port is already allocated/;

/** The host port that a refused start did not get, from the engine's message; null for any other refusal. */
export function refusedPort(answer: string): string | null {
  return allocated.exec(answer)?.[1] ?? null;
}

/**
 * Who has the port; null where no container has it. A Docker 20.10 that is killed while it starts a container comes up with the container's port in its record and
 * nothing that publishes it (8 of 8 times in our measurement, also without Tidemark), and refuses the port until it is started anew.
 */
export function portHolder(port: string, containers: readonly ContainerSummary[]): string | null {
  const holder = containers.find(({ Ports }) =>
    listAt(Ports).some((each) => isObject(each) && String(each.PublicPort) === port),
  );
  return holder === undefined ? null : nameInList(holder);
}
