package planner

import (
	"strconv"
	"strings"
)

// Counted is a number of things as text, such as "1 row", "2 rows" and
// "2 queries".
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, ok := strings.CutSuffix(thing, "ry"); ok {
		return strconv.Itoa(n) + " " + stem + "ries"
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
