import type { Project } from "../support/project-lists.ts";

/** Classes that the lists taken from real projects have shown; the lists are written in their manner, before the rules were. */
export const learnedClasses: Readonly<Record<string, readonly Project[]>> = {
  "an index that is written anew": [
    {
      name: "a chart whose index is written anew with each release",
      tags: "@2024-05-01T10:00:00.100Z 1.0.0 1.1.0 1.10.0 1.10.1 1.2.0 1.9.0",
      stable: "1.10.1",
    },
    {
      name: "a chart whose index was once written anew",
      tags: "@2024-05-01T10:00:00.100Z 1.10.0 1.2.0 1.9.0 @2024-06-01 1.10.1 @2024-07-01 1.11.0",
      stable: "1.11.0",
    },
    {
      name: "lines that are published within a second",
      tags: "@2024-04-01 18.0 @2024-05-01T10:00:00.100Z 18.1 17.5 16.9 15.13",
      stable: "18.1",
    },
    {
      name: "lines that are published a day apart",
      tags: "@2024-05-01 18.1 @2024-05-02 17.5",
      stable: "18.1",
      misses: { "stable publish_time": "17.5" },
    },
  ],
  "dated builds of what is not released": [
    {
      name: "a night's build of each branch",
      tags: "6.7.1 6.8.1 6.8.2 6.8.3 7.0-20210324011254 7.1-20210323230041",
      stable: "6.8.3",
    },
    {
      name: "a build a day beside releases",
      tags: "v1.4.0 v1.4.1 v1.5.0 v1.5.1 v1.5.2 v1.5.3 v1.6.0-20240102 v1.6.0-20240103 v1.6.0-20240104",
      stable: "v1.5.3",
    },
    {
      name: "releases that got a date, which nobody else has",
      tags: "1.0.0 1.1.0 1.2.0-20240101 1.3.0-20240201 1.4.0-20240301",
      stable: "1.4.0-20240301",
    },
    {
      name: "releases that are built anew",
      tags: "2.0.0 2.1.0 2.2.0 2.2.0-20240101 2.2.0-20240201",
      stable: "2.2.0-20240201",
    },
  ],
  "a variant that changes with the versions": [
    {
      name: "a base that grows with each version",
      tags: "21.06-cuda11.2 21.08-cuda11.2 21.10-cuda11.2 22.02-cuda11.5 22.04-cuda11.5 22.06-cuda11.7 22.08-cuda11.8",
      stable: "22.08-cuda11.8",
      // Where the newest variants have few versions each, the larger one leads.
      misses: { "stable publish_time": "22.04-cuda11.5", "stable semantic": "22.04-cuda11.5" },
    },
    {
      name: "two bases of each version",
      tags: "1.4-ubuntu20.04 1.5-ubuntu20.04 1.6-ubuntu20.04 2.0-ubuntu22.04 2.1-ubuntu22.04 2.2-ubuntu24.04 2.3-ubuntu24.04",
      stable: "2.3-ubuntu24.04",
    },
    {
      name: "one version of many variants",
      tags: "1.9.0 1.9.1 1.9.2 2.0.0-alpine 2.0.0-slim 2.0.0-bookworm 2.0.0-fpm",
      stable: "1.9.2",
    },
  ],
  "one version on several bases": [
    {
      name: "a database's version in front",
      tags: "pg14-v0.2.0 pg15-v0.2.0 pg16-v0.2.0 pg9-v0.2.0 pg14-v0.1.0 pg15-v0.1.0 pg16-v0.1.0 pg9-v0.1.0",
      stable: "pg16-v0.2.0",
    },
    {
      name: "a system's version behind",
      tags: "1.2.3-alpine3.9 1.2.3-alpine3.19 1.2.3-alpine3.20 1.2.2-alpine3.9 1.2.2-alpine3.19 1.2.2-alpine3.20",
      stable: "1.2.3-alpine3.20",
    },
    {
      name: "a language's version in front, with names for lines",
      tags: "3.9-7.3.16 3.9-7.3 3.9-7 3.9 3.10-7.3.19 3.10-7.3 3.10-7 3.10 3.10-7.3.19-slim 3.10-7.3-slim 3.10-slim slim latest",
      stable: "3.10-7.3.19",
    },
  ],
};
