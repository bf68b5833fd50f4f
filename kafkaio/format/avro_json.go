package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	value, err := orderedJSON(decoder, 0)
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF { //nolint:errorlint // Token returns it bare
		return nil, errors.New("not JSON: there is more behind the value")
	}
	return value, nil
}

func orderedJSON(decoder *json.Decoder, depth int) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	delimiter, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth >= maxJSONDepth {
		return nil, errors.New(faultDepth)
	}
	if delimiter == '[' {
		elements := []any{}
		for decoder.More() {
			element, err := orderedJSON(decoder, depth+1)
			if err != nil {
				return nil, err
			}
			elements = append(elements, element)
		}
		_, err = decoder.Token()
		return elements, err
	}
	members := orderedMembers{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		value, err := orderedJSON(decoder, depth+1)
		if err != nil {
			return nil, err
		}
		text, _ := name.(string)
		members = append(members, orderedMember{text, value})
	}
	_, err = decoder.Token()
	return members, err
}
