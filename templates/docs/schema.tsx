import { withCode } from "../components/code.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import type { ApiBound, ApiNode } from "./view.ts";

interface NodesProps {
  ctx: PageContext;
  nodes: readonly ApiNode[];
  /** Where a parameter is sent. */
  place?: string | undefined;
  /** For a response, where every field is present and saying so would be noise. */
  is_answer?: boolean | undefined;
}

/** A sentence of the document, in English; text between backticks is code. */
export function Prose({ text }: { text: string }) {
  return <span lang="en">{withCode(text)}</span>;
}

/** The fields of a body, a response or a list of parameters; nested ones below their own. */
export function Nodes(props: NodesProps) {
  return (
    <dl class="schema">
      {props.nodes.map((node) => (
        <Node {...props} node={node} />
      ))}
    </dl>
  );
}

function Node({ ctx, node, place, is_answer }: NodesProps & { node: ApiNode }) {
  const t = texts(ctx).docs;
  const facts = [
    place,
    ...node.bounds.map((bound) => boundText(ctx, bound)),
    node.is_write_only ? t.write_only : undefined,
  ].filter((fact) => typeof fact === "string");
  return (
    <div>
      <dt>
        <code>{node.name}</code>
        {node.is_required && is_answer !== true ? <span class="schema-required">{t.required}</span> : null}
      </dt>
      <dd>
        <p class="meta">
          <span class="schema-type">{node.type}</span>
          {facts.map((fact) => (
            <span>{fact}</span>
          ))}
        </p>
        {node.description === "" ? null : (
          <p class="schema-text">
            <Prose text={node.description} />
          </p>
        )}
        {node.values.length === 0 ? null : (
          <p class="schema-values">
            {node.values.length === 1 ? t.always : t.one_of}{" "}
            {node.values.map((value) => (
              <>
                <code>{value}</code>{" "}
              </>
            ))}
          </p>
        )}
        <Inside ctx={ctx} node={node} is_answer={is_answer} />
      </dd>
    </div>
  );
}

/** The parts of a node; alternatives are folded, because most readers need one of them. */
export function Inside({ ctx, node, is_answer }: Omit<NodesProps, "nodes"> & { node: ApiNode }) {
  return (
    <>
      {node.children.length === 0 ? null : <Nodes ctx={ctx} nodes={node.children} is_answer={is_answer} />}
      {node.variants.length === 0 ? null : (
        <div class="schema-variants">
          <p class="label">{texts(ctx).docs.variants}</p>
          {node.variants.map((variant) => (
            <details class="schema-variant">
              <summary>
                <code>{variant.title}</code>
              </summary>
              <Nodes ctx={ctx} nodes={variant.children} is_answer={is_answer} />
            </details>
          ))}
        </div>
      )}
    </>
  );
}

function boundText(ctx: PageContext, bound: ApiBound): string {
  const t = texts(ctx).docs;
  if (bound.kind === "default") return `${t.default_value} ${bound.value}`;
  if (bound.kind === "range") return t.range(bound.min, bound.max);
  if (bound.kind === "items") return t.items(bound.min, bound.max);
  return bound.max === null && bound.min === 1 ? t.at_least_one_character : t.characters(bound.min, bound.max);
}
