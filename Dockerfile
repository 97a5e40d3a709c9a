# The base is a build argument, so that a mirror or another distribution with Bun in it can stand in.
ARG BASE=docker.io/oven/bun:1.4.5-slim

FROM ${BASE} AS install
WORKDIR /app
COPY package.json bun.lock bunfig.toml ./
RUN bun install --frozen-lockfile --production --ignore-scripts

FROM ${BASE}
WORKDIR /app
COPY --from=install /app/node_modules node_modules
COPY package.json tsconfig.json LICENSE ./
COPY migrations migrations
COPY public public
COPY templates templates
COPY src src
# A folder of the right owner: a new named volume takes its mode and owner from here.
RUN mkdir -m 0700 /data && chown 1000:1000 /data
ENV NODE_ENV=production DATA_DIR=/data HOST=0.0.0.0 PORT=8080
USER 1000:1000
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["bun", "-e", "const r = await fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`); process.exit(r.ok ? 0 : 1)"]
CMD ["bun", "src/main.ts"]
