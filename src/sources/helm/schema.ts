import * as v from "valibot";
import { issue } from "../../messages/message.ts";
import { fieldIssue } from "../field-issue.ts";
import { parseChartAddress } from "./chart-address.ts";

/** What a person says of a source of kind `helm`; see `parseChartAddress` for how the two fields are read together. */
export const HelmConfig = v.pipe(
  v.strictObject({
    chart: v.pipe(
      v.string(),
      v.trim(),
      v.nonEmpty(issue("addresses.chart_wanted")),
      v.maxLength(200),
      v.title("Chart name"),
      v.metadata({ code: true, placeholder: "ingress-nginx" }),
    ),
    repository_url: v.pipe(
      v.string(),
      v.trim(),
      v.nonEmpty(issue("addresses.chart_repository_wanted")),
      v.maxLength(2_048),
      v.title("Chart repository URL"),
      v.description(
        "https:// for a repository with an index.yaml, oci:// for charts in a registry (oci+http:// without encryption)",
      ),
      v.metadata({ code: true, placeholder: "https://charts.example.com" }),
    ),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    // A field that has its own error already is not judged again.
    if (!dataset.typed || dataset.issues !== undefined) return;
    const { chart, repository_url } = dataset.value;
    try {
      parseChartAddress(chart, repository_url);
    } catch (error) {
      addIssue(fieldIssue(dataset.value, error));
    }
  }),
);
export type HelmConfig = v.InferOutput<typeof HelmConfig>;

/** The secret of a credential of kind `helm`: `username:password`; the first colon ends the name. */
export const HelmSecret = v.object({ basic_auth: v.pipe(v.string(), v.regex(/^[^:]+:.+$/s)) });
export type HelmSecret = v.InferOutput<typeof HelmSecret>;

/** The two halves of the secret. */
export function readBasicAuth({ basic_auth }: HelmSecret): { username: string; password: string } {
  const colon = basic_auth.indexOf(":");
  return { username: basic_auth.slice(0, colon), password: basic_auth.slice(colon + 1) };
}
