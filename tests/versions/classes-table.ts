import type { Project } from "../support/project-lists.ts";

/** Families that whole lists of tags show, at least three lists each, written from memory in the manner of the projects named. */
export const classes: Readonly<Record<string, readonly Project[]>> = {
  "Jenkins counts, names the commit, and counts again": [
    {
      name: "jenkins/inbound-agent",
      tags: `4.6-1 4.11.2-4 4.13-2 4.13.3-1 3044.vb_940a_a_e4f72e-1 3071.v7e9b_0dc08466-1 3107.v665000b_51092-5
        3206.vb_15dcf73f6a_9-1 3256.v88a_f6e922152-1 3283.v92c105e0f819-1 3341.v0766d82b_dec0-1 3355.v388858a_47b_33-1
        3355.v388858a_47b_33-9 3355.v388858a_47b_33-10 3355.v388858a_47b_33-19 3355.v388858a_47b_33-20
        3355.v388858a_47b_33-20-jdk21 3355.v388858a_47b_33-20-alpine-jdk17 3355.v388858a_47b_33-20-rhel-ubi9-jdk17
        latest latest-jdk21 jdk17 alpine`,
      stable: "3355.v388858a_47b_33-20",
    },
    {
      name: "jenkinsci/configuration-as-code-plugin",
      tags: `@2021-05-06 configuration-as-code-1.51 @2021-11-24 1.55 @2021-12-20 1.55.1 @2022-02-24 1346.ve8cfa_3473c94
        @2022-05-12 1429.v09b_044a_c93de @2022-08-23 1511.vb_f985b_894e40 @2023-01-13 1569.vb_72405b_80249
        @2023-09-20 1700.v6f448841296e @2024-03-25 1775.v810dc950b_514 @2024-07-16 1836.vccda_4a_122a_a_e
        @2024-10-14 1850.va_a_8c31d3158b_ @2024-12-11 1903.v004d55388f30`,
      stable: "1903.v004d55388f30",
    },
    {
      name: "jenkinsci/jackson2-api-plugin",
      tags: `@2020-01-31 jackson2-api-2.10.2 @2022-03-10 2.13.2-260.v43d6b_6b_e33c7 @2022-06-03 2.13.3-285.vc03c0256d517
        @2023-05-08 2.15.0-334.v317a_165f9b_7c @2023-06-09 2.15.2-350.v0c2f3f8fc595 @2023-11-27 2.16.0-373.vb_0f3c8c41c2d
        @2024-03-15 2.17.0-378.v9c1f5e3d7b60 2.17.0-379.v02de8ec9f64c`,
      stable: "2.17.0-379.v02de8ec9f64c",
    },
  ],
  "a dead counting series beside a living dated one": [
    {
      name: "homebridge/homebridge",
      tags: `4.0.0 3.5.1 2021-11-17 2021-12-19 2022-02-07 2022-06-28 2022-07-08 2022-10-14 2023-01-08 2023-06-22 2023-11-28
        2024-01-08 2024-04-30 2024-05-02 2024-06-27 2024-11-29 2024-12-18 2024-12-19 2025-02-26 2024-12-19-ubuntu
        2023-01-08-debian-arm32v7 latest ubuntu alpine beta beta-2024-12-02 beta-2024-12-05`,
      stable: "2025-02-26",
    },
    {
      name: "homebridge/docker-homebridge",
      tags: `@2020-05-02 v3.0.0 @2020-12-12 v3.5.1 @2021-07-08 v4.0.0 @2021-11-17 2021-11-17 @2021-12-19 2021-12-19
        @2022-06-28 2022-06-28 @2022-10-14 2022-10-14 @2023-01-08 2023-01-08 @2023-11-28 2023-11-28 @2024-01-08 2024-01-08
        @2024-05-02 2024-05-02 @2024-12-19 2024-12-19`,
      stable: "2024-12-19",
    },
    {
      name: "jupyter/minimal-notebook",
      tags: `3.2 4.0 2021-08-04 2021-10-07 2022-01-24 2022-06-27 2022-10-09 2023-01-30 2023-03-27 2023-05-29 2023-07-25
        2023-09-18 2023-10-20 x86_64-2023-10-20 aarch64-2023-10-20 latest python-3.10 python-3.11 python-3.11.6 hub-4.0.2
        notebook-7.0.6 ubuntu-22.04 lab-4.0.7 2d878db5cbff 4cc4d8d4f2a1`,
      stable: "2023-10-20",
    },
    {
      name: "kiwix-tools, whose dates are nights",
      tags: `3.5.0 3.5.0-2 3.6.0 3.7.0 3.7.0-2 2024-11-21 2024-11-22 2024-11-23 2024-11-24 2024-11-25 2024-11-26 2024-11-27
        2024-11-28 nightly latest`,
      stable: "3.7.0-2",
    },
    {
      name: "alpine, whose dates are builds of what is next",
      tags: `3.17.10 3.18.11 3.19.6 3.20.0 3.20.3 3.20.5 3.21.0 3.21.2 20240606 20240807 20240923 20250108 edge latest`,
      stable: "3.21.2",
    },
    {
      name: "versions that go on beside monthly dates",
      tags: `@2024-01-20 1.0 2024-01-20 @2024-02-20 2024-02-20 @2024-04-20 2024-04-20 @2024-06-20 1.1 2024-06-20
        @2024-08-20 2024-08-20 @2024-10-20 2024-10-20`,
      stable: "1.1",
      misses: { "stable names": "2024-10-20" },
    },
    {
      name: "a first version after dates",
      tags: `@2024-01-20 2024-01-20 @2024-02-20 2024-02-20 @2024-04-20 2024-04-20 @2024-06-20 1.0`,
      stable: "1.0",
      misses: { "stable names": "2024-04-20" },
    },
    {
      name: "k8s-prow/hook, dated with every push",
      tags: `0.168 0.169 0.170 0.171 v20240729-4c4c1e5e4 v20240730-a7d8b6b2c v20240731-0c1d2e3f4 v20240801-3a5d9f1c2
        v20240802-66b115076 latest`,
      stable: "v20240802-66b115076",
      misses: { "stable publish_time": "0.171", "stable semantic": "0.171" },
    },
  ],
  "charts and operators beside the application": [
    {
      name: "kubernetes/ingress-nginx",
      tags: `@2020-02-24 nginx-0.30.0 @2022-01-14 controller-v1.1.1 helm-chart-4.0.15 @2023-02-09 helm-chart-4.5.0
        controller-v1.6.0 @2023-10-05 controller-v1.9.1 helm-chart-4.8.1 helm-chart-4.8.2 @2024-06-25 controller-v1.11.0
        helm-chart-4.11.0 @2024-10-08 controller-v1.11.3 helm-chart-4.11.3 helm-chart-4.11.4 @2024-12-30 controller-v1.12.0
        helm-chart-4.12.0`,
      stable: "controller-v1.12.0",
    },
    {
      name: "kubernetes/autoscaler",
      tags: `@2023-08-01 cluster-autoscaler-1.27.3 cluster-autoscaler-chart-9.29.1 @2024-02-01 cluster-autoscaler-chart-9.35.0
        cluster-autoscaler-1.29.0 @2024-05-01 cluster-autoscaler-chart-9.37.0 cluster-autoscaler-1.30.0
        vertical-pod-autoscaler-1.1.2 @2024-09-24 cluster-autoscaler-chart-9.43.0 cluster-autoscaler-1.31.0
        @2024-11-04 vertical-pod-autoscaler-1.2.1 cluster-autoscaler-chart-9.43.2`,
      stable: "cluster-autoscaler-1.31.0",
    },
    {
      name: "banzaicloud/bank-vaults",
      tags: `@2021-01-05 1.9.0 1.10.0 chart/vault-operator/1.10.0 @2021-05-12 1.13.0 operator/1.13.0 @2022-06-01 1.16.0
        chart/vault-operator/1.16.0 chart/vault/1.16.0 @2023-02-01 chart/vault-operator/1.17.0 chart/vault-operator/1.18.0
        @2023-09-15 chart/vault-operator/1.19.0 operator/1.19.0 operator/1.20.0 operator/1.20.1`,
      stable: "1.16.0",
    },
    {
      name: "metallb/metallb",
      tags: `@2023-06-27 v0.13.10 metallb-chart-0.13.10 @2024-01-22 v0.14.3 metallb-chart-0.14.3 @2024-07-24 v0.14.8
        metallb-chart-0.14.8 @2025-08-02 metallb-chart-0.15.0 metallb-chart-0.15.1 metallb-chart-0.15.2`,
      stable: "v0.14.8",
    },
    {
      name: "nothing but charts",
      tags: `helm-loki-6.22.0 helm-loki-6.23.0 helm-loki-6.24.0 helm-agent-0.1.0`,
      stable: "helm-loki-6.24.0",
    },
    {
      name: "kubernetes-sigs/nfs-subdir-external-provisioner, whose chart has the project's name",
      tags: `@2020-12-09 v4.0.0 @2021-04-23 v4.0.1 v4.0.2 @2022-05-20 nfs-subdir-external-provisioner-4.0.16
        @2022-10-07 nfs-subdir-external-provisioner-4.0.17 @2023-03-06 nfs-subdir-external-provisioner-4.0.18`,
      stable: "v4.0.2",
      misses: {
        "stable publish_time": "nfs-subdir-external-provisioner-4.0.18",
        "stable semantic": "nfs-subdir-external-provisioner-4.0.18",
        "stable names": "v4.0.2",
      },
    },
  ],
  "a living series of two beside a dead one": [
    {
      name: "xbmc/xbmc",
      tags: `@2018-08-27 18.0a3-Leia @2018-09-30 18.0b3-Leia @2018-11-01 18.0b5-Leia @2018-12-01 18.0rc2-Leia @2019-01-29 18.0-Leia
        @2019-02-18 18.1-Leia @2019-04-22 18.2-Leia @2019-06-25 18.3-Leia @2019-09-01 18.4-Leia @2020-03-08 18.6-Leia
        @2021-02-19 19.0-Matrix @2021-05-09 19.1-Matrix @2021-10-10 19.2-Matrix @2022-03-05 19.4-Matrix @2023-01-15 20.0-Nexus
        @2023-03-12 20.1-Nexus @2023-06-29 20.2-Nexus @2024-04-06 21.0-Omega @2024-08-18 21.1-Omega @2025-01-20 21.2-Omega
        @2025-04-20 22.0a1-Piers @2025-10-20 22.0a2-Piers`,
      stable: "21.2-Omega",
      prerelease: "22.0a2-Piers",
      misses: { "prerelease names": "18.0rc2-Leia" },
    },
    {
      name: "CoreELEC/CoreELEC",
      tags: `@2019-04-01 9.2.0-alpha1 @2019-05-01 9.2.0-beta1 @2019-09-01 9.2.0-beta2 @2019-12-01 9.2.0 @2020-03-01 9.2.2
        @2020-10-01 9.2.5 @2021-12-01 19.3-Matrix @2022-03-10 19.4-Matrix @2022-08-10 19.5-Matrix @2023-02-01 20.0-Nexus
        @2023-07-01 20.2-Nexus @2024-03-01 20.5-Nexus @2024-04-20 21.0-Omega @2024-09-10 21.1.1-Omega @2025-01-28 21.2-Omega
        @2025-06-01 22.0-Piers_alpha1 @2025-11-01 22.0-Piers_alpha2`,
      stable: "21.2-Omega",
    },
    {
      name: "nextcloud/android",
      tags: `@2017-11-01 dev-20171101 @2017-12-02 dev-20171202 @2018-01-03 dev-20180103 @2018-01-05 dev-20180105
        @2024-09-10 stable-3.29.2 @2024-10-11 stable-3.30.0 @2024-11-19 stable-3.30.6 @2024-11-28 rc-3.31.0-01
        @2024-12-05 rc-3.31.0-02`,
      stable: "stable-3.30.6",
      prerelease: "rc-3.31.0-02",
      canary: "rc-3.31.0-02",
      misses: { "canary names": "dev-20180105" },
    },
    {
      name: "a calendar beside old candidates",
      tags: `@2019-01-01 1.0-rc1 1.0-rc2 1.1-rc1 1.1-rc2 1.2-rc1 1.0 1.1 1.2 @2024-01-05 2024.1.0 @2024-02-05 2024.2.0
        @2024-03-05 2024.3.0 @2024-03-25 2024.4.0-rc1 @2024-03-28 2024.4.0-rc2`,
      stable: "2024.3.0",
      prerelease: "2024.4.0-rc2",
    },
  ],
  "a candidate of what is released, and a newer snapshot": [
    {
      name: "openhab/openhab",
      tags: `4.0.4 4.1.0.M4 4.1.0.RC1 4.1.3 4.2.0.M3 4.2.0.RC1 4.2.0 4.2.1 4.2.2 4.3.0-snapshot 4.2.2-alpine 4.2.2-debian
        4.3.0-snapshot-alpine milestone snapshot latest latest-alpine`,
      stable: "4.2.2",
      prerelease: "4.3.0-snapshot",
      canary: "4.3.0-snapshot",
    },
    {
      name: "home-assistant/home-assistant",
      tags: `2024.9.3 2024.10.4 2024.11.0b8 2024.11.0b9 2024.11.0 2024.11.1 2024.12.0.dev202411140225
        2024.12.0.dev202411150226 dev beta rc stable latest`,
      stable: "2024.11.1",
      prerelease: "2024.12.0.dev202411150226",
      // Whoever asks for betas gets no nightly build.
      beta: "2024.11.0b9",
    },
    {
      name: "vercel/next.js",
      tags: `@2024-10-15 v15.0.0-rc.1 @2024-10-21 v15.0.0 @2024-11-07 v15.0.3 @2024-11-22 v15.0.4-canary.25
        @2024-12-02 v15.0.4-canary.36`,
      stable: "v15.0.3",
      prerelease: "v15.0.4-canary.36",
    },
    {
      name: "NixOS/nixpkgs, whose candidate came after what is next began",
      tags: `@2023-11-29 23.11 @2024-05-22 24.11-pre @2024-05-31 24.05 @2024-11-20 25.05-pre @2024-11-25 24.11-beta
        @2024-11-30 24.11`,
      stable: "24.11",
      prerelease: "25.05-pre",
    },
    {
      name: "linuxserver/sonarr, where each architecture has tags of its own",
      tags: `4.0.10.2544-ls262 4.0.11.2680-ls268 develop-4.0.11.2650-ls70 develop-4.0.11.2660-ls71 develop-4.0.12.2823-ls81
        amd64-develop-4.0.12.2823-ls81 amd64-4.0.11.2680-ls268 latest develop`,
      stable: "4.0.11.2680-ls268",
      prerelease: "develop-4.0.12.2823-ls81",
    },
    {
      name: "louislam/uptime-kuma, whose nightly2 says nothing of its version",
      tags: "1.21.3 1.22.1 1.23.0-beta.0 1.23.0-beta.1 1.23.0 1.23.1 nightly nightly2 beta latest 1",
      stable: "1.23.1",
      prerelease: "1.23.0-beta.1",
    },
    {
      name: "a candidate alone",
      tags: `@2024-10-15 v1.0.0-rc.1 @2024-10-21 v1.0.0`,
      stable: "v1.0.0",
      prerelease: "v1.0.0-rc.1",
    },
  ],
  "a bundled browser's number": [
    {
      name: "selenium/standalone-firefox",
      tags: `3 3.141 3.141.59 3.141.59-20210929 4 4.36 4.36.0 4.36.0-20251001 4.37 4.37.0 4.37.0-20251020 4.38 4.38.0
        4.38.0-20251101 143.0 143.0-20251001 144.0 144.0-20251020 142.0 142.0-20251101 143.0-20251101 144.0-20251101
        144.0-geckodriver-0.36-grid-4.38.0-20251101 144.0-geckodriver-0.36 latest beta dev nightly`,
      stable: "4.38.0-20251101",
    },
    {
      name: "selenium/standalone-chrome",
      tags: `4.27.0-20241204 4.27.0 4.27 4 4.26.0-20241101 4.26.0 4.25.0-20241024 131.0 131.0-20241204 130.0 130.0-20241101
        95.0 95.0-20241204 131.0-chromedriver-131.0-grid-4.27.0-20241204 131.0-chromedriver-131.0 latest beta dev`,
      stable: "4.27.0-20241204",
    },
    {
      name: "selenium/node-edge, of which one new pair is known",
      tags: `4.26.0-20241101 4.25.0-20241024 4.27.0-20241204 131.0-20241204`,
      stable: "4.27.0-20241204",
    },
    {
      name: "seleniarm/standalone-chromium",
      tags: `4.19.1-20240402 4.20.0-20240427 4.20.0 4.20 4 124.0 124.0-20240427 123.0-20240402 latest`,
      stable: "4.20.0-20240427",
    },
    {
      name: "lines that are rebuilt on one day",
      tags: `9.6.24-20211111 10.19-20211111 13.5-20211111 14.1-20211111 9.6.23-20210812 10.18-20210812 13.4-20210812`,
      stable: "14.1-20211111",
    },
    {
      name: "a jump of the project itself",
      tags: `1.20.6 1.21.4 1.21.10 1.21.11 26.1 26.1.1 26.2`,
      stable: "26.2",
    },
  ],
  "plain tags that are a dead remainder": [
    {
      name: "sonarqube",
      tags: `5.6 5.6.7 6.7.1 7.1 7.7 7.7-community 7.9.6-community 8.9.10-community 9.9.7-community 10.5.1-community
        10.6.0-community 10.7.0-community 24.12.0.100206-community 25.1.0.102122-community 8.9.10-developer
        9.9.8-developer 10.6.0-developer 10.7.0-developer 9.9.8-enterprise 10.7.0-enterprise lts lts-community community
        latest`,
      stable: "25.1.0.102122-community",
    },
    {
      name: "nvidia/cuda",
      tags: `7.0 7.5 8.0 9.0 9.1 9.2 7.5-devel 8.0-devel 8.0-runtime-ubuntu16.04 11.8.0-base-ubuntu22.04
        12.4.1-base-ubuntu22.04 12.5.1-base-ubuntu22.04 12.6.2-base-ubuntu22.04 12.6.3-base-ubuntu22.04
        12.6.2-runtime-ubuntu22.04 12.6.3-runtime-ubuntu22.04 12.6.3-base-ubi9 11.8.0-base-ubuntu18.04 latest`,
      stable: "12.6.3-base-ubuntu22.04",
    },
    {
      name: "owasp/modsecurity-crs",
      tags: `v2 v3.0 v3.1 v3.2 v3.2.0 3.3.5-nginx-202310301110 4.7.0-nginx-202410090410 4.8.0-nginx-202410310310
        4.9.0-nginx-202411190311 4.9.0-nginx-202412050412 4.9.0-apache-202411190311 4.9.0-apache-202412050412
        4.9.0-nginx-alpine-202412050412 nginx apache nginx-alpine`,
      stable: "4.9.0-nginx-202412050412",
    },
    {
      name: "nginx, whose plain tags live",
      tags: `1.26.2 1.27.2 1.27.3 1.26.2-alpine 1.27.2-alpine 1.27.3-alpine 1.27.4-alpine 1.27.3-perl mainline stable`,
      stable: "1.27.3",
    },
    {
      name: "a variant that is first with a major version",
      tags: `1.9.0 1.9.1 1.9.2 2.0.0-alpine 1.9.2-alpine 1.9.1-alpine`,
      stable: "1.9.2",
    },
    {
      name: "k8s debian-base, whose codenames count anew",
      tags: `v1.0.0 v1.0.1 v2.0.0 v2.1.3 buster-v1.9.0 buster-v1.10.0 bullseye-v1.4.2 bullseye-v1.4.3 bookworm-v1.0.3
        bookworm-v1.0.4`,
      stable: "bookworm-v1.0.4",
      misses: { "stable publish_time": "v2.1.3", "stable semantic": "v2.1.3" },
    },
  ],
  "what is not read yet": [
    {
      name: "mailcow/mailcow-dockerized, whose months have letters",
      tags: `@2024-01-31 2024-01 @2024-06-18 2024-06 @2024-06-19 2024-06a @2024-08-01 2024-08 @2024-08-10 2024-08a
        @2024-11-01 2024-11 @2024-11-07 2024-11a @2024-11-20 2024-11b`,
      stable: "2024-11b",
      misses: { "stable publish_time": "2024-11", "stable semantic": "2024-11" },
    },
    {
      name: "openjdk/jdk, whose builds before a release say nothing of it",
      tags: `@2023-09-19 jdk-21-ga jdk-21+35 @2024-03-19 jdk-22-ga jdk-22+36 @2024-09-17 jdk-23-ga jdk-23+37
        @2024-11-01 jdk-24+22 @2024-12-01 jdk-24+26`,
      stable: "jdk-23-ga",
      misses: { "stable publish_time": "jdk-24+26", "stable semantic": "jdk-24+26" },
    },
  ],
};
