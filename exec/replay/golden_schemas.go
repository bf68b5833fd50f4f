package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// schemasFolder holds the schemas that a registry has before a test's statements
// run: TOPIC-key and TOPIC-value with the ending of their language. Other .proto
// files are what these import.
const schemasFolder = "schemas"

// schemaFormats are the formats of schemas by the ending of their files.
var schemaFormats = map[string]string{".avsc": "AVRO", ".proto": "PROTOBUF", ".json": "JSON_SR"}

// schemaFile is a schema and whose it is.
type schemaFile struct {
	topic, format string
	key           bool
	text          json.RawMessage
}

// readSchemas adds the schemas of the folder to the topics of the test.
func (g *golden) readSchemas() error {
	folder := filepath.Join(g.directory, schemasFolder)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var files []schemaFile
	var imports []Reference
	for _, entry := range entries {
		extension := filepath.Ext(entry.Name())
		format, ok := schemaFormats[extension]
		if !ok {
			return fmt.Errorf("%s: a schema's file ends in .avsc, .proto or .json", filepath.Join(folder, entry.Name()))
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return err
		}
		raw := json.RawMessage(text)
		if format == "PROTOBUF" {
			raw = textJSON(text)
		} else if !json.Valid(text) {
			return fmt.Errorf("%s is no JSON", filepath.Join(folder, entry.Name()))
		}
		subject := strings.TrimSuffix(entry.Name(), extension)
		topic, key := strings.CutSuffix(subject, "-key")
		topic, value := strings.CutSuffix(topic, "-value")
		switch {
		case key || value:
			files = append(files, schemaFile{topic, format, key, raw})
		case format == "PROTOBUF":
			imports = append(imports, Reference{Name: entry.Name(), Schema: raw})
		default:
			return fmt.Errorf("%s: the file of a schema is called TOPIC-key%s or TOPIC-value%s", filepath.Join(folder, entry.Name()), extension, extension)
		}
	}
	for _, file := range files {
		g.addSchema(file, imports)
	}
	return nil
}

func (g *golden) addSchema(file schemaFile, imports []Reference) {
	t := g.topic(file.topic)
	if file.format != "PROTOBUF" {
		imports = nil
	}
	if file.key {
		t.KeyFormat, t.KeySchema, t.KeySchemaReferences = file.format, file.text, imports
	} else {
		t.ValueFormat, t.ValueSchema, t.ValueSchemaReferences = file.format, file.text, imports
	}
}

// topic is the recorded topic of a name, which is added where there is none.
func (g *golden) topic(name string) *Topic {
	topics := g.recorded.Topics
	for i := range topics {
		if topics[i].Name == name {
			return &topics[i]
		}
	}
	g.recorded.Topics = append(topics, Topic{Name: name, Partitions: 1})
	return &g.recorded.Topics[len(topics)]
}
