import * as v from "valibot";

/** What a webhook needs: for the form, the API and what is stored. */
export const webhookEntries = {
  url: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(2048),
    v.title("Webhook URL"),
    v.description("A public http or https address on port 80, 8080, 443, 8443 or 9443"),
    v.metadata({ secret: true, placeholder: "https://hooks.example.org/services/…" }),
  ),
  signing_secret: v.optional(
    v.pipe(
      v.string(),
      v.minLength(16),
      v.maxLength(256),
      v.title("Signing secret"),
      v.description("Signs each message with HMAC-SHA-256, so that the receiver can verify its origin"),
      v.metadata({ secret: true, advanced: true }),
    ),
  ),
};
