package client

import (
	"errors"
	"strings"
	"testing"

	"millrace/kafkaio"
)

func TestErrorTexts(t *testing.T) {
	for _, c := range []struct {
		err   *codeError
		text  string
		means error
	}{
		{&codeError{code: codeUnknown}, "whether its disk is full (code -1)", nil},
		{&codeError{code: codeUnknown, message: "no room"}, "(code -1): no room", nil},
		{&codeError{code: codeMessageTooLarge}, kafkaio.ErrRecordTooLarge.Error() + ": Message Size Too Large (code 10)", kafkaio.ErrRecordTooLarge},
	} {
		if text := c.err.Error(); !strings.Contains(text, c.text) {
			t.Errorf("%s, want %s", text, c.text)
		}
		if c.means != nil && !errors.Is(c.err, c.means) {
			t.Errorf("%v is no %v", c.err, c.means)
		}
	}
}
