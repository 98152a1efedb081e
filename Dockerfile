# Stackrace with all servers and services that Debian has: see docs/installing.md.
# docker build --tag stackrace .
# docker run --rm -v "$PWD:/app" -v stackrace:/data stackrace run

# Also the image of .devcontainer
FROM rust:1-slim-bookworm AS rust
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git make python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/*

FROM rust AS wheel
WORKDIR /source
COPY . .
RUN python3 -m venv /tools \
    && /tools/bin/pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM debian:bookworm-slim
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates python3-venv \
    && rm -rf /var/lib/apt/lists/*
# The wheel stays: images of apps install it from here
COPY --from=wheel /wheels /wheels
RUN python3 -m venv /opt/stackrace \
    && /opt/stackrace/bin/pip install --no-cache-dir /wheels/*.whl 'uv>=0.5' \
    && ln -s /opt/stackrace/bin/stackrace /usr/local/bin/stackrace
RUN stackrace install --all mariadb memcached postgresql redis \
    && rm -rf /var/lib/apt/lists/*
# Any user may race: docker run --user "$(id -u)". Results, environments and downloads are in /data
RUN useradd --uid 1000 --no-create-home --home-dir /data stackrace \
    && install --directory --mode=1777 /app /data
ENV HOME=/data XDG_CACHE_HOME=/data/cache XDG_DATA_HOME=/data
USER 1000:1000
WORKDIR /app
VOLUME /data
ENTRYPOINT ["/opt/stackrace/bin/stackrace"]
CMD ["--help"]
