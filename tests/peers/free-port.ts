import { once } from "node:events";
import { createServer } from "node:net";

/** A port of loopback that nothing uses at the moment; another process may take it before its user does. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("The system gave no port");
  return address.port;
}
