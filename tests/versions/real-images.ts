import type { RealProject } from "../support/project-lists.ts";

/**
 * Tags of real projects as the files named with them list them, whole but where it says so: they tell no times. Taken in November 2026; what is right was written down
 * before any of them was judged: what a careful administrator calls the latest, by what the file itself says of it.
 */
export const images: readonly RealProject[] = [
  {
    name: "amazonlinux, which began anew with the year",
    from: "docker-library/repo-info repos/amazonlinux/remote, all commits to c7a990d630a7",
    tags: `1-with-sources 1 2-with-sources 2.0.20230119.1-with-sources 2.0.20230119.1 2.0.20260707.0 2.0.20260710.0 2.0.20260720.0
      2.0.20260727.0 2.0.20260817.0 2.0.20260825.0 2.0.20260831.0 2 2018.03-with-sources 2018.03.0.20221209.1-with-sources
      2018.03.0.20221209.1 2018.03 2022-with-sources 2022.0.20221207.4-with-sources 2022.0.20221207.4 2022 2023.12.20260706.1
      2023.12.20260710.0 2023.12.20260724.0 2023.12.20260727.0 2023.12.20260817.0 2023.12.20260831.0 2023 2027.0.20260903.0 2027
      devel-with-sources devel latest with-sources`,
    stable: "2027.0.20260903.0",
  },
  {
    name: "almalinux, of which two lines are rebuilt",
    from: "docker-library/official-images library/almalinux at 00fba0bdaab0",
    tags: `8.5 8.5-20220510 8.5-minimal 8.5-minimal-20220510 8.6 8.6-20221101 8.6-minimal 8.6-minimal-20221101 latest 8 8.7 8.7-20221110
      minimal 8-minimal 8.7-minimal 8.7-minimal-20221110 9 9.0 9.0-20221102 9-minimal 9.0-minimal 9.0-minimal-20221102`,
    stable: "9.0-20221102",
  },
  {
    name: "odoo, of which three lines are rebuilt on one day",
    from: "docker-library/repo-info repos/odoo/remote, all commits to 63485f008b85",
    tags: `14.0 14 15.0 15 16.0 16 17.0-20260630 17.0-20260723 17.0-20260803 17.0-20260810 17.0-20260817 17.0-20260908 17.0 17
      18.0-20260630 18.0-20260723 18.0-20260803 18.0-20260810 18.0-20260817 18.0-20260908 18.0 18 19.0-20260630 19.0-20260723
      19.0-20260803 19.0-20260810 19.0-20260817 19.0-20260908 19.0 19 latest`,
    stable: "19.0-20260908",
  },
  {
    name: "varnish, whose stable is the oldest",
    from: "docker-library/official-images library/varnish at 017db0c57ee1",
    tags: `fresh 8.0.0 8 8.0 latest fresh-alpine 8.0.0-alpine 8-alpine 8.0-alpine alpine old 7.7.3 7.7 old-alpine 7.7.3-alpine 7.7-alpine
      stable 6.0.16 6.0`,
    stable: "8.0.0",
  },
  {
    name: "percona, which keeps another database in the same repository",
    from: "docker-library/repo-info repos/percona/remote, all commits to 6b8afa39c99c",
    tags: `5.6-centos 5.6.51-2-centos 5.6.51-2 5.6 8-centos 8.0-centos 8.0.29-21-centos 8.0.29-21 8.0.46-37-centos 8.0.46-37 8.0 8
      ps-5.6.51-2 ps-5.6 ps-8.0.29-21 ps-8.0.46-37 ps-8.0 ps-8 psmdb-4.2.21 psmdb-4.2 psmdb-4.4.15 psmdb-4.4 psmdb-5.0.10 psmdb-5.0
      psmdb-6.0.29 psmdb-6.0 psmdb-7.0.37 psmdb-7.0.39 psmdb-7.0.40 psmdb-7.0 psmdb-8.0.26 psmdb-8.0.28 psmdb-8.0.29 psmdb-8.0`,
    stable: "8.0.46-37",
  },
  {
    name: "clojure, whose tags name a Java, a tool, a version and a system",
    from: "docker-library/official-images library/clojure at 00101ba263f2",
    tags: `latest temurin-8-boot-2.8.3-alpine temurin-8-boot-alpine temurin-8-boot-2.8.3-focal temurin-8-boot-focal temurin-8-boot
      temurin-8-boot-2.8.3 temurin-8-boot-2.8.3-jammy temurin-8-boot-jammy temurin-8-lein-2.9.10-alpine temurin-8-lein-alpine
      temurin-8-lein-2.9.10-focal temurin-8-lein-focal temurin-8-lein temurin-8-lein-2.9.10 temurin-8-lein-2.9.10-jammy
      temurin-8-lein-jammy temurin-8-alpine temurin-8-tools-deps-1.11.1.1155-alpine temurin-8-tools-deps-alpine temurin-8-focal
      temurin-8-tools-deps-1.11.1.1155-focal temurin-8-tools-deps-focal temurin-8-jammy temurin-8-tools-deps
      temurin-8-tools-deps-1.11.1.1155 temurin-8-tools-deps-1.11.1.1155-jammy temurin-8-tools-deps-jammy temurin-11-boot-2.8.3-alpine
      temurin-11-boot-alpine temurin-11-boot-2.8.3-focal temurin-11-boot-focal temurin-11-boot temurin-11-boot-2.8.3
      temurin-11-boot-2.8.3-jammy temurin-11-boot-jammy temurin-11-lein-2.9.10-alpine temurin-11-lein-alpine
      temurin-11-lein-2.9.10-focal temurin-11-lein-focal temurin-11-lein temurin-11-lein-2.9.10 temurin-11-lein-2.9.10-jammy
      temurin-11-lein-jammy temurin-11-alpine temurin-11-tools-deps-1.11.1.1155-alpine temurin-11-tools-deps-alpine temurin-11-focal
      temurin-11-tools-deps-1.11.1.1155-focal temurin-11-tools-deps-focal temurin-11-jammy temurin-11-tools-deps
      temurin-11-tools-deps-1.11.1.1155 temurin-11-tools-deps-1.11.1.1155-jammy temurin-11-tools-deps-jammy boot-2.8.3-alpine
      boot-alpine temurin-17-boot-2.8.3-alpine temurin-17-boot-alpine boot-2.8.3-focal boot-focal temurin-17-boot-2.8.3-focal
      temurin-17-boot-focal boot boot-2.8.3 boot-2.8.3-jammy temurin-17-boot temurin-17-boot-2.8.3 temurin-17-boot-2.8.3-jammy
      temurin-17-boot-jammy lein-2.9.10-alpine lein-alpine temurin-17-lein-2.9.10-alpine temurin-17-lein-alpine lein-2.9.10-focal
      lein-focal temurin-17-lein-2.9.10-focal temurin-17-lein-focal lein lein-2.9.10 lein-2.9.10-jammy temurin-17-lein
      temurin-17-lein-2.9.10 temurin-17-lein-2.9.10-jammy temurin-17-lein-jammy temurin-17-alpine
      temurin-17-tools-deps-1.11.1.1155-alpine temurin-17-tools-deps-alpine tools-deps-1.11.1.1155-alpine tools-deps-alpine
      temurin-17-focal temurin-17-tools-deps-1.11.1.1155-focal temurin-17-tools-deps-focal tools-deps-1.11.1.1155-focal
      tools-deps-focal temurin-17-jammy temurin-17-tools-deps temurin-17-tools-deps-1.11.1.1155
      temurin-17-tools-deps-1.11.1.1155-jammy temurin-17-tools-deps-jammy tools-deps tools-deps-1.11.1.1155
      tools-deps-1.11.1.1155-jammy temurin-18-boot-2.8.3-alpine temurin-18-boot-alpine temurin-18-boot-2.8.3-focal
      temurin-18-boot-focal temurin-18-boot temurin-18-boot-2.8.3 temurin-18-boot-2.8.3-jammy temurin-18-boot-jammy
      temurin-18-lein-2.9.10-alpine temurin-18-lein-alpine temurin-18-lein-2.9.10-focal temurin-18-lein-focal temurin-18-lein
      temurin-18-lein-2.9.10 temurin-18-lein-2.9.10-jammy temurin-18-lein-jammy temurin-18-alpine
      temurin-18-tools-deps-1.11.1.1155-alpine temurin-18-tools-deps-alpine temurin-18-focal temurin-18-tools-deps-1.11.1.1155-focal
      temurin-18-tools-deps-focal temurin-18-jammy temurin-18-tools-deps temurin-18-tools-deps-1.11.1.1155
      temurin-18-tools-deps-1.11.1.1155-jammy temurin-18-tools-deps-jammy`,
    // The file has `latest` beside what Java 17 and tools.deps are.
    stable: "tools-deps-1.11.1.1155",
    // Three tools with versions of their own; nothing in the names says which of them is Clojure's.
    misses: { "stable publish_time": "boot-2.8.3", "stable semantic": "boot-2.8.3" },
  },
  {
    name: "drupal, whose three major versions are patched side by side",
    from: "docker-library/official-images library/drupal at 008ac242a83e",
    tags: `9.0.9-apache-buster 9.0-apache-buster 9-apache-buster apache-buster 9.0.9-apache 9.0-apache 9-apache apache 9.0.9 9.0 9 latest
      9.0.9-fpm-buster 9.0-fpm-buster 9-fpm-buster fpm-buster 9.0.9-fpm 9.0-fpm 9-fpm fpm 9.0.9-fpm-alpine3.12 9.0-fpm-alpine3.12
      9-fpm-alpine3.12 fpm-alpine3.12 9.0.9-fpm-alpine 9.0-fpm-alpine 9-fpm-alpine fpm-alpine 8.9.10-apache-buster 8.9-apache-buster
      8-apache-buster 8.9.10-apache 8.9-apache 8-apache 8.9.10 8.9 8 8.9.10-fpm-buster 8.9-fpm-buster 8-fpm-buster 8.9.10-fpm 8.9-fpm
      8-fpm 8.9.10-fpm-alpine3.12 8.9-fpm-alpine3.12 8-fpm-alpine3.12 8.9.10-fpm-alpine 8.9-fpm-alpine 8-fpm-alpine
      8.8.12-apache-buster 8.8-apache-buster 8.8.12-apache 8.8-apache 8.8.12 8.8 8.8.12-fpm-buster 8.8-fpm-buster 8.8.12-fpm 8.8-fpm
      8.8.12-fpm-alpine3.12 8.8-fpm-alpine3.12 8.8.12-fpm-alpine 8.8-fpm-alpine 7.75-apache-buster 7-apache-buster 7.75-apache 7-apache
      7.75 7 7.75-fpm-buster 7-fpm-buster 7.75-fpm 7-fpm 7.75-fpm-alpine3.12 7-fpm-alpine3.12 7.75-fpm-alpine 7-fpm-alpine`,
    stable: "9.0.9",
  },
  {
    name: "friendica, with a candidate and a build of one number",
    from: "docker-library/repo-info repos/friendica/remote, all commits to 519711d5f6d7",
    tags: `2023.01-apache 2023.01-fpm-alpine 2023.01-fpm 2023.01 2023.03-dev-apache 2023.03-dev-fpm-alpine 2023.03-dev-fpm 2023.03-dev
      2026.01-apache 2026.01-fpm-alpine 2026.01-fpm 2026.01 2026.05-apache 2026.05-fpm-alpine 2026.05-fpm 2026.05 2026.08-dev-apache
      2026.08-dev-fpm-alpine 2026.08-dev-fpm 2026.08-dev 2026.08-rc-apache 2026.08-rc-fpm-alpine 2026.08-rc-fpm 2026.08-rc apache
      dev-apache dev-fpm-alpine dev-fpm dev fpm-alpine fpm latest rc-apache rc-fpm-alpine rc-fpm rc stable-apache stable-fpm-alpine
      stable-fpm stable`,
    stable: "2026.05",
    prerelease: "2026.08-rc",
    canary: "2026.08-dev",
    // Both move with every push, and the shorter name is meant for everybody.
    misses: { "canary publish_time": "dev", "canary semantic": "dev" },
  },
  {
    name: "aerospike, with an edition in front",
    from: "docker-library/repo-info repos/aerospike/remote, all commits to ea9f87ecf0b0",
    tags: `ce-6.2.0.2 ce-8.1.2.3 ce-8.1.2.3_1 ce-8.1.2.4 ce-8.1.2.4_1 ce-8.1.2.5 ce-8.1.2.5_1 ee-6.2.0.2 ee-8.1.2.3 ee-8.1.2.3_1
      ee-8.1.2.4 ee-8.1.2.4_1 ee-8.1.2.5 ee-8.1.2.5_1`,
    // Nothing in the names says which edition is meant; the free one runs without a licence.
    stable: "ce-8.1.2.5_1",
  },
  {
    name: "pypy, with the language's version in front of its own",
    from: "docker-library/official-images library/pypy at 052c533404d1",
    tags: `2-2.5.1 2-2.5 2-2 2 2-2.5.1-onbuild 2-2.5-onbuild 2-2-onbuild 2-onbuild 2-2.5.1-slim 2-2.5-slim 2-2-slim 2-slim 3-2.4.0 3-2.4
      3-2 3 latest 3-2.4.0-onbuild 3-2.4-onbuild 3-2-onbuild 3-onbuild onbuild 3-2.4.0-slim 3-2.4-slim 3-2-slim 3-slim slim`,
    stable: "3-2.4.0",
  },
  {
    name: "open-liberty, all of whose tags have a variant",
    from: "docker-library/official-images library/open-liberty at 00fca3f5cc47",
    tags: `beta beta-java11 beta-java17 kernel-slim kernel-slim-java8-openj9 kernel-slim-java11-openj9 kernel-slim-java17-openj9 full
      full-java8-openj9 latest full-java11-openj9 full-java17-openj9 22.0.0.12-kernel-slim-java8-openj9
      22.0.0.12-kernel-slim-java11-openj9 22.0.0.12-kernel-slim-java17-openj9 22.0.0.12-full-java8-openj9
      22.0.0.12-full-java11-openj9 22.0.0.12-full-java17-openj9 22.0.0.9-kernel-slim-java8-openj9 22.0.0.9-kernel-slim-java11-openj9
      22.0.0.9-kernel-slim-java17-openj9 22.0.0.9-full-java8-openj9 22.0.0.9-full-java11-openj9 22.0.0.9-full-java17-openj9
      22.0.0.6-kernel-slim-java8-openj9 22.0.0.6-kernel-slim-java11-openj9 22.0.0.6-kernel-slim-java17-openj9
      22.0.0.6-full-java8-openj9 22.0.0.6-full-java11-openj9 22.0.0.6-full-java17-openj9`,
    // The file has `latest` beside `full-java8-openj9`.
    stable: "22.0.0.12-full-java8-openj9",
    // Where nothing else decides, the newest base leads.
    misses: {
      "stable publish_time": "22.0.0.12-full-java17-openj9",
      "stable semantic": "22.0.0.12-full-java17-openj9",
    },
  },
  {
    name: "nvidia/pytorch, by year and month with one variant",
    from: "singularityhub/shpc-registry nvcr.io/nvidia/pytorch/container.yaml at 0ac059b5f3fa",
    tags: `21.02-py3 21.03-py3 21.04-py3 21.05-py3 21.06-py3 21.08-py3 21.10-py3 21.11-py3 21.12-py3 22.01-py3 22.02-py3 22.03-py3
      22.04-py3 22.05-py3 22.06-py3 22.08-py3 22.07-py3 22.10-py3 22.09-py3 22.12-py3 22.11-py3 23.01-py3 23.02-py3 23.03-py3 23.04-py3
      23.05-py3 23.06-py3 23.07-py3 23.08-py3`,
    stable: "23.08-py3",
  },
  {
    name: "biocontainers/samtools, with the hash of a build",
    from: "singularityhub/shpc-registry quay.io/biocontainers/samtools/container.yaml at 11315b3ce914",
    tags: `1.10--h2e538c0_3 1.11--h6270b1f_0 1.12--h9aed4be_1 1.13--h8c37831_0 1.14--hb421002_0 1.15--h3843a85_0 1.19.2--h50ea8bc_1
      1.18--h50ea8bc_1 1.17--hd87286a_2 1.16.1--h00cdaf9_2 1.15.1--h6899075_1 1.20--h50ea8bc_0 1.20--h50ea8bc_1 1.21--h50ea8bc_0
      1.21--h96c455f_1 1.22--h96c455f_0`,
    stable: "1.22--h96c455f_0",
  },
  {
    name: "crate",
    from: "docker-library/repo-info repos/crate/remote, all commits to 2777d5df276b",
    tags: `4.8.4 4.8 5.0.3 5.0 5.1.3 5.1 6.0.8 6.0 6.1.6 6.1 6.2.11 6.2 6.3.5 6.3.6 6.3.7 6.3 6.4.0 6.4.1 6.4.2 6.4.3 6.4.4 6.4.5 6.4
      latest`,
    stable: "6.4.5",
  },
  {
    name: "hpc/gromacs, whose year is a version too",
    from: "singularityhub/shpc-registry nvcr.io/hpc/gromacs/container.yaml at 5dc9a0048360",
    tags: "2020.2 2020.2-arm64 2021 2021.3 2020.2-x86_64 2022.1 2022.3",
    stable: "2022.3",
  },
  {
    name: "nvidia/rapidsai, whose variant changes with each version",
    from: "singularityhub/shpc-registry nvcr.io/nvidia/rapidsai/rapidsai/container.yaml at 01d1c0fa5264",
    tags: `0.18-cuda11.0-runtime-centos7 22.02-cuda11.5-runtime-ubuntu20.04 21.10-cuda11.2-runtime-ubuntu20.04
      21.08-cuda11.2-runtime-ubuntu20.04 21.06-cuda11.2-runtime-ubuntu20.04 cuda11.5-runtime-ubuntu20.04
      22.04-cuda11.5-runtime-ubuntu20.04 22.06-cuda11.5-runtime-ubuntu20.04-py3.9 22.08-cuda11.5-runtime-ubuntu20.04-py3.9`,
    stable: "22.08-cuda11.5-runtime-ubuntu20.04-py3.9",
  },
  {
    name: "storm",
    from: "docker-library/repo-info repos/storm/remote, all commits to 6c0c67782b4c",
    tags: `1.2-temurin 1.2.4-temurin 1.2.4 1.2 2.4-temurin 2.4.0-temurin 2.4.0 2.4 2.8-jre17 2.8-jre21 2.8.8-jre17 2.8.8-jre21 2.8.8
      2.8.9-jre17 2.8.9-jre21 2.8.9 2.8 3.0-jre25 3.0-lite-jre25 3.0-lite 3.0.0-jre25 3.0.0-lite-jre25 3.0.0-lite 3.0.0 3.0 3.1-jre25
      3.1-lite-jre25 3.1-lite 3.1.0-jre25 3.1.0-lite-jre25 3.1.0-lite 3.1.0 3.1 latest`,
    stable: "3.1.0",
  },
  {
    name: "spark, with a preview and five marks behind each version",
    from: "docker-library/official-images library/spark at 088568a7d96f",
    tags: `4.0.0-preview1-scala2.13-java17-python3-ubuntu 4.0.0-preview1-python3 4.0.0-preview1
      4.0.0-preview1-scala2.13-java17-r-ubuntu 4.0.0-preview1-r 4.0.0-preview1-scala2.13-java17-ubuntu 4.0.0-preview1-scala
      4.0.0-preview1-scala2.13-java17-python3-r-ubuntu 3.5.2-scala2.12-java17-python3-ubuntu 3.5.2-java17-python3 3.5.2-java17
      python3-java17 3.5.2-scala2.12-java17-r-ubuntu 3.5.2-java17-r 3.5.2-scala2.12-java17-ubuntu 3.5.2-java17-scala
      3.5.2-scala2.12-java17-python3-r-ubuntu 3.5.2-scala2.12-java11-python3-ubuntu 3.5.2-python3 3.5.2 python3 latest
      3.5.2-scala2.12-java11-r-ubuntu 3.5.2-r r 3.5.2-scala2.12-java11-ubuntu 3.5.2-scala scala
      3.5.2-scala2.12-java11-python3-r-ubuntu 3.5.1-scala2.12-java17-python3-ubuntu 3.5.1-java17-python3 3.5.1-java17
      3.5.1-scala2.12-java17-r-ubuntu 3.5.1-java17-r 3.5.1-scala2.12-java17-ubuntu 3.5.1-java17-scala
      3.5.1-scala2.12-java17-python3-r-ubuntu 3.5.1-scala2.12-java11-python3-ubuntu 3.5.1-python3 3.5.1
      3.5.1-scala2.12-java11-r-ubuntu 3.5.1-r 3.5.1-scala2.12-java11-ubuntu 3.5.1-scala 3.5.1-scala2.12-java11-python3-r-ubuntu
      3.5.0-scala2.12-java17-python3-ubuntu 3.5.0-java17-python3 3.5.0-java17 3.5.0-scala2.12-java17-r-ubuntu 3.5.0-java17-r
      3.5.0-scala2.12-java17-ubuntu 3.5.0-java17-scala 3.5.0-scala2.12-java17-python3-r-ubuntu
      3.5.0-scala2.12-java11-python3-ubuntu 3.5.0-python3 3.5.0 3.5.0-scala2.12-java11-r-ubuntu 3.5.0-r
      3.5.0-scala2.12-java11-ubuntu 3.5.0-scala 3.5.0-scala2.12-java11-python3-r-ubuntu 3.4.1-scala2.12-java11-python3-ubuntu
      3.4.1-python3 3.4.1 3.4.1-scala2.12-java11-r-ubuntu 3.4.1-r 3.4.1-scala2.12-java11-ubuntu 3.4.1-scala
      3.4.1-scala2.12-java11-python3-r-ubuntu`,
    stable: "3.5.2",
    prerelease: "4.0.0-preview1",
  },
  {
    name: "sapmachine, with names for lines beside five parts",
    from: "docker-library/official-images library/sapmachine at 02f426617e27",
    tags: "11 11.0.15.0.1 17 17.0.3.0.1 lts 18 18.0.1 latest",
    stable: "18.0.1",
  },
  {
    name: "swipl, whose odd lines are for testers",
    from: "docker-library/official-images library/swipl at 0121471528a6",
    tags: "latest 9.3.6 stable 9.2.5",
    // The file has `stable` beside 9.2.5.
    stable: "9.2.5",
    // No name says that an odd number is for testers.
    misses: { "stable publish_time": "9.3.6", "stable semantic": "9.3.6" },
  },
  {
    name: "ros, which has names for versions",
    from: "docker-library/official-images library/ros at 02ef3d78114d",
    tags: `noetic-ros-core noetic-ros-core-focal noetic-ros-base noetic-ros-base-focal noetic noetic-robot noetic-robot-focal
      noetic-perception noetic-perception-focal humble-ros-core humble-ros-core-jammy humble-ros-base humble-ros-base-jammy humble
      humble-perception humble-perception-jammy iron-ros-core iron-ros-core-jammy iron-ros-base iron-ros-base-jammy iron
      iron-perception iron-perception-jammy jazzy-ros-core jazzy-ros-core-noble jazzy-ros-base jazzy-ros-base-noble jazzy latest
      jazzy-perception jazzy-perception-noble rolling-ros-core rolling-ros-core-noble rolling-ros-base rolling-ros-base-noble rolling
      rolling-perception rolling-perception-noble`,
    stable: "latest",
  },
  {
    name: "rakudo-star",
    from: "docker-library/official-images library/rakudo-star at 00dde577ac4c",
    tags: "latest 2024.03 bookworm alpine 2024.03-alpine",
    stable: "2024.03",
  },
  {
    name: "minecraft, whose snapshots are weeks of a year",
    from: "PrismarineJS/minecraft-data data/pc/common/protocolVersions.json at 0002da967286, of 2022 and later",
    tags: `24w20a 24w19b 24w19a 24w18a 1.20.6 1.20.6-rc1 1.20.5 1.20.5-rc3 1.20.5-rc2 1.20.5-rc1 1.20.5-pre4 1.20.5-pre3 1.20.5-pre2
      1.20.5-pre1 24w14a 24w14potato 24w13a 24w12a 24w11a 24w10a 24w09a 24w07a 24w06a 24w05b 24w05a 24w04a 24w03b 24w03a 23w51b 1.20.4
      1.20.4-rc1 1.20.3 1.20.3-rc1 1.20.3-pre4 1.20.3-pre3 1.20.3-pre2 1.20.3-pre1 23w46a 23w45a 23w44a 23w43b 23w43a 23w42a 23w41a
      23w40a 1.20.2 1.20.2-rc2 1.20.2-rc1 1.20.2-pre4 1.20.2-pre3 1.20.2-pre2 1.20.2-pre1 23w35a 23w33a 1.20.1 1.20 1.19.4 23w03a
      1.19.3 1.19.3-rc3 1.19.3-rc2 1.19.3-rc1 1.19.3-pre3 1.19.3-pre2 1.19.3-pre1 22w46a 22w45a 22w44a 22w43a 22w42a 1.19.2 1.19.2-rc2
      1.19.2-rc1 1.19.1 1.19.1-rc3 1.19.1-rc2 1.19.1-pre6 1.19.1-pre5 1.19.1-pre4 1.19.1-pre3 1.19.1-pre2 1.19.1-rc1 1.19.1-pre1
      22w24a 1.19 1.19-rc2 1.19-rc1 1.19-pre5 1.19-pre4 1.19-pre3 1.19-pre2 1.19-pre1 22w19a 22w18a 22w17a 22w16b 22w16a`,
    stable: "1.20.6",
    prerelease: "24w20a",
    canary: "24w20a",
    // Weeks of a year are not read.
    misses: {
      "prerelease publish_time": "1.20.6-rc1",
      "prerelease semantic": "1.20.6-rc1",
      "canary publish_time": "1.20.6-rc1",
      "canary semantic": "1.20.6-rc1",
    },
  },
  {
    name: "linkerd2, whose edge counts by month",
    from: "linkerd/linkerd2 CHANGES.md at 007123af4768, the first headings",
    tags: `stable-2.11.5 stable-2.11.4 stable-2.11.3 stable-2.11.2 stable-2.11.1 stable-2.11.0 edge-21.9.5 edge-21.9.4 edge-21.9.3`,
    stable: "stable-2.11.5",
    prerelease: "edge-21.9.5",
    canary: "edge-21.9.5",
  },
  {
    name: "eks-distro, which writes dashes for dots",
    from: "aws/eks-distro docs/contents/releases/1-31, the first hundred files",
    tags: `v1-31-eks-1 v1-31-eks-2 v1-31-eks-3 v1-31-eks-4 v1-31-eks-10 v1-31-eks-11 v1-31-eks-12 v1-31-eks-13 v1-31-eks-14
      v1-31-eks-15 v1-31-eks-16 v1-31-eks-17 v1-31-eks-18 v1-31-eks-19 v1-31-eks-20 v1-31-eks-21 v1-31-eks-22 v1-31-eks-23
      v1-31-eks-24 v1-31-eks-25 v1-31-eks-26 v1-31-eks-27 v1-31-eks-28 v1-31-eks-29 v1-31-eks-30 v1-31-eks-31 v1-31-eks-32
      v1-31-eks-33 v1-31-eks-34 v1-31-eks-35 v1-31-eks-36 v1-31-eks-37 v1-31-eks-38 v1-31-eks-39`,
    // Right because the file has one line: where there are several, the number behind `eks` is taken for that of a variant.
    stable: "v1-31-eks-39",
  },
];
