import { formatNumber, plural } from "../../format.ts";

const number = (count: number) => formatNumber("en", count);

export const backtest = {
  title: "What these rules would have done",
  none: "No version with a publish time is known, so there is no day to show",
  undated: (count: number) =>
    `${plural("en", count, { one: "version", other: "versions" })} without a publish time left out`,
  days: (count: number) => plural("en", count, { one: "change of the latest", other: "changes of the latest" }),
  surprises: (count: number) => plural("en", count, { one: "surprise", other: "surprises" }),
  no_surprise: "no surprise",
  day: "Day",
  announced: "Announced",
  before: "Before",
  keeps: (version: string) => `an automatic run keeps ${version}`,
  jumps: {
    first: "first",
    none: "step ahead",
    downgrade: "step back",
    prerelease: "pre-release",
    variant: "other variant",
    incomparable: "not comparable",
  },
  more: (count: number) => `${number(count)} older not shown`,
};
