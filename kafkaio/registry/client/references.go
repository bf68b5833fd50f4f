package client

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/sr"

	"millrace/kafkaio/registry"
)

// resolve reads all that a schema refers to. Of two references of one name
// the first counts, which also ends a circle.
func (c *Client) resolve(ctx context.Context, found sr.Schema) (registry.Schema, error) {
	schema := registry.Schema{Kind: registry.Kind(found.Type.String()), Text: found.Schema}
	seen := map[string]bool{}
	var follow func(references []sr.SchemaReference) error
	follow = func(references []sr.SchemaReference) error {
		for _, r := range references {
			if seen[r.Name] {
				continue
			}
			if seen[r.Name] = true; len(seen) > mostReferences {
				return fmt.Errorf("the schema refers to more than %d others", mostReferences)
			}
			inner, err := c.version(ctx, version{r.Subject, r.Version})
			if err != nil {
				return fmt.Errorf("reference %s, version %d of subject %s: %w", r.Name, r.Version, r.Subject, err)
			}
			if err := follow(inner.References); err != nil {
				return err
			}
			schema.References = append(schema.References, registry.Reference{
				Name: r.Name, Text: inner.Schema, Subject: r.Subject, Version: r.Version,
			})
		}
		return nil
	}
	if err := follow(found.References); err != nil {
		return registry.Schema{}, err
	}
	return schema, nil
}

// version is one version of a subject. What is referred to may have been
// deleted for new uses since.
func (c *Client) version(ctx context.Context, v version) (sr.Schema, error) {
	c.mutex.Lock()
	known, ok := c.versions[v]
	c.mutex.Unlock()
	if ok {
		return known, nil
	}
	found, err := ask(sr.WithParams(ctx, sr.ShowDeleted), c, func(ctx context.Context, s *server) (sr.SubjectSchema, error) {
		return s.api.SchemaByVersion(ctx, v.subject, v.number)
	})
	if err != nil {
		return sr.Schema{}, err
	}
	if v.number > 0 { // below it is the newest, which changes
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.versions[v] = found.Schema
	}
	return found.Schema, nil
}
