package fn

import (
	"fmt"
	"net/url"
	"strings"
)

// uri is the parts of a URI; path and fragment are without escapes.
type uri struct {
	scheme, host, port, path, query, fragment string
	opaque                                    bool // as in mailto:a@b: without path
}

// readURI reads a URI. Go reads more than Java: blanks and some other
// characters are refused here as there. The parts may be views of the text.
func readURI(text string) (uri, error) {
	if u, ok := plainURI(text); ok {
		return u, nil
	}
	if strings.ContainsAny(text, " <>\"{}|\\^`") {
		return uri{}, fmt.Errorf("'%s' is no URI: illegal character", text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return uri{}, fmt.Errorf("no URI: %w", err)
	}
	return uri{
		scheme: u.Scheme, host: u.Hostname(), port: u.Port(), path: u.Path, query: u.RawQuery, fragment: u.Fragment,
		opaque: u.Opaque != "",
	}, nil
}

// The characters that stand for themselves in parts of a URI.
const (
	lowerBytes = "abcdefghijklmnopqrstuvwxyz"
	digitBytes = "0123456789"
	hostBytes  = lowerBytes + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + digitBytes + "-."
	pathBytes  = hostBytes + "/_~!$&'()*+,;=:@"
	queryBytes = pathBytes + "?%"
)

var (
	inScheme = byteSet(lowerBytes)
	inUser   = byteSet(hostBytes + ":")
	inHost   = byteSet(hostBytes)
	inPort   = byteSet(digitBytes)
	inPath   = byteSet(pathBytes)
	inQuery  = byteSet(queryBytes)
)

func byteSet(bytes string) (set [256]bool) {
	for i := range len(bytes) {
		set[bytes[i]] = true
	}
	return set
}

// plainURI reads the usual form scheme://user@host:port/path?query#fragment,
// without escapes but in the query, and needs no memory. Of all other texts it
// says that they are not of this form.
func plainURI(text string) (u uri, ok bool) {
	u.scheme, text, ok = strings.Cut(text, "://")
	if !ok || u.scheme == "" || !onlyBytes(u.scheme, &inScheme) {
		return u, false
	}
	text, u.fragment, _ = strings.Cut(text, "#")
	text, u.query, _ = strings.Cut(text, "?")
	authority := text
	if at := strings.IndexByte(text, '/'); at >= 0 {
		authority, u.path = text[:at], text[at:]
	}
	if user, host, found := strings.Cut(authority, "@"); found {
		if !onlyBytes(user, &inUser) {
			return u, false
		}
		authority = host
	}
	u.host, u.port, _ = strings.Cut(authority, ":")
	return u, u.host != "" && onlyBytes(u.host, &inHost) && onlyBytes(u.port, &inPort) &&
		onlyBytes(u.path, &inPath) && onlyBytes(u.query, &inQuery) && onlyBytes(u.fragment, &inPath)
}

func onlyBytes(text string, set *[256]bool) bool {
	for i := range len(text) {
		if !set[text[i]] {
			return false
		}
	}
	return true
}
