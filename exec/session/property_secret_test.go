package session

import "testing"

func TestSecretsAreNotShown(t *testing.T) {
	for _, test := range []struct{ name, value, want string }{
		{"sasl.password", "p", hidden},
		{"ksql.streams.SASL.jaas.config", "x", hidden},
		{"ksql.schema.registry.basic.auth.user.info", "u:p", hidden},
		{"ksql.schema.registry.bearer.auth.token", "t", hidden},
		{"ssl.keystore.password", "", ""},
		{"ksql.schema.registry.url", "http://u:p@one:8081,https://two", "http://" + hidden + "@one:8081,https://two"},
		{"auto.offset.reset", "latest", "latest"},
	} {
		if got := shown(test.name, test.value); got != test.want {
			t.Errorf("%s=%s is shown as %s, not %s", test.name, test.value, got, test.want)
		}
	}
}
