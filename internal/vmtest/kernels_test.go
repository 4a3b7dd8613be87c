package vmtest

import "testing"

func TestListNamesEachKernelOnce(t *testing.T) {
	kernels, err := parseKernels(kernelList)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	ci := map[string]int{}
	for _, k := range kernels {
		if seen[k.Name()] {
			t.Errorf("%s is listed twice", k.Name())
		}
		seen[k.Name()] = true
		if k.CI {
			ci[k.Arch]++
		}
	}
	if ci["arm64"] != 1 || ci["amd64"] != 1 {
		t.Errorf("kernels for every run: %v, want one of each architecture", ci)
	}
}

func TestBadListIsRefused(t *testing.T) {
	for _, line := range []string{"5.10", "5.10 arm64", "5.10 sparc bullseye", "5.10 arm64 bullseye cj", "5.10 arm64 bullseye ci ci"} {
		if _, err := parseKernels(line); err == nil {
			t.Errorf("%q is taken", line)
		}
	}
}

func TestSelect(t *testing.T) {
	for names, want := range map[string]int{"all": len(Kernels()), "ci": 2, "5.10-arm64": 1, "5.10-arm64,7-amd64": 2} {
		if got, err := Select(names); err != nil || len(got) != want {
			t.Errorf("%q selects %v (%v), want %d", names, got, err, want)
		}
	}
	for _, names := range []string{"", "5.1-arm64", "5.10", "all,nothing"} {
		if got, err := Select(names); err == nil {
			t.Errorf("%q selects %v", names, got)
		}
	}
}

func TestReleaseMustBeOfTheSeries(t *testing.T) {
	for _, c := range []struct {
		series, release string
		want            bool
	}{
		{"5.10", "5.10.0-32-cloud-arm64", true},
		{"6.1", "6.1.0-50-cloud-arm64", true},
		{"6.1", "6.12.117+deb13-cloud-arm64", false},
		{"7", "7.3.4+deb13-cloud-arm64", true},
		{"7", "6.19.1-cloud-arm64", false},
	} {
		if got := (Kernel{Series: c.series}).is(c.release); got != c.want {
			t.Errorf("%s is of %s: %v", c.release, c.series, got)
		}
	}
}
