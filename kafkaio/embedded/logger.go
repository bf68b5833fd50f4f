package embedded

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kfake"
)

// logger hands kfake's messages to slog, one level lower than kfake rates
// them: its information is a line for each request.
type logger struct{ out *slog.Logger }

func (l logger) Logf(level kfake.LogLevel, format string, args ...any) {
	var to slog.Level
	switch level {
	case kfake.LogLevelError:
		to = slog.LevelError
	case kfake.LogLevelWarn:
		to = slog.LevelWarn
	default:
		return
	}
	if ctx := context.Background(); l.out.Enabled(ctx, to) {
		l.out.Log(ctx, to, "embedded broker: "+fmt.Sprintf(format, args...))
	}
}
