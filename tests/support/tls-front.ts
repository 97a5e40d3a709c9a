import { readFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:https";
import type { Authority } from "../peers/authority.ts";

/** Ends TLS as `name` on a port of loopback and passes everything on as it came, with who asked. */
export async function startTlsFront(options: {
  authority: Authority;
  name: string;
  port: number;
  /** Of the server behind. */
  target_port: number;
}): Promise<{ stop(): Promise<void> }> {
  const { cert_file, key_file } = options.authority.issue(options.name);
  const certificate = { cert: readFileSync(cert_file), key: readFileSync(key_file) };
  const front = createServer(certificate, (incoming, outgoing) => {
    const headers = { ...incoming.headers, "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" };
    const { method, url } = incoming;
    const passed = request(
      { host: "127.0.0.1", port: options.target_port, method, path: url, headers, agent: false },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => front.listen(options.port, "127.0.0.1", resolve));
  return {
    stop: () =>
      new Promise((resolve) => {
        front.close(() => resolve());
        front.closeAllConnections();
      }),
  };
}
