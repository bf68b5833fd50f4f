package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"

	"millrace/kafkaio"
)

// loginAttempts is how often a refused login is tried: a broker that is
// starting closes connections in the middle of it, which looks the same.
const loginAttempts = 3

// connect reads the cluster's layout and makes sure that one of the addresses
// that the brokers advertise can be reached too.
func (c *Client) connect(ctx context.Context) error {
	if len(c.seeds) == 0 {
		return fmt.Errorf("%w: no address of a broker was given", kafkaio.ErrUnreachable)
	}
	begin := time.Now()
	var cause error
	var refused int
	var waits backoff
	for {
		err := c.tryConnect(ctx)
		if err == nil {
			return nil
		}
		if isLoginFault(err) {
			refused++
		}
		if cause == nil || !cutOff(ctx, err) {
			cause = err
		}
		if refused >= loginAttempts || isCertificateFault(err) || !errors.Is(err, kafkaio.ErrTransient) && ctx.Err() == nil {
			return c.connectError(begin, cause)
		}
		if sleep(ctx, waits.next(err)) != nil {
			return c.connectError(begin, cause)
		}
	}
}

// cutOff tells whether an attempt only failed because ctx ended during it,
// which says nothing about the cluster.
func cutOff(ctx context.Context, err error) bool {
	deadline, bounded := ctx.Deadline()
	ended := ctx.Err() != nil || bounded && !time.Now().Before(deadline)
	return ended && (isTimeout(err) || errors.Is(err, context.Canceled))
}

func (c *Client) tryConnect(ctx context.Context) error {
	var last error
	for i, seed := range c.seeds {
		if last = c.trySeed(ctx, seed, len(c.seeds)-i); last == nil {
			break
		}
	}
	if last != nil {
		return last
	}
	advertised := c.candidates()
	for _, b := range advertised[:len(advertised)-len(c.seeds)] {
		if _, last = b.apiVersions(ctx, c.options.DialTimeout); last == nil {
			return nil
		}
	}
	if last == nil {
		return &connectionError{broker: c.seeds[0], err: errors.New("the cluster has no brokers yet")}
	}
	return &advertisedError{seed: c.seeds[0], err: last}
}

// trySeed gives a seed its share of the time, where others are left to try.
func (c *Client) trySeed(ctx context.Context, seed *broker, left int) error {
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		bounded, cancel := context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
		_, err := c.refreshFrom(bounded, seed, []string{})
		if err != nil && ctx.Err() == nil && bounded.Err() != nil {
			err = &connectionError{broker: seed, err: bounded.Err()}
		}
		return err
	}
	_, err := c.refreshFrom(ctx, seed, []string{})
	return err
}

// advertisedError: the first contact worked, what it pointed to did not.
type advertisedError struct {
	seed *broker
	err  error
}

func (e *advertisedError) Error() string {
	return fmt.Sprintf("%s answers, but the address that it advertises cannot be reached: %v", e.seed.host, e.err)
}

func (e *advertisedError) Unwrap() error { return e.err }

func isLoginFault(err error) bool {
	return errors.Is(err, kafka.SASLAuthenticationFailed) || errors.Is(err, kafkaio.ErrDenied)
}

func isCertificateFault(err error) bool {
	_, verification := errors.AsType[*tls.CertificateVerificationError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	return verification || authority || name
}

func isTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

// connectError says what was tried, for how long, what came of it and what the
// user may look at.
func (c *Client) connectError(begin time.Time, err error) error {
	hosts := make([]string, len(c.seeds))
	for i, seed := range c.seeds {
		hosts[i] = seed.host
	}
	kind := kafkaio.ErrUnreachable
	if isLoginFault(err) {
		kind = kafkaio.ErrDenied
	}
	return fmt.Errorf("%w: tried %s for %v; last answer: %w; %s",
		kind, strings.Join(hosts, ", "), time.Since(begin).Round(time.Millisecond), err, c.advice(err))
}

func (c *Client) advice(err error) string {
	_, unresolved := errors.AsType[*net.DNSError](err)
	_, notTLS := errors.AsType[tls.RecordHeaderError](err)
	_, advertised := errors.AsType[*advertisedError](err)
	text := err.Error()
	switch {
	case isLoginFault(err):
		return "check the user, the password and the mechanism"
	case isCertificateFault(err):
		return "check the certificate authority and that the certificate names this host"
	case advertised:
		return "check advertised.listeners of the broker"
	case unresolved:
		return "check the host name"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "check that Kafka is running there and that the port is right"
	case notTLS:
		return "the port does not speak TLS: use the broker's TLS listener or connect without TLS"
	case strings.Contains(text, "expecting TLS"):
		return "the port speaks TLS: connect with TLS"
	case strings.Contains(text, "EOF") && c.options.SASL != nil:
		return "the broker closed the connection: check the user, the password, the mechanism and whether the port wants TLS"
	case strings.Contains(text, "EOF"):
		return "the broker closed the connection: check whether the port wants TLS or a login, and that it is Kafka's"
	case isTimeout(err) && c.options.TLS != nil:
		return "check that the port speaks TLS and that no firewall is in between"
	case isTimeout(err):
		return "check that no firewall is in between and that the port is Kafka's"
	}
	return "check the address and the broker's log"
}
