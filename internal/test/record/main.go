// Command record measures what the tests cost. Under the name go it stands in for the go command: it runs it, adds up
// what each package and test took, and leaves a file in the folder that BLIK_RECORD names. Then it reads these files.
//
//	go ARGS…             runs the go command with the arguments
//	record page FOLDER   prints docs/tests.md from the records in the folder
//	record names         prints the names of all tests in the sources of the working directory
//	record tiers FOLDER… prints in which of the folders' runs each test passed; fails if one did in none
//
// The makefile's target times calls it. It imports nothing of the program.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// folderVariable names the folder for the records.
const folderVariable = "BLIK_RECORD"

func main() {
	args := os.Args[1:]
	var err error
	switch {
	case strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "go":
		os.Exit(standIn(args))
	case len(args) == 2 && args[0] == "page":
		err = writePage(os.Stdout, args[1])
	case len(args) == 1 && args[0] == "names":
		err = writeNames(os.Stdout, ".")
	case len(args) > 1 && args[0] == "tiers":
		err = writeTiers(os.Stdout, ".", args[1:])
	default:
		fmt.Fprintln(os.Stderr, "usage: record page FOLDER | names | tiers FOLDER…")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}
