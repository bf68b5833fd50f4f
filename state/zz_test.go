package state_test
import ("testing";"fmt";"slices";"os";"strconv";"time"
"millrace/state")
func TestZZ(t *testing.T) {
	distinct, _ := strconv.Atoi(os.Getenv("ZN"))
	task, _ := state.Open(state.Options{})
	table := task.AddStore("s", state.Layout{Fixed: 32}, false).Table(0)
	batches := keyBatches(distinct, 1000)
	rows := make([]state.Row, batchRows)
	var keys state.Keys
	m := map[string]int32{}
	type agg struct{ c [4]uint64 }
	var cells []agg
	mapStep := func(i int) {
		refill(&keys, batches[i%len(batches)])
		for n := range keys.Len() {
			row, ok := m[string(keys.Key(n))]
			if !ok { row = int32(len(cells)); m[string(keys.Key(n))] = row; cells = append(cells, agg{}) }
			cells[row].c[0]++; cells[row].c[1] += uint64(row)
		}
	}
	find := func(i int) { refill(&keys, batches[i%len(batches)]); table.FindOrAdd(&keys, nil, rows) }
	upd := func(i int) { refill(&keys, batches[i%len(batches)]); update(table, &keys, rows); if i%200==199 { task.Commit() } }
	fill := func(i int) { refill(&keys, batches[i%len(batches)]) }
	alts := []func(int){mapStep, find, upd, fill}
	names := []string{"map", "find", "update", "fill"}
	for _, a := range alts { for i := range 1000 { a(i) } }
	res := make([][]float64, 4)
	for round := range 15 {
		for k, a := range alts {
			s := processTime()
			for i := range 200 { a(round*200 + i) }
			res[k] = append(res[k], float64(processTime()-s)/200/batchRows)
		}
	}
	_ = time.Now
	for k := range res { slices.Sort(res[k]); fmt.Printf("%s %d: min %.1f med %.1f\n", names[k], distinct, res[k][0], res[k][7]) }
}
