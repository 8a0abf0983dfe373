# The image that serves: it runs the jobs by their schedule. docs/deployment.md says how to run it.
#
#   docker build --build-arg VERSION=$(npm pkg get version) --build-arg REVISION=$(git rev-parse HEAD) -t influencer-sync .
#   docker run --init --rm --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges --stop-timeout 60 \
#     --env-file .env -v "$PWD/my-shop:/config:ro" -v influencer-sync-data:/data -p 127.0.0.1:4080:4080 influencer-sync
#
# /data must last: it has the journal, which shows a restored database (or set ledger.mark_uri), and answers that the database could not
# take. A stop finishes what is on its way and begins nothing new; give it longer than serve.grace_seconds.

FROM node:24.21.0-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY config config
COPY sql sql
COPY jobs jobs
COPY src src
COPY tools/package tools/package
RUN npm run build && rm -rf dist/types && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24.21.0-slim
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="influencer-sync" \
      org.opencontainers.image.description="Credits the orders of shop exports to the influencers who earned them" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
# A small young generation: the same speed at some 150 MB less (bench/README.md).
ENV NODE_ENV=production INFLUENCER_SYNC_CONFIG=/config/pipeline.yaml INFLUENCER_SYNC_DATA=/data INFLUENCER_SYNC_HOST=0.0.0.0 INFLUENCER_SYNC_CONSOLE=false \
    INFLUENCER_SYNC_ADDRESS_FILE=/tmp/influencer-sync-address NODE_OPTIONS=--max-semi-space-size=8 NODE_COMPILE_CACHE=/app/.compiled
# Beside the configuration it could not be: a mount inside a read-only mount needs a folder that a fresh clone does not have.
RUN mkdir -p /config /data /app/.compiled && chown 1000:1000 /data /app/.compiled && chmod 0700 /data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/config config
COPY --from=build /app/sql sql
COPY --from=build /app/src/start.js src/start.js
COPY --from=build /app/src/cli/setup/completion src/cli/setup/completion
COPY --from=build /app/src/console/assets src/console/assets
COPY --from=build /app/dist dist
# node, by its number: Kubernetes' runAsNonRoot does not look names up.
USER 1000:1000
# What is compiled here need not be when it starts. As the user who runs it: the cache is of one user.
RUN node src/start.js --version && node --input-type=module -e "import { readdirSync } from 'node:fs'; \
    for (const name of readdirSync('/app/dist/chunks').filter((name) => name.endsWith('.js'))) await import('/app/dist/chunks/' + name)"
VOLUME /data
# 4080: /healthz, /readyz, /metrics, for those who run it. 4020: events of the service, from outside.
EXPOSE 4080 4020
STOPSIGNAL SIGTERM
# Alive, not ready: a database that is away is no reason to start the container again. `serve` writes its address; what serves nothing,
# as a worker, has no health check: --no-healthcheck.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch(require('fs').readFileSync(process.env.INFLUENCER_SYNC_ADDRESS_FILE, 'utf8') + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/src/start.js"]
CMD ["serve"]
