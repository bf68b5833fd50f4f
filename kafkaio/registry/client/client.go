// Package client is a registry behind the HTTP API of Confluent's Schema
// Registry, which Apicurio, Karapace and Redpanda speak too.
package client

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/sr"

	"millrace/kafkaio/registry"
)

// Client is the registry. What an id or a version of a subject stands for never
// changes, so it is asked for once; a subject's newest schema is asked for each
// time. An id that is unknown is asked for again after a while only, since
// payloads that are not the registry's would otherwise ask for each record, and so
// is a server that could not be reached.
type Client struct {
	servers []*server
	now     func() time.Time

	mutex    sync.Mutex
	schemas  map[int32]registry.Schema
	versions map[version]sr.Schema
	unknown  map[int32]unknownID
}

// unknownID is an id that the registry does not know, or of which it does not
// know all references: what it said, and when.
type unknownID struct {
	err  error
	said time.Time
}

// version is one schema of a subject.
type version struct {
	subject string
	number  int
}

const (
	unknownFor  = 5 * time.Second
	mostUnknown = 10_000
	// mostReferences bounds what one schema may refer to, directly or not.
	mostReferences = 1_000
)

// New makes a client. It does not connect yet: the error is about the options.
func New(options Options) (*Client, error) {
	addresses, err := options.addresses()
	if err != nil {
		return nil, err
	}
	c := &Client{
		now:      time.Now,
		schemas:  map[int32]registry.Schema{},
		versions: map[version]sr.Schema{},
		unknown:  map[int32]unknownID{},
	}
	sender := options.httpClient()
	for _, a := range addresses {
		s, err := newServer(a, options.Token, sender)
		if err != nil {
			return nil, err
		}
		c.servers = append(c.servers, s)
	}
	return c, nil
}

// Latest implements registry.Registry.
func (c *Client) Latest(ctx context.Context, subject string) (int32, registry.Schema, error) {
	found, err := ask(ctx, c, func(ctx context.Context, s *server) (sr.SubjectSchema, error) {
		return s.api.SchemaByVersion(ctx, subject, -1)
	})
	if err != nil {
		return 0, registry.Schema{}, fmt.Errorf("subject %s: %w", subject, err)
	}
	schema, err := c.resolve(ctx, found.Schema)
	if err != nil {
		return 0, registry.Schema{}, fmt.Errorf("subject %s: %w", subject, err)
	}
	id, err := checkID(found.ID)
	return id, schema, err
}

// Schema implements registry.Registry.
func (c *Client) Schema(ctx context.Context, id int32) (registry.Schema, error) {
	if schema, known, err := c.remembered(id); known {
		return schema, err
	}
	found, err := ask(ctx, c, func(ctx context.Context, s *server) (sr.Schema, error) {
		return s.api.SchemaByID(ctx, int(id))
	})
	var schema registry.Schema
	if err == nil {
		schema, err = c.resolve(ctx, found)
	}
	if err != nil {
		err = fmt.Errorf("schema id %d: %w", id, err)
		if errors.Is(err, registry.ErrUnknown) {
			c.forget(id, err)
		}
		return registry.Schema{}, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.schemas[id] = schema
	return schema, nil
}

// remembered answers from memory, if known. Ids count from 1.
func (c *Client) remembered(id int32) (schema registry.Schema, known bool, err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if schema, known = c.schemas[id]; known {
		return schema, true, nil
	}
	if id < 1 {
		return registry.Schema{}, true, fmt.Errorf("schema id %d: %w", id, registry.ErrUnknown)
	}
	if asked, ok := c.unknown[id]; ok && c.now().Sub(asked.said) < unknownFor {
		return registry.Schema{}, true, asked.err
	}
	return registry.Schema{}, false, nil
}

// forget notes that the registry does not know an id.
func (c *Client) forget(id int32, err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if len(c.unknown) >= mostUnknown {
		clear(c.unknown)
	}
	c.unknown[id] = unknownID{err, c.now()}
}

// Register implements registry.Registry.
func (c *Client) Register(ctx context.Context, subject string, schema registry.Schema) (int32, error) {
	request := sr.Schema{Schema: schema.Text}
	if err := request.Type.UnmarshalText([]byte(schema.Kind)); err != nil {
		return 0, fmt.Errorf("subject %s: %w: no kind of schemas is called %q", subject, registry.ErrRefused, schema.Kind)
	}
	for _, r := range schema.References {
		if r.Subject == "" {
			return 0, fmt.Errorf("subject %s: %w: it refers to %s, which is in no subject", subject, registry.ErrRefused, r.Name)
		}
		request.References = append(request.References, sr.SchemaReference{Name: r.Name, Subject: r.Subject, Version: r.Version})
	}
	given, err := ask(ctx, c, func(ctx context.Context, s *server) (int, error) {
		return s.api.RegisterSchema(ctx, subject, request, -1, -1)
	})
	if err != nil {
		return 0, fmt.Errorf("subject %s: %w", subject, err)
	}
	id, err := checkID(given)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.unknown, id)
	return id, err
}

// Delete implements registry.Registry. The server keeps the schemas for those who
// ask by id, which it calls a soft delete.
func (c *Client) Delete(ctx context.Context, subject string) error {
	_, err := ask(ctx, c, func(ctx context.Context, s *server) ([]int, error) {
		return s.api.DeleteSubject(ctx, subject, sr.SoftDelete)
	})
	if err != nil && !errors.Is(err, registry.ErrUnknown) {
		return fmt.Errorf("subject %s: %w", subject, err)
	}
	return nil
}

// checkID makes sure that an id fits the 4 bytes that payloads have for it.
func checkID(id int) (int32, error) {
	if id < 1 || id > math.MaxInt32 {
		return 0, fmt.Errorf("the schema registry gave the id %d, which no payload can hold", id)
	}
	return int32(id), nil
}

// Has implements registry.Registry.
func (c *Client) Has(ctx context.Context, subject string, id int32) (bool, error) {
	has, err := ask(ctx, c, func(ctx context.Context, s *server) (bool, error) {
		if id == 0 {
			versions, err := s.api.SubjectVersions(ctx, subject)
			return len(versions) > 0, err
		}
		users, err := s.api.SchemaVersionsByID(ctx, int(id))
		return slices.ContainsFunc(users, func(v sr.SubjectVersion) bool { return v.Subject == subject }), err
	})
	if err != nil && !errors.Is(err, registry.ErrUnknown) {
		return false, fmt.Errorf("subject %s: %w", subject, err)
	}
	return has, nil
}
