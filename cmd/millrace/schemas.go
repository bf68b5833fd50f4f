package main

import (
	"path/filepath"
	"strings"

	"millrace/exec/session"
	"millrace/kafkaio/registry"
	"millrace/kafkaio/registry/client"
	"millrace/kafkaio/registry/directory"
)

// The properties of the login at a schema registry, as Confluent's clients have them.
const (
	registryUserInfo = "ksql.schema.registry.basic.auth.user.info"
	registryToken    = "ksql.schema.registry.bearer.auth.token"
)

// openRegistry is the schema registry that the properties name, nil if none
// does. An embedded broker has one of its own, kept in the data folder.
func (f *brokerFlags) openRegistry(properties map[string]string) (registry.Registry, error) {
	named := map[string]string{}
	for name, value := range properties {
		named[strings.ToLower(name)] = value
	}
	url := named[session.RegistryProperty]
	switch {
	case url != "":
		user, password, _ := strings.Cut(named[registryUserInfo], ":")
		return client.New(client.Options{URL: url, Username: user, Password: password, Token: named[registryToken]})
	case !f.embedded():
		return nil, nil
	case f.Data == "":
		return registry.NewMemory(), nil
	}
	return directory.Open(filepath.Join(f.Data, "schemas"))
}
