package format

import (
	"net/url"
	"strconv"
	"strings"

	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// jsonSchemaScope is what references inside a schema are relative to.
type jsonSchemaScope struct {
	base string    // the URI, empty where none is known
	root *jsonTree // nil: outside of any document
}

// jsonSchemaPlace is a schema within a document.
type jsonSchemaPlace struct {
	node  *jsonTree
	scope jsonSchemaScope
}

// jsonSchemaDocuments are a schema and those that it refers to, found by URI.
type jsonSchemaDocuments struct {
	root   jsonSchemaPlace
	places map[string]jsonSchemaPlace
}

func parseJSONSchema(schema registry.Schema) (*jsonSchemaDocuments, error) {
	if schema.Kind != registry.JSON {
		return nil, types.Errorf(types.CodeStatement, "the schema is of the kind %s, and the format needs a JSON Schema", schema.Kind)
	}
	d := &jsonSchemaDocuments{places: map[string]jsonSchemaPlace{}}
	root, err := d.add("", schema.Text)
	if err != nil {
		return nil, types.Errorf(types.CodeStatement, "the JSON Schema is not valid: %v", err)
	}
	d.root = root
	for _, reference := range schema.References {
		if _, err := d.add(reference.Name, reference.Text); err != nil {
			return nil, types.Errorf(types.CodeStatement, "%s, which the JSON Schema refers to, is not valid: %v", reference.Name, err)
		}
	}
	return d, nil
}

// add reads a document that is called by a name, which may be empty.
func (d *jsonSchemaDocuments) add(name, text string) (jsonSchemaPlace, error) {
	tree, err := parseJSONTree([]byte(text))
	if err != nil {
		return jsonSchemaPlace{}, err
	}
	outside := jsonSchemaScope{base: name}
	place := jsonSchemaPlace{tree, outside.enter(tree)}
	if name != "" {
		d.put(name, place)
	}
	d.index(tree, outside)
	return place, nil
}

// index notes every schema that has an id or an anchor.
func (d *jsonSchemaDocuments) index(node *jsonTree, scope jsonSchemaScope) {
	scope = scope.enter(node)
	if scope.root == node && scope.base != "" {
		d.put(scope.base, jsonSchemaPlace{node, scope})
	}
	if anchor := node.textOf("$anchor"); anchor != "" {
		d.put(scope.base+"#"+anchor, jsonSchemaPlace{node, scope})
	}
	if id := node.textOf("$id"); strings.HasPrefix(id, "#") {
		d.put(scope.base+id, jsonSchemaPlace{node, scope})
	}
	for _, name := range node.names {
		d.index(node.members[name], scope)
	}
	for _, item := range node.items {
		d.index(item, scope)
	}
}

// put keeps the first place of a URI.
func (d *jsonSchemaDocuments) put(uri string, place jsonSchemaPlace) {
	if _, ok := d.places[uri]; !ok {
		d.places[uri] = place
	}
}

// enter is the scope inside of node: another one where it is a document or has
// an id.
func (s jsonSchemaScope) enter(node *jsonTree) jsonSchemaScope {
	if node == s.root {
		return s
	}
	id := node.textOf("$id")
	if id == "" && s.root == nil {
		id = node.textOf("id") // draft 4
	}
	switch id, _, _ = strings.Cut(id, "#"); {
	case id != "":
		return jsonSchemaScope{resolveURI(s.base, id), node}
	case s.root == nil:
		return jsonSchemaScope{s.base, node}
	}
	return s
}

func resolveURI(base, reference string) string {
	b, err := url.Parse(base)
	r, fault := url.Parse(reference)
	if err != nil || fault != nil || base == "" {
		return reference
	}
	return b.ResolveReference(r).String()
}

// find is the schema that a $ref stands for. A document is found by the URI
// that the reference gives relative to the schema around it, or by the
// reference as it stands.
func (d *jsonSchemaDocuments) find(reference string, scope jsonSchemaScope) (place jsonSchemaPlace, ok bool) {
	uri, fragment, _ := strings.Cut(reference, "#")
	place = jsonSchemaPlace{scope.root, scope}
	if uri != "" {
		if place, ok = d.places[resolveURI(scope.base, uri)]; !ok {
			place, ok = d.places[uri]
		}
		if !ok {
			return place, false
		}
	}
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	if fragment != "" && fragment[0] != '/' {
		place, ok = d.places[place.scope.base+"#"+fragment]
		return place, ok
	}
	return place.follow(fragment)
}

// follow goes along a JSON pointer (RFC 6901).
func (p jsonSchemaPlace) follow(pointer string) (jsonSchemaPlace, bool) {
	if pointer == "" {
		return p, true
	}
	for step := range strings.SplitSeq(pointer[1:], "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		next := p.node.member(step)
		if at, err := strconv.Atoi(step); next == nil && err == nil && at >= 0 && at < len(p.node.items) {
			next = p.node.items[at]
		}
		if next == nil {
			return p, false
		}
		p = jsonSchemaPlace{next, p.scope.enter(next)}
	}
	return p, true
}
