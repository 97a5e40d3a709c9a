import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { parse } from "yaml";
import { answerParent } from "../child.ts";
import { indexPieces, measuredChart } from "./index-text.ts";

/** The same index as JSON, chart by chart: one document of this size would take minutes to parse. */
function asJson(): Buffer {
  const pieces = [...indexPieces()];
  const charts: string[] = [];
  let lines = "";
  for (const piece of [...pieces.slice(1, -1), "  end:\n"]) {
    if (/^ {2}\S+:\n$/.test(piece) && lines !== "") {
      charts.push(JSON.stringify(parse(lines)).slice(1, -1));
      lines = "";
    }
    lines += piece;
  }
  return Buffer.from(`{"apiVersion":"v1","entries":{${charts.join(",")}},"generated":"2026-11-01T00:00:00Z"}`);
}

answerParent(async ({ form }) => {
  const plain = form === "json" ? asJson() : Buffer.from([...indexPieces()].join(""));
  const body = form === "gzip" ? gzipSync(plain) : plain;
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/small/")) return response.end(`entries:\n  ${measuredChart}:\n  - version: 1.0.0\n`);
    response.setHeader("content-type", "application/octet-stream");
    if (form === "gzip") response.setHeader("content-encoding", "gzip");
    response.setHeader("content-length", body.byteLength);
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return { url: `http://127.0.0.1:${port}`, size: plain.byteLength };
});
