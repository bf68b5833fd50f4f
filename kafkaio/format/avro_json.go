package format

import (
	"encoding/json"
	"slices"
	"strings"
)

// orderedMember is a member of a JSON object.
type orderedMember struct {
	name  string
	value any
}

// orderedMembers is a JSON object with its members in their order.
type orderedMembers []orderedMember

// find is the value of a member by its exact name, else without case; nil if
// there is none.
func (m orderedMembers) find(name string) any {
	var found any
	for _, member := range m {
		if member.name == name {
			return member.value
		}
		if found == nil && strings.EqualFold(member.name, name) {
			found = member.value
		}
	}
	return found
}

// orderedMembersOf is value as an object.
func orderedMembersOf(value any) (orderedMembers, bool) {
	switch value := value.(type) {
	case orderedMembers:
		return value, true
	case map[string]any:
		members := make(orderedMembers, 0, len(value))
		for name, member := range value {
			members = append(members, orderedMember{name, member})
		}
		slices.SortFunc(members, func(a, b orderedMember) int { return strings.Compare(a.name, b.name) })
		return members, true
	}
	return nil, false
}

// parseOrderedJSON reads a JSON text: objects as orderedMembers, arrays as []any,
// numbers as json.Number.
func parseOrderedJSON(text []byte) (any, error) {
	tree, err := parseJSONTree(text)
	if err != nil {
		return nil, err
	}
	return tree.value(), nil
}

func (t *jsonTree) value() any {
	switch t.kind {
	case '{':
		members := make(orderedMembers, len(t.names))
		for i, name := range t.names {
			members[i] = orderedMember{name, t.members[name].value()}
		}
		return members
	case '[':
		elements := make([]any, len(t.items))
		for i, item := range t.items {
			elements[i] = item.value()
		}
		return elements
	case '"':
		return t.text
	case 't', 'f':
		return t.kind == 't'
	case 'n':
		return nil
	}
	return json.Number(t.raw)
}
