package client

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"
)

// tls is the configuration for TLS; brokers have to prove who they are.
func (s *security) tls() *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if path := s.properties[truststoreProperty]; path != "" {
		text, err := os.ReadFile(path)
		config.RootCAs = x509.NewCertPool()
		switch {
		case err != nil:
			s.fault("%s: %w", truststoreProperty, err)
		case !config.RootCAs.AppendCertsFromPEM(text):
			s.fault("%s: %s holds no certificate in PEM; keytool -exportcert -rfc writes one", truststoreProperty, path)
		}
	}
	if path := s.properties[keystoreProperty]; path != "" {
		own, err := tls.LoadX509KeyPair(path, path)
		if err != nil {
			s.fault("%s: %s must hold a certificate and its key in PEM, not encrypted: %w", keystoreProperty, path, err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	switch algorithm, set := s.properties[hostNameProperty]; {
	case !set || strings.EqualFold(algorithm, "https"):
	case algorithm == "":
		acceptAnyName(config)
	default:
		s.fault("%s must be https or empty, not '%s'", hostNameProperty, algorithm)
	}
	return config
}

// acceptAnyName checks a broker's certificate but not whether it names the host.
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
