package main

import (
	"io"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// newLogger writes for a person at a terminal: short lines, no stack traces.
func newLogger(out io.Writer) *zap.Logger {
	format := zap.NewDevelopmentEncoderConfig()
	format.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
	format.EncodeDuration = zapcore.StringDurationEncoder
	format.CallerKey = ""
	sink := zapcore.Lock(zapcore.AddSync(out))
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(format), sink, zap.InfoLevel))
}
