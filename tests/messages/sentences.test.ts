import { expect, test } from "bun:test";
import { tellers } from "../../src/messages/languages.ts";
import { say } from "../../src/messages/message.ts";

const ports = { port: 8080, allowed: [443], scheme: "https", entry: "hooks.lan:8080" };

test.each([
  [say("engine.silent", { ms: 10_000 }), "timed out after 10 s", "10 秒内没有响应"],
  [say("engine.endless", { ms: 500 }), "it did not complete within 500 ms", "500 毫秒内没有结束"],
  [
    say("net.port_not_allowed", ports),
    'Port 8080 is not allowed with https; use port 443, or add "hooks.lan:8080" to OUTBOUND_ALLOW',
    "https 地址不允许使用端口 8080；请改用端口 443，或将“hooks.lan:8080”加入 OUTBOUND_ALLOW",
  ],
  [
    say("net.port_not_allowed", { port: 22, allowed: [80, 443], scheme: null }),
    "Port 22 is not allowed; use one of the ports 80, 443",
    "不允许使用端口 22；请改用端口 80、443",
  ],
  [say("runs.in_progress", { run: "0190" }), "A run is already in progress", "已有一次运行正在进行"],
])("%j reads as a sentence in both languages", (said, english, chinese) => {
  expect([tellers.en(said), tellers.zh(said)]).toEqual([english, chinese]);
});
