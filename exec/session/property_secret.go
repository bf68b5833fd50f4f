package session

import (
	"regexp"
	"slices"
	"strings"
)

// hidden stands for a value that is not shown.
const hidden = "[hidden]"

// secretParts are what names of properties with secrets have in them.
var secretParts = []string{"password", "secret", "jaas", "user.info", "token"}

// login is a user and a password in an address.
var login = regexp.MustCompile(`//[^/@,]*@`)

// shown is a property's value as it may be seen by others: without passwords.
func shown(name, value string) string {
	name = strings.ToLower(name)
	if value != "" && slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(name, part) }) {
		return hidden
	}
	return login.ReplaceAllString(value, "//"+hidden+"@")
}
