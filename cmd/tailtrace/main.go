// Command tailtrace records what the kernel does to a service and explains its
// slowest requests.
package main

import (
	"os"

	"github.com/tailtrace/tailtrace/internal/lab"
)

func main() {
	// The demo's processes are this program again, in another role.
	if len(os.Args) > 1 && os.Args[1] == lab.Subcommand {
		os.Exit(lab.Main(os.Args[2:]))
	}
	os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
