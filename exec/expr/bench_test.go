package expr

import (
	"math/rand/v2"
	"testing"

	"millrace/exec/column"
)

func benchmarkBatch() *column.Batch {
	b := randomBatch(rand.New(rand.NewPCG(3, 4)), column.MaxRows)
	b.SelectAll()
	return b
}

func benchmarkKernel(b *testing.B, text string) {
	e := benchmarkExpr(b, text)
	kernel, err := Compile(e, nil)
	if err != nil {
		b.Fatal(err)
	}
	batch := benchmarkBatch()
	b.ReportAllocs()
	for b.Loop() {
		batch.Arena.Reset()
		kernel.Eval(batch, batch.Selection)
	}
	reportRows(b)
}

func benchmarkExpr(b *testing.B, text string) Expr {
	byName := map[string]*Column{}
	for _, c := range testColumns {
		byName[c.Name] = c
	}
	e, err := parseTest(text, byName, false)
	if err != nil {
		b.Fatal(err)
	}
	return e
}

func reportRows(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/column.MaxRows, "ns/row")
}

func BenchmarkFilter(b *testing.B) {
	predicate, err := CompilePredicate(benchmarkExpr(b, "B > 0 AND S = 'abc'"), nil)
	if err != nil {
		b.Fatal(err)
	}
	batch := benchmarkBatch()
	selection := make([]int32, batch.Len)
	b.ReportAllocs()
	for b.Loop() {
		copy(selection, batch.Selection)
		predicate.Narrow(batch, selection)
	}
	reportRows(b)
}

func BenchmarkDouble(b *testing.B)     { benchmarkKernel(b, "D * 1.2e0") }
func BenchmarkBigint(b *testing.B)     { benchmarkKernel(b, "B + I * 2") }
func BenchmarkDecimal(b *testing.B)    { benchmarkKernel(b, "N * 2 + N") }
func BenchmarkUpper(b *testing.B)      { benchmarkKernel(b, "UCASE(S)") }
func BenchmarkConcat(b *testing.B)     { benchmarkKernel(b, "S || U") }
func BenchmarkCase(b *testing.B)       { benchmarkKernel(b, "CASE WHEN I > 0 THEN S ELSE U END") }
func BenchmarkCastToText(b *testing.B) { benchmarkKernel(b, "CAST(B AS STRING)") }
func BenchmarkFormat(b *testing.B)     { benchmarkKernel(b, "FORMAT_TIMESTAMP(T, 'yyyy-MM-dd HH:mm')") }
func BenchmarkRegexp(b *testing.B)     { benchmarkKernel(b, "REGEXP_EXTRACT('(\\w)b', S, 1)") }
