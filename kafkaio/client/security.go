package client

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// The settings that Secure reads, under the names that Kafka's Java clients
// give them; the user and the password may also stand in properties of their
// own, as in other clients.
const (
	protocolProperty   = "security.protocol"
	mechanismProperty  = "sasl.mechanism"
	jaasProperty       = "sasl.jaas.config"
	usernameProperty   = "sasl.username"
	passwordProperty   = "sasl.password"
	truststoreProperty = "ssl.truststore.location"
	keystoreProperty   = "ssl.keystore.location"
	hostNameProperty   = "ssl.endpoint.identification.algorithm"
)

var securityProperties = []string{
	protocolProperty, mechanismProperty, jaasProperty, usernameProperty, passwordProperty, truststoreProperty, keystoreProperty,
	hostNameProperty,
}

// Secure sets TLS and SASL by settings of Kafka's clients, whose names are in
// lower case:
//
//	security.protocol                      PLAINTEXT (the default), SSL, SASL_PLAINTEXT or SASL_SSL
//	sasl.mechanism                         PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512
//	sasl.username, sasl.password           the login, or
//	sasl.jaas.config                       MODULE required username=".." password="..";
//	ssl.truststore.location                authorities that are trusted, in PEM; not set: the system's
//	ssl.keystore.location                  the own certificate with its key, in PEM
//	ssl.endpoint.identification.algorithm  empty: a broker's certificate need not name its host
//
// Others that begin with security., sasl. or ssl. are refused, since leaving
// them out could make a connection less safe than was asked for; the rest is
// passed over. The files are read at once. The error lists all faults, and no
// passwords.
func (o *Options) Secure(properties map[string]string) error {
	s := security{properties: properties}
	s.checkNames("security.", "sasl.", "ssl.")
	protocol := strings.ToUpper(properties[protocolProperty])
	switch protocol {
	case "", "PLAINTEXT":
		s.refuse("sasl.", "SASL_SSL or SASL_PLAINTEXT")
		s.refuse("ssl.", "SSL or SASL_SSL")
	case "SSL":
		s.refuse("sasl.", "SASL_SSL or SASL_PLAINTEXT")
		o.TLS = s.tls()
	case "SASL_PLAINTEXT":
		s.refuse("ssl.", "SSL or SASL_SSL")
		o.SASL = s.login()
	case "SASL_SSL":
		o.TLS, o.SASL = s.tls(), s.login()
	default:
		s.fault("%s must be PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL, not '%s'", protocolProperty, properties[protocolProperty])
	}
	if err := errors.Join(s.faults...); err != nil {
		return fmt.Errorf("the settings of the connection to Kafka: %w", err)
	}
	return nil
}

// security reads settings and collects what is wrong with them.
type security struct {
	properties map[string]string
	prefix     string // before the names where they were given
	faults     []error
}

func (s *security) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Errorf(format, args...))
}

// checkNames refuses settings with these prefixes, which would change how secure
// a connection is, and are not known here.
func (s *security) checkNames(prefixes ...string) {
	for _, name := range slices.Sorted(maps.Keys(s.properties)) {
		secures := slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		switch {
		case !secures || slices.Contains(securityProperties, name):
		case name == "ssl.truststore.type" || name == "ssl.keystore.type":
			if !strings.EqualFold(s.properties[name], "PEM") {
				s.fault("%s%s must be PEM, not '%s'", s.prefix, name, s.properties[name])
			}
		default:
			s.fault("%s%s is not supported", s.prefix, name)
		}
	}
}

// refuse refuses settings that the protocol gives no effect.
func (s *security) refuse(prefix, protocols string) {
	for _, name := range slices.Sorted(maps.Keys(s.properties)) {
		if strings.HasPrefix(name, prefix) {
			s.fault("%s needs %s to be %s", name, protocolProperty, protocols)
			return
		}
	}
}

// login is the mechanism with the user and the password.
func (s *security) login() sasl.Mechanism {
	user, password, err := s.credentials()
	if err != nil {
		s.faults = append(s.faults, err)
		return nil
	}
	algorithm := scram.SHA256
	switch mechanism := s.properties[mechanismProperty]; strings.ToUpper(mechanism) {
	case "PLAIN":
		return plain.Mechanism{Username: user, Password: password}
	case "SCRAM-SHA-256":
	case "SCRAM-SHA-512":
		algorithm = scram.SHA512
	default:
		s.fault("%s must be PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512, not '%s'", mechanismProperty, mechanism)
		return nil
	}
	mechanism, err := scram.Mechanism(algorithm, user, password)
	if err != nil {
		s.fault("the user or the password has a character that %s does not allow", algorithm.Name())
		return nil
	}
	return mechanism
}

func (s *security) credentials() (user, password string, err error) {
	text, inJAAS := s.properties[jaasProperty]
	user, password = s.properties[usernameProperty], s.properties[passwordProperty]
	switch {
	case inJAAS && user+password != "":
		return "", "", fmt.Errorf("a login is either in %s or in %s and %s, not in both", jaasProperty, usernameProperty, passwordProperty)
	case inJAAS:
		return parseJAAS(text)
	case user == "" || password == "":
		return "", "", fmt.Errorf("a login needs %s and %s, or %s", usernameProperty, passwordProperty, jaasProperty)
	}
	return user, password, nil
}
