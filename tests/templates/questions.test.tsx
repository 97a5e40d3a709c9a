import { expect, test } from "bun:test";
import { say } from "../../src/messages/message.ts";
import { OthersEnd, SessionEnd } from "../../templates/auth/sessions.tsx";
import { TokenRevoke } from "../../templates/auth/tokens.tsx";
import { BackupDelete } from "../../templates/settings/backups.tsx";
import { sampleContext } from "../gallery/sample-context.ts";

const ctx = sampleContext();
const error = say("backups.in_progress");
const times = { created_at: 0, last_seen_at: 0, expires_at: 0 };
const session = {
  ...{ id: "s", is_current: false, method: "password" as const },
  ...{ address: null, browser: null, system: null, user_agent: null },
  ...times,
};
const token = { id: "t", name: "ci", scope: "read" as const, last_used_at: null, last_used_address: null, ...times };
const backup = {
  ...{ name: "2026-11-23", kind: "manual" as const, created_at: 0, size_bytes: 1 },
  ...{ has_keys: false, has_checksums: true, path: "/data/backups/2026-11-23" },
};

test.each([
  ["SessionEnd", () => <SessionEnd ctx={ctx} session={session} error={error} />],
  ["OthersEnd", () => <OthersEnd ctx={ctx} count={2} error={error} />],
  ["TokenRevoke", () => <TokenRevoke ctx={ctx} token={token} error={error} />],
  ["BackupDelete", () => <BackupDelete ctx={ctx} backup={backup} error={error} />],
])("%s shows why its last answer was refused", (_name, draw) => {
  const html = String(draw());
  expect(html).toContain('role="alert"');
  expect(html).toContain("A backup is already in progress");
});

test("a question that is a page of its own leads back, in a dialog it only closes", () => {
  const back = 'class="parent" href="/settings/backups"';
  expect(String(<BackupDelete ctx={ctx} backup={backup} />)).toContain(back);
  expect(String(<BackupDelete ctx={{ ...ctx, is_fragment: true }} backup={backup} />)).not.toContain(back);
});
