package planner

import (
	"path/filepath"
	"strings"

	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// FileFormat is the form of a file that LOAD reads.
type FileFormat string

// The file formats.
const (
	JSONLines FileFormat = "JSON" // one object a line
	CSV       FileFormat = "CSV"  // a header line with the names, then a row a line (RFC 4180)
)

// Load is a planned LOAD: the rows of a file become records of a source.
type Load struct {
	File      string
	Source    *catalog.Source
	Format    FileFormat
	Delimiter rune // CSV
	// Timestamp is the column that holds each record's time; nil: rows of a
	// table are stamped 0, so that they are known before anything happens, and
	// those of a stream with the clock.
	Timestamp *catalog.TimestampColumn
}

// Load plans LOAD 'file' INTO source.
func (p *Planner) Load(s *ast.Load) (*Load, error) {
	source, err := p.target(s.Target, s.Position)
	if err != nil {
		return nil, err
	}
	if source.Window != nil {
		return nil, types.Unsupported("LOAD into a windowed source").At(s.Position)
	}
	ps, err := readProperties(s.Properties, []string{withFormat, "DELIMITER", withTimestamp, withTimeFormat})
	if err != nil {
		return nil, err
	}
	l := &Load{File: s.File, Source: source, Delimiter: ',', Timestamp: source.Timestamp}
	if l.Format, err = fileFormat(s, ps); err != nil {
		return nil, err
	}
	if text, at, ok := ps.text("DELIMITER"); ok {
		if text == "TAB" {
			text = "\t"
		}
		runes := []rune(text)
		if len(runes) != 1 || l.Format != CSV {
			return nil, types.Errorf(types.CodeProperty, "DELIMITER must be one character or TAB, and the file CSV").At(at)
		}
		l.Delimiter = runes[0]
	}
	if _, given := ps[withTimestamp]; given {
		if l.Timestamp, err = timestampColumn(ps, source); err != nil {
			return nil, err
		}
	}
	if l.Format == CSV {
		return l, checkFlat(source, s.Position)
	}
	return l, nil
}

func fileFormat(s *ast.Load, ps properties) (FileFormat, error) {
	if text, at, ok := ps.text(withFormat); ok {
		switch FileFormat(strings.ToUpper(text)) {
		case JSONLines:
			return JSONLines, nil
		case CSV:
			return CSV, nil
		}
		return "", types.Errorf(types.CodeProperty, "FORMAT must be JSON or CSV, not '%s'", text).At(at)
	}
	switch strings.ToLower(filepath.Ext(s.File)) {
	case ".json", ".jsonl", ".ndjson":
		return JSONLines, nil
	case ".csv", ".tsv":
		return CSV, nil
	}
	return "", types.Errorf(types.CodeProperty, "the name of '%s' does not tell its format", s.File).At(s.FilePosition).
		WithHint("add WITH (FORMAT='JSON') or WITH (FORMAT='CSV')")
}

func checkFlat(source *catalog.Source, at types.Position) error {
	for _, columns := range [][]catalog.Column{source.Key, source.Value} {
		for _, c := range columns {
			if c.Type.Nested() {
				return types.Errorf(types.CodeType, "column %s is %s, which a CSV file cannot hold", c.Name, c.Type).At(at).
					WithHint("use JSON lines")
			}
		}
	}
	return nil
}
