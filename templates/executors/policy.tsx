import type { ExecutorView } from "../../src/executors/schema.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { channelWord } from "../trackers/channel-words.ts";
import { weekdayList } from "./window-words.ts";

/** What an executor does and when, one sentence each. */
export function policyOf(ctx: PageContext, executor: ExecutorView): readonly string[] {
  const t = texts(ctx).executors;
  const w = t.policy_words;
  const isGroup = executor.target.is_group;
  return [
    triggerSentence(ctx, executor),
    ...(executor.requires_approval && executor.trigger !== "manual" ? [w.approval(executor.approval_hours)] : []),
    // For a group the table of services shows it.
    ...(isGroup ? [] : executor.bindings).map((binding) =>
      w.binding(channelWord(ctx, binding.channel), binding.tracker, binding.source),
    ),
    ...(executor.target.artifact === "image" ? [w[executor.image_selection], w[executor.reference_mode]] : []),
    ...(executor.start_first ? [isGroup ? w.group_start_first : w.start_first] : []),
    ...(executor.start_first && executor.drain_seconds > 0 ? [w.drain(executor.drain_seconds)] : []),
    ...healthSentences(ctx, executor),
    executor.allow_downgrade ? w.downgrade : w.no_downgrade,
    ...(isUnknownAccepted(executor) ? [w.unknown_accepted] : []),
    ...(executor.minimum_age_hours > 0 ? [w.age(executor.minimum_age_hours)] : []),
  ];
}

/** Whether a setting that the engine currently does not report was accepted. */
function isUnknownAccepted({ trigger, unknown_settings, accepted_unknown_settings }: ExecutorView): boolean {
  return trigger !== "manual" && unknown_settings.some((each) => accepted_unknown_settings.includes(each));
}

function triggerSentence(ctx: PageContext, { trigger, window }: ExecutorView): string {
  const w = texts(ctx).executors.policy_words;
  if (trigger !== "window" || window === null) return trigger === "immediate" ? w.immediate : w.manual;
  const days = weekdayList(ctx.language, window.days);
  return window.start === window.end
    ? w.window_all_day(days, ctx.time_zone)
    : w.window(days, window.start, window.end, ctx.time_zone);
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** "http://web.example:8080/health" or "db.example:5432", as the probe requests it; "" for a check without one. */
function probeAddress({ probe }: ExecutorView["health_check"]): string {
  if (typeof probe !== "object" || probe === null) return "";
  const { protocol, host, port, path } = Object.fromEntries(Object.entries(probe));
  const name = text(host).includes(":") ? `[${text(host)}]` : text(host);
  return `${protocol === undefined ? "" : `${text(protocol)}://`}${name}:${text(port)}${text(path)}`;
}

function healthSentences(ctx: PageContext, executor: ExecutorView): readonly string[] {
  const w = texts(ctx).executors.policy_words;
  const check = executor.health_check;
  if (check.strategy === "disabled") return [w.no_check];
  const { is_declarative } = executor.target;
  const address = probeAddress(check);
  const ways: Readonly<Record<string, (address: string) => string>> = {
    ...w.checks,
    ...(is_declarative ? w.declarative_checks : {}),
  };
  const how = (ways[text(check.strategy)] ?? w.checks.auto)(address);
  const number = (value: unknown) => (typeof value === "number" ? value : 0);
  const timing = w.timing(
    number(check.initial_delay_seconds),
    number(check.probe_interval_seconds),
    number(check.total_probe_duration_seconds),
  );
  // A runtime that replaces what runs is followed, not probed.
  const isTimed = (address !== "" || !is_declarative) && typeof check.initial_delay_seconds === "number";
  return [how, ...(isTimed ? [timing] : []), unhealthyWords(ctx, executor)];
}

/** What happens if the new version does not become healthy. */
export function unhealthyWords(ctx: PageContext, executor: ExecutorView): string {
  const w = texts(ctx).executors.policy_words;
  const { strategy, on_failure } = executor.health_check;
  if (strategy === "disabled") return w.no_check;
  if (on_failure === "degraded") return w.keep_degraded;
  if (!executor.restore_on_failure) return w.keep_failed;
  return executor.target.is_group ? w.group_restore : w.restore;
}
