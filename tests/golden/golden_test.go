// Package golden runs the golden tests that lie below it, one a folder. Their
// form is described in docs/testing.md.
package golden

import (
	"flag"
	"testing"

	"millrace/exec/replay"
)

var update = flag.Bool("update", false, "write the expected files anew")

func TestGolden(t *testing.T) {
	directories, err := replay.FindGoldens(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, directory := range directories {
		t.Run(directory, func(t *testing.T) {
			verdict, err := replay.RunGolden(t.Context(), directory, *update)
			if err != nil {
				t.Fatal(err)
			}
			if verdict.Differences != "" {
				t.Error("\n" + verdict.Differences)
			}
		})
	}
}
