// Package fuzz holds tests that run random statements over random records. A
// grammar turns the fuzzer's bytes into statements that mostly plan, since
// random text would end in the parser.
package fuzz
