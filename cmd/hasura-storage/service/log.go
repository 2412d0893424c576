package service

import (
	"io"
	stdlog "log"
	"os"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Logger writes to standard error as DEBUG and LOG_FORMAT_TEXT say. A value that
// is neither true nor false is false here; Run complains of it.
func Logger(getenv func(string) string) *zap.Logger {
	on := func(name string) bool {
		b, err := strconv.ParseBool(strings.TrimSpace(getenv(name)))
		return err == nil && b
	}
	format := zap.NewProductionEncoderConfig()
	format.EncodeTime = zapcore.RFC3339TimeEncoder
	format.EncodeDuration = zapcore.SecondsDurationEncoder
	encoder, level := zapcore.NewJSONEncoder(format), zap.InfoLevel
	if on("LOG_FORMAT_TEXT") {
		encoder = zapcore.NewConsoleEncoder(format)
	}
	if on("DEBUG") {
		level = zap.DebugLevel
	}
	plain := zapcore.AddSync(struct{ io.Writer }{os.Stderr}) // without its Sync, which would wait for a disk
	out := &zapcore.BufferedWriteSyncer{WS: plain, Size: logBuffer, FlushInterval: logDelay}
	return zap.New(zapcore.NewCore(encoder, out, level), zap.Hooks(urgent(out)))
}

const (
	logBuffer = 64 << 10
	logDelay  = 200 * time.Millisecond
)

// urgent writes warnings and errors at once, with all that came before. The
// lines of requests may wait a moment, since each write costs about as much as
// sending a small file.
func urgent(out zapcore.WriteSyncer) func(zapcore.Entry) error {
	return func(e zapcore.Entry) error {
		if e.Level < zap.WarnLevel {
			return nil
		}
		return out.Sync()
	}
}

// serverLog takes what net/http has to say: broken handshakes, bad requests.
func serverLog(log *zap.Logger) *stdlog.Logger {
	l, err := zap.NewStdLogAt(log, zap.DebugLevel)
	if err != nil { // only for a level that does not exist
		return stdlog.Default()
	}
	return l
}
