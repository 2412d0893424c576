# The service as a static binary and nothing else but certificates.
# `make image` builds it; examples/compose runs it.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION=unknown
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false -tags nodynamic \
    -ldflags "-s -w -X hasura-storage/cmd/hasura-storage/service.version=$VERSION" \
    -o /hasura-storage ./cmd/hasura-storage

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /hasura-storage /usr/local/bin/hasura-storage
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=4s --start-period=30s CMD ["/usr/local/bin/hasura-storage", "health"]
ENTRYPOINT ["/usr/local/bin/hasura-storage"]
CMD ["serve"]
