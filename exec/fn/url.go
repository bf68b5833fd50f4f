package fn

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

var urlFunctions = []*Function{
	{
		Name: "URL_ENCODE_PARAM", Doc: "Encodes a text as the value of a form field.",
		Overloads: []*Overload{{Signature: "(STRING) STRING", Row: func(c *Call, i int) error {
			c.keep(i, encodeParameter(c.text(0, i)))
			return nil
		}}},
	},
	{
		Name: "URL_DECODE_PARAM", Doc: "Decodes the value of a form field.",
		Overloads: []*Overload{{Signature: "(STRING) STRING", Row: func(c *Call, i int) error {
			text, err := url.QueryUnescape(c.text(0, i))
			if err == nil {
				c.keep(i, []byte(text))
			}
			return err
		}}},
	},
	urlPart("URL_EXTRACT_FRAGMENT", "Returns the fragment of a URL.", func(u *url.URL) string { return u.Fragment }),
	urlPart("URL_EXTRACT_HOST", "Returns the host of a URL.", func(u *url.URL) string { return u.Hostname() }),
	urlPart("URL_EXTRACT_PROTOCOL", "Returns the scheme of a URL.", func(u *url.URL) string { return u.Scheme }),
	{
		Name: "URL_EXTRACT_PATH", Doc: "Returns the path of a URL.",
		Overloads: []*Overload{{Signature: "(STRING) STRING", Row: func(c *Call, i int) error {
			u, err := c.url(i)
			if err == nil && u.Opaque == "" {
				c.keep(i, []byte(u.Path))
			}
			return err
		}}},
	},
	{
		Name: "URL_EXTRACT_QUERY", Doc: "Returns the query of a URL.",
		Overloads: []*Overload{{Signature: "(STRING) STRING", Row: func(c *Call, i int) error {
			u, err := c.url(i)
			if err != nil || u.RawQuery == "" {
				return err
			}
			query, err := url.PathUnescape(u.RawQuery)
			if err == nil {
				c.keep(i, []byte(query))
			}
			return err
		}}},
	},
	{
		Name: "URL_EXTRACT_PORT", Doc: "Returns the port of a URL.",
		Overloads: []*Overload{{Signature: "(STRING) INTEGER", Row: func(c *Call, i int) error {
			u, err := c.url(i)
			if err != nil || u.Port() == "" {
				return err
			}
			port, err := strconv.ParseInt(u.Port(), 10, 32)
			if err == nil {
				c.Out.SetInt(i, port)
			}
			return err
		}}},
	},
	{
		Name: "URL_EXTRACT_PARAMETER", Doc: "Returns the value of a parameter in the query of a URL.",
		Overloads: []*Overload{{Signature: "(STRING, STRING) STRING", Row: urlParameter}},
	},
}

// url reads argument 0 as a URI; Go reads more than Java: blanks and control
// characters are refused here as there.
func (c *Call) url(i int) (*url.URL, error) {
	text := c.text(0, i)
	if strings.ContainsAny(text, " <>\"{}|\\^`") {
		return nil, fmt.Errorf("'%s' is no URI: illegal character", text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("no URI: %w", err)
	}
	return u, nil
}

// urlPart is a function that returns a part of a URL, null if it is absent.
func urlPart(name, doc string, part func(*url.URL) string) *Function {
	return &Function{Name: name, Doc: doc, Overloads: []*Overload{{
		Signature: "(STRING) STRING", Row: func(c *Call, i int) error {
			u, err := c.url(i)
			if err != nil {
				return err
			}
			if text := part(u); text != "" {
				c.keep(i, []byte(text))
			}
			return nil
		},
	}}}
}

func urlParameter(c *Call, i int) error {
	u, err := c.url(i)
	if err != nil {
		return err
	}
	for _, field := range strings.Split(u.RawQuery, "&") {
		name, value, _ := strings.Cut(field, "=")
		if decoded, err := url.QueryUnescape(name); err != nil || decoded != c.text(1, i) || u.RawQuery == "" {
			continue
		}
		decoded, err := url.QueryUnescape(value)
		if err != nil {
			return err
		}
		c.keep(i, []byte(decoded))
		return nil
	}
	return nil
}

// encodeParameter is Java's URLEncoder: letters, digits and .-*_ stay, a blank
// becomes a plus.
func encodeParameter(text string) []byte {
	const digits = "0123456789ABCDEF"
	var buf []byte
	for _, b := range []byte(text) {
		switch {
		case b == ' ':
			buf = append(buf, '+')
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', strings.IndexByte(".-*_", b) >= 0:
			buf = append(buf, b)
		default:
			buf = append(buf, '%', digits[b>>4], digits[b&15])
		}
	}
	return buf
}
