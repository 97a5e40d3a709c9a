import { AwayPage } from "../../../templates/errors/away.tsx";
import { type Language, type PageContext, type Theme, withQuery } from "../../../templates/page.ts";
import { type Assets, type LoadedAsset, loadAsset } from "../assets.ts";

/** All that the stand-ins load. */
const files = ["transition.js", "app.css", "away.js", "icon.svg"];

type StandIn = Parameters<typeof AwayPage>[0]["what"];

/** What a browser needs while the server does not respond: a service worker, and the pages that it shows, the stand-ins. */
export interface Away {
  /** The worker is the same for everybody, in every language and theme. */
  worker(prefix: string): LoadedAsset;
  standIn(what: StandIn, language: Language, theme: Theme, prefix: string): LoadedAsset;
  /** What a page in this language and theme names for its browser. */
  namedBy(language: Language, theme: Theme, prefix: string): PageContext["away"];
}

/** Makes each once. They hold nothing of a session, a request or a moment. */
export function makeAway(assets: Pick<Assets, "path" | "text">): Away {
  const made = new Map<string, LoadedAsset>();
  const once = (key: string, make: () => string, type: string) => {
    const asset = made.get(key) ?? loadAsset(new Uint8Array(Buffer.from(make())), `${type}; charset=utf-8`);
    made.set(key, asset);
    return asset;
  };
  const away: Away = {
    worker: (prefix) => {
      const script = JSON.stringify(prefix + assets.path("away.js"));
      const make = () => `self.away = { script: ${script} };\n${assets.text("sw.js")}`;
      return once(prefix, make, "text/javascript");
    },
    standIn: (what, language, theme, prefix) => {
      const ctx: PageContext = {
        ...{ language, theme, base_path: prefix, path: "/", time_zone: "UTC", now: 0, user: null, csrf_token: "" },
        // By this mark the worker knows its page's files.
        ...{ assets: (name) => `${prefix}${assets.path(name)}?kept`, notices: [] },
      };
      return once(
        `${what} ${language} ${theme} ${prefix}`,
        () => String(<AwayPage ctx={ctx} what={what} />),
        "text/html",
      );
    },
    namedBy: (language, theme, prefix) => {
      const address = (what: StandIn) => {
        const { hash } = away.standIn(what, language, theme, prefix);
        return prefix + withQuery(`/away/${what}`, { language, theme, version: hash });
      };
      return {
        worker: prefix + withQuery("/sw.js", { version: away.worker(prefix).hash }),
        kept: [address("opened"), address("sent"), ...files.map((name) => prefix + assets.path(name))],
      };
    },
  };
  return away;
}
