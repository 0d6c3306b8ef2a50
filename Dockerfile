FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json .build.mjs ./
COPY src ./src
COPY templates ./templates
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:24-bookworm-slim
WORKDIR /
COPY --from=build /app/package.json /app/package.json
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
# The state directory belongs to the user that runs here, also as a new named volume.
RUN install -d -o 1000 -g 1000 -m 0700 /var/lib/dns-template-sync
# Defaults, so that flags, variables and the config file all come before them:
# templates in ./templates, a config file in ./dns-template-sync.yaml, state in $XDG_STATE_HOME/dns-template-sync.
ENV NODE_ENV=production XDG_STATE_HOME=/var/lib
VOLUME /var/lib/dns-template-sync
USER 1000:1000
EXPOSE 8053
# Follows DNS_SYNC_LISTEN; an address from a flag or the config file needs a health check of its own.
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s CMD ["node", "-e", "\
  const address = process.env.DNS_SYNC_LISTEN || '127.0.0.1:8053'; \
  if (address !== 'off') fetch(`http://${address}/livez`).then( \
    ({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["run"]
