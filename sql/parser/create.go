package parser

import "millrace/sql/ast"

func (r *recogniser) create() ast.Statement {
	r.expect("CREATE")
	replace := r.accept("OR", "REPLACE")
	switch {
	case r.at("FUNCTION"):
		return r.createFunction(replace)
	case replace:
		return r.createSource(replace)
	case r.accept("TYPE"):
		return r.createType()
	case r.at("SOURCE", "CONNECTOR") || r.at("SINK", "CONNECTOR"):
		return r.createConnector()
	}
	return r.createSource(false)
}
