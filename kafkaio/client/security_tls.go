package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"strings"
)

// TLS is the configuration that the settings give whose names begin with the prefix
// and ssl., as in Options.Secure; nil where there are none. It serves connections to
// what stands beside Kafka. The error lists all faults.
func TLS(prefix string, properties map[string]string) (*tls.Config, error) {
	s := security{properties: map[string]string{}, prefix: prefix}
	for name, value := range properties {
		if bare, ok := strings.CutPrefix(name, prefix); ok && strings.HasPrefix(bare, "ssl.") {
			s.properties[bare] = value
		}
	}
	if len(s.properties) == 0 {
		return nil, nil
	}
	s.checkNames("ssl.")
	config := s.tls()
	if err := errors.Join(s.faults...); err != nil {
		return nil, err
	}
	return config, nil
}

// tls is the configuration for TLS; servers have to prove who they are.
func (s *security) tls() *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if path := s.properties[truststoreProperty]; path != "" {
		text, err := os.ReadFile(path)
		config.RootCAs = x509.NewCertPool()
		switch {
		case err != nil:
			s.fault("%s%s: %w", s.prefix, truststoreProperty, err)
		case !config.RootCAs.AppendCertsFromPEM(text):
			s.fault("%s%s: %s holds no certificate in PEM; keytool -exportcert -rfc writes one", s.prefix, truststoreProperty, path)
		}
	}
	if path := s.properties[keystoreProperty]; path != "" {
		own, err := tls.LoadX509KeyPair(path, path)
		if err != nil {
			s.fault("%s%s: %s must hold a certificate and its key in PEM, not encrypted: %w", s.prefix, keystoreProperty, path, err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	switch algorithm, set := s.properties[hostNameProperty]; {
	case !set || strings.EqualFold(algorithm, "https"):
	case algorithm == "":
		acceptAnyName(config)
	default:
		s.fault("%s%s must be https or empty, not '%s'", s.prefix, hostNameProperty, algorithm)
	}
	return config
}

// acceptAnyName checks a server's certificate but not whether it names the host.
func acceptAnyName(config *tls.Config) {
	config.InsecureSkipVerify = true // replaced by what follows
	config.VerifyConnection = func(state tls.ConnectionState) error {
		options := x509.VerifyOptions{Roots: config.RootCAs, Intermediates: x509.NewCertPool()}
		for _, certificate := range state.PeerCertificates[1:] {
			options.Intermediates.AddCert(certificate)
		}
		_, err := state.PeerCertificates[0].Verify(options)
		if err != nil {
			return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
		}
		return nil
	}
}
