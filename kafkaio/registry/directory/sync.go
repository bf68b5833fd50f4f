//go:build !windows

package directory

import (
	"errors"
	"os"
)

// syncFolder puts the names in a folder on disk.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
