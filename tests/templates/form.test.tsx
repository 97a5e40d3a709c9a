import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { fields } from "../../src/forms/fields.ts";
import { plain } from "../../src/messages/message.ts";
import { Form, type FormProps, valueAt } from "../../templates/components/form.tsx";
import { sampleContext } from "../gallery/sample-context.ts";

const channel = v.object({
  name: v.pipe(
    v.picklist(["stable", "prerelease"]),
    v.title("Channel"),
    v.metadata({ option_titles: { stable: "Stable", prerelease: "Prerelease" } }),
  ),
  include: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(512),
      v.title("Include pattern"),
      v.description("Regular expression, searched in the tag. Blank takes every version."),
      v.metadata({ code: true, placeholder: "^\\d+\\.\\d+\\.\\d+$" }),
    ),
    "",
  ),
});

const SampleInput = v.object({
  name: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(100),
    v.title("Tracker name"),
    v.description("Shown everywhere. Cannot be changed later."),
    v.metadata({ immutable: true }),
  ),
  description: v.optional(v.pipe(v.string(), v.title("Description"), v.metadata({ multiline: true })), ""),
  enabled: v.optional(v.pipe(v.boolean(), v.title("Enabled"), v.description("Include it in scheduled checks.")), true),
  events: v.pipe(v.array(v.picklist(["new_release", "republish"])), v.title("Trigger events")),
  source: v.pipe(
    v.variant("kind", [
      v.object({
        kind: v.pipe(
          v.literal("oci"),
          v.title("Type"),
          v.metadata({ option_titles: { oci: "OCI registry", github: "GitHub" } }),
        ),
        image: v.pipe(
          v.string(),
          v.title("Image name"),
          v.description("As in a compose file, without tag or digest."),
          v.metadata({ code: true, placeholder: "library/traefik" }),
        ),
        token: v.optional(v.pipe(v.string(), v.title("Token"), v.metadata({ secret: true }))),
        channels: v.pipe(v.array(channel), v.minLength(1), v.title("Channels")),
      }),
      v.object({
        kind: v.literal("github"),
        repository: v.pipe(v.string(), v.title("Repository"), v.metadata({ code: true })),
      }),
    ]),
    v.title("Source"),
  ),
  check_interval_minutes: v.optional(
    v.pipe(
      v.number(),
      v.minValue(1),
      v.maxValue(10080),
      v.title("Check interval (minutes)"),
      v.metadata({ advanced: true }),
    ),
    360,
  ),
  fetch_depth: v.optional(
    v.pipe(
      v.number(),
      v.minValue(1),
      v.maxValue(100),
      v.title("Versions per check"),
      v.description("Most versions fetched per check."),
      v.metadata({ advanced: true }),
    ),
    10,
  ),
  fallback: v.optional(v.pipe(v.boolean(), v.title("Release fallback"), v.metadata({ advanced: true })), false),
});

const values = {
  name: "traefik",
  events: ["new_release"],
  source: { kind: "oci", image: "library/traefik", channels: [{ name: "stable", include: "(?<!x)rc" }] },
};

const sampleErrors = {
  name: plain('The name "traefik" is taken'),
  "source.channels.0.include": plain("Lookbehind (?<!x) is not supported; enter rc as the exclude pattern"),
  check_interval_minutes: plain("Enter a number from 1 to 10080"),
};

function draw(props: Partial<FormProps>): string {
  const described = fields(SampleInput, { ...(props.values ?? values) });
  const page = { ctx: sampleContext(), id: "tracker-form", area: "sample", action: "/form", cancel_href: "/trackers" };
  return String(<Form {...page} fields={described} values={values} submit="Add tracker" {...props} />);
}

describe("Form", () => {
  const html = draw({ errors: sampleErrors, values: { ...values, source: { ...values.source, token: "s3cret" } } });

  test("never puts a secret into the page", () => {
    expect(html).not.toContain("s3cret");
  });

  test("ties an error to its field and links to it from the summary", () => {
    const field = html.match(/<input[^>]*name="name"[^>]*>/)?.[0] ?? "";
    expect(field).toContain('aria-invalid="true"');
    expect(field).toContain('aria-describedby="f-name-error f-name-help"');
    expect(html).toContain('href="#f-source-channels-0-include"');
    expect(html).toContain('id="f-source-channels-0-include-error"');
  });

  test("names the errors in the order of the page, where the advanced fields come last", () => {
    const errors = Object.fromEntries(Object.entries(sampleErrors).toReversed());
    const html = draw({ errors });
    const linked = [...html.matchAll(/<li><a href="#f-([^"]+)"/g)].map(([, id]) => id);
    const places = linked.map((id) => html.indexOf(` id="f-${id}"`));
    expect(linked.length).toBeGreaterThan(2);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  test("keeps what was typed", () => {
    expect(html).toContain('value="(?&lt;!x)rc"');
  });

  test("opens the advanced part when an error is in it, and says the present values when it is folded", () => {
    expect(html).toMatch(/<details class="advanced" open/);
    const folded = draw({});
    expect(folded).not.toMatch(/<details class="advanced" open/);
    const plain = folded.replaceAll(/<[^>]*>/g, "");
    expect(plain).toContain("Check interval (minutes) 360 · Versions per check 10 · Release fallback Off");
  });

  test("presses save first on Enter, not a button of a list", () => {
    expect(html.match(/<button[^>]*type="submit"[^>]*name="_action"[^>]*>/)?.[0]).toContain('value="save"');
  });

  test("shows immutable fields on edit without asking", () => {
    const edit = draw({ is_edit: true, stored: ["source.token"] });
    expect(edit).toContain('<input type="hidden" name="name" value="traefik"');
    expect(edit).toContain("Stored. Leave blank to keep it");
  });

  test("valueAt() does not reach into prototypes", () => {
    expect(valueAt({ a: [{ b: 1 }] }, "a.0.b")).toBe(1);
    expect(valueAt({}, "constructor.name")).toBeUndefined();
    expect(valueAt({}, "__proto__")).toBeUndefined();
  });
});
