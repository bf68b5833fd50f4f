package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"millrace/kafkaio/registry"
	"millrace/kafkaio/registry/conformance"
)

func open(t *testing.T, options Options) *Client {
	t.Helper()
	c, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConformance(t *testing.T) {
	f := newFakeServer(t)
	conformance.Run(t, func(t *testing.T) registry.Registry { return open(t, Options{URL: f.URL}) })
}

func TestConformanceBelowAPath(t *testing.T) {
	f := newFakeServer(t)
	proxy := httptest.NewServer(http.StripPrefix("/apis/v7", f.Config.Handler))
	t.Cleanup(proxy.Close)
	conformance.Run(t, func(t *testing.T) registry.Registry { return open(t, Options{URL: proxy.URL + "/apis/v7/"}) })
}

func TestReferencesAreFollowed(t *testing.T) {
	f := newFakeServer(t)
	f.put("leaf", 1, `{"title":"leaf"}`)
	f.put("left", 2, `{"title":"left"}`, storedReference{"leaf.json", "leaf", 1})
	f.put("right", 3, `{"title":"right"}`, storedReference{"leaf.json", "leaf", 1}, storedReference{"left.json", "left", 1})
	f.put("a-value", 4, `{"title":"top"}`, storedReference{"right.json", "right", 1}, storedReference{"left.json", "left", 1})
	c := open(t, Options{URL: f.URL})
	id, latest, err := c.Latest(t.Context(), "a-value")
	if err != nil || id != 4 {
		t.Fatal(id, err)
	}
	expected := []registry.Reference{
		{Name: "leaf.json", Text: `{"title":"leaf"}`, Subject: "leaf", Version: 1},
		{Name: "left.json", Text: `{"title":"left"}`, Subject: "left", Version: 1},
		{Name: "right.json", Text: `{"title":"right"}`, Subject: "right", Version: 1},
	}
	if !slices.Equal(latest.References, expected) {
		t.Errorf("references %+v", latest.References)
	}
	byID, err := c.Schema(t.Context(), 4)
	if err != nil || !slices.Equal(byID.References, expected) {
		t.Errorf("references %+v, %v", byID.References, err)
	}
	if n := f.asked("GET /subjects/leaf/versions/1"); n != 1 {
		t.Errorf("one version was asked for %d times", n)
	}
}

func TestReferencesInACircle(t *testing.T) {
	f := newFakeServer(t)
	f.put("a", 1, `{"title":"a"}`, storedReference{"b", "b", 1})
	f.put("b", 2, `{"title":"b"}`, storedReference{"a", "a", 1})
	_, schema, err := open(t, Options{URL: f.URL}).Latest(t.Context(), "a")
	if err != nil || len(schema.References) != 2 {
		t.Errorf("%+v, %v", schema, err)
	}
}

func TestMissingReference(t *testing.T) {
	f := newFakeServer(t)
	f.put("a", 1, `{"title":"a"}`, storedReference{"b.json", "b", 7})
	c := open(t, Options{URL: f.URL})
	c.now = func() time.Time { return time.Unix(0, 0) }
	expect := func(err error) {
		t.Helper()
		if !errors.Is(err, registry.ErrUnknown) || !strings.Contains(err.Error(), "reference b.json, version 7 of subject b") {
			t.Error(err)
		}
	}
	_, _, err := c.Latest(t.Context(), "a")
	expect(err)
	for range 3 {
		_, err := c.Schema(t.Context(), 1)
		expect(err)
	}
	if n := f.asked("GET /schemas/ids/1"); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestIDsAreAskedForOnce(t *testing.T) {
	f := newFakeServer(t)
	f.put("a", 1, `{"title":"a"}`)
	c := open(t, Options{URL: f.URL})
	c.now = func() time.Time { return time.Unix(0, 0) }
	for range 3 {
		if _, err := c.Schema(t.Context(), 1); err != nil {
			t.Error(err)
		}
		if _, err := c.Schema(t.Context(), 9); !errors.Is(err, registry.ErrUnknown) {
			t.Error(err)
		}
		if _, _, err := c.Latest(t.Context(), "a"); err != nil {
			t.Error(err)
		}
	}
	for request, expected := range map[string]int{
		"GET /schemas/ids/1": 1, "GET /schemas/ids/9": 1, "GET /subjects/a/versions/latest": 3,
	} {
		if n := f.asked(request); n != expected {
			t.Errorf("%s: asked %d times, expected %d", request, n, expected)
		}
	}
}

func TestUnknownIDIsAskedForAgain(t *testing.T) {
	f := newFakeServer(t)
	c := open(t, Options{URL: f.URL})
	now := time.Unix(0, 0)
	c.now = func() time.Time { return now }
	if _, err := c.Schema(t.Context(), 1); !errors.Is(err, registry.ErrUnknown) {
		t.Fatal(err)
	}
	now = now.Add(unknownFor)
	f.put("a", 1, `{"title":"a"}`)
	if _, err := c.Schema(t.Context(), 1); err != nil {
		t.Error(err)
	}
	if _, err := c.Schema(t.Context(), 2); !errors.Is(err, registry.ErrUnknown) {
		t.Fatal(err)
	}
	schema := registry.Schema{Kind: registry.JSON, Text: `{"title":"b"}`}
	if id, err := c.Register(t.Context(), "a", schema); err != nil || id != 2 {
		t.Fatal(id, err)
	}
	if _, err := c.Schema(t.Context(), 2); err != nil {
		t.Error("registered now:", err)
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name         string
		status, code int
		message      string
		kind         error
		text         string
	}{
		{"unknown subject", 404, 40401, "Subject 'a' not found.", registry.ErrUnknown, "Subject 'a' not found."},
		{"unknown version", 404, 40402, "Version 1 not found.", registry.ErrUnknown, "Version 1"},
		{"unknown schema", 404, 40403, "Schema 1 not found", registry.ErrUnknown, "Schema 1"},
		{"another server", 404, 404, "HTTP 404 Not Found", registry.ErrUnavailable, "no API of a registry at http://"},
		{"incompatible", 409, 409, "Schema being registered is incompatible", registry.ErrRefused, "is incompatible"},
		{"invalid", 422, 42201, "Invalid schema", registry.ErrRefused, "Invalid schema"},
		{"login", 401, 40101, "Unauthorized", registry.ErrDenied, "does not accept the login"},
		{"rights", 403, 40301, "User is denied operation", registry.ErrDenied, "does not allow it to this user: User is denied"},
		{"fault", 500, 50001, "Error in the backend", registry.ErrUnavailable, "status 500: Error in the backend"},
		{"overload", 429, 42901, "Too many requests", registry.ErrUnavailable, "status 429"},
		{"bad request", 400, 400, "Bad", registry.ErrUnavailable, "status 400: Bad"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakeServer(t)
			f.intercept = func(w http.ResponseWriter, _ *http.Request) bool {
				fail(w, test.status, test.code, test.message)
				return true
			}
			c := open(t, Options{URL: f.URL})
			_, _, latest := c.Latest(t.Context(), "a-value")
			_, schema := c.Schema(t.Context(), 1)
			_, register := c.Register(t.Context(), "a-value", registry.Schema{Kind: registry.JSON, Text: "{}"})
			_, has := c.Has(t.Context(), "a-value", 0)
			deleted := c.Delete(t.Context(), "a-value")
			if errors.Is(test.kind, registry.ErrUnknown) {
				if has != nil || deleted != nil {
					t.Errorf("has: %v, delete: %v", has, deleted)
				}
				has, deleted = latest, latest
			}
			for _, err := range []error{latest, schema, register, has, deleted} {
				expectKind(t, err, test.kind)
				if err != nil && !strings.Contains(err.Error(), test.text) {
					t.Errorf("%q; expected %q in it", err, test.text)
				}
			}
		})
	}
}

func expectKind(t *testing.T, err, kind error) {
	t.Helper()
	if err == nil {
		t.Error("no error")
	}
	for _, k := range []error{registry.ErrUnknown, registry.ErrUnavailable, registry.ErrDenied, registry.ErrRefused} {
		if expected := errors.Is(kind, k); errors.Is(err, k) != expected {
			t.Errorf("%q is %q: %t", err, k, !expected)
		}
	}
}

func TestAnswersOfOtherServers(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"not found": http.NotFound,
		"a page": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("<html>" + strings.Repeat("welcome ", 1000)))
		},
		"a login page": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte("<html>" + strings.Repeat("welcome\n", 1000)))
		},
	} {
		server := httptest.NewServer(handler)
		_, _, err := open(t, Options{URL: server.URL}).Latest(t.Context(), "a")
		if !errors.Is(err, registry.ErrUnavailable) || len(err.Error()) > 600 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		server.Close()
	}
}

func TestNoServer(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	c := open(t, Options{URL: server.URL})
	_, _, err := c.Latest(t.Context(), "a")
	expectKind(t, err, registry.ErrUnavailable)
	_, err = c.Schema(t.Context(), 1)
	expectKind(t, err, registry.ErrUnavailable)
}

func TestTimeout(t *testing.T) {
	end := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	defer server.Close()
	defer close(end)
	c := open(t, Options{URL: server.URL, HTTPClient: &http.Client{Timeout: time.Millisecond}})
	_, _, err := c.Latest(t.Context(), "a")
	expectKind(t, err, registry.ErrUnavailable)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err = c.Latest(ctx, "a"); !errors.Is(err, context.Canceled) || errors.Is(err, registry.ErrUnavailable) {
		t.Error(err)
	}
}

// hanging is a server that takes requests and does not answer. The time of what ctx
// gives is up when the server has a request.
func hanging(t *testing.T) (server *httptest.Server, ctx func() context.Context, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	arrived, end := make(chan struct{}, 1), make(chan struct{})
	server = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		arrived <- struct{}{}
		<-end
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(end) })
	return server, func() context.Context {
		ctx := &endingContext{Context: t.Context(), done: make(chan struct{})}
		go func() {
			select {
			case <-arrived:
				close(ctx.done)
			case <-end:
			}
		}()
		return ctx
	}, asked
}

// endingContext is a context whose time is up when done is closed.
type endingContext struct {
	context.Context
	done chan struct{}
}

func (c *endingContext) Done() <-chan struct{} { return c.done }

func (c *endingContext) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestServerThatHangsIsNotAskedAtOnce(t *testing.T) {
	server, ctx, asked := hanging(t)
	good := newFakeServer(t)
	good.put("a", 1, `{"title":"a"}`)
	now := time.Unix(0, 0)
	c := open(t, Options{URL: server.URL + "," + good.URL})
	c.now = func() time.Time { return now }
	// The time is up before the second server is asked, which says nothing about it.
	_, err := c.Schema(ctx(), 1)
	expectKind(t, err, registry.ErrUnavailable)
	if _, err := c.Schema(t.Context(), 1); err != nil {
		t.Error("the second server:", err)
	}
	if _, err := c.Register(t.Context(), "b", registry.Schema{Kind: registry.JSON, Text: "{}"}); err != nil {
		t.Error("the second server:", err)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the server that hangs was asked %d times", n)
	}
	now = now.Add(unreachedFor)
	_, err = c.Schema(ctx(), 2)
	expectKind(t, err, registry.ErrUnavailable)
	if n := asked.Load(); n != 2 {
		t.Errorf("the server that hangs was asked %d times, and a second time is expected after a while", n)
	}
}

func TestServerThatAnswersIsAskedAgain(t *testing.T) {
	f := newFakeServer(t)
	f.put("a", 1, `{"title":"a"}`)
	broken := true
	f.intercept = func(w http.ResponseWriter, _ *http.Request) bool {
		if broken {
			fail(w, http.StatusInternalServerError, 50001, "Error in the backend")
		}
		return broken
	}
	c := open(t, Options{URL: f.URL})
	c.now = func() time.Time { return time.Unix(0, 0) }
	_, err := c.Schema(t.Context(), 1)
	expectKind(t, err, registry.ErrUnavailable)
	broken = false
	if _, err := c.Schema(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

func TestOneWhoGivesUpBlamesNoServer(t *testing.T) {
	f := newFakeServer(t)
	f.put("a", 1, `{"title":"a"}`)
	c := open(t, Options{URL: f.URL})
	c.now = func() time.Time { return time.Unix(0, 0) }
	ctx, cancel := context.WithCancel(t.Context())
	f.intercept = func(http.ResponseWriter, *http.Request) bool {
		cancel()
		return false
	}
	if _, err := c.Schema(ctx, 1); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	f.intercept = nil
	if _, err := c.Schema(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

func TestSeveralAddresses(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	broken := newFakeServer(t)
	broken.intercept = func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusBadGateway)
		return true
	}
	good := newFakeServer(t)
	good.put("a", 1, `{"title":"a"}`)
	c := open(t, Options{URL: gone.URL + ", " + broken.URL + "," + good.URL + ","})
	if id, _, err := c.Latest(t.Context(), "a"); err != nil || id != 1 {
		t.Error(id, err)
	}
	_, _, err := open(t, Options{URL: gone.URL + "," + broken.URL}).Latest(t.Context(), "a")
	expectKind(t, err, registry.ErrUnavailable)
	if err == nil || !strings.Contains(err.Error(), gone.URL) || !strings.Contains(err.Error(), broken.URL) {
		t.Error(err)
	}
}

func TestLogin(t *testing.T) {
	f := newFakeServer(t)
	f.put("a", 1, `{"title":"a"}`)
	var expected string
	f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == expected {
			return false
		}
		fail(w, http.StatusUnauthorized, 40101, "Unauthorized")
		return true
	}
	inAddress := strings.Replace(f.URL, "http://", "http://me:se%40cret@", 1)
	for _, test := range []struct {
		options Options
		header  string
	}{
		{Options{URL: f.URL, Username: "me", Password: "se@cret"}, "Basic bWU6c2VAY3JldA=="},
		{Options{URL: inAddress}, "Basic bWU6c2VAY3JldA=="},
		{Options{URL: f.URL, Token: "abc"}, "Bearer abc"},
	} {
		c := open(t, test.options)
		expected = test.header
		if _, _, err := c.Latest(t.Context(), "a"); err != nil {
			t.Errorf("%s: %v", test.header, err)
		}
		expected = "another"
		_, _, err := c.Latest(t.Context(), "a")
		expectKind(t, err, registry.ErrDenied)
		if err != nil && strings.Contains(err.Error(), "cret") {
			t.Errorf("the password is shown: %v", err)
		}
	}
}

func TestTLS(t *testing.T) {
	f := newFakeServer(t)
	f.put("a", 1, `{"title":"a"}`)
	secure := httptest.NewTLSServer(f.Config.Handler)
	t.Cleanup(secure.Close)
	authorities := x509.NewCertPool()
	authorities.AddCert(secure.Certificate())
	if _, _, err := open(t, Options{URL: secure.URL, TLS: &tls.Config{RootCAs: authorities}}).Latest(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	_, _, err := open(t, Options{URL: secure.URL}).Latest(t.Context(), "a")
	expectKind(t, err, registry.ErrUnavailable)
}

func TestOptions(t *testing.T) {
	for _, test := range []struct {
		options Options
		texts   []string
	}{
		{Options{}, []string{"no address"}},
		{Options{URL: " , "}, []string{"no address"}},
		{Options{URL: "localhost:8081"}, []string{`"localhost:8081" is no address`}},
		{Options{URL: "ftp://x"}, []string{`"ftp://x" is no address`}},
		{Options{URL: "http://me:secret@:%zz"}, []string{"is no address"}},
		{Options{URL: "http://x?a=b"}, []string{"more behind its path"}},
		{Options{URL: "http://"}, []string{"is no address"}},
		{Options{URL: "http://x", Username: "me", Token: "t"}, []string{"not both"}},
		{Options{URL: "http://x,http://y", TLS: &tls.Config{MinVersion: tls.VersionTLS13}}, []string{"begins with https"}},
		{
			Options{URL: "x,https://y", HTTPClient: http.DefaultClient, TLS: &tls.Config{MinVersion: tls.VersionTLS13}},
			[]string{`"x" is no address`, "brings its own TLS settings"},
		},
	} {
		_, err := New(test.options)
		if err == nil {
			t.Errorf("%+v is accepted", test.options)
			continue
		}
		for _, text := range test.texts {
			if !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v; expected %q", err, text)
			}
		}
	}
}

func TestRegisterRefusesLocally(t *testing.T) {
	f := newFakeServer(t)
	c := open(t, Options{URL: f.URL})
	for _, schema := range []registry.Schema{
		{Kind: "XML", Text: "<a/>"},
		{Kind: registry.JSON, Text: "{}", References: []registry.Reference{{Name: "b.json", Text: "{}"}}},
	} {
		_, err := c.Register(t.Context(), "a", schema)
		expectKind(t, err, registry.ErrRefused)
	}
	if len(f.requests) != 0 {
		t.Errorf("requests %v", f.requests)
	}
}
