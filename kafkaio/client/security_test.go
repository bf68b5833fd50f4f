package client_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"millrace/kafkaio"
	"millrace/kafkaio/client"
)

// secured are the options that properties give.
func secured(t *testing.T, brokers []string, properties map[string]string) client.Options {
	t.Helper()
	options := client.Options{Brokers: brokers}
	if err := options.Secure(properties); err != nil {
		t.Fatal(err)
	}
	return options
}

func TestLoginByProperties(t *testing.T) {
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		t.Run(mechanism, func(t *testing.T) {
			const password = `se"cr\et, =`
			brokers := fake(t, kfake.EnableSASL(), kfake.Superuser(mechanism, "us,er=", password)).ListenAddrs()
			properties := map[string]string{
				"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism,
				"sasl.username": "us,er=", "sasl.password": password, "auto.offset.reset": "latest",
			}
			if err := tryOpen(t, secured(t, brokers, properties)); err != nil {
				t.Error(err)
			}
			wrong := maps.Clone(properties)
			wrong["sasl.password"] = "wrong"
			err := tryOpen(t, secured(t, brokers, wrong))
			if err == nil || !strings.Contains(err.Error(), "password") || strings.Contains(err.Error(), "wrong") {
				t.Errorf("a wrong password: %v", err)
			}
			delete(properties, "sasl.username")
			delete(properties, "sasl.password")
			properties["sasl.jaas.config"] = `org.apache.kafka.common.security.scram.ScramLoginModule required ` +
				`username="us,er=" password="se\"cr\\et, =";`
			if err := tryOpen(t, secured(t, brokers, properties)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMechanismThatTheBrokerHasNot(t *testing.T) {
	brokers := fake(t, kfake.EnableSASL(), kfake.Superuser("PLAIN", "user", "secret")).ListenAddrs()
	err := tryOpen(t, secured(t, brokers, map[string]string{
		"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "user", "sasl.password": "secret",
	}))
	if err == nil || !strings.Contains(err.Error(), "mechanism") {
		t.Error(err)
	}
}

// pemFile writes blocks to a file.
func pemFile(t *testing.T, blocks ...*pem.Block) string {
	t.Helper()
	var text []byte
	for _, block := range blocks {
		text = append(text, pem.EncodeToMemory(block)...)
	}
	path := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func certificateBlock(pair tls.Certificate) *pem.Block {
	return &pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}
}

func keyBlock(t *testing.T, pair tls.Certificate) *pem.Block {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return &pem.Block{Type: "PRIVATE KEY", Bytes: der}
}

func TestTLSByProperties(t *testing.T) {
	pair, _ := certificate(t)
	own, ownPool := certificate(t)
	listen := &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: ownPool, ClientAuth: tls.RequireAndVerifyClientCert}
	brokers := fake(t, kfake.TLS(listen), kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "user", "secret")).ListenAddrs()
	properties := map[string]string{
		"security.protocol": "SASL_SSL", "sasl.mechanism": "scram-sha-512", "sasl.username": "user", "sasl.password": "secret",
		"ssl.truststore.location": pemFile(t, certificateBlock(pair)), "ssl.truststore.type": "PEM",
		"ssl.keystore.location": pemFile(t, keyBlock(t, own), certificateBlock(own)),
	}
	if err := tryOpen(t, secured(t, brokers, properties)); err != nil {
		t.Error(err)
	}
	delete(properties, "ssl.keystore.location")
	if err := tryOpen(t, secured(t, brokers, properties)); err == nil {
		t.Error("a broker that wants a certificate gets none, and takes it")
	}
	plain := fake(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}})).ListenAddrs()
	if err := tryOpen(t, secured(t, plain, map[string]string{"security.protocol": "SSL"})); !errors.Is(err, kafkaio.ErrUnreachable) {
		t.Errorf("an authority that the system does not know: %v", err)
	}
}

// The certificate names 127.0.0.1 only.
func TestHostNames(t *testing.T) {
	pair, _ := certificate(t)
	other, _ := certificate(t)
	brokers := fake(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}})).ListenAddrs()
	byName := []string{strings.Replace(brokers[0], "127.0.0.1", "localhost", 1)}
	properties := map[string]string{"security.protocol": "SSL", "ssl.truststore.location": pemFile(t, certificateBlock(pair))}
	if err := tryOpen(t, secured(t, byName, properties)); err == nil || !strings.Contains(err.Error(), "names this host") {
		t.Errorf("a certificate that names another host: %v", err)
	}
	properties["ssl.endpoint.identification.algorithm"] = ""
	if err := tryOpen(t, secured(t, byName, properties)); err != nil {
		t.Errorf("any name: %v", err)
	}
	properties["ssl.truststore.location"] = pemFile(t, certificateBlock(other))
	if err := tryOpen(t, secured(t, byName, properties)); err == nil || !strings.Contains(err.Error(), "check the certificate authority") {
		t.Errorf("any name, but an unknown authority: %v", err)
	}
}

func TestSecurityFaults(t *testing.T) {
	empty := pemFile(t)
	for _, test := range []struct {
		properties map[string]string
		texts      []string
	}{
		{map[string]string{"security.protocol": "TLS"}, []string{"must be PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL, not 'TLS'"}},
		{map[string]string{"sasl.mechanism": "PLAIN", "ssl.keystore.location": "x"}, []string{"sasl.mechanism needs", "ssl.keystore.location needs"}},
		{map[string]string{"security.protocol": "SSL", "sasl.password": "secret"}, []string{"sasl.password needs"}},
		{map[string]string{"security.protocol": "SASL_PLAINTEXT"}, []string{"a login needs sasl.username and sasl.password"}},
		{
			map[string]string{"security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI", "sasl.username": "u", "sasl.password": "secret"},
			[]string{"not 'GSSAPI'"},
		},
		{
			map[string]string{"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.jaas.config": "x", "sasl.username": "u"},
			[]string{"not in both"},
		},
		{
			map[string]string{"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-256", "sasl.username": "u", "sasl.password": "secret\x00"},
			[]string{"a character that SCRAM-SHA-256 does not allow"},
		},
		{
			map[string]string{"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.jaas.config": `M required password="secret`},
			[]string{"sasl.jaas.config is not of the form"},
		},
		{
			map[string]string{"security.protocol": "SSL", "ssl.truststore.location": empty, "ssl.keystore.location": "/missing"},
			[]string{"holds no certificate in PEM", "/missing must hold a certificate"},
		},
		{map[string]string{"security.protocol": "SSL", "ssl.truststore.location": "/missing"}, []string{"ssl.truststore.location: open /missing"}},
		{map[string]string{"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": "x"}, []string{"must be https or empty, not 'x'"}},
		{map[string]string{"ssl.key.password": "secret", "ssl.truststore.type": "JKS"}, []string{"ssl.key.password is not supported", "must be PEM, not 'JKS'"}},
		{map[string]string{"security.providers": "x", "sasl.kerberos.service.name": "y"}, []string{"security.providers is not", "sasl.kerberos.service.name is not"}},
	} {
		var options client.Options
		err := options.Secure(test.properties)
		if err == nil {
			t.Errorf("%v is accepted", test.properties)
			continue
		}
		for _, text := range test.texts {
			if !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v; expected %q", err, text)
			}
		}
	}
}

func TestTLSOfOthers(t *testing.T) {
	pair, _ := certificate(t)
	file := pemFile(t, certificateBlock(pair), keyBlock(t, pair))
	config, err := client.TLS("other.", map[string]string{
		"other.ssl.truststore.location": file, "other.ssl.keystore.location": file, "other.ssl.keystore.type": "pem",
		"ssl.keystore.location": "/missing", "sasl.mechanism": "x", "other.name": "y",
	})
	if err != nil || config.RootCAs == nil || len(config.Certificates) != 1 || config.InsecureSkipVerify {
		t.Errorf("%+v, %v", config, err)
	}
	config, err = client.TLS("other.", map[string]string{"ssl.keystore.location": file, "other.name": "y"})
	if err != nil || config != nil {
		t.Errorf("without settings: %+v, %v", config, err)
	}
	_, err = client.TLS("other.", map[string]string{
		"other.ssl.keystore.location": "/missing", "other.ssl.protocol": "x", "other.ssl.endpoint.identification.algorithm": "z",
	})
	for _, text := range []string{"other.ssl.keystore.location: /missing", "other.ssl.protocol is not", "other.ssl.endpoint.identification.algorithm must"} {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v; expected %q", err, text)
		}
	}
}

func TestNoSecurity(t *testing.T) {
	for _, properties := range []map[string]string{nil, {"security.protocol": "plaintext"}, {"auto.offset.reset": "latest", "ksql.schema.registry.ssl.x": "y"}} {
		if options := secured(t, nil, properties); options.TLS != nil || options.SASL != nil {
			t.Errorf("%v: %+v", properties, options)
		}
	}
}
