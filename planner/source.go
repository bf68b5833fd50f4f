package planner

import (
	"slices"
	"strconv"
	"strings"

	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// Declaration is what CREATE STREAM or TABLE over a topic declares.
type Declaration struct {
	Source *catalog.Source
	// Partitions and Replicas are given where the statement wants the topic
	// made if it is missing; 0 otherwise.
	Partitions, Replicas int
	Config               map[string]string
	// Exists says that the name is taken and IF NOT EXISTS was said: nothing is to be done.
	Exists bool
}

var headersType = types.ArrayOf(types.StructOf(
	types.Field{Name: "KEY", Type: types.String}, types.Field{Name: "VALUE", Type: types.Bytes}))

// reservedColumns are the pseudo columns, which no column may be called.
var reservedColumns = []string{"ROWTIME", "ROWPARTITION", "ROWOFFSET", "WINDOWSTART", "WINDOWEND"}

// Declare plans CREATE STREAM or TABLE over a topic.
func (p *Planner) Declare(s *ast.CreateSource, text string) (*Declaration, error) {
	if s.Global {
		return nil, types.Unsupported("CREATE GLOBAL TABLE").At(s.Position)
	}
	exists, err := p.checkNew(s)
	if err != nil || exists {
		return &Declaration{Exists: exists}, err
	}
	ps, err := readProperties(s.Properties, sourceProperties)
	if err != nil {
		return nil, err
	}
	source := &catalog.Source{Name: s.Name, Kind: catalog.Kind(s.Kind), ReadOnly: s.ReadOnly, Statement: text, Topic: s.Name}
	named := s.Position
	if topic, at, ok := ps.text(withTopic); ok {
		source.Topic, named = topic, at
	}
	if err := checkTopicName(source.Topic, named); err != nil {
		return nil, err
	}
	if err := p.declareColumns(source, s); err != nil {
		return nil, err
	}
	if err := p.declareFormats(source, s, ps); err != nil {
		return nil, err
	}
	if source.Kind == catalog.Table && len(source.Key) == 0 {
		return nil, types.Errorf(types.CodeKey, "table %s has no PRIMARY KEY", s.Name).At(s.Position).
			WithHint("mark the key column with PRIMARY KEY, or create a STREAM")
	}
	if err := declareWindow(source, s, ps); err != nil {
		return nil, err
	}
	if source.Timestamp, err = timestampColumn(ps, source); err != nil {
		return nil, err
	}
	if old, replaced := p.Catalog.Source(s.Name); replaced {
		if err := checkReplacement(old, source, s.Position); err != nil {
			return nil, err
		}
	}
	return p.declareTopic(source, ps)
}

func (p *Planner) declareTopic(source *catalog.Source, ps properties) (*Declaration, error) {
	config, err := ps.topicConfig()
	if err != nil {
		return nil, err
	}
	partitions, _, err := ps.number(withPartitions, 1)
	if err != nil {
		return nil, err
	}
	replicas, _, err := ps.number(withReplicas, 1)
	if err != nil {
		return nil, err
	}
	return &Declaration{Source: source, Partitions: int(partitions), Replicas: int(replicas), Config: config}, nil
}

// checkNew refuses a name that is taken, unless the statement allows for it.
func (p *Planner) checkNew(s *ast.CreateSource) (exists bool, err error) {
	if s.OrReplace && s.ReadOnly {
		return false, types.Errorf(types.CodeStatement, "CREATE OR REPLACE is not for a SOURCE %s", strings.ToLower(string(s.Kind))).At(s.Position)
	}
	old, taken := p.Catalog.Source(s.Name)
	if !taken {
		return false, nil
	}
	switch {
	case s.IfNotExists:
		return true, nil
	case !s.OrReplace:
		return false, types.Errorf(types.CodeStatement, "a %s called %s exists already", strings.ToLower(string(old.Kind)), s.Name).
			At(s.Position).WithHint("use CREATE OR REPLACE, IF NOT EXISTS, or drop it first")
	case old.ReadOnly:
		return false, types.Errorf(types.CodeStatement, "a SOURCE %s cannot be replaced", strings.ToLower(string(old.Kind))).At(s.Position)
	case string(old.Kind) != string(s.Kind):
		return false, types.Errorf(types.CodeStatement, "%s is a %s and cannot become a %s", s.Name,
			strings.ToLower(string(old.Kind)), strings.ToLower(string(s.Kind))).At(s.Position)
	case s.Query == nil && old.CreatedBy != "":
		return false, types.Errorf(types.CodeStatement, "%s is filled by a query and cannot be replaced by a declaration", s.Name).At(s.Position).
			WithHint("use CREATE OR REPLACE %s %s AS SELECT, or drop it first", old.Kind, s.Name)
	case s.Query != nil && old.CreatedBy == "":
		return false, types.Errorf(types.CodeStatement, "%s is declared over a topic and cannot be replaced by a query", s.Name).At(s.Position).
			WithHint("drop it first")
	}
	return false, nil
}

func (p *Planner) declareColumns(source *catalog.Source, s *ast.CreateSource) error {
	seen := map[string]bool{}
	for _, c := range s.Columns {
		if slices.Contains(reservedColumns, c.Name) {
			return types.Errorf(types.CodeName, "%s is a pseudo column and cannot be declared", c.Name).At(c.Position)
		}
		if seen[c.Name] {
			return types.Errorf(types.CodeName, "column %s is declared twice", c.Name).At(c.Position)
		}
		seen[c.Name] = true
		t, err := p.ResolveType(c.Type)
		if err != nil {
			return err
		}
		if err := declareColumn(source, c, t); err != nil {
			return err
		}
	}
	return nil
}

func declareColumn(source *catalog.Source, c ast.ColumnDefinition, t *types.Type) error {
	switch c.Role {
	case ast.KeyColumn, ast.PrimaryKey:
		table := source.Kind == catalog.Table
		if table != (c.Role == ast.PrimaryKey) {
			right, wrong := "KEY", "PRIMARY KEY"
			if table {
				right, wrong = wrong, right
			}
			return types.Errorf(types.CodeKey, "a %s has %s columns, not %s", strings.ToLower(string(source.Kind)), right, wrong).At(c.Position)
		}
		if t.Contains(func(t *types.Type) bool { return t.Kind == types.KindMap }) {
			return types.Errorf(types.CodeKey, "key column %s has the type %s; a MAP cannot be in a key", c.Name, t).At(c.Position)
		}
		source.Key = append(source.Key, catalog.Column{Name: c.Name, Type: t})
	case ast.HeadersColumn, ast.HeaderColumn:
		want := headersType
		if c.Role == ast.HeaderColumn {
			want = types.Bytes
		}
		if !types.Equal(t, want) {
			return types.Errorf(types.CodeType, "header column %s must have the type %s, not %s", c.Name, want, t).At(c.Position)
		}
		for _, h := range source.Headers {
			if (h.Key == "") != (c.Header == "") || h.Key == c.Header {
				return types.Errorf(types.CodeName, "column %s: the same headers are declared twice", c.Name).At(c.Position)
			}
		}
		source.Headers = append(source.Headers, catalog.HeaderColumn{Name: c.Name, Type: t, Key: c.Header})
	default:
		source.Value = append(source.Value, catalog.Column{Name: c.Name, Type: t})
	}
	return nil
}

// windowUnits are the names of Java's time units, as WINDOW_SIZE has them.
var windowUnits = map[string]int64{
	"MILLISECOND": 1, "SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000,
}

func declareWindow(source *catalog.Source, s *ast.CreateSource, ps properties) error {
	kind, at, ok := ps.text(withWindowType)
	size, sizeAt, sized := ps.text(withWindowSize)
	if !ok {
		if sized {
			return types.Errorf(types.CodeProperty, "WINDOW_SIZE needs a WINDOW_TYPE").At(sizeAt)
		}
		return nil
	}
	window := &catalog.KeyWindow{Kind: catalog.WindowKind(strings.ToUpper(kind))}
	switch window.Kind {
	case catalog.Session:
		if sized {
			return types.Errorf(types.CodeProperty, "WINDOW_SIZE is not for SESSION windows").At(sizeAt)
		}
	case catalog.Tumbling, catalog.Hopping, catalog.Sliding:
		if !sized {
			return types.Errorf(types.CodeProperty, "a %s window needs a WINDOW_SIZE", window.Kind).At(at)
		}
		ms, ok := windowSize(size)
		if !ok {
			return types.Errorf(types.CodeProperty, "WINDOW_SIZE must be a number and a unit such as '30 SECONDS', not '%s'", size).At(sizeAt)
		}
		window.Size = ms
	default:
		return types.Errorf(types.CodeProperty, "WINDOW_TYPE must be TUMBLING, HOPPING, SLIDING or SESSION, not '%s'", kind).At(at)
	}
	if len(source.Key) == 0 {
		return types.Errorf(types.CodeKey, "windowed %s %s has no key column", strings.ToLower(string(s.Kind)), s.Name).At(s.Position)
	}
	source.Window = window
	return nil
}

func windowSize(text string) (int64, bool) {
	number, unit, ok := strings.Cut(strings.TrimSpace(text), " ")
	n, err := strconv.ParseInt(number, 10, 64)
	ms, known := windowUnits[strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(unit)), "S")]
	if !ok || err != nil || !known || n <= 0 || n > 1<<53/ms {
		return 0, false
	}
	return n * ms, true
}

// timestampColumn reads WITH(TIMESTAMP=.., TIMESTAMP_FORMAT=..).
func timestampColumn(ps properties, source *catalog.Source) (*catalog.TimestampColumn, error) {
	name, at, ok := ps.text(withTimestamp)
	layout, layoutAt, formatted := ps.text(withTimeFormat)
	if !ok {
		if formatted {
			return nil, types.Errorf(types.CodeProperty, "TIMESTAMP_FORMAT needs a TIMESTAMP column").At(layoutAt)
		}
		return nil, nil
	}
	upper := strings.ToUpper(name)
	t, _, found := source.Column(upper)
	if !found {
		upper = strings.Trim(name, "`")
		t, _, found = source.Column(upper)
	}
	if !found {
		return nil, types.Errorf(types.CodeName, "the TIMESTAMP column %s does not exist", name).At(at).WithHint(
			"the columns are %s", columnList(source))
	}
	switch {
	case t.Kind == types.KindBigint || t.Kind == types.KindTimestamp:
		if formatted {
			return nil, types.Errorf(types.CodeProperty, "TIMESTAMP_FORMAT is for a STRING column; %s is %s", upper, t).At(layoutAt)
		}
	case t.Kind == types.KindString:
		if !formatted {
			return nil, types.Errorf(types.CodeProperty, "the TIMESTAMP column %s is a STRING and needs a TIMESTAMP_FORMAT", upper).At(at)
		}
	default:
		return nil, types.Errorf(types.CodeType, "the TIMESTAMP column %s is %s; it must be BIGINT, TIMESTAMP or STRING", upper, t).At(at)
	}
	return &catalog.TimestampColumn{Column: upper, Format: layout}, nil
}

func columnList(source *catalog.Source) string {
	var names []string
	for _, c := range source.Key {
		names = append(names, c.Name)
	}
	for _, c := range source.Value {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}
