# The image of this tag, as it was when it was looked at last:
#   NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20
# A tag is whatever its owner makes of it tomorrow, so whoever builds for others gives that as a build argument. The
# default is the tag alone: a mirror or a copy of the image may not have it under that digest. Both move together.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim
FROM ${NODE_IMAGE} AS node

FROM node AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY .scripts .scripts
COPY src ./src
COPY templates ./templates
RUN npm run build && rm -r dist/tests node_modules && npm ci --omit=dev --no-audit --no-fund && mkdir -p node_modules
# SQLite comes as two native builds: this one is for another C library than the image has.
RUN rm -r node_modules/@libsql/*-musl

# What the image has beside the program: Node.js, a shell with what CI runners ask of one, and the libraries of all.
FROM node AS root
COPY --from=build /app/node_modules /app/node_modules
WORKDIR /image
RUN programs='/usr/local/bin/node /usr/bin/env /usr/bin/id' \
  && for name in sh cat chmod grep ls mkdir rm; do programs="$programs /bin/$name"; done \
  && ldd $programs $(find /app -name '*.node') | grep -o '/[^ :]*\.so[^ :]*' | sort -u \
    | xargs cp --parents -L -t . $programs \
  && cp --parents -L -t . /etc/passwd /etc/group /etc/nsswitch.conf /etc/os-release \
  && install -d -m 1777 tmp \
  && install -d -o 1000 -g 1000 -m 0700 /state/dns-template-sync
# Whose work that is: the Debian packages, as scanners look for them, and the licences.
RUN mkdir -p var/lib/dpkg/status.d \
  && find lib* bin usr/bin etc -type f -printf '*/%p\n' | xargs dpkg-query --search \
    | sed -n '/^diversion/!s/[:,].*//p' | sort -u \
    | while read -r package; do \
      dpkg-query --status "$package" >"var/lib/dpkg/status.d/$package" \
      && cp --parents "/usr/share/doc/$package/copyright" . || exit; \
    done \
  && find /usr/local -maxdepth 1 -name LICENSE -exec cp --parents -t . {} +

FROM scratch
COPY --from=root /image /
# The state directory belongs to the user that runs here, also as a new named volume.
COPY --from=root --chown=1000:1000 /state /var/lib
COPY LICENSE /app/
COPY --from=build /app/package.json /app/
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
# Defaults, so that flags, variables and the config file all come before them:
# templates in ./templates, a config file in ./dns-template-sync.yaml, state in $XDG_STATE_HOME/dns-template-sync.
ENV PATH=/usr/local/bin:/usr/bin:/bin NODE_ENV=production XDG_STATE_HOME=/var/lib
VOLUME /var/lib/dns-template-sync
USER 1000:1000
EXPOSE 8053
# Red until templates and service were read once, and while no pass can be made: for want of the state directory, say.
# Follows DNS_SYNC_LISTEN; an address from a flag or the config file needs a health check of its own.
# A daemon that has just begun is given 3 seconds to end its first pass.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["node", "-e", "\
  const address = process.env.DNS_SYNC_LISTEN || '127.0.0.1:8053'; \
  const ask = (times) => fetch(`http://${address}/healthz`) \
    .then(({ ok }) => ok ? process.exit(0) : Promise.reject()) \
    .catch(() => times > 1 ? setTimeout(ask, 300, times - 1) : process.exit(1)); \
  if (address !== 'off') ask(10)"]
# SIGUSR1 would open the debugger until the program listens for it, a tenth of a second after its start.
ENTRYPOINT ["node", "--disable-sigusr1", "/app/dist/main.js"]
CMD ["run"]
