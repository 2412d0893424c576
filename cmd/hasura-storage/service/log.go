package service

import (
	stdlog "log"
	"os"
	"strconv"
	"strings"

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
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(os.Stderr), level))
}

// serverLog takes what net/http has to say: broken handshakes, bad requests.
func serverLog(log *zap.Logger) *stdlog.Logger {
	l, err := zap.NewStdLogAt(log, zap.DebugLevel)
	if err != nil { // only for a level that does not exist
		return stdlog.Default()
	}
	return l
}
