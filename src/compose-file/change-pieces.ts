import { type Piece, textOf } from "./interpolate.ts";

export interface PieceChange {
  piece: Piece;
  text: string;
}

export type PieceChanges =
  | { changes: readonly PieceChange[]; unset: null }
  /** The new text would belong into a variable that has neither a value nor a default. */
  | { changes: null; unset: string }
  /** No edit of one or two pieces gives the new text, or several do and none is better. */
  | { changes: null; unset: null };

const wholeValue = /^[A-Za-z0-9_][A-Za-z0-9._/:@+-]*$/;

/**
 * The fewest pieces whose change makes the result `wanted`: one if possible, else two that only fit in one way. A variable that the
 * template mentions twice is left alone.
 */
export function changePieces(pieces: readonly Piece[], wanted: string): PieceChanges {
  if (textOf(pieces) === wanted) return { changes: [], unset: null };
  const single = singleChanges(pieces, wanted)[0];
  if (single !== undefined) return asChanges([single]);
  const double = doubleChanges(pieces, wanted);
  return double === null ? { changes: null, unset: null } : asChanges(double);
}

function asChanges(changes: readonly PieceChange[]): PieceChanges {
  for (const { piece } of changes) {
    if (piece.kind === "variable" && !piece.is_set) return { changes: null, unset: piece.name };
  }
  return { changes, unset: null };
}

/** Best first: a value that stands on its own, then a variable or default before other text of the file. */
function singleChanges(pieces: readonly Piece[], wanted: string): readonly PieceChange[] {
  const found = pieces.flatMap((piece, index) => {
    if (isRepeated(pieces, piece)) return [];
    const before = textOf(pieces.slice(0, index));
    const after = textOf(pieces.slice(index + 1));
    const fits = wanted.length > before.length + after.length && wanted.startsWith(before) && wanted.endsWith(after);
    return fits ? [{ piece, text: wanted.slice(before.length, wanted.length - after.length) }] : [];
  });
  const rank = ({ piece, text }: PieceChange) => (wholeValue.test(text) ? 0 : 2) + (isPlainText(piece) ? 1 : 0);
  return found.toSorted((one, other) => rank(one) - rank(other));
}

function doubleChanges(pieces: readonly Piece[], wanted: string): readonly PieceChange[] | null {
  const open = pieces.flatMap((piece, index) => (isPlainText(piece) || isRepeated(pieces, piece) ? [] : [index]));
  const ways: (readonly PieceChange[])[] = [];
  for (const [nth, first] of open.entries()) {
    for (const second of open.slice(nth + 1)) {
      ways.push(...waysFor(pieces, first, second, wanted));
      if (ways.length > 1) return null;
    }
  }
  return ways[0] ?? null;
}

/** At most two, which is as bad as many. */
function waysFor(
  pieces: readonly Piece[],
  first: number,
  second: number,
  wanted: string,
): readonly (readonly PieceChange[])[] {
  const [one, other] = [pieces[first], pieces[second]];
  const before = textOf(pieces.slice(0, first));
  const between = textOf(pieces.slice(first + 1, second));
  const after = textOf(pieces.slice(second + 1));
  if (one === undefined || other === undefined || !wanted.startsWith(before) || !wanted.endsWith(after)) return [];
  const middle = wanted.slice(before.length, wanted.length - after.length);
  const ways: (readonly PieceChange[])[] = [];
  let at = middle.indexOf(between, 1);
  while (at !== -1 && at + between.length < middle.length && ways.length < 2) {
    ways.push([
      { piece: one, text: middle.slice(0, at) },
      { piece: other, text: middle.slice(at + between.length) },
    ]);
    at = middle.indexOf(between, at + 1);
  }
  return ways;
}

function isPlainText(piece: Piece): boolean {
  return piece.kind === "text" && !piece.is_default;
}

function isRepeated(pieces: readonly Piece[], piece: Piece): boolean {
  return (
    piece.kind === "variable" &&
    pieces.some((each) => each !== piece && each.kind === "variable" && each.name === piece.name)
  );
}
