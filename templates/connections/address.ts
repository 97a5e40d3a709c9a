import type { ConnectionView } from "../../src/connections/schema.ts";

/** The connection's address as entered, or the context of a kubeconfig; "" for one without either. */
export function addressOf(connection: Pick<ConnectionView, "config">): string {
  const { address, server, url, context } = connection.config;
  return [address, server, url, context].find((each): each is string => typeof each === "string" && each !== "") ?? "";
}
