package task

import "millrace/sql/types"

func timestampParser(pattern string) (func(text string) (int64, error), error) {
	if pattern == "" {
		return types.ParseTimestamp, nil
	}
	return nil, types.Unsupported("TIMESTAMP_FORMAT")
}
