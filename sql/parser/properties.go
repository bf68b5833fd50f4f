package parser

import (
	"strings"

	"millrace/sql/ast"
	"millrace/sql/token"
)

// properties reads the bracketed list after WITH.
func (r *recogniser) properties() []ast.Property {
	var properties []ast.Property
	open := r.current().Offset
	r.expect("(")
	for r.err == nil {
		property := ast.Property{Position: r.position()}
		if r.current().Kind == token.String {
			property.Name = r.next().Value
		} else {
			property.Name = r.propertyName()
		}
		property.Name = strings.ToUpper(property.Name)
		r.expect("=")
		property.ValuePosition = r.position()
		property.Kind, property.Value = r.propertyValue()
		properties = append(properties, property)
		if !r.more(open) {
			break
		}
	}
	return properties
}

// propertyName takes reserved words too, so that the list of properties tells
// which one was meant.
func (r *recogniser) propertyName() string {
	if r.current().Kind == token.Word {
		return r.next().Value
	}
	return r.name("a property name")
}

func (r *recogniser) propertyValue() (ast.LiteralKind, string) {
	const aLiteral = "a string, a number, TRUE, FALSE or NULL"
	sign := ""
	if r.current().Is("-") {
		sign = r.next().Value
	}
	t := r.current()
	switch {
	case t.Number():
		return ast.NumberLiteral, sign + r.next().Value
	case sign != "":
		r.unexpected("a number")
	case t.Kind == token.String:
		return ast.StringLiteral, r.next().Value
	case t.Is("TRUE") || t.Is("FALSE"):
		return ast.BooleanLiteral, r.next().Value
	case t.Is("NULL"):
		return ast.NullLiteral, r.next().Value
	default:
		r.unexpected(aLiteral)
	}
	return ast.NullLiteral, ""
}
