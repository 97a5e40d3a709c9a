import { describe, expect, test } from "bun:test";
import { findBreakingChanges } from "../../src/versions/breaking-changes.ts";
import { findSecurityFixes } from "../../src/versions/security-fixes.ts";
import { markedNotes } from "./marked-notes.ts";

describe.each(markedNotes)("notes in the form of $form", ({ notes, breaking, security, ids = [] }) => {
  test("have these breaking changes", () => {
    expect(findBreakingChanges(notes).map(({ text }) => text)).toEqual([...breaking]);
  });

  test("have these security fixes", () => {
    const fixes = findSecurityFixes(notes);
    expect(fixes.map(({ text }) => text)).toEqual([...security]);
    expect([...new Set(fixes.flatMap((fix) => fix.ids))]).toEqual([...ids]);
  });

  test("are counted by their own lines", () => {
    const lines = notes.split("\n");
    for (const { line, text } of [...findBreakingChanges(notes), ...findSecurityFixes(notes)]) {
      expect(lines[line - 1]).toContain(text.split(" ").find((word) => /^\p{L}{2,}$/u.test(word)) ?? text);
    }
  });
});

describe("findSecurityFixes()", () => {
  test.each([
    ["Fixes cve-2024-12345", ["CVE-2024-12345"]],
    ["- see GHSA-4cvf-9w3x-2rqp and CVE-2026-0001, CVE-2026-0001", ["GHSA-4cvf-9w3x-2rqp", "CVE-2026-0001"]],
    ["A security fix for everyone", []],
    ["- 修复安全漏洞", []],
    ["## 🔒 Security\n\n- closed", []],
  ])("takes %p", (notes, ids) => {
    const [fix, ...more] = findSecurityFixes(notes);
    expect(fix?.ids).toEqual(ids);
    expect(more).toEqual([]);
  });

  test.each([
    ["- add a vulnerability scan to the build"],
    ["- update SECURITY.md"],
    ["No known vulnerabilities"],
    ["## Security\n\nNone"],
    ["- CVE-26-1 is no identifier"],
    ["- the security page has a new title"],
    ["```\nCVE-2024-12345\n```"],
  ])("passes over %p", (notes) => expect(findSecurityFixes(notes)).toEqual([]));

  test("is bounded", () => {
    expect(findSecurityFixes("CVE-2024-12345\n".repeat(1_000))).toHaveLength(50);
    expect(findSecurityFixes(`CVE-2024-12345 ${"a".repeat(5_000)}`)[0]?.text).toHaveLength(256);
  });
});
