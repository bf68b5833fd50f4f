#!/bin/sh
# Ends the broker that start.sh runs in DIR and removes the folder.
#
#   stop.sh DIR
set -eu

dir=${1:?usage: stop.sh DIR}
pid=$(cat "$dir/pid")
kill "$pid" 2>/dev/null || true
tries=0
while kill -0 "$pid" 2>/dev/null; do
	tries=$((tries + 1))
	[ "$tries" -gt 100 ] && kill -9 "$pid" 2>/dev/null
	sleep 0.1
done
rm -rf "$dir"
