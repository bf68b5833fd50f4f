package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// formatVersion is that of the directory: marker, position, keys and values.
	formatVersion = 1
	markerFile    = "marker"
	dataDirectory = "data"
)

// marker is the file that tells whether a directory can be trusted: after a
// power cut a byte store opens without error and lacks older writes, so that
// only a clean close, or the same boot of the kernel, vouches for it.
type marker struct {
	Version int    `json:"version"`
	Query   string `json:"query"`
	Boot    string `json:"boot"`
	Clean   bool   `json:"clean"`
}

// readMarker reads the marker of a directory; nil when there is none.
func readMarker(directory string) (*marker, error) {
	content, err := os.ReadFile(filepath.Join(directory, markerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("state marker: %w", err)
	}
	var m marker
	if err := json.Unmarshal(content, &m); err != nil {
		return nil, corrupt("state marker of %s: %v", directory, err)
	}
	return &m, nil
}

func (m *marker) check(query, boot string) error {
	switch {
	case m.Version != formatVersion:
		return fmt.Errorf("the local state has format %d, this version has %d", m.Version, formatVersion)
	case m.Query != query:
		return errors.New("the local state belongs to another plan of the query")
	case !m.Clean && (boot == "" || m.Boot != boot):
		return errors.New("the machine was restarted before the local state was closed")
	}
	return nil
}

// write replaces the marker so that a crash leaves the old or the new one.
func (m *marker) write(directory string) error {
	content, err := json.Marshal(m)
	if err != nil {
		return err
	}
	path := filepath.Join(directory, markerFile)
	next := path + ".next"
	if err := os.WriteFile(next, content, 0o600); err != nil {
		return fmt.Errorf("state marker: %w", err)
	}
	if err := syncFile(next); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("state marker: %w", err)
	}
	return syncFile(directory)
}

func makeDirectory(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	return nil
}

// removeTree removes a directory, the marker first: without it the rest counts
// for nothing.
func removeTree(directory string) error {
	if directory == "" {
		return nil
	}
	err := os.Remove(filepath.Join(directory, markerFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove state: %w", err)
	}
	if err := os.RemoveAll(directory); err != nil {
		return fmt.Errorf("remove state: %w", err)
	}
	return nil
}

// syncTree brings all files and directories below a directory to the disk.
func syncTree(directory string) error {
	return filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("sync state: %w", err)
		}
		if entry.IsDir() || entry.Type().IsRegular() {
			return syncFile(path)
		}
		return nil
	})
}

func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync state: %w", err)
	}
	err = file.Sync()
	return errors.Join(err, file.Close())
}

// bootID identifies the running kernel; empty where the system does not tell.
func bootID() string {
	content, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}
