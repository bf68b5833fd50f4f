// Table prints what a record costs in the process, without a broker: medians
// and ranges of some rounds. "quiet CPU" is the CPU time on a quiet machine as
// a yardstick of the same round tells it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"slices"
	"strings"

	"millrace/tests/bench"
)

func main() {
	rounds := flag.Int("rounds", 5, "rounds of each work")
	records := flag.Int("records", 2*bench.CommitRecords, "records a round")
	only := flag.String("only", "", "works whose names hold this text")
	rows := flag.Int("batch", 0, "rows a batch; 0: 1, 100 and 1000")
	framed := flag.Bool("framed", false, "put output into record batches")
	profile := flag.String("cpuprofile", "", "write a profile to this file")
	flag.Parse()
	sizes := []int{1, 100, 1000}
	if *rows > 0 {
		sizes = []int{*rows}
	}
	if err := run(*rounds, *records, *only, sizes, *framed, *profile); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// row is a work at a batch size with its figures a record, one a round.
type row struct {
	name     string
	pipeline *bench.Pipeline
	cpu      []float64
	quiet    []float64 // CPU by the yardstick's
	wall     []float64
	allocs   float64
	bytes    float64
}

func run(rounds, records int, only string, sizes []int, framed bool, profile string) error {
	ctx := context.Background()
	fmt.Printf("%-40s %8s %15s %10s %8s %8s %8s\n", "work", "CPU ns", "range", "quiet CPU", "wall ns", "allocs", "bytes")
	for _, w := range bench.Works() {
		if !strings.Contains(w.Name, only) {
			continue
		}
		var rows []*row
		for _, size := range sizes {
			p, err := bench.New(ctx, w, bench.Options{BatchRows: size, Framed: framed})
			if err != nil {
				return err
			}
			rows = append(rows, &row{name: fmt.Sprintf("%s/batch=%d", w.Name, size), pipeline: p})
		}
		if err := measure(ctx, rows, rounds, records, profile); err != nil {
			return err
		}
		for _, r := range rows {
			slices.Sort(r.cpu)
			slices.Sort(r.wall)
			slices.Sort(r.quiet)
			fmt.Printf("%-40s %8.0f %7.0f %7.0f %10.0f %8.0f %8.4f %8.1f\n", r.name, r.cpu[len(r.cpu)/2], r.cpu[0], r.cpu[len(r.cpu)-1],
				r.quiet[len(r.quiet)/2], r.wall[len(r.wall)/2], r.allocs, r.bytes)
			if err := r.pipeline.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

func measure(ctx context.Context, rows []*row, rounds, records int, profile string) error {
	for _, r := range rows {
		if err := push(ctx, r.pipeline, bench.CommitRecords); err != nil {
			return err
		}
	}
	if profile != "" {
		file, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	for range rounds {
		for _, r := range rows {
			yardstick, err := bench.Yardstick()
			if err != nil {
				return err
			}
			before := bench.Now()
			if err := push(ctx, r.pipeline, records); err != nil {
				return err
			}
			after, n := bench.Now(), float64(records)
			r.cpu = append(r.cpu, float64(after.CPU-before.CPU)/n)
			r.quiet = append(r.quiet, r.cpu[len(r.cpu)-1]*bench.QuietYardstick/yardstick)
			r.wall = append(r.wall, float64(after.Wall.Sub(before.Wall))/n)
			r.allocs = float64(after.Allocs-before.Allocs) / n
			r.bytes = float64(after.Bytes-before.Bytes) / n
		}
	}
	return nil
}

func push(ctx context.Context, p *bench.Pipeline, records int) error {
	for done := 0; done < records; {
		n, err := p.Push(ctx)
		if err != nil {
			return err
		}
		done += n
	}
	return nil
}
