import type { ConnectionView } from "../../src/connections/schema.ts";
import { withCode } from "../components/code.tsx";
import { DeleteUnused, type QuestionProps } from "../components/confirm.tsx";
import { Facts } from "../components/facts.tsx";
import { Link } from "../components/link.tsx";
import { refreshedPart } from "../components/live.tsx";
import { Banner, DisabledBanner, Partial } from "../components/notice.tsx";
import { Columns, EditAndDelete, PageHeader, Section } from "../components/page-header.tsx";
import { Time } from "../components/time.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { translateMessage, translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { addressOf } from "./address.ts";
import { CheckResult, ConnectionCheck } from "./check.tsx";
import { type FoundImages, UnusedImages } from "./images.tsx";
import { ConnectionState, failureCode, LastResponse } from "./state.tsx";
import { type Discovery, Targets } from "./targets.tsx";

interface ConnectionPageProps {
  ctx: PageContext;
  connection: ConnectionView;
  discovery: Discovery;
  images?: FoundImages;
  /** How many targets can be adopted. */
  new_count?: number;
  /** Shows all targets, also when they are many. */
  is_whole?: boolean;
}

export function ConnectionPage({ ctx, connection, discovery, images, new_count, is_whole }: ConnectionPageProps) {
  const t = texts(ctx).connections;
  const path = `/connections/${connection.id}`;
  const address = addressOf(connection);
  return (
    <Layout ctx={ctx} title={connection.name} section="connections">
      <PageHeader
        ctx={ctx}
        title={connection.name}
        parent={{ title: t.title, href: "/connections" }}
        state={
          <span
            id="connection-state"
            {...refreshedPart(ctx, path, "connection-state", [
              "connection-reach",
              "connection-seen",
              "connection-checked",
            ])}
          >
            <ConnectionState ctx={ctx} connection={connection} solid />
          </span>
        }
        lead={
          <>
            {t.kinds[connection.kind] ?? connection.kind}
            {address === "" ? null : (
              <>
                {" "}
                · <span class="mono">{address}</span>
              </>
            )}
          </>
        }
        actions={<EditAndDelete ctx={ctx} path={path} />}
      />
      {connection.is_enabled ? null : <DisabledBanner ctx={ctx} path={path} texts={t} />}
      <ConnectionReach ctx={ctx} connection={connection} />
      {connection.warnings.length === 0 ? null : (
        <Banner tone="attention">
          {connection.warnings.map((warning) => (
            <p>{withCode(translateSentence(ctx.language, warning.message_data))}</p>
          ))}
        </Banner>
      )}
      <Columns aside={<ConnectionFacts ctx={ctx} connection={connection} />}>
        <ConnectionCheck ctx={ctx} connection={connection} />
      </Columns>
      <Targets ctx={ctx} connection={connection} discovery={discovery} new_count={new_count} is_whole={is_whole} />
      <UnusedImages ctx={ctx} connection={connection} found={images ?? null} />
    </Layout>
  );
}

/** Why and since when it does not respond. */
function ConnectionReach({ ctx, connection }: { ctx: PageContext; connection: ConnectionView }) {
  const t = texts(ctx).connections;
  const { problem, since, state } = connection.reach;
  const isKnown = state === "unreachable";
  return (
    <div id="connection-reach" class="banner-slot">
      {problem === null ? null : (
        <Banner
          tone={isKnown ? "failed" : "attention"}
          title={isKnown ? t.failures[failureCode(problem)] : translateMessage(ctx.language, problem.message_data)}
        >
          {isKnown ? <p>{withCode(translateSentence(ctx.language, problem.message_data))}</p> : null}
          <p class="meta">
            <span>
              {t.since} <Time ctx={ctx} at={since} form="short" />
            </span>
            <span>
              {t.seen} <LastResponse ctx={ctx} connection={connection} />
            </span>
          </p>
        </Banner>
      )}
    </div>
  );
}

/** What a response of its runtime changes on an open page. */
export function ConnectionNow({ ctx, connection }: { ctx: PageContext; connection: ConnectionView }) {
  return (
    <>
      <Partial target="#connection-state" swap="innerHTML">
        <ConnectionState ctx={ctx} connection={connection} solid />
      </Partial>
      <Partial target="#connection-reach">
        <ConnectionReach ctx={ctx} connection={connection} />
      </Partial>
      <Partial target="#connection-checked" swap="outerMorph">
        <CheckResult ctx={ctx} connection={connection} />
      </Partial>
      <Partial target="#connection-seen" swap="innerHTML">
        <LastResponse ctx={ctx} connection={connection} />
      </Partial>
    </>
  );
}

function ConnectionFacts({ ctx, connection }: { ctx: PageContext; connection: ConnectionView }) {
  const t = texts(ctx).connections;
  const { config } = connection;
  const isLocal = !addressOf(connection).startsWith("tcp:");
  const tls = isLocal ? "local" : config.tls_verification === false ? "unverified" : "verified";
  const chosen = config.api_version;
  return (
    <Section title={texts(ctx).common.details}>
      <Facts
        items={[
          connection.description === "" ? null : [texts(ctx).common.description, connection.description],
          [
            texts(ctx).common.credential,
            connection.credential_id === null ? (
              <span class="quiet">{texts(ctx).common.none}</span>
            ) : (
              <Link ctx={ctx} href={`/credentials/${connection.credential_id}/edit`}>
                {connection.credential ?? connection.credential_id}
              </Link>
            ),
          ],
          config.tls_verification === undefined ? null : [t.tls, t.tls_states[tls]],
          chosen === undefined
            ? null
            : [t.api_version, typeof chosen === "string" && chosen !== "" ? chosen : t.negotiated],
          connection.is_enabled
            ? [
                t.seen,
                <span id="connection-seen">
                  <LastResponse ctx={ctx} connection={connection} />
                </span>,
              ]
            : null,
          [t.concurrent_runs, String(connection.concurrent_runs)],
          [texts(ctx).common.used_by, <Users ctx={ctx} connection={connection} />],
          [texts(ctx).common.created_at, <Time ctx={ctx} at={connection.created_at} />],
        ]}
      />
    </Section>
  );
}

function Users({ ctx, connection }: { ctx: PageContext; connection: ConnectionView }) {
  const shown = connection.executors.slice(0, 10);
  const rest = connection.executors.length - shown.length;
  if (shown.length === 0) return <span class="quiet">{texts(ctx).common.unused}</span>;
  return (
    <>
      {shown.map((executor, index) => (
        <>
          {index === 0 ? "" : ", "}
          <Link ctx={ctx} href={`/executors/${executor.id}`}>
            {executor.name}
          </Link>
        </>
      ))}
      {rest > 0 ? ` +${rest}` : ""}
    </>
  );
}

export function ConnectionDelete({ ctx, connection, error }: QuestionProps<{ connection: ConnectionView }>) {
  const t = texts(ctx).connections;
  const path = `/connections/${connection.id}`;
  return (
    <DeleteUnused
      {...{ ctx, error, path }}
      section="connections"
      texts={t}
      name={connection.name}
      users={connection.executors.map((executor) => (
        <Link ctx={ctx} href={`/executors/${executor.id}`}>
          {executor.name}
        </Link>
      ))}
    />
  );
}
