import * as v from "valibot";
import { issue } from "../../messages/message.ts";
import { parseHttpUrl } from "../../net/destination.ts";

/** How long an update may show no progress, as while it pulls a large image. */
const defaultStallSeconds = 600;

const certificate = /^\s*-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----\s*$/;

export const Config = v.strictObject({
  url: v.pipe(
    v.string(),
    v.trim(),
    v.maxLength(512),
    v.check(isAddress, issue("portainer.address_wanted")),
    v.title("Portainer address"),
    v.description("As you open it in the browser, without the `#` and anything after it"),
    v.metadata({ example: "https://portainer.example:9443" }),
  ),
  endpoint_id: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(1),
    v.maxValue(2_147_483_647),
    v.title("Endpoint ID"),
    v.description("The number of the environment: 1 in `#!/1/docker/dashboard`"),
  ),
  ca_certificate: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(65_536),
      v.check((text) => text.trim() === "" || certificate.test(text), issue("portainer.ca_wanted")),
      v.title("CA certificate"),
      v.description("In PEM format. Required if Portainer's certificate is self-signed or from a private authority"),
      v.metadata({ multiline: true, code: true }),
    ),
    "",
  ),
  update_stall_seconds: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(10),
      v.maxValue(86_400),
      v.title("Update stall limit (seconds)"),
      v.description(
        "How long Portainer may work without any change to the containers, such as while it pulls an image",
      ),
      v.metadata({ advanced: true }),
    ),
    defaultStallSeconds,
  ),
});
export type Config = v.InferOutput<typeof Config>;

/** An http or https address without user, query and fragment. */
function isAddress(text: string): boolean {
  const judged = parseHttpUrl(text);
  return judged.ok && judged.url.search === "" && judged.url.hash === "";
}

/** The address that the API's paths are appended to, in one spelling. */
export function serverOf({ url }: Pick<Config, "url">): URL {
  const judged = parseHttpUrl(url);
  if (!judged.ok) throw new Error("The address was judged when it was saved");
  const { origin, pathname } = judged.url;
  return new URL(`${origin}${pathname.replace(/\/+$/, "").replace(/\/api$/, "")}`);
}

export const Secret = v.object({ api_key: v.string() });
