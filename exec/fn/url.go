package fn

import (
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"

	"millrace/exec/column"
)

var urlFunctions = []*Function{
	{
		Name: "URL_ENCODE_PARAM", Doc: "Encodes a text as the value of a form field.",
		Overloads: []*Overload{{Signature: "(STRING) STRING", Row: func(c *Call, i int) error {
			c.end(i, appendParameter(c.begin(), c.text(0, i)))
			return nil
		}}},
	},
	{
		Name: "URL_DECODE_PARAM", Doc: "Decodes the value of a form field.",
		Overloads: []*Overload{{Signature: "(STRING) STRING", Row: func(c *Call, i int) error {
			return c.setUnescaped(i, c.text(0, i), true)
		}}},
	},
	urlPart("URL_EXTRACT_FRAGMENT", "Returns the fragment of a URL.", func(u uri) string { return u.fragment }),
	urlPart("URL_EXTRACT_HOST", "Returns the host of a URL.", func(u uri) string { return u.host }),
	urlPart("URL_EXTRACT_PROTOCOL", "Returns the scheme of a URL.", func(u uri) string { return u.scheme }),
	{
		Name: "URL_EXTRACT_PATH", Doc: "Returns the path of a URL.",
		Overloads: []*Overload{{Signature: "(STRING) STRING", Row: func(c *Call, i int) error {
			u, err := readURI(c.text(0, i))
			if err == nil && !u.opaque {
				c.Out.SetText(i, u.path)
			}
			return err
		}}},
	},
	{
		Name: "URL_EXTRACT_QUERY", Doc: "Returns the query of a URL.",
		Overloads: []*Overload{{Signature: "(STRING) STRING", Row: func(c *Call, i int) error {
			u, err := readURI(c.text(0, i))
			if err != nil || u.query == "" {
				return err
			}
			return c.setUnescaped(i, u.query, false)
		}}},
	},
	{
		Name: "URL_EXTRACT_PORT", Doc: "Returns the port of a URL.",
		Overloads: []*Overload{{Signature: "(STRING) INTEGER", Row: func(c *Call, i int) error {
			u, err := readURI(c.text(0, i))
			if err != nil || u.port == "" {
				return err
			}
			port, err := strconv.ParseInt(u.port, 10, 32)
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

// urlPart is a function that returns a part of a URL, null if it is absent.
func urlPart(name, doc string, part func(uri) string) *Function {
	return &Function{Name: name, Doc: doc, Overloads: []*Overload{{
		Signature: "(STRING) STRING", Row: func(c *Call, i int) error {
			u, err := readURI(c.text(0, i))
			if err != nil {
				return err
			}
			if text := part(u); text != "" {
				c.Out.SetText(i, text)
			}
			return nil
		},
	}}}
}

func urlParameter(c *Call, i int) error {
	u, err := readURI(c.text(0, i))
	if err != nil || u.query == "" {
		return err
	}
	for field, rest, more := "", u.query, true; more; {
		field, rest, more = strings.Cut(rest, "&")
		name, value, _ := strings.Cut(field, "=")
		decoded, err := appendDecoded(c.begin(), name, true)
		if err != nil {
			continue
		}
		c.scratch.text = decoded
		if string(decoded) == c.text(1, i) {
			return c.setUnescaped(i, value, true)
		}
	}
	return nil
}

// setUnescaped sets row i of the result to a text whose escapes are decoded;
// a plus stands for a blank in form fields.
func (c *Call) setUnescaped(i int, text string, form bool) error {
	if strings.IndexByte(text, '%') < 0 && (!form || strings.IndexByte(text, '+') < 0) {
		c.Out.SetText(i, text)
		return nil
	}
	buf, err := appendDecoded(c.begin(), text, form)
	if err == nil {
		c.end(i, buf)
	}
	return err
}

// appendDecoded appends a text with its %XX decoded.
func appendDecoded(dst []byte, text string, form bool) ([]byte, error) {
	for at := 0; at < len(text); at++ {
		b := text[at]
		switch {
		case b == '%':
			if at+2 >= len(text) {
				return nil, url.EscapeError(text[at:])
			}
			var err error
			if dst, err = hex.AppendDecode(dst, column.Bytes(text[at+1:at+3])); err != nil {
				return nil, url.EscapeError(text[at : at+3])
			}
			at += 2
		case b == '+' && form:
			dst = append(dst, ' ')
		default:
			dst = append(dst, b)
		}
	}
	return dst, nil
}

// appendParameter is Java's URLEncoder: letters, digits and .-*_ stay, a blank
// becomes a plus.
func appendParameter(dst []byte, text string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(text) {
		switch b := text[i]; {
		case b == ' ':
			dst = append(dst, '+')
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', strings.IndexByte(".-*_", b) >= 0:
			dst = append(dst, b)
		default:
			dst = append(dst, '%', digits[b>>4], digits[b&15])
		}
	}
	return dst
}
