/**
 * Compose files in the style of real projects, with what a careful administrator would want of each service: what is kept, how it is
 * followed, what is asked, or why it gives no tracker. Pure data, written before the code.
 */
export interface ComposeCase {
  project: string;
  text: string;
  variables?: string;
  /** By service: what runs, then what is proposed. */
  wanted: Readonly<Record<string, readonly [running: string, ...proposed: string[]]>>;
}

const d = (letter: string) => `sha256:${letter.repeat(64)}`;

export const composeCases: readonly ComposeCase[] = [
  {
    project: "photos, with a digest beside the tag and a release variable",
    variables: "UPLOAD_LOCATION=./library\nIMMICH_VERSION=release\nDB_PASSWORD=secret word # not ours\n",
    text: `
name: immich
services:
  immich-server:
    container_name: immich_server
    image: ghcr.io/immich-app/immich-server:\${IMMICH_VERSION:-release}
    volumes: ['\${UPLOAD_LOCATION}:/data', '/etc/localtime:/etc/localtime:ro']
    env_file: [.env]
    ports: ['2283:2283']
    depends_on: [redis, database]
  immich-machine-learning:
    image: ghcr.io/immich-app/immich-machine-learning:\${IMMICH_VERSION:-release}-cuda
  redis:
    image: docker.io/valkey/valkey:8-bookworm@${d("f")}
    healthcheck: { test: redis-cli ping || exit 1 }
  database:
    image: ghcr.io/immich-app/postgres:14-vectorchord0.4.3-pgvectors0.2.0@${d("4")}
    environment: { POSTGRES_PASSWORD: '\${DB_PASSWORD}' }
volumes: { model-cache: }
`,
    wanted: {
      "immich-server": ["ghcr.io/immich-app/immich-server:release", "follows release"],
      "immich-machine-learning": ["ghcr.io/immich-app/immich-machine-learning:release-cuda", "follows release-cuda"],
      redis: ["valkey/valkey:8-bookworm", "the digest goes", "stays on 8", "keeps bookworm"],
      database: [
        "ghcr.io/immich-app/postgres:14-vectorchord0.4.3-pgvectors0.2.0",
        "the digest goes",
        "stays on 14",
        "keeps vectorchord0.4.3-pgvectors0.2.0",
      ],
    },
  },
  {
    project: "passwords, with tags that only the .env file has, which is not there",
    text: `
services:
  vaultwarden:
    image: vaultwarden/server:\${VW_TAG}
    restart: unless-stopped
  backup:
    image: "ttionya/vaultwarden-backup:$TAG"
  proxy:
    image: caddy:\${CADDY_TAG:?name the tag}
  db:
    image: "mariadb:\${DB_TAG:-\${DEFAULT_DB_TAG:-11.4}}"
`,
    wanted: {
      vaultwarden: ["vaultwarden/server", "asks VW_TAG"],
      backup: ["ttionya/vaultwarden-backup", "asks TAG"],
      proxy: ["caddy", "asks CADDY_TAG"],
      db: ["mariadb:11.4", "stays on 11.4"],
    },
  },
  {
    project: "the same passwords with their .env file",
    variables: `VW_TAG=1.32.5-alpine\nexport TAG="1.23.0"\nCADDY_TAG=2-alpine\nDB_TAG=\${UNUSED:-10.11}\n`,
    text: `
services:
  vaultwarden: { image: "vaultwarden/server:\${VW_TAG}" }
  backup: { image: "ttionya/vaultwarden-backup:$TAG" }
  proxy: { image: "caddy:\${CADDY_TAG:?name the tag}" }
  db: { image: "mariadb:\${DB_TAG:-11.4}" }
`,
    wanted: {
      vaultwarden: ["vaultwarden/server:1.32.5-alpine", "keeps alpine"],
      backup: ["ttionya/vaultwarden-backup:1.23.0"],
      proxy: ["caddy:2-alpine", "stays on 2", "keeps alpine"],
      db: ["mariadb:10.11", "stays on 10.11"],
    },
  },
  {
    project: "documents, with anchors and one service built on the spot",
    text: `
x-app: &app
  restart: unless-stopped
  image: ghcr.io/paperless-ngx/paperless-ngx:2.13.5
services:
  broker: { image: 'docker.io/library/redis:7', restart: unless-stopped }
  db: { image: 'docker.io/library/postgres:16-alpine' }
  webserver:
    <<: *app
    ports: ['8000:8000']
  worker:
    <<: *app
    command: celery
  gotenberg: { image: 'docker.io/gotenberg/gotenberg:8.7', command: [gotenberg, --chromium-disable-javascript=true] }
  tika: { image: 'docker.io/apache/tika:latest' }
  scanner: { build: ./scanner }
`,
    wanted: {
      broker: ["redis:7", "stays on 7"],
      db: ["postgres:16-alpine", "stays on 16", "keeps alpine"],
      webserver: ["ghcr.io/paperless-ngx/paperless-ngx:2.13.5"],
      worker: ["ghcr.io/paperless-ngx/paperless-ngx:2.13.5"],
      gotenberg: ["gotenberg/gotenberg:8.7", "stays on 8.7"],
      tika: ["apache/tika:latest", "follows latest"],
      scanner: ["", "Built locally, not pulled from a registry"],
    },
  },
  {
    project: "a cloud, whose versions must not be skipped",
    text: `
services:
  db:
    image: mariadb:10.11-jammy
    command: --transaction-isolation=READ-COMMITTED
  redis: { image: redis:alpine }
  app: { image: nextcloud:29-fpm-alpine, depends_on: [db, redis] }
  cron: { image: nextcloud:29-fpm-alpine, entrypoint: /cron.sh }
  web: { image: nginx:1.27-alpine-slim }
  office: { image: collabora/code:24.04.9.2.1 }
`,
    wanted: {
      db: ["mariadb:10.11-jammy", "stays on 10.11", "keeps jammy"],
      redis: ["redis:alpine", "follows alpine", "asks for the series of alpine"],
      app: ["nextcloud:29-fpm-alpine", "stays on 29", "keeps fpm-alpine"],
      cron: ["nextcloud:29-fpm-alpine", "stays on 29", "keeps fpm-alpine"],
      web: ["nginx:1.27-alpine-slim", "stays on 1.27", "keeps alpine-slim"],
      office: ["collabora/code:24.04.9.2.1"],
    },
  },
  {
    project: "measurements",
    text: `
services:
  influxdb: { image: "influxdb:1.8" }
  telegraf: { image: "telegraf:1.32-alpine" }
  grafana: { image: "grafana/grafana-oss:11.3.0-ubuntu" }
  prometheus: { image: "prom/prometheus:v2.55.0" }
  node-exporter: { image: "quay.io/prometheus/node-exporter:v1.8.2" }
  redis-exporter: { image: "oliver006/redis_exporter:v1.66.0-alpine" }
  loki: { image: "grafana/loki:main" }
`,
    wanted: {
      influxdb: ["influxdb:1.8", "stays on 1.8"],
      telegraf: ["telegraf:1.32-alpine", "stays on 1.32", "keeps alpine"],
      grafana: ["grafana/grafana-oss:11.3.0-ubuntu", "keeps ubuntu"],
      prometheus: ["prom/prometheus:v2.55.0"],
      "node-exporter": ["quay.io/prometheus/node-exporter:v1.8.2"],
      "redis-exporter": ["oliver006/redis_exporter:v1.66.0-alpine", "keeps alpine"],
      loki: ["grafana/loki:main", "follows main"],
    },
  },
  {
    project: "a chat server, with labels of three watchers",
    text: `
services:
  synapse:
    image: ghcr.io/element-hq/synapse:v1.118.0
    labels:
      - diun.enable=true
      - diun.include_tags=^v\\d+\\.\\d+\\.\\d+$$;^v\\d+\\.\\d+\\.\\d+-hotfix\\d*$$
  postgres:
    image: postgres:15.8-alpine3.20
    labels: { wud.watch: "false" }
  bridge:
    image: dock.mau.dev/mautrix/signal:latest
    labels: { com.centurylinklabs.watchtower.enable: "false" }
  element:
    image: vectorim/element-web:v1.11.85
    labels: { wud.tag.include: '^(?!.*rc).*$$' }
  sliding-sync: { image: "ghcr.io/matrix-org/sliding-sync:v0.99.19" }
`,
    wanted: {
      synapse: ["ghcr.io/element-hq/synapse:v1.118.0"],
      postgres: ["", "A label excludes it from tracking"],
      bridge: ["", "A label excludes it from tracking"],
      element: ["vectorim/element-web:v1.11.85", "the pattern ^(?!.*rc).*$ goes"],
      "sliding-sync": ["ghcr.io/matrix-org/sliding-sync:v0.99.19"],
    },
  },
  {
    project: "a build farm, with branches and builds",
    text: `
services:
  forge: { image: "gitea/gitea:1.22-rootless" }
  runner: { image: "gitea/act_runner:nightly-dind-rootless" }
  jenkins: { image: "jenkins/jenkins:2.479.1-lts-jdk17" }
  agent: { image: "eclipse-temurin:21.0.5_11-jre-alpine" }
  cache: { image: "minio/minio:RELEASE.2024-10-13T13-34-11Z" }
  quality: { image: "sonarqube:10.6-community" }
  quality-db: { image: "postgres:16.4-bookworm" }
  review: { image: "registry.example.com:5000/acme/app:preview-new-login" }
`,
    wanted: {
      forge: ["gitea/gitea:1.22-rootless", "stays on 1.22", "keeps rootless"],
      runner: ["gitea/act_runner:nightly-dind-rootless", "follows nightly-dind-rootless"],
      jenkins: ["jenkins/jenkins:2.479.1-lts-jdk17", "keeps lts-jdk17"],
      agent: ["eclipse-temurin:21.0.5_11-jre-alpine", "stays on 21", "keeps jre-alpine"],
      cache: ["minio/minio:RELEASE.2024-10-13T13-34-11Z"],
      quality: ["sonarqube:10.6-community", "stays on 10.6", "keeps community"],
      "quality-db": ["postgres:16.4-bookworm", "stays on 16", "keeps bookworm"],
      review: ["registry.example.com:5000/acme/app:preview-new-login", "follows preview-new-login"],
    },
  },
  {
    project: "media, with architectures and branches",
    text: `
x-lsio: &lsio
  restart: unless-stopped
  environment: &env { PUID: 1000, PGID: 1000 }
services:
  sonarr: { <<: *lsio, image: "lscr.io/linuxserver/sonarr:4.0.10.2544-ls256" }
  radarr: { <<: *lsio, image: "lscr.io/linuxserver/radarr:develop" }
  prowlarr: { <<: *lsio, image: "lscr.io/linuxserver/prowlarr:develop-1.26.0.4833-ls131" }
  plex: { <<: *lsio, image: "lscr.io/linuxserver/plex:arm64v8-1.41.1.9057-af5eaea7a-ls245" }
  jellyfin: { image: "jellyfin/jellyfin:10.10.0" }
  tdarr: { image: "ghcr.io/haveagitgat/tdarr:2.27.02_node" }
  flood: { image: "jesec/flood" }
`,
    wanted: {
      sonarr: ["lscr.io/linuxserver/sonarr:4.0.10.2544-ls256"],
      radarr: ["lscr.io/linuxserver/radarr:develop", "follows develop"],
      prowlarr: ["lscr.io/linuxserver/prowlarr:develop-1.26.0.4833-ls131", "keeps develop"],
      plex: ["lscr.io/linuxserver/plex:arm64v8-1.41.1.9057-af5eaea7a-ls245", "keeps arm64v8"],
      jellyfin: ["jellyfin/jellyfin:10.10.0"],
      tdarr: ["ghcr.io/haveagitgat/tdarr:2.27.02_node", "keeps node"],
      flood: ["jesec/flood:latest", "follows latest"],
    },
  },
  {
    project: "a web shop that shares by extends",
    variables: "PHP=8.3\nMYSQL_TAG=8.0\nREGISTRY=registry.example.com\n",
    text: `
services:
  base: { image: "\${REGISTRY:?}/shop/php:\${PHP}-fpm-bookworm" }
  web: { extends: base, ports: ["80:80"] }
  queue: { extends: { service: base }, command: queue }
  elsewhere: { extends: { file: other.yml, service: base } }
  db: { image: "mysql:\${MYSQL_TAG}" }
  search: { image: "docker.elastic.co/elasticsearch/elasticsearch:8.15.3" }
  mail: { image: "axllent/mailpit:v1.20" }
  asset: { image: "\${ASSET_IMAGE}" }
`,
    wanted: {
      base: ["registry.example.com/shop/php:8.3-fpm-bookworm", "stays on 8.3", "keeps fpm-bookworm"],
      web: ["registry.example.com/shop/php:8.3-fpm-bookworm", "stays on 8.3", "keeps fpm-bookworm"],
      queue: ["registry.example.com/shop/php:8.3-fpm-bookworm", "stays on 8.3", "keeps fpm-bookworm"],
      elsewhere: ["", "No image"],
      db: ["mysql:8.0", "stays on 8.0"],
      search: ["docker.elastic.co/elasticsearch/elasticsearch:8.15.3", "stays on 8"],
      mail: ["axllent/mailpit:v1.20", "stays on 1.20"],
      asset: ["", 'The image needs a value for ASSET_IMAGE; enter it under "Variables"'],
    },
  },
  {
    project: "maps and vectors, whose tags have two versions",
    text: `
services:
  gis: { image: "postgis/postgis:17-3.5-alpine" }
  vectors: { image: "pgvector/pgvector:0.8.0-pg16" }
  vectors-moving: { image: "pgvector/pgvector:pg17" }
  series: { image: "timescale/timescaledb:2.17.2-pg16" }
  wordpress: { image: "wordpress:6.6-php8.2-fpm-alpine" }
  flows: { image: "nodered/node-red:4.0.5-18" }
  sql: { image: "mcr.microsoft.com/mssql/server:2022-CU15-ubuntu-22.04" }
`,
    wanted: {
      gis: ["postgis/postgis:17-3.5-alpine", "stays on 17", "keeps alpine"],
      vectors: ["pgvector/pgvector:0.8.0-pg16", "stays on 0", "keeps pg16"],
      "vectors-moving": ["pgvector/pgvector:pg17", "follows pg17"],
      series: ["timescale/timescaledb:2.17.2-pg16", "stays on 2", "keeps pg16"],
      wordpress: ["wordpress:6.6-php8.2-fpm-alpine", "stays on 6.6", "keeps php8.2-fpm-alpine"],
      flows: ["nodered/node-red:4.0.5-18", "keeps 18"],
      sql: ["mcr.microsoft.com/mssql/server:2022-CU15-ubuntu-22.04", "stays on 2022", "keeps ubuntu-22.04"],
    },
  },
  {
    project: "a lab, with codenames, candidates and images without a name",
    text: `
services:
  shell: { image: "ubuntu:noble-20250127" }
  base: { image: "debian:bookworm-20250113-slim" }
  box: { image: "debian:bookworm-slim" }
  soon: { image: "php:8.4-rc1-alpine" }
  lts: { image: "node:lts-alpine" }
  notify: { image: "gotify/server:alpine-v18.2.0" }
  pinned: { image: "acme/tool@${d("a")}" }
  broken: { image: "Acme/Tool:1" }
  empty: { ports: ["80:80"] }
`,
    wanted: {
      shell: ["ubuntu:noble-20250127", "keeps noble"],
      base: ["debian:bookworm-20250113-slim", "keeps bookworm slim"],
      box: ["debian:bookworm-slim", "follows bookworm-slim"],
      soon: ["php:8.4-rc1-alpine", "stays on 8.4", "keeps alpine"],
      lts: ["node:lts-alpine", "follows lts-alpine"],
      notify: ["gotify/server:alpine-v18.2.0", "keeps alpine"],
      pinned: ["acme/tool@sha256:aaaaaaaaaaaa…", "the digest goes"],
      broken: ["", 'The image "Acme/Tool:1" has uppercase letters in its repository; enter "acme/tool"'],
      empty: ["", "No image"],
    },
  },
];
