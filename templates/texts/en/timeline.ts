import { plural } from "../../format.ts";

export const timeline = {
  title: "Version history",
  lead: "Which version ran when, and why it changed",
  from: "Since",
  until: "Until",
  now: "Now",
  cause: "Reason",
  absent: "Not there",
  causes: {
    first_seen: "First seen",
    run: "Updated by a run",
    rolled_back: "Rolled back by a run",
    outside: "Changed outside Tidemark",
  },
  summary: (services: number, since: string) =>
    `Versions of ${plural("en", services, { one: "service", other: "services" })} since ${since}; the list below has each with its times`,
};
