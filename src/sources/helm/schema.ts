import * as v from "valibot";
import { issue, say } from "../../messages/message.ts";
import { checkTogether, requiredAddress } from "../address-fields.ts";
import { parseChartAddress } from "./chart-address.ts";

/** The configuration of a source of kind `helm`; `parseChartAddress` reads the two fields. */
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
    repository_url: requiredAddress(say("addresses.chart_repository_wanted"), {
      title: "Chart repository URL",
      description:
        "`https://` for a repository with an `index.yaml`, `oci://` for charts in a registry (`oci+http://` without encryption)",
      max: 2_048,
      metadata: { placeholder: "https://charts.example.com" },
    }),
  }),
  checkTogether(({ chart, repository_url }) => parseChartAddress(chart, repository_url)),
);
export type HelmConfig = v.InferOutput<typeof HelmConfig>;

/** The secret of a credential of kind `helm`: `username:password`; the first colon ends the name. */
export const HelmSecret = v.object({ basic_auth: v.pipe(v.string(), v.regex(/^[^:]+:.+$/s)) });
export type HelmSecret = v.InferOutput<typeof HelmSecret>;

/** The two parts of the secret. */
export function readBasicAuth({ basic_auth }: HelmSecret): { username: string; password: string } {
  const colon = basic_auth.indexOf(":");
  return { username: basic_auth.slice(0, colon), password: basic_auth.slice(colon + 1) };
}
