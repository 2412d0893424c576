package telemetry

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"hasura-storage/handlers"
)

const prefix = "hasura_storage_"

// durations reach from a small file in memory to the longest wait of an action.
var durations = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// metrics are what Prometheus is told. Labels are our own words alone: routes,
// operations and outcomes, never an id, a name or a role.
type metrics struct {
	registry *prometheus.Registry

	inFlight prometheus.Gauge
	requests *resolved[requestLabels, requestSeries]
	asks     *resolved[askLabels, callSeries]
	calls    *resolved[callLabels, storeSeries]
	work     *resolved[string, callSeries]
}

type requestLabels struct {
	route, method string
	class         int // status / 100, 0 without an answer
}

type requestSeries struct {
	count, bytes, faults prometheus.Counter
	took                 prometheus.Observer
}

type askLabels struct{ operation, outcome string }

type callLabels struct{ api, outcome string }

type callSeries struct {
	count prometheus.Counter
	took  prometheus.Observer
}

type storeSeries struct {
	callSeries
	sent, received prometheus.Counter
}

func newMetrics(version string) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.gauge("build_info", "Always 1; the label is the version.", "version").WithLabelValues(version).Set(1)
	m.inFlight = m.gauge("http_requests_in_flight", "Requests that are being answered.").WithLabelValues()
	m.ofRequests()
	m.ofHasura()
	m.ofStore()
	m.ofPictures()
	return m
}

func (m *metrics) ofRequests() {
	count := m.counter("http_requests_total", "Requests by route, method and class of status; none is no answer at all.", "route", "method", "status")
	bytes := m.counter("http_response_bytes_total", "Bytes of answers' bodies.", "route", "method")
	faults := m.counter("http_faults_total", "Requests that failed by a fault of ours, Hasura's or the store's, whatever their status.", "route", "method")
	took := m.histogram("http_request_duration_seconds", "Time until the last byte of the answer.", "route", "method")
	m.requests = newResolved(func(l requestLabels) requestSeries {
		return requestSeries{
			count: count.WithLabelValues(l.route, l.method, class(l.class)),
			bytes: bytes.WithLabelValues(l.route, l.method), faults: faults.WithLabelValues(l.route, l.method),
			took: took.WithLabelValues(l.route, l.method),
		}
	})
}

func (m *metrics) ofHasura() {
	count := m.counter("hasura_requests_total", "Requests to Hasura by operation and outcome: ok, refused, unavailable, cancelled.", "operation", "outcome")
	took := m.histogram("hasura_request_duration_seconds", "Time until Hasura's answer was read.", "operation")
	m.asks = newResolved(func(l askLabels) callSeries {
		return callSeries{count.WithLabelValues(l.operation, l.outcome), took.WithLabelValues(l.operation)}
	})
}

func (m *metrics) ofStore() {
	count := m.counter("s3_requests_total", "Requests to the store by S3 operation and outcome: ok, refused, unavailable, cancelled.", "api", "outcome")
	took := m.histogram("s3_request_duration_seconds", "Time until the header of the store's answer.", "api")
	bytes := m.counter("s3_bytes_total", "Bytes of bodies to and from the store.", "api", "direction")
	m.calls = newResolved(func(l callLabels) storeSeries {
		return storeSeries{
			callSeries{count.WithLabelValues(l.api, l.outcome), took.WithLabelValues(l.api)},
			bytes.WithLabelValues(l.api, "sent"), bytes.WithLabelValues(l.api, "received"),
		}
	})
}

func (m *metrics) ofPictures() {
	count := m.counter("image_transforms_total", "Transforms of pictures by outcome: ok, failed, cancelled.", "outcome")
	took := m.histogram("image_transform_duration_seconds", "Time of a transform, without the wait for memory.")
	m.work = newResolved(func(outcome string) callSeries {
		return callSeries{count.WithLabelValues(outcome), took.WithLabelValues()}
	})
}

func (m *metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

func (m *metrics) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + name, Help: help}, labels)
	m.registry.MustRegister(g)
	return g
}

func (m *metrics) histogram(name, help string, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: durations}, labels)
	m.registry.MustRegister(h)
	return h
}

func class(of int) string {
	if of == 0 {
		return "none"
	}
	return strconv.Itoa(of) + "xx"
}

// The methods below do nothing to nil metrics, which nobody asked for.

func (m *metrics) begun() {
	if m != nil {
		m.inFlight.Inc()
	}
}

func (m *metrics) answered(a handlers.Answered) {
	if m == nil {
		return
	}
	m.inFlight.Dec()
	s := m.requests.at(requestLabels{a.Route, a.Method, a.Status / 100})
	s.count.Inc()
	s.bytes.Add(float64(a.Bytes))
	if a.Failed {
		s.faults.Inc()
	}
	s.took.Observe(a.Took.Seconds())
}

func (m *metrics) asked(operation, outcome string, took time.Duration) {
	if m != nil {
		m.asks.at(askLabels{operation, outcome}).ended(took)
	}
}

func (m *metrics) called(api, outcome string, took time.Duration) {
	if m != nil {
		m.calls.at(callLabels{api, outcome}).ended(took)
	}
}

// moved counts the body that the store took, and the one that it gives.
func (m *metrics) moved(api string, sent int64, answer *http.Response) {
	if m == nil {
		return
	}
	s := m.calls.at(callLabels{api, okay})
	s.sent.Add(float64(max(sent, 0)))
	answer.Body = counted{answer.Body, s.received}
}

func (m *metrics) transformed(outcome string, took time.Duration) {
	if m != nil {
		m.work.at(outcome).ended(took)
	}
}

func (s callSeries) ended(took time.Duration) {
	s.count.Inc()
	s.took.Observe(took.Seconds())
}

// counted counts what is read of a body.
type counted struct {
	io.ReadCloser
	bytes prometheus.Counter
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.bytes.Add(float64(n))
	return n, err
}

// Metrics answers Prometheus, whatever the path.
func (t *Telemetry) Metrics() http.Handler {
	if t == nil || t.metrics == nil {
		return http.NotFoundHandler()
	}
	return promhttp.HandlerFor(t.metrics.registry, promhttp.HandlerOpts{})
}
