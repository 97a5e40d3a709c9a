import type { Message } from "../messages/message.ts";
import { type ComposeDocument, openDocument } from "./document.ts";
import type { Variables } from "./interpolate.ts";
import { scalarPositions } from "./scalar-positions.ts";
import { type ServiceImage, servicesIn } from "./services.ts";

/** A variable of a stack, or of an environment file; a later one of the same name wins. */
export interface StackVariable {
  name: string;
  value: string;
}

/** Where a part of a reference is written: `start` and `end` are positions in the file's text, of the bare value without quotes. */
export type ImagePart =
  | { kind: "file"; text: string; start: number; end: number }
  | { kind: "variable"; text: string; name: string };

export interface ComposeService {
  name: string;
  /** As compose resolves it with the variables; null if the file alone does not determine it. */
  image: string | null;
  has_build: boolean;
  /** The texts that make up `image`, in order. */
  parts: readonly ImagePart[];
  /** Why its image cannot be edited; null when it can. */
  refusal: Message | null;
}

export type ComposeRead = { services: readonly ComposeService[]; refusal: null } | { services: null; refusal: Message };

/** The services of one compose file, with their images. */
export async function readComposeFile(text: string, env: readonly StackVariable[]): Promise<ComposeRead> {
  const { document, refusal } = await openDocument(text);
  if (document === null) return { services: null, refusal };
  const services = [...servicesIn(document, variablesOf(env)).values()].map((service) => ({
    name: service.name,
    image: service.image,
    has_build: service.has_build,
    parts: partsOf(document, service),
    refusal: service.refusal,
  }));
  return { services, refusal: null };
}

export function variablesOf(env: readonly StackVariable[]): Variables {
  return new Map(env.map(({ name, value }) => [name, value]));
}

function partsOf({ text }: ComposeDocument, { pieces, scalar }: ServiceImage): readonly ImagePart[] {
  const positions = scalar === null ? null : scalarPositions(text, scalar);
  return pieces.flatMap((piece): readonly ImagePart[] => {
    if (piece.kind === "variable") return [{ kind: "variable", text: piece.text, name: piece.name }];
    const [start, end] = [positions?.[piece.start], positions?.[piece.end]];
    return start === undefined || end === undefined ? [] : [{ kind: "file", text: piece.text, start, end }];
  });
}
