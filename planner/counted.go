package planner

import "strconv"

// Counted is a number of things as text, such as "1 row" and "2 rows".
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
