/** The content of a documentation page, taken from the OpenAPI document so that both match. */
export interface ApiNode {
  /** The field's name; "" for the whole body or an entry of a list. */
  name: string;
  /** "string", "list of string", "instant", "object". */
  type: string;
  is_required: boolean;
  /** Sent, never returned. */
  is_write_only: boolean;
  description: string;
  /** Allowed values, literally. */
  values: readonly string[];
  /** Bounds and default: "at most 100 characters". */
  bounds: readonly ApiBound[];
  children: readonly ApiNode[];
  /** Alternatives of which exactly one applies, by the value that distinguishes them. */
  variants: readonly { title: string; children: readonly ApiNode[] }[];
}

export type ApiBound =
  | { kind: "length" | "range" | "items"; min: number | null; max: number | null }
  | { kind: "default"; value: string };

export interface ApiParameter {
  place: "path" | "query";
  node: ApiNode;
}

export interface ApiOperation {
  id: string;
  method: string;
  path: string;
  summary: string;
  is_public: boolean;
  parameters: readonly ApiParameter[];
  body: ApiNode | null;
  answer: { status: string; description: string; node: ApiNode | null };
  refusals: readonly { status: string; description: string }[];
  curl: string;
}

export interface ApiResource {
  name: string;
  operations: readonly ApiOperation[];
}
