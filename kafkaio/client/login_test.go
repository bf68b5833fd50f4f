package client_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"millrace/kafkaio"
	"millrace/kafkaio/client"
)

// certificate makes a key pair for the loopback address and the pool that
// trusts it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func tryOpen(t *testing.T, options client.Options) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	c, err := client.Open(ctx, options)
	if err == nil {
		transactionOf(t, producerOf(t, c, kafkaio.ProducerOptions{}), topicOf(t, c, 1))
		t.Cleanup(func() { c.Close() })
	}
	return err
}

func TestTLS(t *testing.T) {
	pair, pool := certificate(t)
	brokers := fake(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}})).ListenAddrs()
	if err := tryOpen(t, client.Options{Brokers: brokers, TLS: &tls.Config{RootCAs: pool}}); err != nil {
		t.Error(err)
	}
	err := tryOpen(t, client.Options{Brokers: brokers, TLS: &tls.Config{}})
	if !errors.Is(err, kafkaio.ErrUnreachable) || !strings.Contains(err.Error(), "check the certificate") {
		t.Errorf("unknown authority: %v", err)
	}
	err = tryOpen(t, client.Options{Brokers: brokers})
	if !errors.Is(err, kafkaio.ErrUnreachable) || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("without TLS: %v", err)
	}
	plainBrokers := fake(t).ListenAddrs()
	err = tryOpen(t, client.Options{Brokers: plainBrokers, TLS: &tls.Config{RootCAs: pool}})
	if !errors.Is(err, kafkaio.ErrUnreachable) || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("TLS on a port without: %v", err)
	}
}

func TestSASL(t *testing.T) {
	cluster := fake(t, kfake.EnableSASL(), kfake.Superuser("PLAIN", "user", "secret"))
	brokers := cluster.ListenAddrs()
	if err := tryOpen(t, client.Options{Brokers: brokers, SASL: plain.Mechanism{Username: "user", Password: "secret"}}); err != nil {
		t.Error(err)
	}
	err := tryOpen(t, client.Options{Brokers: brokers})
	if !errors.Is(err, kafkaio.ErrUnreachable) || !strings.Contains(err.Error(), "login") {
		t.Errorf("without a login: %v", err)
	}
	wrong := client.Options{Brokers: brokers, SASL: plain.Mechanism{Username: "user", Password: "wrong"}}
	err = tryOpen(t, wrong)
	if !errors.Is(err, kafkaio.ErrUnreachable) || !strings.Contains(err.Error(), "password") {
		t.Errorf("a broker that only closes the connection: %v", err)
	}
	cluster.ControlKey(int16(kmsg.SASLAuthenticate), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		answer := request.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		answer.ErrorCode = kerr.SaslAuthenticationFailed.Code
		return answer, nil, true
	})
	err = tryOpen(t, wrong)
	if !errors.Is(err, kafkaio.ErrDenied) || !strings.Contains(err.Error(), "password") {
		t.Errorf("a broker that says why: %v", err)
	}
}

// Nothing runs on after everything is closed.
func TestCloseLeavesNothing(t *testing.T) {
	cluster := fake(t)
	ignore := goleak.IgnoreCurrent()
	c, err := client.Open(t.Context(), client.Options{Brokers: cluster.ListenAddrs()})
	if err != nil {
		t.Fatal(err)
	}
	topic := "topic"
	if err := c.CreateTopic(t.Context(), kafkaio.TopicSpec{Name: topic, Partitions: 3}); err != nil {
		t.Fatal(err)
	}
	f := c.NewFetcher(kafkaio.FetchOptions{MaxWait: 10 * time.Millisecond})
	f.Assign(map[kafkaio.TopicPartition]int64{{Topic: topic}: 0})
	p := c.NewProducer(kafkaio.ProducerOptions{TransactionalID: "id"})
	if err := p.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	transactionOf(t, p, []kafkaio.TopicPartition{{Topic: topic}, {Topic: topic, Partition: 1}})
	for _, closer := range []interface{ Close() error }{f, p, c} {
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
	}
	goleak.VerifyNone(t, ignore, goleak.IgnoreAnyFunction("github.com/twmb/franz-go/pkg/kfake.(*clientConn).read"),
		goleak.IgnoreAnyFunction("github.com/twmb/franz-go/pkg/kfake.(*clientConn).write"))
}
