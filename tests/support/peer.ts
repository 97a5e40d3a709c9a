import { describe } from "bun:test";

/** Where the real peers are promised, as in CI: what is missing there is a failure. */
export const arePeersRequired = process.env.CI === "true" || process.env.TIDEMARK_REQUIRE_PEERS === "1";

/** How a line begins that names a suite on real peers, which are here. */
export const namesPeers = "on real peers: ";

/**
 * A suite that needs a real peer. `missing` says why the peer is not here, or null when it is. Without the peer the suite
 * is skipped with the reason printed; in CI (`CI=true`) a missing peer is a failure.
 */
export function peerSuite(name: string, missing: string | null, body: () => void): void {
  if (missing === null) {
    console.log(`${namesPeers}${name}`);
    describe(name, body);
    return;
  }
  if (arePeersRequired) throw new Error(`${name}: ${missing}`);
  console.log(`skipped: ${name}: ${missing}`);
  describe.skip(name, body);
}
