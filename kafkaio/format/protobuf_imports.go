package format

import "embed"

// protobufImports are the files that schemas may import without a reference,
// besides those of Protobuf itself: the ones that the schema registry's clients
// know, with what is read of them.
//
//go:embed protobuf_imports
var protobufImports embed.FS

// importedText is the text of such a file by its path in imports; ok is false
// where there is none.
func importedText(path string) (text string, ok bool) {
	content, err := protobufImports.ReadFile("protobuf_imports/" + path)
	return string(content), err == nil
}
