import { formatNumber, plural } from "../../format.ts";

const number = (count: number) => formatNumber("en", count);

export const backtest = {
  title: "Effect of these rules in the past",
  none: "No version has a known publish time, so there is no history to show",
  undated: (count: number) =>
    `${plural("en", count, { one: "version", other: "versions" })} without a publish time not included`,
  days: (count: number) =>
    plural("en", count, { one: "change of the latest version", other: "changes of the latest version" }),
  surprises: (count: number) => `${number(count)} unexpected`,
  no_surprise: "none unexpected",
  keeps: (version: string) => `an automatic run would stay at ${version}`,
  jumps: {
    first: "first",
    none: "upgrade",
    downgrade: "downgrade",
    prerelease: "pre-release",
    variant: "other variant",
    incomparable: "not comparable",
  },
  more: (count: number) => `${number(count)} older changes not shown`,
};
