package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"millrace/exec/session"
	kafka "millrace/kafkaio/client"
	"millrace/kafkaio/registry"
	"millrace/kafkaio/registry/client"
	"millrace/kafkaio/registry/directory"
)

// The properties of a schema registry below this prefix, as Confluent's clients
// have them.
const (
	registryPrefix      = "ksql.schema.registry."
	registryUserInfo    = registryPrefix + "basic.auth.user.info"
	registryUserSource  = registryPrefix + "basic.auth.credentials.source"
	registryToken       = registryPrefix + "bearer.auth.token"
	registryTokenSource = registryPrefix + "bearer.auth.credentials.source"
	registryTLS         = registryPrefix + "ssl."
)

// registryProperties are all of them.
var registryProperties = []string{
	session.RegistryProperty, registryUserInfo, registryUserSource, registryToken, registryTokenSource,
	registryTLS + "truststore.location", registryTLS + "keystore.location", registryTLS + "endpoint.identification.algorithm",
}

// openRegistry is the schema registry that the properties name, nil if none
// does. An embedded broker has one of its own, kept in the data folder.
func (f *brokerFlags) openRegistry(properties map[string]string) (registry.Registry, error) {
	named := map[string]string{}
	for name, value := range properties {
		if name = strings.ToLower(name); strings.HasPrefix(name, registryPrefix) {
			named[name] = value
		}
	}
	options, err := registryOptions(named)
	switch {
	case err != nil:
		return nil, err
	case options.URL != "":
		return client.New(options)
	case !f.embedded():
		return nil, nil
	case f.Data == "":
		return registry.NewMemory(), nil
	}
	return directory.Open(filepath.Join(f.Data, "schemas"))
}

// registryOptions reads the properties of the schema registry, whose names are in
// lower case. Those that are not known are refused, since leaving one out could
// make the connection another one than was asked for.
func registryOptions(properties map[string]string) (client.Options, error) {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !strings.HasPrefix(name, registryTLS) && !slices.Contains(registryProperties, name) {
			fault("%s is not supported; there are %s", name, strings.Join(registryProperties, ", "))
		}
	}
	faults = append(faults, checkLoginSources(properties)...)
	tls, err := kafka.TLS(registryPrefix, properties)
	if err != nil {
		faults = append(faults, err)
	}
	url := properties[session.RegistryProperty]
	if url == "" && len(properties) > 0 && len(faults) == 0 {
		fault("they need its address, %s", session.RegistryProperty)
	}
	if err := errors.Join(faults...); err != nil {
		return client.Options{}, fmt.Errorf("the schema registry's settings: %w", err)
	}
	user, password, _ := strings.Cut(properties[registryUserInfo], ":")
	return client.Options{URL: url, Username: user, Password: password, Token: properties[registryToken], TLS: tls}, nil
}

// checkLoginSources takes the properties that say where a login comes from, which
// Confluent's clients need and which are clear without them here.
func checkLoginSources(properties map[string]string) (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	userSource, given := properties[registryUserSource]
	_, hasUser := properties[registryUserInfo]
	switch source := strings.ToUpper(userSource); {
	case !given || source == "USER_INFO" && hasUser || source == "URL" && !hasUser:
	case source == "USER_INFO":
		fault("%s is USER_INFO, which needs %s", registryUserSource, registryUserInfo)
	case source == "URL":
		fault("%s is URL, next to which %s has no effect", registryUserSource, registryUserInfo)
	default:
		fault("%s must be USER_INFO or URL, not '%s'", registryUserSource, userSource)
	}
	tokenSource, given := properties[registryTokenSource]
	switch _, hasToken := properties[registryToken]; {
	case !given || strings.EqualFold(tokenSource, "STATIC_TOKEN") && hasToken:
	case strings.EqualFold(tokenSource, "STATIC_TOKEN"):
		fault("%s is STATIC_TOKEN, which needs %s", registryTokenSource, registryToken)
	default:
		fault("%s must be STATIC_TOKEN, not '%s'", registryTokenSource, tokenSource)
	}
	return faults
}
