package format

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/reflect/protoreflect"

	"millrace/kafkaio/registry"
)

const (
	// protobufRoot stands for the file that has a schema's own text.
	protobufRoot = "the schema"
	// maxProtobufText bounds the texts of a schema and its references together.
	maxProtobufText = 512 << 10
)

var errNoImport = errors.New("the schema has no reference of this name")

// parseProtobuf compiles a schema. Imports are found among its references and
// the files that every client knows.
func parseProtobuf(schema registry.Schema) (protoreflect.FileDescriptor, error) {
	if schema.Kind != registry.Protobuf {
		return nil, fmt.Errorf("the schema is %s, not %s", schema.Kind, registry.Protobuf)
	}
	texts := make(map[string]string, len(schema.References))
	for _, reference := range schema.References {
		texts[reference.Name] = reference.Text
	}
	texts[protobufRoot] = schema.Text
	if size := textBytes(schema); size > maxProtobufText {
		return nil, fmt.Errorf("the schema has %d bytes, more than %d", size, maxProtobufText)
	}
	find := func(path string) (protocompile.SearchResult, error) {
		text, ok := texts[path]
		if !ok {
			text, ok = importedText(path)
		}
		if !ok {
			return protocompile.SearchResult{}, errNoImport
		}
		return protocompile.SearchResult{Source: strings.NewReader(text)}, nil
	}
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(protocompile.ResolverFunc(find)),
		MaxParallelism: 1,
	}
	files, err := compiler.Compile(context.Background(), protobufRoot)
	if err != nil {
		return nil, fmt.Errorf("the schema is not valid Protobuf: %s", placedFault(err))
	}
	return files[0], nil
}

// placedFault is a compiler's error with the place as other messages have it,
// and no longer than one can read.
func placedFault(err error) string {
	text := err.Error()
	var placed reporter.ErrorWithPos
	if errors.As(err, &placed) {
		position := placed.GetPosition()
		text = fmt.Sprintf("%d:%d: %v", position.Line, position.Col, placed.Unwrap())
		if position.Filename != protobufRoot {
			text = position.Filename + ":" + text
		}
	}
	// The library puts a no-break space into some messages, chosen anew in each
	// build, so that nobody depends on their text.
	text = strings.ReplaceAll(text, "\u00a0", " ")
	const most = 400
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + ".."
	}
	return text
}

// findMessage is the message of a full name, or the first of the file for an
// empty one.
func findMessage(file protoreflect.FileDescriptor, name string) (protoreflect.MessageDescriptor, error) {
	var names []string
	var found protoreflect.MessageDescriptor
	eachMessage(file, func(message protoreflect.MessageDescriptor) {
		if found == nil && (name == "" || string(message.FullName()) == name) {
			found = message
		}
		names = append(names, string(message.FullName()))
	})
	switch {
	case found != nil:
		return found, nil
	case len(names) == 0:
		return nil, errors.New("the schema has no message")
	}
	return nil, fmt.Errorf("the schema has no message %s, but %s", name, clipList(names))
}

// clipList joins names, of many only the first.
func clipList(names []string) string {
	const most = 20
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", .."
	}
	return strings.Join(names, ", ")
}

// messages are those that a file or message declares. The entries of map fields
// are messages too, but not declared and not counted in message paths.
func messages(scope interface {
	Messages() protoreflect.MessageDescriptors
},
) []protoreflect.MessageDescriptor {
	all := scope.Messages()
	var declared []protoreflect.MessageDescriptor
	for i := range all.Len() {
		if !all.Get(i).IsMapEntry() {
			declared = append(declared, all.Get(i))
		}
	}
	return declared
}

// eachMessage visits the messages of a file, each before those inside it.
func eachMessage(file protoreflect.FileDescriptor, visit func(protoreflect.MessageDescriptor)) {
	var walk func(declared []protoreflect.MessageDescriptor)
	walk = func(declared []protoreflect.MessageDescriptor) {
		for _, message := range declared {
			visit(message)
			walk(messages(message))
		}
	}
	walk(messages(file))
}

// messageAt is the message of a path: the number of a message of the file, then
// of one inside it, and so on.
func messageAt(file protoreflect.FileDescriptor, path []int) (protoreflect.MessageDescriptor, error) {
	var message protoreflect.MessageDescriptor
	declared := messages(file)
	for _, number := range path {
		if number >= len(declared) {
			return nil, fmt.Errorf("the schema has no message at %v", path)
		}
		message = declared[number]
		declared = messages(message)
	}
	return message, nil
}

// messagePath is the path of a message in its file.
func messagePath(message protoreflect.MessageDescriptor) []int {
	siblings := messages(message.ParentFile())
	parent, inner := message.Parent().(protoreflect.MessageDescriptor)
	var path []int
	if inner {
		siblings, path = messages(parent), messagePath(parent)
	}
	return append(path, slices.IndexFunc(siblings, func(m protoreflect.MessageDescriptor) bool {
		return m.FullName() == message.FullName()
	}))
}
