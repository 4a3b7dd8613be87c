package lab

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestOneRunAtATime(t *testing.T) {
	leave, err := alone(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if _, err := alone(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("beside another run: error %v, want to wait in vain", err)
	}
	leave()
	leave, err = alone(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	leave()
}
