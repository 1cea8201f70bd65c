# syntax=docker/dockerfile:1

# The steps of `build` are those of scripts/image.sh, which runs without Docker.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build -- --no-types
# npm installs the database's library for musl too, which this image does not have.
RUN npm prune --omit=dev && rm -rf node_modules/@libsql/*-musl

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    MALLOC_TRIM_THRESHOLD_=131072 \
    GATEWAY_SERVER__HOST=0.0.0.0 \
    NODE_COMPILE_CACHE=/app/compiled
WORKDIR /app
COPY --from=build /app/package.json /app/demo.toml /app/NOTICE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# For the database, /data/gateway.db; mount a volume to keep it. Commands run here too, so a relative path fits.
RUN mkdir /data compiled && chown node:node /data compiled
WORKDIR /data
USER node
# Keeps the compiled code of a start and of the health check, each under the options that it has below.
RUN node --max-semi-space-size=16 --expose-gc --no-maglev /app/dist/gateway.js --demo --check-config && \
    node /app/dist/gateway.js health --help
EXPOSE 8080
# podman and buildah keep it with --format docker only.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["node", "/app/dist/gateway.js", "health", "--config", "/config.toml"]
# No shell in between, so that signals arrive. A supervisor should allow 40 s to stop.
# The options and MALLOC_TRIM_THRESHOLD_ keep the memory small: see docs/deploy.md.
ENTRYPOINT ["node", "--max-semi-space-size=16", "--expose-gc", "--no-maglev", "/app/dist/gateway.js"]
CMD ["--config", "/config.toml"]
