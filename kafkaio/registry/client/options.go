package client

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// requestTimeout bounds one request where Options has no HTTPClient.
const requestTimeout = 10 * time.Second

// Options say where the registry is and how to log in to it. A zero value of
// what is not URL leaves the matter out.
type Options struct {
	// URL is one or more addresses of the same registry, separated by commas;
	// they are tried in turn. A user and a password may stand in an address.
	URL string
	// Username and Password are the login by HTTP's basic authentication.
	Username, Password string
	// Token is the bearer token that is the login instead.
	Token string
	// TLS is for addresses with https, of which there must be one then.
	TLS *tls.Config
	// HTTPClient sends the requests. It may not be given together with TLS.
	HTTPClient *http.Client
}

// address is one URL with the login for it.
type address struct {
	url                string // without the login
	username, password string
}

// addresses reads the URLs, and says everything that is wrong with the options.
func (o *Options) addresses() ([]address, error) {
	var found []address
	var faults []error
	for text := range strings.SplitSeq(o.URL, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		a, err := parseAddress(text)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if o.Username != "" || o.Password != "" {
			a.username, a.password = o.Username, o.Password
		}
		if o.Token != "" && a.username+a.password != "" {
			faults = append(faults, errors.New("a login is either a user with a password or a token, not both"))
		}
		found = append(found, a)
	}
	if len(found) == 0 && len(faults) == 0 {
		faults = append(faults, errors.New("no address was given"))
	}
	secure := func(a address) bool { return strings.HasPrefix(a.url, "https:") }
	if o.TLS != nil && len(found) > 0 && !slices.ContainsFunc(found, secure) {
		faults = append(faults, errors.New("settings of TLS need an address that begins with https"))
	}
	if o.TLS != nil && o.HTTPClient != nil {
		faults = append(faults, errors.New("an HTTP client brings its own TLS settings"))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("the schema registry's settings: %w", err)
	}
	return found, nil
}

// parseAddress takes care that no message shows the login in an address.
func parseAddress(text string) (address, error) {
	shown := text
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		shown = text[at+1:]
	}
	parsed, err := url.Parse(text)
	switch {
	case err != nil:
		return address{}, fmt.Errorf("%q is no address of a registry, such as http://localhost:8081", shown)
	case parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "":
		return address{}, fmt.Errorf("%q is no address of a registry, such as http://localhost:8081", shown)
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return address{}, fmt.Errorf("the address %q has more behind its path", shown)
	}
	var a address
	if parsed.User != nil {
		a.username = parsed.User.Username()
		a.password, _ = parsed.User.Password()
		parsed.User = nil
	}
	a.url = parsed.String()
	return a, nil
}

func (o *Options) httpClient() *http.Client {
	if o.HTTPClient != nil {
		return o.HTTPClient
	}
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		TLSClientConfig:     o.TLS,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 4,
		IdleConnTimeout:     time.Minute,
	}
	return &http.Client{Timeout: requestTimeout, Transport: transport}
}
