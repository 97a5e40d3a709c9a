import type { Child } from "hono/jsx";
import { LinkButton } from "../components/button.tsx";
import { Code } from "../components/code.tsx";
import { Link } from "../components/link.tsx";
import { PageHeader, Section } from "../components/page-header.tsx";
import { Badge } from "../components/state.tsx";
import { BareLayout, Layout } from "../layout.tsx";
import { type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Inside, Nodes, Prose } from "./schema.tsx";
import type { ApiOperation, ApiResource } from "./view.ts";

/** Public: in the application's frame when signed in, and on its own otherwise. */
function Frame({ ctx, title, children }: { ctx: PageContext; title: string; children: Child }) {
  if (ctx.user === null) {
    return (
      <BareLayout ctx={ctx} title={title}>
        <div class="docs">{children}</div>
      </BareLayout>
    );
  }
  return (
    <Layout ctx={ctx} title={title} section="settings">
      <div class="docs">{children}</div>
    </Layout>
  );
}

function Actions({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).docs;
  return (
    <>
      <LinkButton ctx={ctx} href="/openapi.json">
        {t.openapi}
      </LinkButton>
      {ctx.user === null ? (
        <LinkButton ctx={ctx} href="/login?next=/docs" kind="bare">
          {t.sign_in}
        </LinkButton>
      ) : null}
    </>
  );
}

interface DocsPageProps {
  ctx: PageContext;
  base_url: string;
  resources: readonly ApiResource[];
}

const errorExample = `{
  "error": {
    "code": "invalid_input",
    "message": "The input has errors",
    "fields": { "name": "This field is required" }
  },
  "request_id": "01a1f3c2-…"
}`;

/** How the API works, and every operation by resource. */
export function DocsPage({ ctx, base_url, resources }: DocsPageProps) {
  const t = texts(ctx).docs;
  const signIn = [
    `TOKEN=$(curl -s '${base_url}/api/session' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '{"username": "<username>", "password": "<password>"}' | jq -r .token)`,
  ].join("\n");
  return (
    <Frame ctx={ctx} title={t.title}>
      <PageHeader ctx={ctx} title={t.title} lead={t.lead} actions={<Actions ctx={ctx} />} />
      <Section title={t.authentication}>
        <p>{t.authentication_text}</p>
        <Code ctx={ctx} text={signIn} what={t.token_example} />
      </Section>
      <Section title={t.errors}>
        <p>{t.errors_text}</p>
        <Code ctx={ctx} text={errorExample} />
      </Section>
      <Section title={t.lists}>
        <p>{t.lists_text}</p>
      </Section>
      <Section title={t.times}>
        <p>{t.times_text}</p>
      </Section>
      <Section title={t.resources}>
        <div class="docs-resources">
          {resources.map((resource) => (
            <div class="panel padded">
              <h3>
                <Link ctx={ctx} href={`/docs/${resource.name}`}>
                  {resource.name}
                </Link>
              </h3>
              <ul class="docs-operations">
                {resource.operations.map((operation) => (
                  <li>
                    <a href={url(ctx, `/docs/${resource.name}#${operation.id}`)}>
                      <Method method={operation.method} /> <code>{operation.path}</code>
                    </a>
                    <span class="quiet">
                      <Prose text={operation.summary} />
                    </span>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </div>
      </Section>
    </Frame>
  );
}

interface ResourcePageProps {
  ctx: PageContext;
  resource: ApiResource;
  resources: readonly ApiResource[];
}

/** All operations of one resource. */
export function ResourcePage({ ctx, resource, resources }: ResourcePageProps) {
  const t = texts(ctx).docs;
  return (
    <Frame ctx={ctx} title={`${resource.name} · ${t.title}`}>
      <PageHeader
        ctx={ctx}
        title={<span lang="en">{resource.name}</span>}
        parent={{ title: t.title, href: "/docs" }}
        actions={<Actions ctx={ctx} />}
      />
      <nav class="docs-nav" aria-label={t.all_resources}>
        {resources.map(({ name }) => (
          <a href={url(ctx, `/docs/${name}`)} aria-current={name === resource.name ? "page" : undefined}>
            {name}
          </a>
        ))}
      </nav>
      {resource.operations.map((operation) => (
        <Operation ctx={ctx} operation={operation} />
      ))}
    </Frame>
  );
}

function Method({ method }: { method: string }) {
  return <span class="method">{method}</span>;
}

function Operation({ ctx, operation }: { ctx: PageContext; operation: ApiOperation }) {
  const t = texts(ctx).docs;
  return (
    <section class="operation" id={operation.id}>
      <h2>
        <a href={`#${operation.id}`}>
          <Method method={operation.method} /> <code>{operation.path}</code>
        </a>
      </h2>
      <p>
        <Prose text={operation.summary} /> {operation.is_public ? <Badge>{t.no_sign_in}</Badge> : null}
      </p>
      <div class="operation-parts">
        <div>
          {operation.parameters.length === 0 ? null : (
            <Part title={t.parameters}>
              {operation.parameters.map(({ place, node }) => (
                <Nodes ctx={ctx} nodes={[node]} place={place === "path" ? t.in_path : t.in_query} />
              ))}
            </Part>
          )}
          {operation.body === null ? null : (
            <Part title={t.body}>
              <Inside ctx={ctx} node={operation.body} />
            </Part>
          )}
          <Part title={`${t.answer} ${operation.answer.status}`}>
            {operation.answer.node === null ? (
              <p class="quiet">{t.no_content}</p>
            ) : (
              <details class="schema-variant">
                <summary>
                  <Prose text={operation.answer.description} />
                </summary>
                <Inside ctx={ctx} node={operation.answer.node} is_answer />
              </details>
            )}
          </Part>
        </div>
        <div>
          <Part title={texts(ctx).common.example}>
            <Code ctx={ctx} text={operation.curl} />
          </Part>
          <Part title={t.refusals}>
            <dl class="refusals">
              {operation.refusals.map(({ status, description }) => (
                <div>
                  <dt class="num">{status}</dt>
                  <dd>
                    <Prose text={description} />
                  </dd>
                </div>
              ))}
            </dl>
          </Part>
        </div>
      </div>
    </section>
  );
}

function Part({ title, children }: { title: string; children: Child }) {
  return (
    <div class="operation-part">
      <h3>{title}</h3>
      {children}
    </div>
  );
}
