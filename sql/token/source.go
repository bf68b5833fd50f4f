package token

import (
	"slices"
	"strings"
	"unicode/utf8"

	"millrace/sql/types"
)

// blockSize is the distance in bytes of the places whose character count is
// kept, which bounds the work of a position in a very long line.
const blockSize = 1024

// Source is a text with an index of its lines. It does not change and may be
// shared between goroutines.
type Source struct {
	Text       string
	lineStarts []int
	// characters[i] counts those that start before byte i*blockSize; nil when
	// every character is one byte.
	characters []int
}

// NewSource indexes text.
func NewSource(text string) *Source {
	s := &Source{Text: text, lineStarts: []int{0}}
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		s.lineStarts = append(s.lineStarts, at)
	}
	if utf8.RuneCountInString(text) != len(text) {
		s.countCharacters()
	}
	return s
}

func (s *Source) countCharacters() {
	count := 0
	for offset := range s.Text {
		for offset >= len(s.characters)*blockSize {
			s.characters = append(s.characters, count)
		}
		count++
	}
}

// charactersBefore counts the characters that start before offset.
func (s *Source) charactersBefore(offset int) int {
	if s.characters == nil {
		return offset
	}
	block := min(offset/blockSize, len(s.characters)-1)
	start := block * blockSize
	for start < offset && start > 0 && !utf8.RuneStart(s.Text[start]) {
		start++
	}
	return s.characters[block] + utf8.RuneCountInString(s.Text[start:offset])
}

// Position is the place of a byte offset. Offsets past the end mean the end.
func (s *Source) Position(offset int) types.Position {
	offset = max(0, min(offset, len(s.Text)))
	line, found := slices.BinarySearch(s.lineStarts, offset)
	if !found {
		line--
	}
	column := s.charactersBefore(offset) - s.charactersBefore(s.lineStarts[line])
	return types.Position{Offset: offset, Line: line + 1, Column: column + 1}
}

// Errorf makes a syntax error at a byte offset.
func (s *Source) Errorf(offset int, format string, args ...any) *types.Error {
	return types.Errorf(types.CodeSyntax, format, args...).At(s.Position(offset))
}
