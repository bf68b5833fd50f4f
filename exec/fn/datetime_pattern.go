package fn

import (
	"errors"
	"fmt"
	"strings"
)

// datePattern is a compiled pattern of Java's DateTimeFormatter. Letters that
// it knows: G u y Y M L w W d D F Q q E e c a H h K k m s S n N A z V X x Z O,
// text in quotes, other characters for themselves, and [ ] around optional parts.
// Month and day names are English. Texts are read without regard to case.
type datePattern struct{ parts []patternPart }

type patternPart struct {
	letter   byte // 0: text or optional
	count    int
	text     string
	optional []patternPart
}

var errPattern = errors.New("bad date pattern")

// patternLetters are the letters with how many of each may stand in a row.
var patternLetters = map[byte]int{
	'G': 5, 'u': 19, 'y': 19, 'Y': 19, 'M': 5, 'L': 5, 'w': 2, 'W': 1, 'd': 2, 'D': 3, 'F': 1, 'Q': 5, 'q': 5,
	'E': 5, 'e': 5, 'c': 5, 'a': 1, 'H': 2, 'h': 2, 'K': 2, 'k': 2, 'm': 2, 's': 2, 'S': 9, 'n': 19, 'N': 19, 'A': 19,
	'z': 4, 'V': 2, 'X': 5, 'x': 5, 'Z': 5, 'O': 4,
}

// maxPatternDepth bounds optional parts inside each other.
const maxPatternDepth = 16

func compileDatePattern(text string) (*datePattern, error) {
	c := &patternCompiler{text: text}
	parts, err := c.parts(0)
	if err != nil {
		return nil, fmt.Errorf("'%s': %w", text, err)
	}
	return &datePattern{parts: parts}, nil
}

type patternCompiler struct {
	text string
	at   int
}

func (c *patternCompiler) parts(depth int) ([]patternPart, error) {
	var parts []patternPart
	for c.at < len(c.text) {
		b := c.text[c.at]
		switch {
		case b == '\'':
			text, err := c.quoted()
			if err != nil {
				return nil, err
			}
			parts = append(parts, patternPart{text: text})
		case b == '[':
			inner, err := c.optional(depth)
			if err != nil {
				return nil, err
			}
			parts = append(parts, patternPart{optional: inner})
		case b == ']':
			if depth == 0 {
				return nil, fmt.Errorf("%w: ] without [", errPattern)
			}
			c.at++
			return parts, nil
		case b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z':
			part, err := c.letters(b)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		case b == '{' || b == '}' || b == '#':
			return nil, fmt.Errorf("%w: %c is reserved", errPattern, b)
		default:
			parts = append(parts, patternPart{text: string(b)})
			c.at++
		}
	}
	return parts, nil
}

func (c *patternCompiler) optional(depth int) ([]patternPart, error) {
	c.at++
	if depth == maxPatternDepth {
		return nil, fmt.Errorf("%w: optional parts too deep", errPattern)
	}
	return c.parts(depth + 1)
}

func (c *patternCompiler) letters(b byte) (patternPart, error) {
	count := 0
	for c.at < len(c.text) && c.text[c.at] == b {
		c.at++
		count++
	}
	most, known := patternLetters[b]
	switch {
	case !known:
		return patternPart{}, fmt.Errorf("%w: unknown letter %c", errPattern, b)
	case count > most:
		return patternPart{}, fmt.Errorf("%w: too many %c", errPattern, b)
	case b == 'V' && count != 2, b == 'c' && count == 2, b == 'O' && count != 1 && count != 4:
		return patternPart{}, fmt.Errorf("%w: %c cannot stand %d times", errPattern, b, count)
	}
	return patternPart{letter: b, count: count}, nil
}

func (c *patternCompiler) quoted() (string, error) {
	var text strings.Builder
	start := c.at
	for c.at++; c.at < len(c.text); c.at++ {
		if c.text[c.at] != '\'' {
			text.WriteByte(c.text[c.at])
			continue
		}
		if c.at+1 < len(c.text) && c.text[c.at+1] == '\'' && c.at > start+1 {
			text.WriteByte('\'')
			c.at++
			continue
		}
		c.at++
		if c.at == start+2 {
			return "'", nil
		}
		return text.String(), nil
	}
	return "", fmt.Errorf("%w: quote without end", errPattern)
}

// fixedWidth is the number of digits that a part always has when read, or 0.
func (p patternPart) fixedWidth() int {
	switch p.letter {
	case 'W', 'F':
		return 1
	case 'e', 'c':
		if p.count <= 2 {
			return p.count
		}
	case 'u', 'y', 'Y', 'M', 'L', 'w', 'd', 'H', 'h', 'K', 'k', 'm', 's':
		if p.count == 2 {
			return 2
		}
	case 'D':
		if p.count == 3 {
			return 3
		}
	case 'S':
		return p.count
	}
	return 0
}
