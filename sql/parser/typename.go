package parser

import (
	"millrace/sql/ast"
	"millrace/sql/token"
)

// typeName reads a type. The postfix form INT ARRAY is ARRAY<INT>.
func (r *recogniser) typeName() *ast.TypeName {
	r.enter()
	defer r.leave()
	t := r.current()
	name := &ast.TypeName{Position: r.position()}
	if !isName(t) && !t.Is("DECIMAL") {
		r.unexpected(aTypeName)
		return name
	}
	r.next()
	name.Name, name.Quoted = t.Value, t.Kind == token.Quoted
	switch {
	case t.Is("ARRAY") && r.accept("<"):
		name.Elements = []*ast.TypeName{r.typeName()}
		r.closeType(t)
	case t.Is("MAP") && r.accept("<"):
		name.Elements = []*ast.TypeName{r.typeName()}
		r.expect(",")
		name.Elements = append(name.Elements, r.typeName())
		r.closeType(t)
	case t.Is("STRUCT") && r.at("<>"):
		r.next()
	case t.Is("STRUCT") && r.accept("<"):
		r.structFields(name)
		r.closeType(t)
	case r.at("("):
		name.Parameters = r.typeParameters()
	}
	for r.accept("ARRAY") {
		name = &ast.TypeName{Name: "ARRAY", Elements: []*ast.TypeName{name}, Position: name.Position}
	}
	return name
}

func (r *recogniser) closeType(t token.Token) {
	if !r.accept(">") {
		r.unclosed(t.Value, t.Offset)
	}
}

func (r *recogniser) structFields(name *ast.TypeName) {
	if r.at(">") {
		return
	}
	for r.err == nil {
		name.Fields = append(name.Fields, r.name("a field name"))
		name.Elements = append(name.Elements, r.typeName())
		if !r.accept(",") {
			return
		}
	}
}

// typeParameters reads the numbers of DECIMAL(10, 2), and the (STRING) that
// VARCHAR may carry.
func (r *recogniser) typeParameters() []string {
	var parameters []string
	open := r.current().Offset
	r.expect("(")
	for r.err == nil {
		if r.accept("STRING") {
			parameters = append(parameters, "STRING")
		} else {
			parameters = append(parameters, r.wholeNumber())
		}
		if !r.more(open) {
			break
		}
	}
	return parameters
}
