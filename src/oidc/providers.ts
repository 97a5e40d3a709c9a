import * as v from "valibot";
import type { AuditRecord } from "../auth/audit-schema.ts";
import type { Actor } from "../auth/schema.ts";
import { isUniqueViolation, type Reader } from "../db/client.ts";
import { AppError, conflict, type FieldErrors, invalidInput } from "../errors.ts";
import { valuesOf } from "../forms/fields.ts";
import { judgeInput, parseInput } from "../forms/issues.ts";
import { type Page, PageQuery } from "../forms/page.ts";
import { viewOf } from "../forms/view.ts";
import { newId } from "../ids.ts";
import { type Message, say } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import { type Opened, opened, secretProblem } from "../secrets/opened.ts";
import type { Sealer } from "../secrets/sealed.ts";
import { findBinding, findProvider, type ProviderRow, providerRows } from "./queries.ts";
import { endpoints, ProviderInput, ProviderPatch, ProviderView, requiredEndpoints } from "./schema.ts";
import { isAllowedAddress } from "./upstream.ts";

export interface ProviderServiceOptions extends Pick<Parts, "db" | "clock" | "audit"> {
  sealer: Sealer;
  /** As set, without a final slash; blank when not set. */
  baseUrl: () => string;
  isLoopbackHttpAllowed: boolean;
  /** Addresses that are never allowed, above all a cloud's metadata. */
  isRefusedAddress: (url: string) => boolean;
}

/** The redirect address; null until the base URL is set, because no request may choose it. */
export function callbackUrl(baseUrl: string, slug: string): string | null {
  return baseUrl === "" ? null : `${baseUrl}/auth/oidc/${slug}/callback`;
}

/** All that is stored in plain text. */
const Settings = v.omit(ProviderInput, ["client_secret"]);

export function clientSecret(sealer: Sealer, row: ProviderRow, isBound: boolean): Opened<string> {
  return opened(
    () => sealer.open(row.sealed_client_secret),
    (cause) => say("oidc.secret_unreadable", { name: row.display_name, cause, is_bound: isBound }),
  );
}

function subjectOf(row: { id: string; display_name: string }): NonNullable<AuditRecord["subject"]> {
  return { kind: "oidc_provider", id: row.id, name: row.display_name };
}

function bound({ display_name: name }: ProviderRow, done: "changed" | "deleted"): AppError {
  return new AppError("bound", 409, say(`oidc.bound_provider_${done}`, { name }));
}

/** The fields of a patch that differ from the stored ones; an entered secret always counts as changed and is never compared. */
function changedFields(row: ProviderRow, { client_secret = "", ...patch }: ProviderPatch): string[] {
  const stored: Readonly<Record<string, unknown>> = row;
  const changed = Object.entries(patch).filter(([name, value]) => value !== undefined && value !== stored[name]);
  return [...changed.map(([name]) => name), ...(client_secret === "" ? [] : ["client_secret"])];
}

const onlyOne = (name: string) => conflict(say("oidc.only_one_provider", { name }));

/** The only identity provider, stored with its secret sealed. While it holds the binding, it can only be enabled and disabled. */
export function providerService(options: ProviderServiceOptions) {
  const { db, clock, sealer, audit } = options;

  const view = (row: ProviderRow, boundId: string | null): ProviderView => {
    const problem = secretProblem(clientSecret(sealer, row, row.id === boundId));
    return viewOf(ProviderView, {
      ...row,
      has_client_secret: problem === null,
      problem,
      is_bound: row.id === boundId,
      callback_url: callbackUrl(options.baseUrl(), row.slug),
    });
  };
  const boundProviderId = async (read: Reader) => (await findBinding(read))?.provider_id ?? null;
  const get = async (id: string): Promise<ProviderView> =>
    view(await providerRows.get(db.read, id), await boundProviderId(db.read));

  /** Missing and refused addresses, by field. */
  const addressErrors = (values: Readonly<Record<string, unknown>>): FieldErrors => {
    const problemOf = (name: string): Message | null => {
      const url = values[name] ?? null;
      if (url === null && requiredEndpoints.some((each) => each === name)) return say("oidc.address_missing");
      if (typeof url !== "string") return null;
      if (!isAllowedAddress(url, options.isLoopbackHttpAllowed)) return say("oidc.address_not_https");
      return options.isRefusedAddress(url) ? say("oidc.address_refused") : null;
    };
    const entered = ["issuer_url", ...(values.is_discovery_enabled === false ? endpoints : [])];
    return Object.fromEntries(
      entered.flatMap((name) => {
        const problem = problemOf(name);
        return problem === null ? [] : [[name, problem]];
      }),
    );
  };

  /** Throws 422 for everything that is refused, addresses included; `stored` has the values that the input leaves out. */
  const parse = <S extends v.GenericSchema>(
    schema: S,
    input: unknown,
    stored: ProviderRow | null,
  ): v.InferOutput<S> => {
    const { output, errors } = judgeInput(schema, input);
    if (errors !== null) throw invalidInput({ ...addressErrors({ ...stored, ...valuesOf(input) }), ...errors });
    return output;
  };

  /** The input as it is stored; throws 422 for missing and refused addresses. */
  const settle = (input: Omit<ProviderInput, "client_secret">) => {
    const refused = addressErrors(input);
    if (Object.keys(refused).length > 0) throw invalidInput(refused);
    const unused = input.is_discovery_enabled ? Object.fromEntries(endpoints.map((name) => [name, null])) : {};
    return { ...input, ...unused };
  };

  /** The stored provider with a patch applied. */
  const settleOver = (row: ProviderRow, patch: Omit<ProviderPatch, "client_secret">, secret: string) => {
    const names = Object.keys(Settings.entries);
    const stored = Object.fromEntries(Object.entries(row).filter(([name]) => names.includes(name)));
    const settled = settle(parseInput(Settings, { ...stored, ...patch }));
    return secret === "" ? settled : { ...settled, sealed_client_secret: sealer.seal(secret) };
  };

  return {
    /** At most one. */
    list: async (query: unknown): Promise<Page<ProviderView>> => {
      parseInput(PageQuery, query);
      const row = await findProvider(db.read);
      return { items: row === null ? [] : [view(row, await boundProviderId(db.read))], next_cursor: null };
    },
    get,

    /** Throws 409 `conflict` when there is already one, 422. */
    create: async (actor: Actor, input: unknown): Promise<ProviderView> => {
      const { client_secret, ...entered } = parse(ProviderInput, input, null);
      const row = { ...settle(entered), sealed_client_secret: sealer.seal(client_secret) };
      const now = clock.now();
      const id = newId(now);
      try {
        await db.write(async (tx) => {
          const other = await findProvider(tx);
          if (other !== null) throw onlyOne(other.display_name);
          await providerRows.insert(tx, { id, ...row, created_at: now, updated_at: now });
          const subject = subjectOf({ id, display_name: row.display_name });
          await audit(tx, actor, { event: "oidc_provider_created", outcome: "ok", subject });
        });
      } catch (error) {
        // Another process on the same database was faster.
        if (isUniqueViolation(error)) throw onlyOne((await findProvider(db.read))?.display_name ?? "");
        throw error;
      }
      return await get(id);
    },

    /**
     * A field left out keeps its value, and so does a blank client secret. While the provider holds the binding, only `is_enabled` may
     * change. Throws 409 `bound`, 422.
     */
    update: async (actor: Actor, id: string, input: unknown): Promise<ProviderView> => {
      const { client_secret: secret = "", ...patch } = parse(
        ProviderPatch,
        input,
        await providerRows.find(db.read, id),
      );
      await db.write(async (tx) => {
        const row = await providerRows.get(tx, id);
        const isBound = (await boundProviderId(tx)) === id;
        const changed = changedFields(row, { ...patch, client_secret: secret });
        if (isBound && changed.some((name) => name !== "is_enabled")) throw bound(row, "changed");
        const settled = isBound ? { is_enabled: patch.is_enabled ?? row.is_enabled } : settleOver(row, patch, secret);
        await providerRows.update(tx, id, { ...settled, revision: row.revision + 1, updated_at: clock.now() });
        const sent = [...Object.keys(patch), ...(secret === "" ? [] : ["client_secret"])];
        await audit(tx, actor, {
          event: "oidc_provider_updated",
          outcome: "ok",
          subject: subjectOf({ id, display_name: patch.display_name ?? row.display_name }),
          detail: { fields: isBound ? changed : sent },
        });
      });
      return await get(id);
    },

    /** Throws 409 `bound`. */
    remove: async (actor: Actor, id: string): Promise<void> => {
      await db.write(async (tx) => {
        const row = await providerRows.get(tx, id);
        if ((await boundProviderId(tx)) === id) throw bound(row, "deleted");
        await providerRows.remove(tx, id);
        await audit(tx, actor, { event: "oidc_provider_deleted", outcome: "ok", subject: subjectOf(row) });
      });
    },
  };
}
