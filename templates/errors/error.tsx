import type { Child } from "hono/jsx";
import { type Message, says } from "../../src/messages/message.ts";
import { LinkButton } from "../components/button.tsx";
import { CopyButton, withCode } from "../components/code.tsx";
import { formatWait } from "../format.ts";
import { BareLayout, Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

interface ErrorPageProps {
  ctx: PageContext;
  status: number;
  /** The stable code, `csrf_refused`. */
  code: string;
  /** For people; shown where our own text is incomplete. */
  message: Message;
  retry_after_seconds: number | null;
  request_id: string;
}

interface Words {
  title: string;
  help: string;
  /** Whether the message adds something: which thing was not found, what was refused. */
  has_detail: boolean;
}

/** The address bar shows which page is missing. */
function isMissingPage(message: Message): boolean {
  return says(message, "request.not_found") && says(message.params.what, "thing.page");
}

function words({ ctx, status, code, message }: ErrorPageProps): Words {
  const t = texts(ctx).common.errors;
  if (status === 404) return { title: t.not_found, help: t.not_found_help, has_detail: !isMissingPage(message) };
  if (code === "csrf_refused") return { title: t.forbidden, help: t.forbidden_help, has_detail: true };
  if (status === 429) return { title: t.too_many, help: t.too_many_help, has_detail: false };
  if (status >= 500 || status === 424)
    return { title: t.failed, help: t.failed_help, has_detail: code !== "internal_error" };
  return { title: t.refused, help: t.refused_help, has_detail: true };
}

/** What failed and what to do next, in the application's frame when signed in. */
export function ErrorPage(props: ErrorPageProps) {
  const { ctx, status, message, retry_after_seconds, request_id } = props;
  const t = texts(ctx).common.errors;
  const { title, help, has_detail } = words(props);
  const wait = retry_after_seconds === null ? null : t.retry_after(formatWait(ctx.language, retry_after_seconds));
  return (
    <Frame ctx={ctx} title={title}>
      <div class="error-page">
        <p class="error-status num">{status}</p>
        <h1>{title}</h1>
        <p class="lead">{status === 429 && wait !== null ? wait : help}</p>
        {has_detail ? <p class="error-detail">{withCode(translateSentence(ctx.language, message))}</p> : null}
        {status === 429 || wait === null ? null : <p>{wait}</p>}
        <p class="error-actions">
          <LinkButton ctx={ctx} href="/" kind="main">
            {ctx.user === null ? t.to_start : t.to_overview}
          </LinkButton>
        </p>
        {status === 404 ? null : (
          <p class="meta">
            {t.request_id} <span class="mono">{request_id}</span>
            <CopyButton ctx={ctx} value={request_id} what={t.request_id} />
          </p>
        )}
      </div>
    </Frame>
  );
}

function Frame({ ctx, title, children }: { ctx: PageContext; title: string; children: Child }) {
  const Shell = ctx.user === null ? BareLayout : Layout;
  return (
    <Shell ctx={ctx} title={title}>
      {children}
    </Shell>
  );
}
