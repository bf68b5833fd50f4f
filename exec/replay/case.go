// Package replay is the deterministic driver: it executes statements against a
// log in memory, feeds recorded inputs one at a time, and gives what the
// queries wrote. It uses event time only, no broker, no files and no clock.
package replay

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"millrace/kafkaio"
	"millrace/planner/catalog"
	"millrace/sql/types"
)

// Case is the recorded input of a replay.
type Case struct {
	Topics []Topic `json:"topics"`
	Inputs []Input `json:"inputs"`
}

// Topic is a topic that exists before the statements run.
type Topic struct {
	Name       string `json:"name"`
	Partitions int    `json:"partitions"`

	// The schemas of its keys and values, as a registry has them: JSON, or a
	// string with the text of a Protobuf schema.
	KeyFormat             string          `json:"keyFormat,omitempty"`
	KeySchema             json.RawMessage `json:"keySchema,omitempty"`
	KeySchemaID           int32           `json:"keySchemaId,omitempty"`
	KeySchemaReferences   []Reference     `json:"keySchemaReferences,omitempty"`
	ValueFormat           string          `json:"valueFormat,omitempty"`
	ValueSchema           json.RawMessage `json:"valueSchema,omitempty"`
	ValueSchemaID         int32           `json:"valueSchemaId,omitempty"`
	ValueSchemaReferences []Reference     `json:"valueSchemaReferences,omitempty"`
}

// Header is a record header; a null value is nil.
type Header struct {
	Key   string  `json:"KEY"`
	Value *string `json:"VALUE"` // base64
}

// Window is the window of a windowed key. Type is TIME or SESSION.
type Window struct {
	Start int64  `json:"start"`
	End   int64  `json:"end"`
	Type  string `json:"type"`
}

// Input is one recorded record. Key and Value are JSON; null is a null.
type Input struct {
	Topic     string          `json:"topic"`
	Key       json.RawMessage `json:"key"`
	Value     json.RawMessage `json:"value"`
	Timestamp int64           `json:"timestamp"`
	Headers   []Header        `json:"headers"`
	Window    *Window         `json:"window"`
}

// Output is one record that a query wrote, in the form of an Input.
type Output struct {
	Topic     string          `json:"topic"`
	Key       json.RawMessage `json:"key"`
	Value     json.RawMessage `json:"value"`
	Timestamp int64           `json:"timestamp"`
	Window    *Window         `json:"window,omitempty"`
	Headers   []Header        `json:"headers,omitempty"`
}

func null(raw json.RawMessage) bool {
	return len(raw) == 0 || string(bytes.TrimSpace(raw)) == "null"
}

// payload is what a recorded key or value is on the topic, by the format that
// the source declares: text for DELIMITED, the columns' bytes for KAFKA, and
// JSON for everything else.
func payload(raw json.RawMessage, format catalog.Format, columns []catalog.Column) ([]byte, error) {
	if null(raw) || format.Name == "NONE" {
		return nil, nil
	}
	switch format.Name {
	case "DELIMITED":
		return plainText(raw)
	case "KAFKA":
		if len(columns) == 1 {
			return kafkaBytes(raw, columns[0].Type)
		}
		return plainText(raw)
	}
	return bytes.TrimSpace(raw), nil
}

// plainText is the text of a JSON string, or the JSON of anything else.
func plainText(raw json.RawMessage) ([]byte, error) {
	raw = bytes.TrimSpace(raw)
	if raw[0] != '"' {
		return raw, nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	return []byte(text), nil
}

func kafkaBytes(raw json.RawMessage, t *types.Type) ([]byte, error) {
	text, err := plainText(raw)
	if err != nil {
		return nil, err
	}
	switch t.Kind {
	case types.KindInteger:
		v, err := strconv.ParseInt(string(text), 10, 32)
		return binary.BigEndian.AppendUint32(nil, uint32(v)), err
	case types.KindBigint:
		v, err := strconv.ParseInt(string(text), 10, 64)
		return binary.BigEndian.AppendUint64(nil, uint64(v)), err
	case types.KindDouble:
		v, err := strconv.ParseFloat(string(text), 64)
		return binary.BigEndian.AppendUint64(nil, math.Float64bits(v)), err
	}
	return text, nil
}

// recorded is the reverse of payload.
func recorded(payload []byte, format catalog.Format, columns []catalog.Column) json.RawMessage {
	switch {
	case payload == nil:
		return json.RawMessage("null")
	case format.Name == "DELIMITED":
		return textJSON(payload)
	case format.Name == "KAFKA":
		if len(columns) == 1 {
			return kafkaJSON(payload, columns[0].Type)
		}
		return textJSON(payload)
	case json.Valid(payload):
		return bytes.Clone(payload)
	}
	return textJSON(payload)
}

func textJSON(text []byte) json.RawMessage {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	_ = e.Encode(string(text)) // a string always encodes
	return bytes.TrimSpace(buf.Bytes())
}

func kafkaJSON(payload []byte, t *types.Type) json.RawMessage {
	switch {
	case t.Kind == types.KindInteger && len(payload) == 4:
		return strconv.AppendInt(nil, int64(int32(binary.BigEndian.Uint32(payload))), 10)
	case t.Kind == types.KindBigint && len(payload) == 8:
		return strconv.AppendInt(nil, int64(binary.BigEndian.Uint64(payload)), 10)
	case t.Kind == types.KindDouble && len(payload) == 8:
		v := math.Float64frombits(binary.BigEndian.Uint64(payload))
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return textJSON(types.AppendDouble(nil, v))
		}
		return types.AppendDouble(nil, v)
	}
	return textJSON(payload)
}

// windowKey puts the window behind a key's bytes, as the log holds it.
func windowKey(key []byte, w *Window) []byte {
	if w == nil {
		return key
	}
	key = bytes.Clone(key)
	if w.Type == "SESSION" {
		key = binary.BigEndian.AppendUint64(key, uint64(w.End))
	}
	return binary.BigEndian.AppendUint64(key, uint64(w.Start))
}

// splitWindowKey is the reverse of windowKey for a source with windowed keys.
func splitWindowKey(key []byte, w *catalog.KeyWindow) ([]byte, *Window) {
	if w == nil || len(key) < 8 {
		return key, nil
	}
	n := len(key) - 8
	start := int64(binary.BigEndian.Uint64(key[n:]))
	if w.Kind != catalog.Session {
		return key[:n], &Window{Start: start, End: start + w.Size, Type: "TIME"}
	}
	if n < 8 {
		return key, nil
	}
	return key[:n-8], &Window{Start: start, End: int64(binary.BigEndian.Uint64(key[n-8:])), Type: "SESSION"}
}

func headerBlock(headers []Header) ([]byte, error) {
	if len(headers) == 0 {
		return nil, nil
	}
	var out []kafkaio.Header
	for _, h := range headers {
		header := kafkaio.Header{Key: h.Key}
		if h.Value != nil {
			value, err := base64.StdEncoding.DecodeString(*h.Value)
			if err != nil {
				return nil, fmt.Errorf("header %s: %w", h.Key, err)
			}
			header.Value = value
			if value == nil {
				header.Value = []byte{}
			}
		}
		out = append(out, header)
	}
	return kafkaio.AppendHeaders(nil, out), nil
}

func recordedHeaders(block []byte) ([]Header, error) {
	if len(block) == 0 {
		return nil, nil
	}
	headers, err := kafkaio.ParseHeaders(block)
	if err != nil {
		return nil, err
	}
	var out []Header
	for _, h := range headers {
		header := Header{Key: h.Key}
		if h.Value != nil {
			text := base64.StdEncoding.EncodeToString(h.Value)
			header.Value = &text
		}
		out = append(out, header)
	}
	return out, nil
}
