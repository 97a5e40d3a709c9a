import { findMarkedLines, type MarkedLine } from "./marked-lines.ts";

/** A line of release notes about a closed hole. */
export interface SecurityFix extends MarkedLine {
  /** Identifiers of advisories in this line, each once: `CVE-2024-1234`, `GHSA-xxxx-xxxx-xxxx`. */
  ids: readonly string[];
}

const idPattern = /\b(?:CVE-\d{4}-\d{4,7}|GHSA(?:-[23456789cfghjmpqrvwx]{4}){3})\b/gi;
const phrases = [
  "security fix",
  "security issue",
  "security bug",
  "security hole",
  "security advisor",
  "security patch",
  "security release",
  "security update",
  "vulnerabilit",
  "安全漏洞",
  "安全修复",
  "安全更新",
  "安全问题",
];
const headingPhrases = ["security", "安全"];
/** Phrases for "none", or for something else. */
const denials = [
  "no security",
  "non-security",
  "no known vulnerabilit",
  "no vulnerabilit",
  "security policy",
  "security.md",
  "vulnerability scan",
  "vulnerability report",
  "vulnerability database",
  "无安全",
  "没有安全",
];

function idsIn(line: string): readonly string[] {
  return [...new Set(Array.from(line.matchAll(idPattern), ([id]) => (/^cve/i.test(id) ? id.toUpperCase() : id)))];
}

function hasPhrase(line: string, wanted: readonly string[]): boolean {
  const lower = line.toLowerCase();
  if (!wanted.some((phrase) => lower.includes(phrase))) return false;
  const rest = denials.reduce((text, denial) => text.replaceAll(denial, " "), lower);
  return wanted.some((phrase) => rest.includes(phrase));
}

/**
 * The lines of release notes about closed security holes, at most 50: lines that say so or name an advisory, and what stands under a
 * heading that does.
 */
export function findSecurityFixes(notes: string): readonly SecurityFix[] {
  const lines = notes.split("\n");
  const found = findMarkedLines(notes, {
    isMeant: (line) => idsIn(line).length > 0 || hasPhrase(line, phrases),
    isMeantHeading: (line) => idsIn(line).length > 0 || hasPhrase(line, headingPhrases),
  });
  return found.map((fix) => ({ ...fix, ids: idsIn(lines[fix.line - 1] ?? "") }));
}
