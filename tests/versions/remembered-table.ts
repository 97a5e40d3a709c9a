import type { Project } from "../support/project-lists.ts";

/**
 * Lists written from memory, with tags like those of the projects named: shapes that the lists taken from real projects have not. Nobody fetched
 * them, and they prove nothing about these projects.
 */
export const remembered: readonly Project[] = [
  {
    name: "php",
    tags: `7 7.4 7.4.33 7.4.33-fpm-alpine 8 8.2 8.2.26 8.2.26-apache 8.3 8.3.14 8.3.14-cli 8.3.14-fpm-alpine3.20 8.4 8.4.1
      8.4.1-apache-bookworm 8.4.1-cli-alpine3.21 8.4.1-fpm 8.4.1-fpm-alpine 8.4.1-zts 8.4.0RC4 8.4.0RC4-cli 8.4.0alpha2
      8.4-rc 8.4-rc-cli apache cli fpm fpm-alpine latest rc zts 5.6.40 5.3.29`,
    stable: "8.4.1",
    prerelease: "8.4.0RC4",
  },
  {
    name: "elixir",
    tags: `1.14.5 1.14.5-otp-25 1.15.8 1.15.8-otp-26 1.15.8-otp-26-alpine 1.16.3 1.16.3-otp-26 1.16.3-slim 1.17 1.17.3
      1.17.3-alpine 1.17.3-otp-25 1.17.3-otp-27 1.17.3-otp-27-alpine 1.17.3-otp-27-slim 1.17.3-slim 1.18.0-rc.0
      1.18.0-rc.0-otp-27 1.18.0-rc.0-otp-27-alpine 1.18-rc otp-27 otp-27-alpine alpine slim latest 1.17-otp-27`,
    stable: "1.17.3",
    prerelease: "1.18.0-rc.0",
  },
  {
    name: "grafana/loki",
    tags: `2.9.10 2.9.11 2.9.11-amd64 2.9.11-arm64 3.0.0 3.0.1 3.1.2 3.2.0 3.2.1 3.2.1-amd64 3.2.1-arm 3.3.0 3.3.0-amd64
      3.3.0-arm64 k229-1a2b3c4 k230-7b6a5f0 k231-89435ab main main-1b5d2c8 main-56be0e7 main-56be0e7-amd64 latest
      latest-amd64 master master-5b5c5e5 v3.3.0-rc1 2.0.0 1.6.1`,
    stable: "3.3.0",
  },
  {
    name: "hotio/radarr",
    tags: `release release-5.11.0.9244 release-5.12.2.9335 release-5.14.0.9383 release-1b2c3d4 release-9f8e7d6 testing
      testing-5.14.0.9383 testing-5.15.0.9412 testing-5b6c7d8 nightly nightly-5.15.1.9438 nightly-5.16.0.9447
      nightly-5.16.0.9450 nightly-abc1234 pr-10593 latest release-4.7.5.7809 release-5.9.1.9070 testing-5.10.4.9218`,
    stable: "release-5.14.0.9383",
    prerelease: "testing-5.15.0.9412",
    canary: "nightly-5.16.0.9450",
    // `testing` is a word for builds of unfinished work, as `nightly` is.
    misses: {
      "prerelease publish_time": "nightly-5.16.0.9450",
      "prerelease semantic": "nightly-5.16.0.9450",
    },
  },
  {
    name: "binhex/arch-qbittorrentvpn",
    tags: `4.3.9-2-01 4.4.5-3-02 4.5.5-1-01 4.6.3-1-02 4.6.5-1-01 4.6.6-1-01 4.6.7-1-01 4.6.7-1-02 5.0.0-1-01 5.0.1-1-01
      5.0.1-1-02 5.0.2-1-01 latest test libtorrentv1 4.3.3-1-04 4.2.5-1-08 4.1.9.1-1-01 4.6.0-2-01 4.6.4-1-01`,
    stable: "5.0.2-1-01",
  },
  {
    name: "photoprism",
    tags: `20200906 20210222 20210523 20210925 20211210 20211215 220517 220629 220901 221102 221105 221118 230506 230603
      230607 230615 230625 230719 231011 231021 231128 240420 240523 240531 240711 240915 240915-armv7 231128-armv7
      latest latest-armv7 preview preview-ce 220629-jammy`,
    stable: "240915",
  },
  {
    name: "zabbix/zabbix-server-pgsql",
    tags: `alpine-5.0.45 alpine-6.0.36 alpine-6.4.20 alpine-7.0.5 alpine-7.0.6 alpine-7.2.0 alpine-latest alpine-trunk
      alpine-7.0-latest alpine-6.0-latest ubuntu-5.0.45 ubuntu-6.0.36 ubuntu-6.4.20 ubuntu-7.0.5 ubuntu-7.0.6 ubuntu-7.2.0
      ubuntu-latest ol-6.0.36 ol-7.0.6 ol-7.2.0 ol-latest centos-5.0.45 latest ubuntu-trunk alpine-7.2.0-rc1`,
    stable: "alpine-7.2.0",
  },
  {
    name: "apache/superset",
    tags: `3.0.4 3.1.3 3.1.3-dev 4.0.0 4.0.1 4.0.2 4.0.2-dev 4.1.0 4.1.1 4.1.1-dev 4.1.1-py310 4.1.1-py39 4.1.1rc1
      4.1.0rc4 4.1.0rc4-dev 5bd8b5d 5bd8b5d-dev GHA-11838262370 master master-dev latest latest-dev lean 2.1.3
      pr-31234-ci 4.1.1-websocket 4.1.1-dockerize`,
    stable: "4.1.1",
  },
  {
    name: "woodpeckerci/woodpecker-server",
    tags: `v0.15.11 v1.0.5 v1.0.5-alpine v2 v2.3.0 v2.4.1 v2.5.0 v2.6.1 v2.7.0 v2.7.0-rc.1 v2.7.1 v2.7.2 v2.7.3
      v2.7.3-alpine v2.7 v2.8.0-rc.0 v2.8.0-rc.0-alpine next next-alpine next-0a1b2c3d4e next-5b6c7d8e9f pull_4409
      pull_4523-alpine latest latest-alpine`,
    stable: "v2.7.3",
    prerelease: "v2.8.0-rc.0",
  },
  {
    name: "godotengine/godot",
    tags: `@2021-04-26 3.3-stable @2022-08-05 3.5-stable @2023-03-01 4.0-stable @2023-07-06 4.1-stable @2023-09-25 3.5.3-stable
      @2023-11-30 4.2-stable @2023-12-12 4.2.1-stable @2024-04-17 4.2.2-stable @2024-08-15 4.3-stable @2024-09-09 3.6-stable`,
    stable: "4.3-stable",
    misses: { "stable publish_time": "3.6-stable" },
  },
  {
    name: "apache/kafka",
    tags: `@2012-01-01 kafka-0.7.0-incubating-candidate-9 @2021-09-19 3.0.0 @2022-10-03 3.3.0 @2023-10-05 3.6.0
      @2024-02-27 3.7.0 @2024-06-28 3.7.1 @2024-07-29 3.8.0 @2024-10-22 3.8.1-rc1 @2024-10-29 3.8.1 @2024-10-31 3.9.0-rc6
      @2024-11-06 3.9.0 @2024-12-02 3.7.2-rc2 @2024-12-12 3.7.2`,
    stable: "3.9.0",
    misses: { "stable publish_time": "3.7.2" },
  },
  {
    name: "openssl/openssl",
    tags: `@2010-03-29 OpenSSL_1_0_0 @2021-09-07 openssl-3.0.0 @2023-03-14 openssl-3.1.0 @2023-09-11 OpenSSL_1_1_1w
      @2023-11-23 openssl-3.2.0 @2024-03-12 openssl-3.3.0-alpha1 @2024-04-09 openssl-3.3.0 @2024-09-03 openssl-3.0.15
      openssl-3.1.7 openssl-3.2.3 openssl-3.3.2 @2024-09-24 openssl-3.4.0-alpha1 @2024-10-07 openssl-3.4.0-beta1
      @2024-10-22 openssl-3.4.0`,
    stable: "openssl-3.4.0",
    prerelease: "openssl-3.4.0-beta1",
  },
  {
    name: "FFmpeg/FFmpeg",
    tags: `@2009-03-10 v0.5 @2012-01-27 n0.10 @2023-02-27 n6.0 n6.1-dev @2023-11-10 n6.1 n6.2-dev @2024-04-04 n7.0
      @2024-04-05 n7.1-dev @2024-05-25 n7.0.1 @2024-08-02 n6.1.2 n7.0.2 @2024-09-29 n7.1 n7.2-dev`,
    stable: "n7.1",
    misses: { "stable names": "v0.5" },
    canary: "n7.2-dev",
  },
  {
    name: "ruby/ruby",
    tags: `@2014-11-13 v1_9_3_551 @2023-03-30 v2_7_8 @2023-12-25 v3_3_0 @2024-05-29 v3_1_6 @2024-05-16 v3_4_0_preview1
      @2024-10-07 v3_4_0_preview2 @2024-10-30 v3_2_6 @2024-11-05 v3_3_6 @2024-12-12 v3_4_0_rc1 @2024-12-25 v3_4_0 v3_4_1
      @2025-01-15 v3_3_7`,
    stable: "v3_4_1",
    misses: { "stable publish_time": "v3_3_7" },
    prerelease: "v3_4_0_rc1",
  },
  {
    name: "NixOS/nixpkgs",
    tags: `@2013-09-18 0.13 @2013-10-31 13.10 @2022-11-30 22.11 @2023-05-22 branch-off-23.05 23.11-pre @2023-05-31 23.05
      @2023-11-20 branch-off-23.11 24.05-pre @2023-11-29 23.11 @2024-05-22 24.11-pre @2024-05-31 24.05
      @2024-11-20 25.05-pre @2024-11-25 24.11-beta @2024-11-30 24.11`,
    stable: "24.11",
    prerelease: "25.05-pre",
  },
  {
    name: "swiftlang/swift",
    tags: `@2023-09-18 swift-5.9-RELEASE @2024-03-05 swift-5.10-RELEASE @2024-06-05 swift-5.10.1-RELEASE
      @2024-08-20 swift-6.0-DEVELOPMENT-SNAPSHOT-2024-08-18-a @2024-09-16 swift-6.0-RELEASE
      @2024-09-24 swift-6.0.1-RELEASE @2024-10-28 swift-6.0.2-RELEASE @2024-11-21 swift-DEVELOPMENT-SNAPSHOT-2024-11-20-a
      @2024-12-04 swift-DEVELOPMENT-SNAPSHOT-2024-12-04-a swift-6.1-DEVELOPMENT-SNAPSHOT-2024-12-04-a`,
    stable: "swift-6.0.2-RELEASE",
  },
  {
    name: "JetBrains/kotlin",
    tags: `@2023-11-01 v1.9.20 @2024-05-21 v2.0.0 @2024-07-19 v1.9.25 @2024-08-06 v2.0.10 @2024-08-22 v2.0.20
      @2024-09-24 v2.1.0-Beta1 @2024-10-10 v2.0.21 @2024-10-30 v2.1.0-RC @2024-11-13 v2.1.0-RC2 @2024-11-27 v2.1.0
      @2024-12-10 build-2.1.20-dev-6120 @2024-12-17 v2.1.20-Beta1`,
    stable: "v2.1.0",
    prerelease: "v2.1.20-Beta1",
    beta: "v2.1.20-Beta1",
  },
  {
    name: "ClickHouse/ClickHouse",
    tags: `@2018-01-10 v1.1.54337-stable @2023-09-28 v23.8.3.48-lts @2024-03-27 v24.3.1.2672-lts @2024-08-20 v24.8.1.2684-lts
      @2024-09-26 v24.9.1.3278-stable @2024-10-31 v24.10.1.2812-stable @2024-11-08 v24.9.3.128-stable
      @2024-11-21 v24.10.3.21-stable @2024-11-26 v24.11.1.2557-stable @2024-12-02 v24.8.8.17-lts @2024-12-10 v24.11.2.1-stable
      v24.3.14.35-lts`,
    stable: "v24.11.2.1-stable",
  },
  {
    name: "metabase/metabase",
    tags: `@2023-12-05 v0.48.0 v1.48.0 @2024-08-14 v0.50.20 v1.50.20 @2024-09-24 v0.51.0-beta @2024-10-30 v0.51.1 v1.51.1
      @2024-11-06 v0.51.2 v1.51.2 @2024-11-19 v0.51.5 v1.51.5 @2024-11-26 v0.51.6 v1.51.6`,
    stable: "v0.51.6",
    misses: { "stable publish_time": "v1.51.6", "stable semantic": "v1.51.6" },
  },
  {
    name: "hashicorp/consul",
    tags: `@2022-08-09 v1.13.0 @2024-06-12 v1.19.0 api/v1.29.0 @2024-07-11 v1.19.1 @2024-08-26 v1.19.2 sdk/v0.16.1
      api/v1.29.4 @2024-09-20 v1.20.0-rc1 @2024-10-14 v1.20.0 api/v1.30.0 @2024-10-29 v1.20.1 @2024-11-05 ent-changelog-1.20.1
      ent-changelog-1.18.5 @2024-11-12 proto-public/v0.6.3 envoyextensions/v0.7.5 troubleshoot/v0.7.3`,
    stable: "v1.20.1",
    prerelease: "v1.20.0-rc1",
  },
  {
    name: "moby/moby",
    tags: `@2017-03-27 v17.04.0-ce-rc2 @2023-05-16 v24.0.0 @2024-01-19 v25.0.0 @2024-03-20 v26.0.0 @2024-06-24 v27.0.1
      @2025-02-19 v28.0.0 @2025-09-03 v28.4.0 @2025-09-24 docker-v29.0.0-rc.1 api/v1.52.0-rc.1 @2025-11-05 v28.5.2
      @2025-11-10 docker-v29.0.0 api/v1.52.0 client/v0.1.0 @2025-11-14 docker-v29.0.1 @2025-11-17 docker-v29.0.2
      @2025-11-24 docker-v29.0.4 @2025-11-27 docker-v29.1.0 client/v0.2.1`,
    stable: "docker-v29.1.0",
    misses: { "stable publish_time": "v28.5.2", "stable semantic": "v28.5.2" },
  },
  {
    name: "unicode-org/icu",
    tags: `@2010-12-02 release-4-4-2 @2012-02-01 release-4-8-1-1 @2013-10-01 release-52-1 @2019-03-27 release-64-1
      @2019-04-17 release-64-2 @2023-10-31 release-74-1 @2024-03-21 release-75-rc @2024-04-17 release-75-1
      @2024-10-03 release-76-rc @2024-10-24 release-76-1`,
    stable: "release-76-1",
  },
  {
    name: "protocolbuffers/protobuf",
    tags: `@2018-07-31 v3.6.1 @2022-05-27 v21.1 @2022-12-14 v3.21.12 v21.12 @2024-03-13 v26.0 @2024-05-23 v27.0
      @2024-08-28 v28.0 @2024-09-19 v27.5 v26.2 v25.5 @2024-10-23 v28.3 @2024-10-18 v29.0-rc1 @2024-11-20 v29.0-rc3
      @2024-11-27 v29.0`,
    stable: "v29.0",
    prerelease: "v29.0-rc3",
  },
];
