import { lowered } from "../src/messages/nested.ts";
import type { Language, PageContext } from "./page.ts";

/**
 * Numbers, times and sizes as words: always `Intl`, from milliseconds, in the page's language and the settings' time zone. Formatters are
 * cached, because building one costs far more than using it.
 */
type FormatContext = Pick<PageContext, "language" | "time_zone">;

const locales: Readonly<Record<Language, string>> = { en: "en-GB", zh: "zh-CN" };

/** `Intl` has no words for it. */
const justNow: Readonly<Record<Language, string>> = { en: "just now", zh: "刚刚" };

const numberFormats = new Map<string, Intl.NumberFormat>();
const dateFormats = new Map<string, Intl.DateTimeFormat>();
const relativeFormats = new Map<Language, Intl.RelativeTimeFormat>();
const nowFormats = new Map<Language, Intl.RelativeTimeFormat>();
const pluralRules = new Map<Language, Intl.PluralRules>();
const listFormats = new Map<string, Intl.ListFormat>();
const quarters = new Map<string, { date: string; zone: string }>();

function kept<K, V>(cache: Map<K, V>, key: K, build: () => V): V {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const built = build();
  // Formats are few; quarters of an hour are many, but a page names the same ones again and again.
  if (cache.size > 500) cache.clear();
  cache.set(key, built);
  return built;
}

export function formatNumber(language: Language, value: number, options: Intl.NumberFormatOptions = {}): string {
  const key = `${language} ${JSON.stringify(options)}`;
  return kept(numberFormats, key, () => new Intl.NumberFormat(locales[language], options)).format(value);
}

/** `plural("en", 1, { one: "run", other: "runs" })` is "1 run"; the number is formatted and put first. */
export function plural(language: Language, count: number, forms: { one?: string; other: string }): string {
  const rule = kept(pluralRules, language, () => new Intl.PluralRules(locales[language])).select(count);
  const form = rule === "one" && forms.one !== undefined ? forms.one : forms.other;
  return `${formatNumber(language, count)} ${form}`;
}

/** Chinese sets no space between sentences. */
export function joinSentences(language: Language, sentences: readonly string[]): string {
  return sentences.join(language === "zh" ? "" : " ");
}

/** A help or a message has no stop of its own, since it may stand inside another one. */
export function endSentence(language: Language, text: string): string {
  if (text === "" || /[.。!?！？…]$/.test(text)) return text;
  return text + (language === "zh" ? "。" : ".");
}

export function formatList(language: Language, items: readonly string[]): string {
  return kept(listFormats, language, () => new Intl.ListFormat(locales[language], { type: "conjunction" })).format(
    items,
  );
}

/** Labels as one list, of which only the first keeps its capital. */
export function formatLabels(language: Language, labels: readonly string[]): string {
  return formatList(
    language,
    labels.map((label, index) => (index === 0 ? label : lowered(label))),
  );
}

function dateFormat(ctx: FormatContext, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${ctx.language} ${ctx.time_zone} ${JSON.stringify(options)}`;
  return kept(
    dateFormats,
    key,
    () => new Intl.DateTimeFormat(locales[ctx.language], { ...options, timeZone: ctx.time_zone }),
  );
}

type SeenAt = FormatContext & Pick<PageContext, "now">;

/** Every date of the pages: "20 November 2026", "2026年11月20日". */
function formatDateAs(ctx: FormatContext, instant: number, options: Intl.DateTimeFormatOptions): string {
  // Intl sets a comma after the weekday only where a year follows.
  return dateFormat(ctx, options).format(instant).replace(",", "");
}

/** The year as part of a date, unless it is the current one. */
function otherYear(ctx: SeenAt, instant: number): Intl.DateTimeFormatOptions {
  const years = dateFormat(ctx, { year: "numeric" });
  return years.format(instant) === years.format(ctx.now) ? {} : { year: "numeric" };
}

function withTime(language: Language, date: string, time: string): string {
  return language === "zh" ? `${date} ${time}` : `${date}, ${time}`;
}

function partOf(format: Intl.DateTimeFormat, name: Intl.DateTimeFormatPartTypes, instant: number): string {
  return format.formatToParts(instant).find(({ type }) => type === name)?.value ?? "";
}

/** Every zone begins its days, and changes its offset, where one of these begins. */
const quarterMs = 15 * 60_000;

/** The full date and time, for `title`: "Friday 20 November 2026, 21:14:09 CET". */
export function formatInstant(ctx: FormatContext, instant: number): string {
  const key = `${ctx.language} ${ctx.time_zone} ${Math.floor(instant / quarterMs)}`;
  const { date, zone } = kept(quarters, key, () => ({
    date: formatDateAs(ctx, instant, { weekday: "long", day: "numeric", month: "long", year: "numeric" }),
    zone: partOf(dateFormat(ctx, { timeZoneName: "short" }), "timeZoneName", instant),
  }));
  return `${withTime(ctx.language, date, formatClock(ctx, instant, "second"))} ${zone}`;
}

/** Where a line may break without a space. */
const besideIdeograph = /(?<=\p{sc=Han})(?=[\p{sc=Han}\d])|(?<=\d)(?=\p{sc=Han})/gu;

/** "20 Nov, 21:14", in another year "20 Nov 2025, 21:14"; a line never breaks within it. */
export function formatShort(ctx: SeenAt, instant: number, weekday: { weekday?: "short" } = {}): string {
  const date = formatDateAs(ctx, instant, { ...weekday, day: "numeric", month: "short", ...otherYear(ctx, instant) });
  const words = withTime(ctx.language, date, formatClock(ctx, instant)).replaceAll(" ", "\u00a0");
  return words.replaceAll(besideIdeograph, "\u2060");
}

/** "21:14" today, else as `formatShort`. */
export function formatSoon(ctx: SeenAt, instant: number): string {
  return dayKey(ctx, instant) === dayKey(ctx, ctx.now) ? formatClock(ctx, instant) : formatShort(ctx, instant);
}

/** "Friday 20 November", in another year "Friday 20 November 2025": the heading of a day. */
export function formatDay(ctx: SeenAt, instant: number): string {
  return formatDateAs(ctx, instant, { weekday: "long", day: "numeric", month: "long", ...otherYear(ctx, instant) });
}

/** "20 Nov", in another year "20 Nov 2025": a day in a chart, a narrow column or a sentence. */
export function formatDate(ctx: SeenAt, instant: number): string {
  return formatDateAs(ctx, instant, { day: "numeric", month: "short", ...otherYear(ctx, instant) });
}

/** "Fri", "周五". */
export function formatWeekday(ctx: FormatContext, instant: number): string {
  return dateFormat(ctx, { weekday: "short" }).format(instant);
}

const smallerParts = {
  minute: {},
  second: { second: "2-digit" },
  tenth: { second: "2-digit", fractionalSecondDigits: 1 },
} as const;

/** "21:14", to the second "21:14:09", or "21:14:09.1" for steps that are milliseconds apart. */
export function formatClock(ctx: FormatContext, instant: number, to: keyof typeof smallerParts = "minute"): string {
  const options = { hour: "2-digit", minute: "2-digit", ...smallerParts[to], hourCycle: "h23" } as const;
  return dateFormat(ctx, options).format(instant);
}

/** `2026-11-20` in the system time zone: equal for two instants exactly when they belong under the same day heading. */
export function dayKey(ctx: Pick<PageContext, "time_zone">, instant: number): string {
  const parts = kept(
    dateFormats,
    `key ${ctx.time_zone}`,
    () =>
      new Intl.DateTimeFormat("en-GB", { timeZone: ctx.time_zone, year: "numeric", month: "2-digit", day: "2-digit" }),
  ).formatToParts(instant);
  const part = (type: string) => parts.find((candidate) => candidate.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")}`;
}

const relativeUnits: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 365 * 24 * 3600],
  ["month", 30 * 24 * 3600],
  ["day", 24 * 3600],
  ["hour", 3600],
  ["minute", 60],
];

/** "3 minutes ago", "in 4 hours"; within a minute "just now", or "now" ahead. `public/app.js` computes the same text on the open page. */
export function formatRelative(language: Language, instant: number, now: number): string {
  const seconds = (instant - now) / 1000;
  for (const [unit, size] of relativeUnits) {
    // Two months and two years are counted in the smaller unit, so that "1 month" never hides four weeks of difference.
    const enough = unit === "month" || unit === "year" ? 2 * size : size;
    if (Math.abs(seconds) < enough) continue;
    // Always a number: "yesterday" would refer to the calendar day, which 25 hours do not.
    const format = kept(relativeFormats, language, () => new Intl.RelativeTimeFormat(locales[language]));
    return format.format(Math.trunc(seconds / size), unit);
  }
  if (seconds <= 0) return justNow[language];
  return kept(nowFormats, language, () => new Intl.RelativeTimeFormat(locales[language], { numeric: "auto" })).format(
    0,
    "second",
  );
}

type Unit = "millisecond" | "second" | "minute" | "hour" | "day";

/** `Intl` sets no space before its narrow ones. */
export const durationUnits: Readonly<Record<Language, Readonly<Record<Unit, string>>>> = {
  en: { millisecond: "ms", second: "s", minute: "min", hour: "h", day: "d" },
  zh: { millisecond: "毫秒", second: "秒", minute: "分钟", hour: "小时", day: "天" },
};

/** "0.38 s", "3 min 22 s", "2 h 5 min", "3 d 4 h": two units at most, exact below ten seconds. */
export function formatDuration(language: Language, ms: number): string {
  const unit = (value: number, name: Unit, digits = 0) => {
    const number = formatNumber(language, value, { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return `${number} ${durationUnits[language][name]}`;
  };
  if (ms < 1000) return ms < 10 ? unit(Math.round(ms), "millisecond") : unit(ms / 1000, "second", 2);
  if (ms < 10_000) return unit(ms / 1000, "second", 1);
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return unit(seconds, "second");
  const pairs: readonly (readonly [Unit, number, Unit, number])[] = [
    ["day", 86_400, "hour", 3600],
    ["hour", 3600, "minute", 60],
    ["minute", 60, "second", 1],
  ];
  for (const [large, size, small, smallSize] of pairs) {
    if (seconds < size) continue;
    const rest = Math.floor((seconds % size) / smallSize);
    const whole = unit(Math.floor(seconds / size), large);
    return rest === 0 ? whole : `${whole} ${unit(rest, small)}`;
  }
  return unit(seconds, "second");
}

/** "2 seconds", "3 min 22 s": how long to wait, never less than a second. */
export function formatWait(language: Language, seconds: number): string {
  const whole = Math.max(1, Math.ceil(seconds));
  if (whole >= 60) return formatDuration(language, whole * 1000);
  return plural(
    language,
    whole,
    language === "zh" ? { other: durationUnits.zh.second } : { one: "second", other: "seconds" },
  );
}

/** "412 MB": decimal units, as registries and engines count. */
export function formatBytes(language: Language, bytes: number): string {
  if (bytes < 1000 && language === "zh") return `${formatNumber(language, bytes)} 字节`;
  const names = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
  let value = bytes;
  let index = 0;
  while (value >= 1000 && index < names.length - 1) {
    value /= 1000;
    index += 1;
  }
  return formatNumber(language, value, {
    style: "unit",
    unit: names[index] ?? "byte",
    unitDisplay: index === 0 ? "long" : "short",
    maximumFractionDigits: value < 10 && index > 0 ? 1 : 0,
  });
}
