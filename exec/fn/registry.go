package fn

import (
	"slices"
	"strings"

	"millrace/sql/types"
)

var registry = func() map[string]*Function {
	byName := map[string]*Function{}
	for _, family := range [][]*Function{
		nullFunctions, mathFunctions, roundFunctions, textFunctions, concatFunctions, substringFunctions, maskFunctions,
		arrayFunctions, mapFunctions, bytesFunctions, regexpFunctions, urlFunctions, timeFunctions, generalFunctions, jsonFunctions, tableFunctions,
	} {
		for _, f := range family {
			byName[f.Name] = f
			var overloads []*Overload
			for _, o := range f.Overloads {
				expanded, err := expand(f, o)
				if err != nil {
					panic(err)
				}
				overloads = append(overloads, expanded...)
			}
			f.Overloads = overloads
		}
	}
	return byName
}()

// Lookup finds a function by its name, in any case.
func Lookup(name string) (*Function, bool) {
	f, ok := registry[strings.ToUpper(name)]
	return f, ok
}

// Functions is all scalar and table functions, sorted by name.
func Functions() []*Function {
	list := make([]*Function, 0, len(registry))
	for _, f := range registry {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *Function) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Unknown is the error for a name that is no function, with the nearest name
// as hint.
func Unknown(name string) *types.Error {
	err := types.Errorf(types.CodeName, "there is no function %s", name)
	var names []string
	for _, f := range Functions() {
		names = append(names, f.Name)
	}
	if near := types.Nearest(name, names); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err
}
