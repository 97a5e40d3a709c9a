import type { ConnectionView } from "../../src/connections/schema.ts";

/** The connection's address as entered; "" for a runtime kind without one. */
export function addressOf(connection: Pick<ConnectionView, "config">): string {
  const { address, server } = connection.config;
  return [address, server].find((each) => typeof each === "string") ?? "";
}
