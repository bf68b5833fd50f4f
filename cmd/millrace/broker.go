package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"millrace/kafkaio"
	"millrace/kafkaio/client"
	"millrace/kafkaio/embedded"
	"millrace/kafkaio/registry"
)

// brokerFlags say which log a command works on.
type brokerFlags struct {
	Brokers        []string      `placeholder:"HOST:PORT" help:"Brokers of a Kafka cluster, separated by commas. Default: an embedded broker."`
	Data           string        `type:"path" placeholder:"DIR" help:"Folder for local state and for the embedded broker's log. Default: both are gone at the end."`
	Port           int           `help:"Port of the embedded broker on 127.0.0.1. Default: any free one."`
	ConnectTimeout time.Duration `default:"10s" help:"How long the brokers may be out of reach at the start."`
}

func (f *brokerFlags) embedded() bool { return len(f.Brokers) == 0 }

func (f *brokerFlags) check() error {
	switch {
	case !f.embedded() && f.Port != 0:
		return usageErrorf("--port is for the embedded broker, which --brokers leaves out")
	case f.Port < 0 || f.Port > 65535:
		return usageErrorf("--port must lie between 0 and 65535, not be %d", f.Port)
	case f.ConnectTimeout <= 0:
		return usageErrorf("--connect-timeout must be positive, not %s", f.ConnectTimeout)
	}
	for _, address := range f.Brokers {
		if !strings.Contains(address, ":") {
			return usageErrorf("--brokers needs host:port, not '%s'", address)
		}
	}
	return nil
}

// cluster is an open log, with the broker in this process if there is one.
type cluster struct {
	log      kafkaio.Log
	registry registry.Registry // nil: none is known
	broker   *embedded.Broker
}

// open starts or reaches the broker. With an embedded one, warnings get what it
// has to say. The properties are those that the command was given.
func (f *brokerFlags) open(ctx context.Context, properties map[string]string, warnings *slog.Logger) (*cluster, error) {
	schemas, err := f.openRegistry(properties)
	if err != nil {
		return nil, err
	}
	c := &cluster{registry: schemas}
	options := client.Options{Brokers: f.Brokers}
	if !f.embedded() {
		if err := options.Secure(connectionProperties(properties)); err != nil {
			return nil, err
		}
	} else {
		directory := ""
		if f.Data != "" {
			directory = filepath.Join(f.Data, "broker")
		}
		broker, err := embedded.Start(ctx, embedded.Options{Dir: directory, Port: f.Port, Logger: warnings})
		if err != nil {
			return nil, err
		}
		c.broker, options.Brokers = broker, broker.Addresses()
	}
	ctx, cancel := context.WithTimeout(ctx, f.ConnectTimeout)
	defer cancel()
	log, err := client.Open(ctx, options)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	c.log = log
	return c, nil
}

// connectionProperties are the properties under the names that Kafka's clients have.
func connectionProperties(properties map[string]string) map[string]string {
	named := map[string]string{}
	for name, value := range properties {
		named[strings.TrimPrefix(strings.ToLower(name), "ksql.streams.")] = value
	}
	return named
}

func (c *cluster) close() error {
	var faults []error
	if c.log != nil {
		faults = append(faults, c.log.Close())
	}
	if c.broker != nil {
		if err := c.broker.Close(); err != nil {
			faults = append(faults, fmt.Errorf("stop the embedded broker: %w", err))
		}
	}
	return errors.Join(faults...)
}
