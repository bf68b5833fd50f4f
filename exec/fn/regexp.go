package fn

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

var regexpFunctions = []*Function{
	{
		Name: "REGEXP_EXTRACT", Doc: "Returns the first match of a pattern, or of a group of it.",
		Overloads: []*Overload{{Signature: "(STRING, STRING[, INTEGER]) STRING", Row: regexpExtract}},
	},
	{
		Name: "REGEXP_EXTRACT_ALL", Doc: "Returns all matches of a pattern, or of a group of it.",
		Overloads: []*Overload{{Signature: "(STRING, STRING[, INTEGER]) ARRAY<STRING>", Row: regexpExtractAll}},
	},
	{
		Name: "REGEXP_REPLACE", Doc: "Replaces all matches of a pattern; $1 stands for the first group.",
		Overloads: []*Overload{{Signature: "(STRING, STRING, STRING) STRING", Row: regexpReplace}},
	},
	{
		Name: "REGEXP_SPLIT_TO_ARRAY", Doc: "Splits a text at the matches of a pattern.",
		Overloads: []*Overload{{Signature: "(STRING, STRING) ARRAY<STRING>", Row: regexpSplit}},
	},
}

// compiledPattern is a regular expression of the RE2 syntax, which is Java's
// without look-around and back references: these would need exponential time.
func (c *Call) compiledPattern(k, i int) (*regexp.Regexp, error) {
	return cached(c, c.text(k, i), func(pattern string) (*regexp.Regexp, error) {
		r, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("pattern '%s': %w", pattern, err)
		}
		return r, nil
	})
}

func (c *Call) group(i int) int {
	if len(c.Args) > 2 {
		return int(c.integer(2, i))
	}
	return 0
}

func regexpExtract(c *Call, i int) error {
	pattern, err := c.compiledPattern(0, i)
	if err != nil {
		return err
	}
	text, group := c.text(1, i), c.group(i)
	if group == 0 {
		// This way gives no positions, and needs no memory for them.
		if match := pattern.FindString(text); match != "" || pattern.MatchString(text) {
			c.Out.SetText(i, match)
		}
		return nil
	}
	match := pattern.FindStringSubmatchIndex(text)
	if match == nil || group < 0 || group > pattern.NumSubexp() || match[2*group] < 0 {
		return nil
	}
	c.Out.SetText(i, text[match[2*group]:match[2*group+1]])
	return nil
}

func regexpExtractAll(c *Call, i int) error {
	pattern, err := c.compiledPattern(0, i)
	if err != nil {
		return err
	}
	text, group := c.text(1, i), c.group(i)
	if group < 0 || group > pattern.NumSubexp() {
		return nil
	}
	find := pattern.FindAllStringSubmatchIndex
	if group == 0 {
		find = pattern.FindAllStringIndex
	}
	matches := find(text, -1)
	child := c.Out.Children[0]
	start := child.Extend(len(matches))
	for n, match := range matches {
		if match[2*group] >= 0 {
			child.SetText(start+n, text[match[2*group]:match[2*group+1]])
		}
	}
	c.Out.SetSpan(i, start, len(matches))
	return nil
}

var errReplacement = errors.New("the replacement has a $ without a group of the pattern")

func regexpReplace(c *Call, i int) error {
	pattern, err := c.compiledPattern(1, i)
	if err != nil {
		return err
	}
	text, replacement := c.text(0, i), c.text(2, i)
	buf, last := c.begin(), 0
	for _, match := range pattern.FindAllStringSubmatchIndex(text, -1) {
		buf = append(buf, text[last:match[0]]...)
		if buf, err = appendReplacement(buf, text, match, replacement); err != nil {
			return err
		}
		last = match[1]
	}
	if last == 0 && len(buf) == 0 {
		c.Out.SetText(i, text)
		return nil
	}
	c.end(i, append(buf, text[last:]...))
	return nil
}

// appendReplacement follows Java's Matcher: $ and the digits of a group that
// exists, and a backslash makes the next character stand for itself.
func appendReplacement(buf []byte, text string, match []int, replacement string) ([]byte, error) {
	for at := 0; at < len(replacement); at++ {
		switch b := replacement[at]; b {
		case '\\':
			if at++; at == len(replacement) {
				return nil, errReplacement
			}
			buf = append(buf, replacement[at])
		case '$':
			at++
			group, digits := 0, 0
			for at < len(replacement) && replacement[at] >= '0' && replacement[at] <= '9' {
				next := group*10 + int(replacement[at]-'0')
				if digits > 0 && 2*next >= len(match) {
					break
				}
				group = next
				digits++
				at++
			}
			at--
			if digits == 0 || 2*group >= len(match) {
				return nil, errReplacement
			}
			if match[2*group] >= 0 {
				buf = append(buf, text[match[2*group]:match[2*group+1]]...)
			}
		default:
			buf = append(buf, b)
		}
	}
	return buf, nil
}

func regexpSplit(c *Call, i int) error {
	if c.text(1, i) == "" {
		c.setTexts(i, strings.Split(c.text(0, i), ""))
		return nil
	}
	pattern, err := c.compiledPattern(1, i)
	if err != nil {
		return err
	}
	c.setTexts(i, pattern.Split(c.text(0, i), -1))
	return nil
}
