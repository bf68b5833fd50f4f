package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/sr"

	"millrace/kafkaio/registry"
)

// unreachedFor is how long a server that could not be reached is not asked again.
// One that takes requests and never answers would else hold up each who asks for
// as long as they are ready to wait.
const unreachedFor = 2 * time.Second

// server is one address of the registry.
type server struct {
	url string
	api *sr.Client

	mutex sync.Mutex
	fault error // an ErrUnavailable: it could not be reached; nil: it answered last
	when  time.Time
}

// unreached is why the server is not asked now, nil if it is.
func (s *server) unreached(now time.Time) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.fault != nil && now.Sub(s.when) < unreachedFor {
		return s.fault
	}
	return nil
}

// note remembers how the last attempt to reach the server ended.
func (s *server) note(fault error, now time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.fault, s.when = fault, now
}

func newServer(a address, token string, sender *http.Client) (*server, error) {
	options := []sr.ClientOpt{sr.URLs(a.url), sr.HTTPClient(sender), sr.UserAgent("millrace")}
	if a.username != "" || a.password != "" {
		options = append(options, sr.BasicAuth(a.username, a.password))
	}
	if token != "" {
		options = append(options, sr.BearerToken(token))
	}
	api, err := sr.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("the schema registry's settings: %w", err)
	}
	return &server{url: a.url, api: api}, nil
}

// ask sends a request to one server after the other until one is available.
func ask[T any](ctx context.Context, c *Client, request func(context.Context, *server) (T, error)) (T, error) {
	var none T
	var faults []error
	for _, s := range c.servers {
		if errors.Is(ctx.Err(), context.Canceled) {
			return none, ctx.Err()
		}
		if fault := s.unreached(c.now()); fault != nil {
			faults = append(faults, fault)
			continue
		}
		late := ctx.Err() != nil // what fails now says nothing about the server
		answer, err := request(ctx, s)
		if err == nil {
			s.note(nil, c.now())
			return answer, nil
		}
		_, unreached := errors.AsType[net.Error](err)
		if err = s.classify(ctx, err); !errors.Is(err, registry.ErrUnavailable) {
			return none, err
		}
		if unreached && !late {
			s.note(err, c.now())
		}
		faults = append(faults, err)
	}
	if len(faults) == 1 {
		return none, faults[0]
	}
	return none, errors.Join(faults...)
}

// classify gives an error the meaning that the port has for it. Whatever is no
// answer to the question counts as none: what cannot be asked for now must not
// be taken for what does not exist.
func (s *server) classify(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	answer, ok := errors.AsType[*sr.ResponseError](err)
	if !ok {
		return fmt.Errorf("%w at %s: %w", registry.ErrUnavailable, s.url, err)
	}
	words := serverWords(answer)
	switch status := answer.StatusCode; {
	case answer.ErrorCode/100 == 404 || answer.ErrorCode == 404 && answer.Message != "HTTP 404 Not Found":
		return fmt.Errorf("%w: %s", registry.ErrUnknown, words)
	case status == http.StatusNotFound:
		return fmt.Errorf("%w: there is no API of a registry at %s: %s", registry.ErrUnavailable, answer.URL, words)
	case status == http.StatusConflict || status == http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %s", registry.ErrRefused, words)
	case status == http.StatusUnauthorized:
		return fmt.Errorf("%w: the server %s does not accept the login: %s", registry.ErrDenied, s.url, words)
	case status == http.StatusForbidden:
		return fmt.Errorf("%w: the server %s does not allow it to this user: %s", registry.ErrDenied, s.url, words)
	default:
		return fmt.Errorf("%w at %s: status %d: %s", registry.ErrUnavailable, s.url, status, words)
	}
}

// serverWords is the server's own message, or the beginning of a text that is
// no message of a registry, such as the page of a proxy.
func serverWords(answer *sr.ResponseError) string {
	const most = 200
	text := answer.Message
	if text == "" {
		text = string(answer.Raw)
	}
	if answer.Message == "" && len(text) > most {
		text = text[:most] + ".."
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
}
