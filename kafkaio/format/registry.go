package format

import "slices"

// internalName is the format of the engine's own topics. No user may name it,
// so Names leaves it out.
const internalName = "INTERNAL"

var formats = map[string]Format{
	"AVRO":          avroFormat{},
	"JSON":          jsonFormat{},
	"JSON_SR":       jsonSchemaFormat{},
	"DELIMITED":     delimitedFormat{},
	"KAFKA":         kafkaFormat{},
	"NONE":          noneFormat{},
	"PROTOBUF":      protobufFormat{registered: true},
	"PROTOBUF_NOSR": protobufFormat{},
	internalName:    internalFormat{},
}

// Lookup is the format called name, in upper case.
func Lookup(name string) (Format, bool) {
	f, ok := formats[name]
	return f, ok
}

// Names lists the formats that a statement may name, sorted.
func Names() []string {
	var names []string
	for name := range formats {
		if name != internalName {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
