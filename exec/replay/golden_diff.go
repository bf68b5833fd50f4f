package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// diffLine is a line that is compared by its text, which is the same for
// records that are the same, and shown as it is.
type diffLine struct {
	topic     string
	text      string
	shown     string
	number    int // in its file; 0: it has none
	timestamp int64
	window    *Window
}

func newDiffLine(r Output, number int) diffLine {
	shown := recordLine(r)
	return diffLine{topic: r.Topic, text: canonical(shown), shown: shown, number: number, timestamp: r.Timestamp, window: r.Window}
}

// canonical is JSON with its fields sorted and its numbers as they were.
func canonical(text string) string {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return text
	}
	out, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return string(out)
}

const (
	diffContext = 2   // equal lines around a difference
	mostShown   = 60  // lines of a diff
	longestLine = 400 // bytes of a line that are shown
)

// step is a line of a diff: kept (' '), missing ('-') or additional ('+').
type step struct {
	mark byte
	line diffLine
}

// diffLines is the difference of two lists of lines, empty if there is none.
// Lines that are missing have the number that they have in their file.
func diffLines(want, got []diffLine) string {
	steps := edits(want, got)
	near := make([]bool, len(steps)) // to a difference
	different := false
	for i, s := range steps {
		if s.mark == ' ' {
			continue
		}
		different = true
		for j := max(0, i-diffContext); j <= min(len(steps)-1, i+diffContext); j++ {
			near[j] = true
		}
	}
	if !different {
		return ""
	}
	return render(steps, near)
}

func render(steps []step, near []bool) string {
	var out strings.Builder
	shown, hidden, gap := 0, 0, false
	for i, s := range steps {
		if !near[i] {
			gap = shown > 0
			continue
		}
		if shown >= mostShown {
			hidden++
			continue
		}
		if gap {
			out.WriteString("  ...\n")
			gap = false
		}
		shown++
		number := ""
		if s.line.number > 0 {
			number = fmt.Sprint(s.line.number)
		}
		fmt.Fprintf(&out, "%c %5s  %s\n", s.mark, number, shorten(s.line.shown))
	}
	if hidden > 0 {
		fmt.Fprintf(&out, "  and %d lines more\n", hidden)
	}
	return out.String()
}

func shorten(text string) string {
	if len(text) <= longestLine {
		return text
	}
	return strings.ToValidUTF8(text[:longestLine], "") + fmt.Sprintf(".. (%d bytes)", len(text))
}

// mostCells bounds the table of the longest common subsequence.
const mostCells = 4 << 20

// edits turns want into got with few steps: what both begin and end with is
// kept, and of the middle the longest common subsequence.
func edits(want, got []diffLine) []step {
	var head, tail []step
	for len(want) > 0 && len(got) > 0 && want[0].text == got[0].text {
		head = append(head, step{' ', want[0]})
		want, got = want[1:], got[1:]
	}
	for len(want) > 0 && len(got) > 0 && want[len(want)-1].text == got[len(got)-1].text {
		tail = append(tail, step{' ', want[len(want)-1]})
		want, got = want[:len(want)-1], got[:len(got)-1]
	}
	head = append(head, middle(want, got)...)
	for i := len(tail) - 1; i >= 0; i-- {
		head = append(head, tail[i])
	}
	return head
}

func middle(want, got []diffLine) []step {
	var steps []step
	i, j := 0, 0
	if len(want)*len(got) <= mostCells {
		common := commonLengths(want, got)
		for i < len(want) && j < len(got) {
			switch {
			case want[i].text == got[j].text:
				steps = append(steps, step{' ', want[i]})
				i, j = i+1, j+1
			case common[i+1][j] >= common[i][j+1]:
				steps = append(steps, step{'-', want[i]})
				i++
			default:
				steps = append(steps, step{'+', got[j]})
				j++
			}
		}
	}
	for ; i < len(want); i++ {
		steps = append(steps, step{'-', want[i]})
	}
	for ; j < len(got); j++ {
		steps = append(steps, step{'+', got[j]})
	}
	return steps
}

// commonLengths holds, for each pair of suffixes, how many lines they have in
// common in order.
func commonLengths(want, got []diffLine) [][]int32 {
	lengths := make([][]int32, len(want)+1)
	for i := range lengths {
		lengths[i] = make([]int32, len(got)+1)
	}
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(got) - 1; j >= 0; j-- {
			if want[i].text == got[j].text {
				lengths[i][j] = lengths[i+1][j+1] + 1
			} else {
				lengths[i][j] = max(lengths[i+1][j], lengths[i][j+1])
			}
		}
	}
	return lengths
}
