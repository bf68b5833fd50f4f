package bench

import (
	"runtime"
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

// PeakMemory is the most memory that the process held, in bytes.
func PeakMemory() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Maxrss << 10
}
