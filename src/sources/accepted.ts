import { givingWay } from "../give-way.ts";

/** The items that are accepted, in their order. Whatever the judgement costs, requests are answered meanwhile. */
export async function acceptedOf<T>(items: readonly T[], isAccepted: (item: T) => boolean): Promise<readonly T[]> {
  const accepted: T[] = [];
  const giveWay = givingWay();
  for (const item of items) {
    if (isAccepted(item)) accepted.push(item);
    await giveWay();
  }
  return accepted;
}
