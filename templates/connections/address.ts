import type { ConnectionView } from "../../src/connections/schema.ts";

/** Where the connection leads, as it was written; "" for a kind of runtime without an address of its own. */
export function addressOf(connection: Pick<ConnectionView, "config">): string {
  const { address } = connection.config;
  return typeof address === "string" ? address : "";
}
