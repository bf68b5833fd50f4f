package fn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

var generalFunctions = []*Function{
	{
		Name: "UUID", Doc: "Returns a random UUID, or the text of a UUID of 16 bytes.", Volatile: true,
		Overloads: []*Overload{
			{Signature: "() STRING", Row: func(c *Call, i int) error {
				var id [16]byte
				binary.BigEndian.PutUint64(id[:8], c.random())
				binary.BigEndian.PutUint64(id[8:], c.random())
				id[6] = id[6]&0x0F | 0x40
				id[8] = id[8]&0x3F | 0x80
				c.keep(i, uuidText(id[:]))
				return nil
			}},
			{Signature: "(BYTES) STRING", Row: func(c *Call, i int) error {
				if id := c.text(0, i); len(id) == 16 {
					c.keep(i, uuidText([]byte(id)))
				}
				return nil
			}},
		},
	},
	{
		Name: "GEO_DISTANCE", Doc: "Returns the great-circle distance of two points given by latitude and longitude in degrees.",
		Overloads: []*Overload{
			{Signature: "(DOUBLE, DOUBLE, DOUBLE, DOUBLE[, STRING]) DOUBLE", Nulls: true, Row: geoDistance},
		},
	},
}

func uuidText(id []byte) []byte {
	return fmt.Appendf(nil, "%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

var (
	errDistanceUnit = errors.New("the units are KM and MILES")
	errCoordinate   = errors.New("a latitude is from -90 to 90, a longitude from -180 to 180")
)

// earthRadius is the earth's mean radius by unit.
var earthRadius = map[string]float64{
	"": 6371, "KM": 6371, "KILOMETER": 6371, "KILOMETERS": 6371, "KILOMETRE": 6371, "KILOMETRES": 6371,
	"MI": 3959, "MILE": 3959, "MILES": 3959,
}

func geoDistance(c *Call, i int) error {
	var degrees [4]float64
	for k := range degrees {
		if c.null(k, i) {
			return nil
		}
		degrees[k] = c.double(k, i)
		limit := 90.0
		if k%2 == 1 {
			limit = 180
		}
		if !(math.Abs(degrees[k]) <= limit) {
			return fmt.Errorf("%v: %w", degrees[k], errCoordinate)
		}
	}
	unit := ""
	if len(c.Args) > 4 && !c.null(4, i) {
		unit = strings.ToUpper(strings.TrimSpace(c.text(4, i)))
	}
	radius, ok := earthRadius[unit]
	if !ok {
		return fmt.Errorf("'%s': %w", unit, errDistanceUnit)
	}
	c.Out.SetDouble(i, radius*haversine(degrees))
	return nil
}

// haversine is the central angle between two points.
func haversine(degrees [4]float64) float64 {
	const radian = math.Pi / 180
	latitude := math.Sin((degrees[2] - degrees[0]) * radian / 2)
	longitude := math.Sin((degrees[3] - degrees[1]) * radian / 2)
	a := latitude*latitude + longitude*longitude*math.Cos(degrees[0]*radian)*math.Cos(degrees[2]*radian)
	return 2 * math.Asin(math.Sqrt(a))
}
