// Package arch holds the rules of the source tree: who may import whom, and
// that the documents name files that exist.
package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// root is the module's folder, seen from this package.
const root = "../.."

// allowed is the table of docs/architecture.md: each package with the packages
// of the project that its code may import. Tests may import more.
var allowed = map[string][]string{
	"sql/types":                    {},
	"sql/token":                    {"sql/types"},
	"sql/ast":                      {"sql/types"},
	"sql/parser":                   {"sql/types", "sql/token", "sql/ast"},
	"exec/column":                  {"sql/types"},
	"exec/fn":                      {"sql/types", "exec/column"},
	"exec/expr":                    {"sql/types", "exec/column", "exec/fn"},
	"exec/window":                  {"sql/types"},
	"planner/catalog":              {"sql/types"},
	"planner/plan":                 {"sql/types", "exec/expr", "planner/catalog"},
	"planner":                      {"sql/types", "sql/ast", "exec/column", "exec/fn", "exec/expr", "planner/catalog", "planner/plan"},
	"state":                        {"sql/types", "exec/column"},
	"state/badger":                 {"state"},
	"state/memory":                 {"state"},
	"state/conformance":            {"state"},
	"kafkaio":                      {},
	"kafkaio/client":               {"kafkaio"},
	"kafkaio/memory":               {"kafkaio"},
	"kafkaio/embedded":             {"kafkaio"},
	"kafkaio/conformance":          {"kafkaio"},
	"kafkaio/registry":             {},
	"kafkaio/registry/client":      {"kafkaio/registry"},
	"kafkaio/registry/conformance": {"kafkaio/registry"},
	"kafkaio/registry/directory":   {"kafkaio/registry"},
	"kafkaio/format":               {"sql/types", "exec/column", "kafkaio/registry"},
	"exec/op":                      {"sql/types", "exec/column", "exec/fn", "exec/expr", "exec/window", "planner/catalog", "planner/plan", "state"},
	"exec/task": {
		"sql/types", "exec/column", "exec/fn", "exec/expr", "exec/op", "planner/catalog", "planner/plan", "state",
		"kafkaio", "kafkaio/format", "kafkaio/registry",
	},
	"exec": {"sql/types", "exec/task", "planner/plan", "state", "kafkaio", "kafkaio/registry"},
	"exec/session": {
		"sql/types", "sql/token", "sql/ast", "sql/parser", "exec/column", "exec/fn", "exec/expr", "planner", "planner/catalog",
		"planner/plan", "kafkaio", "kafkaio/format", "kafkaio/registry",
	},
	"exec/replay": {
		"sql/types", "exec", "exec/session", "exec/task", "planner/catalog", "planner/plan", "kafkaio", "kafkaio/memory", "kafkaio/format", "kafkaio/registry",
	},
}

// imports gives the project's packages that each package's code imports.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && path != root) {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		name := filepath.ToSlash(relative)
		for _, spec := range file.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			found[name] = append(found[name], target)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestImportsPointOneWay(t *testing.T) {
	for name, targets := range imports(t) {
		if strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "tests") {
			continue
		}
		may, listed := allowed[name]
		if !listed {
			t.Errorf("package %s is not in the table", name)
			continue
		}
		for _, target := range targets {
			inner, ours := strings.CutPrefix(target, "millrace/")
			if ours && !slices.Contains(may, inner) {
				t.Errorf("package %s must not import %s", name, inner)
			}
		}
	}
}

// confined are outside packages that only one of ours may import, so that
// their types stay behind a port.
var confined = map[string][]string{
	"github.com/pingcap/tidb/pkg/parser":     {"sql/parser"},
	"github.com/pingcap/tidb/pkg/parser/ast": {"sql/parser", "sql/ast", "planner"},
	"github.com/dgraph-io/badger":            {"state/badger"},
	"github.com/segmentio/kafka-go":          {"kafkaio/client"},
	"github.com/twmb/franz-go/pkg/kfake":     {"kafkaio/embedded"},
	"github.com/twmb/franz-go/pkg/kgo":       {"tests/kafka/reader"},
	"github.com/chzyer/readline":             {"cmd/millrace"},
}

func TestOutsidePackagesStayBehindTheirPorts(t *testing.T) {
	for name, targets := range imports(t) {
		for _, target := range targets {
			owners, ok := confined[target]
			if !ok {
				for prefix, o := range confined {
					if strings.HasPrefix(target, prefix+"/") && confined[target] == nil && !strings.Contains(prefix, "tidb") {
						owners, ok = o, true
					}
				}
			}
			if ok && !slices.Contains(owners, name) && !strings.HasPrefix(name, "tests/") {
				t.Errorf("package %s must not import %s; only %s may", name, target, strings.Join(owners, ", "))
			}
		}
	}
}

func TestTopLevelIsFixed(t *testing.T) {
	want := []string{"LICENSE", "README.md", "cmd", "docs", "exec", "go.mod", "go.sum", "kafkaio", "planner", "sql", "state", "tests"}
	entries, err := filepath.Glob(root + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range entries {
		name := filepath.Base(path)
		artifact := name == "millrace" || filepath.Ext(name) == ".test" || filepath.Ext(name) == ".out"
		if !strings.HasPrefix(name, ".") && !artifact && !slices.Contains(want, name) {
			t.Errorf("%s does not belong at the top level", name)
		}
	}
}
