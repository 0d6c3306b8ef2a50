# The base is the tag alone, so that a mirror can stand in for it. Whoever builds for others pins what was tested:
#   NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY .scripts .scripts
COPY src src
COPY templates templates
# SQLite comes as two native builds: musl is another C library than the image has.
RUN npm run build && rm -r dist/tests && npm prune --omit=dev --no-audit --no-fund && rm -r node_modules/@libsql/*-musl

FROM ${NODE_IMAGE}
COPY LICENSE /app/
COPY --from=build /app/package.json /app/
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
# The state directory belongs to the user that runs here, also as a new volume.
RUN ln -s /app/dist/main.js /usr/local/bin/dns-template-sync \
  && install -d -o 1000 -g 1000 -m 0700 /var/lib/dns-template-sync
ENV NODE_ENV=production XDG_STATE_HOME=/var/lib
VOLUME /var/lib/dns-template-sync
USER 1000:1000
EXPOSE 8053
# Fails until templates and service have been read, and while no pass is possible. It follows DNS_SYNC_LISTEN: an address
# from a flag or the settings file needs a health check of its own. It waits three seconds for a first pass to end.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["node", "-e", "\
  const address = process.env.DNS_SYNC_LISTEN || '127.0.0.1:8053'; \
  const ask = (times) => fetch(`http://${address}/healthz`) \
    .then(({ ok }) => ok ? process.exit(0) : Promise.reject()) \
    .catch(() => times > 1 ? setTimeout(ask, 300, times - 1) : process.exit(1)); \
  if (address !== 'off') ask(10)"]
# SIGUSR1 would open the debugger until the program listens for it, a tenth of a second after its start.
ENTRYPOINT ["node", "--disable-sigusr1", "/app/dist/main.js"]
CMD ["run"]
