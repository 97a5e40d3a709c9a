import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { peerSuite } from "../support/peer.ts";
import type { SchemathesisOutcome } from "../support/schemathesis-session.ts";

const peers = process.env.TIDEMARK_PEERS || join(homedir(), ".cache/tidemark-peers");
const program = join(peers, "schemathesis-4.32.5/bin/schemathesis");
/** Of each operation; the figure of docs/security.md is from a run by hand with 60 and the phases `coverage,fuzzing,stateful`. */
const examples = process.env.TIDEMARK_SCHEMATHESIS_EXAMPLES ?? "5";
const phases = process.env.TIDEMARK_SCHEMATHESIS_PHASES ?? "fuzzing";

function missing(): string | null {
  if (!existsSync(program)) return `${program} is not installed (tests/peers/build-schemathesis.sh)`;
  if (spawnSync("unshare", ["--net", "ip", "link", "set", "lo", "up"]).status === 0) return null;
  return "a network namespace cannot be made (as root, with unshare and the Debian package iproute2)";
}

const checks = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
  "unsupported_method",
  "allow_header_conformance",
  "ignored_auth",
  "use_after_free",
];

/** Ends the token that everything else is asked with; tests of its own judge it. What asks for the password is never given it. */
const endsTheToken = "delete_session";

const options = [
  ...["--phases", phases, "--max-examples", examples, "--workers", "2"],
  ...["--checks", checks.join(","), "--suppress-health-check", "all", "--generation-database", "none"],
  ...["--continue-on-failure", "--no-shrink", "--max-failures", "20"],
  ...["--exclude-operation-id", endsTheToken],
];

peerSuite("schemathesis on the real server", missing(), () => {
  test("finds no server error, no undocumented answer and no broken schema", async () => {
    // What it generates names hosts all over the world: none of them can be reached from here.
    const inside = 'ip link set lo up && exec "$0" "$@"';
    const script = join(import.meta.dir, "../support/schemathesis-session.ts");
    const child = Bun.spawn(["unshare", "--net", "sh", "-c", inside, process.execPath, script, program, ...options], {
      env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [text, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    if ((await child.exited) !== 0) throw new Error(`The session ended early: ${errors.slice(-2_000)}`);
    const outcome: SchemathesisOutcome = JSON.parse(text);
    const failures = outcome.output.slice(Math.max(0, outcome.output.indexOf("= FAILURES =")));
    if (outcome.code !== 0) throw new Error(`schemathesis ended with ${outcome.code}:\n${failures.slice(0, 8_000)}`);
    expect(outcome.complaints).toEqual([]);
    // A run whose token was lost, or that asked nearly nothing, proves nothing.
    expect(outcome.token_status).toBe(200);
    const generated = Number(/(\d+) generated/.exec(outcome.output)?.[1] ?? "0");
    console.log(`schemathesis: ${generated} requests`);
    expect(generated).toBeGreaterThan(100);
  }, 3_600_000);
});
