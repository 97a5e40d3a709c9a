import { givingWay } from "../give-way.ts";

/** The accepted items, in their order. The event loop keeps running however long the judgement takes. */
export async function acceptedOf<T>(items: readonly T[], isAccepted: (item: T) => boolean): Promise<readonly T[]> {
  const accepted: T[] = [];
  const giveWay = givingWay();
  for (const item of items) {
    if (isAccepted(item)) accepted.push(item);
    await giveWay();
  }
  return accepted;
}
