package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options sets up a Broker. Zero values take the defaults named.
type Options struct {
	// Dir is the data folder; it is created if it does not exist. Empty: a
	// temporary folder, removed at Close.
	Dir string
	// Port to listen on, on 127.0.0.1. 0: a free port below 32768, which a
	// data folder keeps over restarts as long as nobody else takes it.
	Port int
	// SyncWrites flushes each batch, offset and decision to the disk before
	// it is acknowledged: nothing acknowledged is lost at a power cut, at the
	// price of a few thousand requests a second. Without it a killed process
	// loses nothing, a power cut may lose what was acknowledged.
	SyncWrites bool
	// RetentionInterval is how often records older than their topic's
	// retention.ms are dropped. 0: never.
	RetentionInterval time.Duration
	// Logger takes the broker's warnings and errors. nil: they are dropped.
	Logger *slog.Logger
}

func (o Options) validate() error {
	var faults []error
	if o.Port < 0 || o.Port > 65535 {
		faults = append(faults, fmt.Errorf("port %d: must lie in 0..65535", o.Port))
	}
	if o.RetentionInterval < 0 {
		faults = append(faults, fmt.Errorf("retention interval %s: must not be negative", o.RetentionInterval))
	}
	return errors.Join(faults...)
}
