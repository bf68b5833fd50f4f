package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const sharingViolation = syscall.Errno(32)

// lockFolder takes the folder for this broker until the result is closed or
// the process ends, however it ends: a file opened without sharing.
func lockFolder(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("lock the data folder %s: %w", dir, err)
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, fmt.Errorf("data folder %s: %w", dir, ErrInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the data folder %s: %w", dir, err)
	}
	return os.NewFile(uintptr(handle), path), nil
}
