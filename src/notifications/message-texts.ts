import { toIso } from "../clock.ts";
import { type Language, tellers } from "../messages/languages.ts";
import { says } from "../messages/message.ts";
import { type Aim, namedAs } from "../versions/maturity.ts";
import type { LaterButOlder } from "../versions/older-lines.ts";
import type { OutageFacts } from "./outage-schema.ts";
import type { AwaitingFacts, RecoveredFacts, ReleaseFacts, RunFacts, VersionFacts } from "./schema.ts";

export interface MessageText {
  title: string;
  text: string;
}

function versionText(version: VersionFacts): string {
  const digest = version.digest === null ? "" : ` (${version.digest.slice(0, 19)}…)`;
  return `${version.tag ?? "?"}${digest}`;
}

interface Words {
  test: MessageText;
  new_release(facts: ReleaseFacts): MessageText;
  republish(facts: ReleaseFacts): MessageText;
  run(facts: RunFacts): MessageText;
  recovered(facts: RecoveredFacts): MessageText;
  awaiting(facts: AwaitingFacts): MessageText;
  outage(facts: OutageFacts): MessageText;
  /** The line with the link for approving. */
  decide(url: string): string;
}

/** `2026-11-21 03:12 UTC`: to the minute, the same for every reader. */
function minuteText(instant: number): string {
  return `${toIso(instant).slice(0, 16).replace("T", " ")} UTC`;
}

const englishUnits = { hours: " h", minutes: " min", seconds: " s" };
const chineseUnits = { hours: " 小时", minutes: " 分钟", seconds: " 秒" };

/** `42 s`, `12 min`, `3 h 20 min`. */
function lengthText(ms: number, units: typeof englishUnits = englishUnits): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds}${units.seconds}`;
  const minutes = Math.round(seconds / 60);
  const rest = minutes % 60 === 0 ? "" : ` ${minutes % 60}${units.minutes}`;
  return minutes < 60 ? `${minutes}${units.minutes}` : `${Math.floor(minutes / 60)}${units.hours}${rest}`;
}

/** `New stable release`; a candidate is called that, whatever channel takes it. */
function englishKind({ channel_type, maturity }: ReleaseFacts): string {
  const kind = namedAs(channel_type, maturity);
  return kind === "prerelease" ? "New pre-release" : `New ${kind} release`;
}

/** Whether the channel's name needs a mention: one named after its type does not. */
function isNamed({ channel, channel_type }: ReleaseFacts): boolean {
  return channel !== channel_type;
}

const chineseTypes: Readonly<Record<Aim, string>> = {
  stable: "稳定版",
  prerelease: "预发布版",
  beta: "测试版",
  canary: "金丝雀版",
};

interface RemarkWords {
  title: string;
  text: (newest: string) => string;
}

const englishRemarks: Readonly<Record<LaterButOlder, RemarkWords>> = {
  older_line: {
    title: " (older line)",
    text: (newest) => `It belongs to an older line; the newest version is still ${newest}.`,
  },
  older_version: {
    title: " (not the newest version)",
    text: (newest) => `It was published late; the newest version is still ${newest}.`,
  },
};

const chineseRemarks: Readonly<Record<LaterButOlder, RemarkWords>> = {
  older_line: { title: "（旧版本线）", text: (newest) => `该版本属于旧版本线，最新版本仍为 ${newest}。` },
  older_version: { title: "（不是最新版本）", text: (newest) => `该版本发布较晚，最新版本仍为 ${newest}。` },
};

/** The executors or trackers of an outage, each once. */
function affectedBy(facts: OutageFacts): { count: number; names: readonly string[] } {
  if (facts.cause === "connection") return { count: facts.executor_count, names: facts.executors };
  return { count: facts.source_count, names: [...new Set(facts.sources.map(({ tracker }) => tracker))] };
}

/** Maximum number of names in a message. */
const shownNames = 5;

function englishAffected(facts: OutageFacts): string {
  const { count, names } = affectedBy(facts);
  if (count === 0) return "";
  const noun = facts.cause === "connection" ? "executor" : "source";
  const end = names.length > shownNames ? " and more." : ".";
  return ` ${count} ${count === 1 ? noun : `${noun}s`} affected: ${names.slice(0, shownNames).join(", ")}${end}`;
}

function chineseAffected(facts: OutageFacts): string {
  const { count, names } = affectedBy(facts);
  if (count === 0) return "";
  const more = names.length > shownNames ? " 等" : "";
  const noun = facts.cause === "connection" ? "执行器" : "来源";
  return `${count} 个${noun}受到影响：${names.slice(0, shownNames).join("、")}${more}。`;
}

/** The reason then names the services that are down. */
function isPartlyDown({ reason_data: reason }: RunFacts): boolean {
  return reason !== null && says(reason, "runs.partly_down");
}

const english: Words = {
  test: { title: "Tidemark test message", text: "This notifier works: Tidemark can reach it." },
  new_release: (facts) => ({
    title: `${facts.tracker} ${facts.version} is out${facts.remark === null ? "" : englishRemarks[facts.remark.code].title}`,
    text: [
      `${englishKind(facts)} of ${facts.tracker}${isNamed(facts) ? ` in channel ${facts.channel}` : ""}: ${facts.version}`,
      facts.previous_version === null ? "" : `, before ${facts.previous_version}`,
      facts.remark === null ? "." : `. ${englishRemarks[facts.remark.code].text(facts.remark.params.newest)}`,
      facts.also.length === 0 ? "" : ` Also new: ${facts.also.join(", ")}.`,
    ].join(""),
  }),
  republish: (facts) => ({
    title: `${facts.tracker} ${facts.version} was republished`,
    text: `A new build of ${facts.tracker} was published under the same tag ${facts.tag}.`,
  }),
  run: (facts) => {
    const what = facts.kind === "rollback" ? "rollback" : "update";
    const move = `${versionText(facts.from)} → ${versionText(facts.to)}`;
    const why = facts.reason_data === null ? "" : ` ${tellers.en(facts.reason_data)}.`;
    const version = facts.kind === "rollback" ? "snapshot version" : "new version";
    const down = facts.downtime_ms === null ? "" : ` Down for ${(facts.downtime_ms / 1000).toFixed(2)} s.`;
    switch (facts.outcome) {
      case "succeeded":
        return { title: `${facts.executor}: ${what} succeeded`, text: `${move}.${down}${why}` };
      case "degraded":
        return {
          title: `${facts.executor}: ${what} completed, health check failed`,
          text: `${move}. The ${version} is running but degraded.${down}${why}`,
        };
      case "skipped":
        return { title: `${facts.executor}: ${what} skipped`, text: `${move}.${why}` };
      default: {
        const before = facts.kind === "rollback" ? "The version before the rollback" : "The previous version";
        const serving = {
          previous: ` ${before} is running again.`,
          desired: ` The ${version} is running.`,
          mixed: ` Some services run the ${version}, others the previous one.`,
          none: isPartlyDown(facts) ? "" : " TARGET DOWN: neither version is running.",
        };
        const now = Object.entries(serving).find(([key]) => key === facts.serving)?.[1] ?? "";
        return { title: `${facts.executor}: ${what} failed`, text: `${move}.${why}${now}${down}` };
      }
    }
  },
  recovered: (facts) => {
    const isRollback = facts.kind === "rollback";
    const serving = {
      previous: isRollback
        ? " The version before the rollback is running again."
        : " The previous version is running again.",
      desired: isRollback ? " The snapshot version is running." : " The new version is running.",
      mixed: " Some services run the new version, others the previous one.",
    };
    const now = Object.entries(serving).find(([key]) => key === facts.serving)?.[1] ?? "";
    return {
      title: `${facts.executor}: running again`,
      text: `It was down for ${lengthText(facts.downtime_ms)}, since ${minuteText(facts.down_since)}.${now}`,
    };
  },
  awaiting: (facts) => ({
    title: `${facts.executor}: update needs approval`,
    text: `${versionText(facts.from)} → ${versionText(facts.to)}. Approve it by ${minuteText(facts.approval_until)}; nothing changes until you do.`,
  }),
  outage: (facts) => {
    const since = minuteText(facts.since);
    if (facts.lasted_ms !== null) {
      const lasted = `${lengthText(facts.lasted_ms)}, since ${since}.`;
      switch (facts.cause) {
        case "connection":
          return { title: `${facts.connection}: connection recovered`, text: `It was unreachable for ${lasted}` };
        case "upstream":
          return {
            title: `${facts.host} is responding again`,
            text: `It did not respond for ${lasted} The sources that waited are being checked.`,
          };
        case "credential":
          return {
            title: `${facts.host} accepts the credential "${facts.credential}" again`,
            text: `It was refused for ${lasted}`,
          };
      }
    }
    const affected = englishAffected(facts);
    const reason = tellers.en(facts.reason_data);
    switch (facts.cause) {
      case "connection":
        return {
          title: `${facts.connection}: connection lost`,
          text: `Unreachable since ${since}. ${reason}.${affected} Nothing can be updated there until it recovers.`,
        };
      case "upstream":
        return {
          title: `${facts.host} is not responding`,
          text: `Checks have failed since ${since}. ${reason}.${affected} Tidemark keeps trying.`,
        };
      case "credential":
        return {
          title: `${facts.host} refuses the credential "${facts.credential}"`,
          text: `Checks have failed since ${since}. ${reason}.${affected} No new releases are found there until it is accepted.`,
        };
    }
  },
  decide: (url) => `Approve or refuse: ${url}`,
};

const chinese: Words = {
  test: { title: "Tidemark 测试消息", text: "此通知可用：Tidemark 能够向接收方发送消息。" },
  new_release: (facts) => ({
    title: `${facts.tracker} 发布了 ${facts.version}${facts.remark === null ? "" : chineseRemarks[facts.remark.code].title}`,
    text: [
      `${facts.tracker} 发布了新版本 ${facts.version}（${isNamed(facts) ? `通道 ${facts.channel}` : `${chineseTypes[facts.channel_type]}通道`}）`,
      facts.previous_version === null ? "" : `，上一版本为 ${facts.previous_version}`,
      facts.remark === null ? "。" : `。${chineseRemarks[facts.remark.code].text(facts.remark.params.newest)}`,
      facts.also.length === 0 ? "" : `同期发布：${facts.also.join("、")}。`,
    ].join(""),
  }),
  republish: (facts) => ({
    title: `${facts.tracker} ${facts.version} 已重新发布`,
    text: `${facts.tracker} 以原标签 ${facts.tag} 发布了新的构建。`,
  }),
  run: (facts) => {
    const what = facts.kind === "rollback" ? "回滚" : "更新";
    const move = `${versionText(facts.from)} → ${versionText(facts.to)}`;
    const why = facts.reason_data === null ? "" : `原因：${tellers.zh(facts.reason_data)}。`;
    const version = facts.kind === "rollback" ? "快照中的版本" : "新版本";
    const down = facts.downtime_ms === null ? "" : `停机 ${(facts.downtime_ms / 1000).toFixed(2)} 秒。`;
    switch (facts.outcome) {
      case "succeeded":
        return { title: `${facts.executor}：${what}成功`, text: `${move}。${down}${why}` };
      case "degraded":
        return {
          title: `${facts.executor}：${what}已完成，但健康检查未通过`,
          text: `${move}。${version}正在运行，但不健康。${down}${why}`,
        };
      case "skipped":
        return { title: `${facts.executor}：${what}已跳过`, text: `${move}。${why}` };
      default: {
        const serving = {
          previous: facts.kind === "rollback" ? "已恢复运行回滚前的版本。" : "已恢复运行旧版本。",
          desired: `${version}正在运行。`,
          mixed: `部分服务运行${version}，其余仍运行旧版本。`,
          none: isPartlyDown(facts) ? "" : "目标已停机：新旧版本均未运行。",
        };
        const now = Object.entries(serving).find(([key]) => key === facts.serving)?.[1] ?? "";
        return { title: `${facts.executor}：${what}失败`, text: `${move}。${why}${now}${down}` };
      }
    }
  },
  recovered: (facts) => {
    const isRollback = facts.kind === "rollback";
    const serving = {
      previous: isRollback ? "已恢复运行回滚前的版本。" : "已恢复运行旧版本。",
      desired: isRollback ? "快照中的版本正在运行。" : "新版本正在运行。",
      mixed: "部分服务运行新版本，其余仍运行旧版本。",
    };
    const now = Object.entries(serving).find(([key]) => key === facts.serving)?.[1] ?? "";
    return {
      title: `${facts.executor}：已恢复运行`,
      text: `自 ${minuteText(facts.down_since)} 起停机 ${lengthText(facts.downtime_ms, chineseUnits)}。${now}`,
    };
  },
  awaiting: (facts) => ({
    title: `${facts.executor}：更新待批准`,
    text: `${versionText(facts.from)} → ${versionText(facts.to)}。请在 ${minuteText(facts.approval_until)} 之前批准；批准之前不会做任何更改。`,
  }),
  outage: (facts) => {
    const since = minuteText(facts.since);
    if (facts.lasted_ms !== null) {
      const lasted = lengthText(facts.lasted_ms, chineseUnits);
      switch (facts.cause) {
        case "connection":
          return { title: `${facts.connection}：连接已恢复`, text: `自 ${since} 起无法访问，持续了 ${lasted}。` };
        case "upstream":
          return {
            title: `${facts.host} 已恢复响应`,
            text: `自 ${since} 起没有响应，持续了 ${lasted}。等待中的来源正在逐个检查。`,
          };
        case "credential":
          return {
            title: `${facts.host} 已重新接受凭据“${facts.credential}”`,
            text: `该凭据自 ${since} 起被拒绝，持续了 ${lasted}。`,
          };
      }
    }
    const affected = chineseAffected(facts);
    const reason = tellers.zh(facts.reason_data);
    switch (facts.cause) {
      case "connection":
        return {
          title: `${facts.connection}：连接已断开`,
          text: `自 ${since} 起无法访问。原因：${reason}。${affected}恢复之前无法在此执行更新。`,
        };
      case "upstream":
        return {
          title: `${facts.host} 没有响应`,
          text: `自 ${since} 起检查失败。原因：${reason}。${affected}Tidemark 会继续重试。`,
        };
      case "credential":
        return {
          title: `${facts.host} 拒绝了凭据“${facts.credential}”`,
          text: `自 ${since} 起检查失败。原因：${reason}。${affected}恢复之前无法发现那里的新版本。`,
        };
    }
  },
  decide: (url) => `批准或拒绝：${url}`,
};

export const messageTexts: Readonly<Record<Language, Words>> = { en: english, zh: chinese };
