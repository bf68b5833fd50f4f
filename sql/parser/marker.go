package parser

// The functions that stand for the dialect's forms in what TiDB parses. A user's
// function name cannot start with a dollar sign, so no text forges one.
const (
	markField      = "$field"      // base, 'name'
	markAllFields  = "$allfields"  // base
	markSubscript  = "$subscript"  // base, index
	markArray      = "$array"      // elements
	markMap        = "$map"        // key, value, ..
	markStruct     = "$struct"     // 'name', value, ..
	markLambda     = "$lambda"     // 'parameter', .., body
	markCast       = "$cast"       // operand, number of the type
	markZone       = "$zone"       // operand, zone
	markTyped      = "$typed"      // 'type', 'text'
	markInterval   = "$interval"   // number, 'unit'
	markDistinct   = "$distinct"   // arguments
	markStar       = "$star"       //
	markFilter     = "$filter"     // call, condition
	markIsDistinct = "$isdistinct" // left, right
	markJoin       = "$join"       // number of the join, condition
	markPartition  = "$partition"  // expressions; an item of GROUP BY
	markRow        = "$row"        // values

	// overCarrier takes OVER, which TiDB grants only to window functions of its
	// own; the user's call is its argument.
	overCarrier = "FIRST_VALUE"
)
