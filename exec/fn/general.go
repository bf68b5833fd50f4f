package fn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"millrace/exec/column"
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
				c.setUUID(i, id[:])
				return nil
			}},
			{Signature: "(BYTES) STRING", Row: func(c *Call, i int) error {
				if id := c.text(0, i); len(id) == 16 {
					c.setUUID(i, column.Bytes(id))
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

// setUUID sets row i of the result to the text of a UUID.
func (c *Call) setUUID(i int, id []byte) {
	buf := c.Arena.Tail(36)
	for n, b := range id {
		if n == 4 || n == 6 || n == 8 || n == 10 {
			buf = append(buf, '-')
		}
		buf = appendHex(buf, []byte{b}, "0123456789abcdef")
	}
	c.Out.SetText(i, c.Arena.Keep(buf))
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

func radiusIn(unit string) (float64, error) {
	unit = strings.ToUpper(strings.TrimSpace(unit))
	radius, ok := earthRadius[unit]
	if !ok {
		return 0, fmt.Errorf("'%s': %w", unit, errDistanceUnit)
	}
	return radius, nil
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
		unit = c.text(4, i)
	}
	radius, err := cached(c, unit, radiusIn)
	if err != nil {
		return err
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
