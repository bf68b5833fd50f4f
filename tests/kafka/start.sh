#!/usr/bin/env bash
# Runs a single-node Apache Kafka for tests.
#
#   start.sh fetch   only fetches the jars, with Maven
#   start.sh [DIR]   fetches what is missing, starts a broker on free ports with
#                    its data, log and pid in DIR (a new temporary folder when
#                    left out), waits until it answers, and prints the bootstrap
#                    address and the folder. stop.sh DIR ends it.
#
# The jars go to MILLRACE_KAFKA_DIR, by default ~/.cache/millrace/kafka-4.3.1.
# KAFKA_JVM_OPTIONS replaces the options of java.options, which are right for
# tests and wrong for measuring throughput.
set -eu

version=4.3.1
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
jars=${MILLRACE_KAFKA_DIR:-$HOME/.cache/millrace/kafka-$version}

fetch() {
	if ls "$jars"/kafka_*-"$version".jar >/dev/null 2>&1; then
		return
	fi
	# Into a folder inside, and the jar looked for above moves last: a fetch that
	# breaks off leaves nothing that looks whole.
	part=$jars/part.$$
	mvn -q -B -f "$here/pom.xml" -Dkafka="$version" dependency:copy-dependencies \
		-DoutputDirectory="$part" -DincludeScope=runtime >&2
	mv "$part"/kafka_*.jar "$jars/last.$$"
	mv "$part"/*.jar "$jars"
	mv "$jars/last.$$" "$jars/kafka_2.13-$version.jar"
	rmdir "$part"
}

# Ports below 32768: outgoing connections do not take those.
free_port() {
	port=$1
	while [ "$port" -lt 32768 ]; do
		if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
			echo "$port"
			return
		fi
		port=$((port + 1))
	done
	echo "no free port" >&2
	exit 1
}

answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

fetch
if [ "${1:-}" = fetch ]; then
	echo "$jars"
	exit 0
fi

dir=${1:-$(mktemp -d "${TMPDIR:-/tmp}/millrace-kafka-XXXXXX")}
mkdir -p "$dir"
dir=$(CDPATH='' cd -- "$dir" && pwd)
port=$(free_port $((19000 + $$ % 9000)))
controller=$(free_port $((port + 1)))
sed -e "s|@PORT@|$port|g" -e "s|@CONTROLLER_PORT@|$controller|g" -e "s|@DIR@|$dir|g" \
	"$here/server.properties" >"$dir/server.properties"
# shellcheck disable=SC2206 # one option a line
options=(${KAFKA_JVM_OPTIONS-$(cat "$here/java.options")})
java "${options[@]}" -cp "$jars/*" kafka.tools.StorageTool format -t MkU3OEVBNTcwNTJENDM2Qg -c "$dir/server.properties" >"$dir/format.log" 2>&1 ||
	{ cat "$dir/format.log" >&2; exit 1; }
nohup java "${options[@]}" -cp "$jars/*" kafka.Kafka "$dir/server.properties" \
	>"$dir/broker.log" 2>&1 </dev/null &
echo $! >"$dir/pid"

tries=0
until answers "$port"; do
	tries=$((tries + 1))
	if [ "$tries" -gt 600 ] || ! kill -0 "$(cat "$dir/pid")" 2>/dev/null; then
		echo "the broker did not start:" >&2
		tail -n 30 "$dir/broker.log" >&2
		kill -9 "$(cat "$dir/pid")" 2>/dev/null || true
		exit 1
	fi
	sleep 0.1
done
echo "127.0.0.1:$port $dir"
