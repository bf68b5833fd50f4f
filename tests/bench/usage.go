package bench

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Usage is what the process has used so far. CPU is user and system time of all
// threads, so collection of garbage counts.
type Usage struct {
	Wall   time.Time
	CPU    time.Duration
	Allocs uint64
	Bytes  uint64 // allocated
}

// Now reads the process's usage.
func Now() Usage {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return Usage{Wall: time.Now(), CPU: CPUTime(), Allocs: memory.Mallocs, Bytes: memory.TotalAlloc}
}

// CPUTime is the user and system time of the process so far.
func CPUTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// PeakMemory is the most memory that the process held, in bytes; 0 where the
// system does not tell. What getrusage tells would include the memory of the
// process that started this one.
func PeakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}
