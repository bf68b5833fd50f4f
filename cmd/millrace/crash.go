package main

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"millrace/exec/task"
)

// crashVariable names the environment variable that lets a test kill the
// process in the middle of a commit: point:count, such as after-offsets:3.
const crashVariable = "MILLRACE_CRASH_POINT"

// crashHook is the engine's hook of a crash test; nil without the variable.
func crashHook() (func(task.CrashPoint), error) {
	text := os.Getenv(crashVariable)
	if text == "" {
		return nil, nil
	}
	name, times, _ := strings.Cut(text, ":")
	count, err := strconv.ParseInt(times, 10, 64)
	if err != nil || count < 1 || !slices.Contains(task.CrashPoints, task.CrashPoint(name)) {
		names := make([]string, len(task.CrashPoints))
		for i, point := range task.CrashPoints {
			names[i] = string(point)
		}
		return nil, usageErrorf("%s must be POINT:COUNT with one of the points %s, not '%s'", crashVariable, strings.Join(names, ", "), text)
	}
	var passed atomic.Int64
	return func(at task.CrashPoint) {
		if string(at) == name && passed.Add(1) == count {
			killSelf()
		}
	}, nil
}

// killSelf ends the process as SIGKILL does: nothing is flushed or closed.
func killSelf() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill() // nothing is left to do about a failure
	}
	select {}
}
