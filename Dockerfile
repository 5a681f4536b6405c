# Cairn as a container: one executable on a base with nothing but the C library, run by a user without
# rights. The data lives in /data: mount a volume there, owned by user 65532. As one of several nodes over
# PostgreSQL (CAIRN_DATABASE_URL) it needs none.
#
#   docker build --build-arg COMMIT="$(git rev-parse --short=12 HEAD)" -t cairn .
#   docker run -p 8080:8080 -v cairn-data:/data cairn

FROM oven/bun:1.4.5 AS build
WORKDIR /build
COPY package.json bun.lock bunfig.toml ./
COPY scripts/ scripts/
RUN ./scripts/setup
COPY tsconfig.json CHANGELOG.md ./
COPY src/ src/
ARG COMMIT=unknown
RUN ./scripts/build --commit "$COMMIT" && mkdir data

FROM gcr.io/distroless/base-debian12:nonroot
COPY --from=build /build/dist/cairn /cairn
COPY --from=build --chown=65532:65532 /build/data /data
ENV CAIRN_DATA=/data
VOLUME /data
# The management port stays inside the container.
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["/cairn", "healthcheck"]
ENTRYPOINT ["/cairn"]
CMD ["serve"]
