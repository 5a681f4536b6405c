# Cairn as a container: one executable on a base with nothing but the C library, run by a user without
# rights. The data lives in /data: mount a volume there, owned by user 65532. One of several nodes over
# PostgreSQL (CAIRN_DATABASE_URL) fills an empty one by itself. Docker 25 or newer, or Podman; `scripts/image` tries it.
#
#   docker build --build-arg COMMIT="$(git rev-parse --short=12 HEAD)" -t cairn .
#   docker run -p 127.0.0.1:8080:8080 -v cairn-data:/data cairn
#
# With --platform linux/amd64,linux/arm64 both are compiled on the builder's own processor.

# The bases, by their tags. To pin one, as for a release, put its digest after the tag, which it overrides. To
# renew a digest, ask for that of the tag again:
#   docker buildx imagetools inspect --format '{{.Manifest.Digest}}' gcr.io/distroless/base-debian12:nonroot
#   docker build --build-arg BASE_IMAGE=gcr.io/distroless/base-debian12:nonroot@sha256:… …
# In October 2026 other projects pinned that tag to
# sha256:7f0c72cd138b442ae0deeb69c08b1acf5525439ba251a49ad93c320a061567e5, which was not tried with Cairn.
ARG BUILD_IMAGE=docker.io/oven/bun:1.4.5
ARG BASE_IMAGE=gcr.io/distroless/base-debian12:nonroot

FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS build
WORKDIR /build
# What seldom changes comes first: a layer is built again only after a change of it, or of one before it.
COPY package.json bun.lock bunfig.toml ./
COPY scripts/setup scripts/
RUN ./scripts/setup
COPY scripts/ scripts/
COPY tsconfig.json CHANGELOG.md LICENSE ./
COPY src/ src/
ARG COMMIT=unknown
ARG TARGETARCH
RUN ./scripts/build --no-packages --commit "$COMMIT" \
    --target "linux-$(echo "$TARGETARCH" | sed s/amd64/x64/)" \
  && mkdir -p data root/usr/bin root/usr/share/doc/cairn \
  && mv dist/cairn-linux-* root/cairn && ln -s /cairn root/usr/bin/cairn \
  && mv LICENSE dist/THIRD-PARTY-NOTICES.txt dist/cairn.cdx.json root/usr/share/doc/cairn/

# Docker checks it every second until it is ready. Debian 12's Buildah fails on --start-interval, so it takes the
# first of these stages: only Docker's BuildKit sets TARGETSTAGE.
FROM ${BASE_IMAGE} AS checked
HEALTHCHECK --interval=30s --timeout=5s --start-period=2m CMD ["/cairn", "healthcheck"]
FROM ${BASE_IMAGE} AS checked-default
HEALTHCHECK --interval=30s --timeout=5s --start-period=2m --start-interval=1s CMD ["/cairn", "healthcheck"]

FROM checked${TARGETSTAGE:+-default}
COPY --from=build --chown=65532:65532 /build/data /data
COPY --from=build /build/root/ /
ARG COMMIT=unknown
ARG BASE_IMAGE
LABEL org.opencontainers.image.title="Cairn" \
  org.opencontainers.image.description="Self-hosted in-app onboarding: product tours, checklists and announcements, with analytics, in one executable." \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="0.1.0-dev" \
  org.opencontainers.image.revision="$COMMIT" \
  org.opencontainers.image.base.name="$BASE_IMAGE"
ENV CAIRN_DATA=/data
VOLUME /data
# The management port stays inside the container.
EXPOSE 8080
USER 65532:65532
ENTRYPOINT ["/cairn"]
CMD ["serve"]
