import { expect, test } from "bun:test";
import type { AuditEntryView } from "../../src/auth/audit-schema.ts";
import { say } from "../../src/messages/message.ts";
import { refusalReasons } from "../../src/oidc/refusal.ts";
import { AuditPage } from "../../templates/settings/audit.tsx";
import { texts } from "../../templates/texts/texts.ts";
import { sampleContext } from "../gallery/sample-context.ts";
import { wholeList } from "../gallery/whole-list.ts";

const entry: AuditEntryView = {
  id: "1",
  event: "image_removed",
  outcome: "ok",
  actor: "admin",
  subject: null,
  address: null,
  request_id: null,
  at: Date.UTC(2026, 0, 5, 12),
  detail: {
    fields: ["check_interval_minutes", "description"],
    with_secrets: true,
    size_bytes: 2048,
    reason: "token_key_unknown",
    snapshot_id: null,
    never_heard_of: "a<b",
  },
};

const pageIn = (language: "en" | "zh", shown = entry) =>
  String(
    <AuditPage
      {...wholeList(sampleContext({ language }), [shown])}
      days={{ from: "", to: "" }}
      retention_days={90}
      title_of_targets={(kind) => (kind === "container" ? say("engine.container") : null)}
    />,
  );

test("the facts of an entry are words, not keys", () => {
  const page = pageIn("en");
  expect(page).toContain("check interval minutes and description");
  for (const words of [
    "With secrets: Yes",
    "Size: 2",
    "Reason: ID token signed with an unknown key",
    "never heard of: a&lt;b",
  ]) {
    expect(page).toContain(words);
  }
  expect(page).not.toContain("Snapshot:");
  expect(pageIn("zh")).toContain("原因：ID 令牌的密钥未知");
});

test.each([
  ["credential", "oci", "OCI or Docker registry", "OCI 或 Docker 镜像仓库"],
  ["connection", "docker", "Docker Engine", "Docker 引擎"],
  ["backup", "before-upgrade", "before upgrade", "升级之前"],
  ["credential", "of_later", "of_later", "of_later"],
])("the kind of a %s, %s, has its name", (subject, kind, english, chinese) => {
  const shown = { ...entry, subject: { kind: subject, id: "1", name: "hub" }, detail: { kind } };
  expect(pageIn("en", shown)).toContain(`Type: ${english}`);
  expect(pageIn("zh", shown)).toContain(`类型：${chinese}`);
});

test.each([
  [{ sources: [{ kind: "oci", name: "main" }] }, "Sources: main (Registry)", "来源：main（镜像仓库）"],
  [
    {
      targets: [
        { kind: "container", name: "web" },
        { kind: "of_later", name: "db" },
      ],
    },
    "Targets: web (Container) and db (of_later)",
    "目标：web（容器）和db（of_later）",
  ],
  [{ target: { kind: "container", name: "web" } }, "Target: web (Container)", "目标：web（容器）"],
  // As an earlier version recorded them.
  [{ sources: ["main (oci)"] }, "Sources: main (oci)", "来源：main (oci)"],
  [{ target: "container web" }, "Target: container web", "目标：container web"],
])("what %j names has its kind beside it", (detail, english, chinese) => {
  expect(pageIn("en", { ...entry, detail })).toContain(english);
  expect(pageIn("zh", { ...entry, detail })).toContain(chinese);
});

test.each(["en", "zh"] as const)("every reason of a refused sign-in has words: %s", (language) => {
  const { values } = texts({ language }).audit_facts;
  expect(refusalReasons.filter((reason) => !Object.hasOwn(values, reason))).toEqual([]);
});
