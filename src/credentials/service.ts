import * as v from "valibot";
import type { Actor } from "../auth/schema.ts";
import { failureOf, lastCheckOf, reachOf } from "../connections/schema.ts";
import type { Reader, Writer } from "../db/client.ts";
import { type FieldErrors, inUse, invalidInput, noSuch, notFound, PluginError } from "../errors.ts";
import { valuesOf } from "../forms/fields.ts";
import { judgeInput, parseInput } from "../forms/issues.ts";
import { listOperations } from "../forms/page.ts";
import { viewOf } from "../forms/view.ts";
import { newId } from "../ids.ts";
import { type Message, plain, say, told } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import { ofUnknownKind, opened, secretProblem, unreadableOf } from "../secrets/opened.ts";
import type { Sealer } from "../secrets/sealed.ts";
import {
  type CredentialRow,
  connectionsWithCredential,
  credentialLists,
  credentialNames,
  credentialRows,
  everyCredential,
  makeRefusedDue,
  mostCredentials,
  refusedSources,
  usersOfCredentials,
} from "./queries.ts";
import {
  CredentialInput,
  type CredentialKind,
  CredentialPatch,
  type CredentialRefusal,
  CredentialView,
  credentialKinds,
  credentialList,
  credentialStateOf,
  secretSchemas,
  secretTexts,
} from "./schema.ts";

export type CredentialService = ReturnType<typeof credentialService>;

interface CredentialServiceOptions extends Pick<Parts, "db" | "clock" | "audit"> {
  sealer: Sealer;
  /** Throws `PluginError` for a parsed secret that no connection can use. */
  judgeSecret: (kind: CredentialKind, secret: unknown) => void;
}

const StoredSecret = v.record(v.string(), v.unknown());

/** Null for one that a later version stored. */
function kindOf(row: CredentialRow): CredentialKind | null {
  return credentialKinds.find((known) => known === row.kind) ?? null;
}

const kindUnknown = ({ kind }: CredentialRow) => say("credentials.kind_unknown", { kind });

function otherKind({ name, kind }: CredentialRow, wanted: string): Message {
  return say("credentials.other_kind", { name, kind, wanted });
}

/** Credentials: stored sealed, listed without their secret, protected from deletion while in use. */
export function credentialService(options: CredentialServiceOptions) {
  const { db, clock, sealer, audit } = options;

  type SecretSchema = v.GenericSchema<unknown, Readonly<Record<string, unknown>>>;
  const secretOf = (row: CredentialRow, as?: SecretSchema) => {
    const kind = kindOf(row);
    const schema = as ?? (kind === null ? null : secretSchemas[kind]);
    if (schema === null) return ofUnknownKind(kindUnknown(row));
    return opened(
      () => sealer.openJson(schema, row.sealed_secret, secretTexts),
      (cause) => say("credentials.unreadable", { name: row.name, cause }),
    );
  };
  /** Throws `PluginError` if it cannot be read. */
  const requireSecret = (row: CredentialRow, as?: SecretSchema): Readonly<Record<string, unknown>> => {
    const { value, problem } = secretOf(row, as);
    if (problem !== null) throw new PluginError("rejected", problem);
    return value;
  };

  /** Where credentials are refused, by their ids. */
  const refusalsOfAll = async (): Promise<ReadonlyMap<string, readonly CredentialRefusal[]>> => {
    const now = clock.now();
    const refusals: [id: string, CredentialRefusal][] = [];
    for (const row of await connectionsWithCredential(db.read)) {
      const failure = failureOf({ ...row, reach: reachOf(row, now), last_check: lastCheckOf(row) });
      if (row.credential_id === null || failure?.error.code !== "unauthorized") continue;
      refusals.push([row.credential_id, { by: "connection", name: row.name, id: row.id, ...failure }]);
    }
    for (const row of await refusedSources(db.read, { limit: mostCredentials, each: 1 })) {
      const error = { code: row.last_error_code ?? "unauthorized", ...told(row.last_error_message ?? plain("")) };
      refusals.push([row.credential_id, { by: "host", name: row.host, id: null, since: row.since, error }]);
    }
    const byCredential = Map.groupBy(refusals, ([id]) => id);
    return new Map([...byCredential].map(([id, entries]) => [id, entries.map(([, refusal]) => refusal)]));
  };
  type Refusals = Awaited<ReturnType<typeof refusalsOfAll>>;
  const views = async (rows: readonly CredentialRow[], refused: Refusals): Promise<CredentialView[]> => {
    const used = await usersOfCredentials(
      db.read,
      rows.map((row) => row.id),
    );
    return rows.map((row) => {
      const users = used.filter((user) => user.credential_id === row.id);
      const refusals = [...(refused.get(row.id) ?? [])];
      const secret = secretOf(row);
      const problem = secretProblem(secret);
      return viewOf(CredentialView, {
        ...row,
        secret_fields: Object.keys(secret.value ?? {}),
        state: credentialStateOf({ problem, refusals, users }),
        problem,
        refusals,
        users: users.map(({ kind, id, name }) => ({ kind, id, name })),
      });
    });
  };
  const listContext = async (refused: Refusals, needsStates: boolean) => ({
    unreadable: needsStates ? unreadableOf(await everyCredential(db.read), (row) => secretOf(row)) : [],
    refused: [...refused.keys()],
  });
  const get = async (id: string): Promise<CredentialView> => {
    const [view] = await views([await credentialRows.get(db.read, id)], await refusalsOfAll());
    if (view === undefined) throw notFound("credential", id);
    return view;
  };

  const secretErrors = (kind: CredentialKind, secret: unknown): FieldErrors | null => {
    try {
      options.judgeSecret(kind, secret);
      return null;
    } catch (error) {
      if (error instanceof PluginError) return { [error.field ?? "secret"]: error.said };
      throw error;
    }
  };
  /** A new credential, and what is wrong with it, its secret included. */
  const judge = (input: unknown) => {
    const judged = judgeInput(CredentialInput, input);
    const { kind, secret } = valuesOf(input);
    // With another name, so that a bad one does not hide what is wrong with the secret.
    const usable = judged.output ?? judgeInput(CredentialInput, { name: "x", kind, secret }).output;
    const wrong = usable === null ? null : secretErrors(usable.kind, usable.secret);
    return wrong === null ? judged : { output: null, errors: { ...wrong, ...judged.errors } };
  };

  /** The secret with newly entered members; null removes one. If it cannot be read, all of it has to be entered. */
  const merged = (row: CredentialRow, entered: readonly [string, unknown][]): unknown => {
    const kind = kindOf(row);
    if (kind === null) throw invalidInput({ secret: kindUnknown(row) });
    const members = Object.entries({ ...secretOf(row).value, ...Object.fromEntries(entered) });
    const secret = Object.fromEntries(members.filter(([, value]) => value !== null));
    const parsed = parseInput(v.object({ secret: secretSchemas[kind] }), { secret }).secret;
    const errors = secretErrors(kind, parsed);
    if (errors !== null) throw invalidInput(errors);
    return parsed;
  };

  /** A new credential that is stored by the caller's transaction. */
  const draft = (input: unknown) => {
    const { output, errors } = judge(input);
    if (errors !== null) throw invalidInput(errors);
    const { secret, ...fields } = output;
    const now = clock.now();
    const id = newId(now);
    const sealed_secret = sealer.sealJson(secret);
    const insert = async (tx: Writer, actor: Actor): Promise<void> => {
      await credentialRows.refuseTaken(tx, fields.name, null);
      await credentialRows.insert(tx, { id, ...fields, sealed_secret, created_at: now, updated_at: now });
      await audit(tx, actor, {
        event: "credential_created",
        outcome: "ok",
        subject: { kind: "credential", id, name: fields.name },
        detail: { kind: fields.kind },
      });
    };
    return { id, secret, insert };
  };

  return {
    judge,
    draft,

    /** By name. */
    ...listOperations({
      shape: credentialList,
      page: async (ask) => {
        const refused = await refusalsOfAll();
        const needsStates = ask.filters.state !== undefined || ask.sort === "state";
        const { rows, key } = await credentialLists.page(db.read, await listContext(refused, needsStates), ask);
        return { rows: await views(rows, refused), key };
      },
      counts: async (ask) => await credentialLists.counts(db.read, await listContext(await refusalsOfAll(), true), ask),
      views: async (shown) => [...shown],
    }),
    get,

    /** By id, for pages that name references. */
    names: async (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
      const rows = await credentialNames(db.read, [...new Set(ids)]);
      return new Map(rows.map(({ id, name }) => [id, name]));
    },

    create: async (actor: Actor, input: unknown): Promise<CredentialView> => {
      const { id, insert } = draft(input);
      await db.write((tx) => insert(tx, actor));
      return await get(id);
    },

    /** Secret members that are blank or left out keep their value; null removes an optional one. */
    update: async (actor: Actor, id: string, input: unknown): Promise<CredentialView> => {
      const patch = parseInput(CredentialPatch, input);
      await db.write(async (tx) => {
        const row = await credentialRows.get(tx, id);
        const entered = Object.entries(patch.secret ?? {}).filter(([, value]) => value !== "");
        const sealed_secret = entered.length === 0 ? row.sealed_secret : sealer.sealJson(merged(row, entered));
        const name = patch.name ?? row.name;
        await credentialRows.refuseTaken(tx, name, id);
        await credentialRows.update(tx, id, {
          name,
          description: patch.description ?? row.description,
          sealed_secret,
          updated_at: clock.now(),
        });
        if (patch.secret !== undefined) await makeRefusedDue(tx, id, clock.now());
        await audit(tx, actor, {
          event: "credential_updated",
          outcome: "ok",
          subject: { kind: "credential", id, name },
          detail: { fields: Object.keys(patch), secret_members: Object.keys(patch.secret ?? {}) },
        });
      });
      return await get(id);
    },

    remove: async (actor: Actor, id: string): Promise<void> => {
      await db.write(async (tx) => {
        const row = await credentialRows.get(tx, id);
        const users = await usersOfCredentials(tx, [id]);
        if (users.length > 0) {
          throw inUse(
            "credential",
            row.name,
            users.map(({ kind, name }) => say("request.named", { what: say(`thing.${kind}`), name })),
          );
        }
        await credentialRows.remove(tx, id);
        await audit(tx, actor, {
          event: "credential_deleted",
          outcome: "ok",
          subject: { kind: "credential", id, name: row.name },
        });
      });
    },

    /** The decrypted secret for a plug-in of the same kind; null when `id` is null. Throws `PluginError` if it cannot be used. */
    openSecret: async (kind: string, id: string | null): Promise<unknown> => {
      if (id === null) return null;
      const row = await credentialRows.get(db.read, id);
      if (row.kind !== kind) throw new PluginError("rejected", otherKind(row, kind));
      return requireSecret(row);
    },

    /** Decrypts every secret, so that the redactor knows all of them. Throws `PluginError` if one cannot be read. */
    openAll: async (): Promise<void> => {
      for (const row of await everyCredential(db.read)) requireSecret(row, StoredSecret);
    },

    /** For features that store a reference: refuses an unknown credential and one of another kind. */
    requireKind: async (read: Reader, kind: string, id: string | null, field: string): Promise<void> => {
      if (id === null) return;
      const row = await credentialRows.find(read, id);
      if (row === null) throw invalidInput({ [field]: noSuch("credential", id) });
      if (row.kind !== kind) throw invalidInput({ [field]: otherKind(row, kind) });
    },
  };
}
