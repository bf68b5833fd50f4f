package client

import (
	"errors"
	"strings"
)

// errJAAS has no part of the text in it, which holds a password.
var errJAAS = errors.New(jaasProperty + ` is not of the form MODULE required username=".." password="..";`)

// parseJAAS finds the user and the password in a line of Java's login
// configuration: a module, a flag and options, which may be quoted.
func parseJAAS(text string) (user, password string, err error) {
	rest := strings.TrimSuffix(strings.TrimSpace(text), ";")
	options := map[string]string{}
	for place := 0; ; place++ {
		rest = strings.TrimLeft(rest, " \t\r\n")
		if rest == "" {
			break
		}
		if place < 2 { // the module and the flag
			at := strings.IndexAny(rest, " \t\r\n")
			if at < 0 {
				return "", "", errJAAS
			}
			rest = rest[at:]
			continue
		}
		name, after, found := strings.Cut(rest, "=")
		if !found {
			return "", "", errJAAS
		}
		var value string
		if value, rest, err = jaasValue(strings.TrimLeft(after, " \t")); err != nil {
			return "", "", err
		}
		options[strings.TrimSpace(name)] = value
	}
	user, password = options["username"], options["password"]
	if user == "" || password == "" {
		return "", "", errJAAS
	}
	return user, password, nil
}

// jaasValue reads a value that is quoted, with backslashes before characters
// that stand for themselves, or ends at a blank.
func jaasValue(text string) (value, rest string, err error) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		end := strings.IndexAny(text, " \t\r\n")
		if end < 0 {
			end = len(text)
		}
		return text[:end], text[end:], nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == text[0]:
			return b.String(), text[i+1:], nil
		case text[i] == '\\' && i+1 < len(text):
			i++
		}
		b.WriteByte(text[i])
	}
	return "", "", errJAAS
}
