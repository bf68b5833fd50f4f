package main

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace/exec/session"
	"millrace/kafkaio/registry"
)

// registryProperty is one of the properties by the end of its name.
func registryProperty(name string) string { return "ksql.schema.registry." + name }

// emptyRegistry is an HTTPS server that knows no schema, and a file with its
// certificate, which names 127.0.0.1.
func emptyRegistry(t *testing.T) (url, certificate string) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"error_code":40401,"message":"Subject not found."}`))
	}))
	t.Cleanup(server.Close)
	certificate = filepath.Join(t.TempDir(), "registry.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(certificate, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return server.URL, certificate
}

// ask asks the registry that the properties name for a subject.
func ask(t *testing.T, properties map[string]string) error {
	t.Helper()
	r, err := (&brokerFlags{Brokers: []string{"unused:9092"}}).openRegistry(properties)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = r.Latest(t.Context(), "a-value")
	return err
}

func TestRegistryOverTLS(t *testing.T) {
	url, certificate := emptyRegistry(t)
	properties := map[string]string{
		registryProperty("url"): url, "KSQL.schema.registry.ssl.truststore.location": certificate,
		registryProperty("ssl.truststore.type"): "PEM",
	}
	if err := ask(t, properties); !errors.Is(err, registry.ErrUnknown) {
		t.Error(err)
	}
	otherName := strings.Replace(url, "127.0.0.1", "localhost", 1)
	properties[registryProperty("url")] = otherName
	err := ask(t, properties)
	if _, ok := errors.AsType[x509.HostnameError](err); !ok || !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("a certificate that names another host: %v", err)
	}
	properties[registryProperty("ssl.endpoint.identification.algorithm")] = ""
	if err := ask(t, properties); !errors.Is(err, registry.ErrUnknown) {
		t.Errorf("any name: %v", err)
	}
	if err := ask(t, map[string]string{registryProperty("url"): url}); !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("an authority that the system does not know: %v", err)
	}
}

func TestRegistryLogin(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte(r.Header.Get("Authorization")))
	}))
	t.Cleanup(server.Close)
	withUser := strings.Replace(server.URL, "http://", "http://me:secret@", 1)
	const basic, bearer = "Basic bWU6c2VjcmV0", "Bearer abc"
	for _, test := range []struct {
		url        string
		properties map[string]string
		want       string
	}{
		{server.URL, map[string]string{"basic.auth.user.info": "me:secret"}, basic},
		{server.URL, map[string]string{"basic.auth.user.info": "me:secret", "basic.auth.credentials.source": "user_info"}, basic},
		{withUser, map[string]string{"basic.auth.credentials.source": "URL"}, basic},
		{server.URL, map[string]string{"bearer.auth.token": "abc"}, bearer},
		{server.URL, map[string]string{"bearer.auth.token": "abc", "bearer.auth.credentials.source": "STATIC_TOKEN"}, bearer},
	} {
		properties := map[string]string{registryProperty("url"): test.url}
		for name, value := range test.properties {
			properties[registryProperty(name)] = value
		}
		if err := ask(t, properties); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v", test.properties, err)
		}
	}
}

func TestRegistryPropertyFaults(t *testing.T) {
	for _, test := range []struct {
		properties map[string]string
		texts      []string
	}{
		{map[string]string{"url": "http://x", "cache.capacity": "1"}, []string{"ksql.schema.registry.cache.capacity is not supported; there are ksql.schema.registry.url, "}},
		{map[string]string{"url": "https://x", "ssl.protocol": "TLS"}, []string{"ksql.schema.registry.ssl.protocol is not supported"}},
		{map[string]string{"url": "https://x", "ssl.keystore.location": "/missing"}, []string{"ksql.schema.registry.ssl.keystore.location: /missing must hold"}},
		{map[string]string{"url": "http://x", "ssl.endpoint.identification.algorithm": "https"}, []string{"need an address that begins with https"}},
		{map[string]string{"bearer.auth.token": "secret"}, []string{"they need its address, ksql.schema.registry.url"}},
		{map[string]string{"url": "http://x", "basic.auth.credentials.source": "SASL_INHERIT"}, []string{"must be USER_INFO or URL, not 'SASL_INHERIT'"}},
		{map[string]string{"url": "http://x", "basic.auth.credentials.source": "USER_INFO"}, []string{"needs ksql.schema.registry.basic.auth.user.info"}},
		{
			map[string]string{"url": "http://x", "basic.auth.credentials.source": "URL", "basic.auth.user.info": "me:secret", "bearer.auth.credentials.source": "x"},
			[]string{"basic.auth.user.info has no effect", "must be STATIC_TOKEN, not 'x'"},
		},
		{map[string]string{"url": "http://x", "bearer.auth.credentials.source": "STATIC_TOKEN"}, []string{"needs ksql.schema.registry.bearer.auth.token"}},
	} {
		properties := map[string]string{}
		for name, value := range test.properties {
			properties[registryProperty(name)] = value
		}
		_, err := (&brokerFlags{}).openRegistry(properties)
		for _, text := range test.texts {
			if err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v: %v; expected %q", test.properties, err, text)
			}
		}
	}
}

func TestRegistryPropertiesAreListed(t *testing.T) {
	for _, name := range registryProperties {
		if effective, err := session.CheckPropertyName(name); err != nil || !effective {
			t.Errorf("%s: %t, %v", name, effective, err)
		}
	}
}
