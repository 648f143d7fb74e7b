# All four services; the argument says which. `tests/unit/ops/test_image.py` runs the same commands without Docker.
ARG BASE=python:3.11.14-slim-bookworm

FROM ${BASE} AS build
WORKDIR /src
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
RUN ["python", "-m", "venv", "/opt/numbridge"]
# First what changes seldom. Wheels only: nothing is compiled.
COPY requirements-run.lock ./
RUN ["/opt/numbridge/bin/pip", "install", "--only-binary=:all:", "--require-hashes", "-r", "requirements-run.lock"]
COPY pyproject.toml README.md ./
COPY numbridge numbridge
COPY gateway gateway
COPY lobby lobby
COPY tablesvc tablesvc
COPY ratings ratings
RUN ["/opt/numbridge/bin/pip", "wheel", "--no-deps", "--wheel-dir", "dist", "."]
RUN ["/opt/numbridge/bin/pip", "install", "--no-deps", "--no-index", "--find-links", "dist", "numbridge"]

FROM ${BASE}
COPY --from=build /opt/numbridge /opt/numbridge
ENV PATH=/opt/numbridge/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /tmp
# The service is process 1 itself, and gets the signals.
STOPSIGNAL SIGTERM
ENTRYPOINT ["numbridge"]
CMD ["--help"]
