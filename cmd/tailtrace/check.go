package main

import (
	"fmt"
)

func runCheck(s streams, args []string) error {
	return fmt.Errorf("x")
}
