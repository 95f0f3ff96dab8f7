# The server image. Build: docker build -t rootward .
FROM node:24-slim AS console
WORKDIR /src/console
COPY console/package.json console/package-lock.json console/.npmrc ./
RUN npm ci --no-audit --no-fund
COPY schema.graphql /src/
COPY console/ ./
RUN npm run build && node scripts/compress.mjs dist

FROM python:3.12-slim AS build
WORKDIR /src
RUN python -m venv /opt/rootward
COPY constraints.txt ./
COPY pyproject.toml README.md LICENSE ./
COPY graph ./graph
COPY dreaming ./dreaming
COPY api ./api
COPY client ./client
COPY --from=console /src/console/dist ./api/console/dist
RUN /opt/rootward/bin/pip install --no-cache-dir -c constraints.txt ./client '.[documents,models]'

FROM python:3.12-slim
RUN useradd --system --uid 10001 --home-dir /var/lib/rootward --create-home rootward
COPY --from=build /opt/rootward /opt/rootward
ENV PATH=/opt/rootward/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    ROOTWARD_DATA_DIR=/var/lib/rootward \
    ROOTWARD_SERVER__HOST=0.0.0.0 \
    ROOTWARD_SERVER__PORT=8000
USER rootward
WORKDIR /var/lib/rootward
VOLUME /var/lib/rootward
EXPOSE 8000
# Rootward ends within 20 s of SIGTERM, its work handed back.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=5 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health/ready', timeout=4)"]
ENTRYPOINT ["rootward"]
CMD ["serve"]
