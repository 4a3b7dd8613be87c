package vmtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// debian is where packages come from, through the machine's own proxy
// settings and no other of its settings.
const debian = "http://deb.debian.org/debian"

const debianKeys = "/usr/share/keyrings/debian-archive-keyring.gpg"

// apt is a private root for one suite and architecture. It neither reads nor
// changes which packages the machine itself has.
type apt struct {
	root, suite, arch string
}

// newApt makes the root and fetches the suite's index.
func newApt(root, suite, arch string) (*apt, error) {
	a := &apt{root: root, suite: suite, arch: arch}
	for _, dir := range []string{"state/lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return nil, err
		}
	}
	suites := []string{suite}
	if base, ok := strings.CutSuffix(suite, "-backports"); ok {
		suites = []string{base, suite}
	}
	var sources strings.Builder
	for _, s := range suites {
		fmt.Fprintf(&sources, "deb [signed-by=%s] %s %s main\n", debianKeys, debian, s)
	}
	for name, text := range map[string]string{"sources.list": sources.String(), "state/status": ""} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	_, err := run(a.command("apt-get", "-qq", "update"))
	return a, err
}

// command is one of apt's tools, confined to this root, whose path is absolute.
func (a *apt) command(tool string, args ...string) *exec.Cmd {
	var options []string
	for _, o := range []string{
		"Dir::State=" + filepath.Join(a.root, "state"),
		"Dir::State::status=" + filepath.Join(a.root, "state/status"),
		"Dir::Cache=" + filepath.Join(a.root, "cache"),
		"Dir::Etc::SourceList=" + filepath.Join(a.root, "sources.list"),
		"Dir::Etc::SourceParts=/dev/null",
		"APT::Architecture=" + a.arch,
		"APT::Architectures=" + a.arch,
		"APT::Sandbox::User=root", // the root may be where no other user can read
		"Acquire::Languages=none",
	} {
		options = append(options, "-o", o)
	}
	return exec.Command(tool, append(options, args...)...)
}

// resolve returns what installing a package would fetch, of the names that
// begin with one of prefixes. A metapackage is asked anew each time: the
// version that it stands for today may be gone from the archive tomorrow.
func (a *apt) resolve(pkg string, prefixes ...string) ([]string, error) {
	plan, err := run(a.command("apt-get", "-qq", "--yes", "--print-uris", "--no-install-recommends", "-t", a.suite, "install", pkg))
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(plan) {
		f := strings.Fields(line) // 'URI' file size hash
		if len(f) < 2 {
			continue
		}
		name, _, _ := strings.Cut(f[1], "_")
		for _, p := range prefixes {
			if strings.HasPrefix(name, p) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("resolve package %s of %s: nothing to fetch in %q", pkg, a.suite, plan)
	}
	return names, nil
}

// unpack fetches packages and extracts their files into dir.
func (a *apt) unpack(dir string, names ...string) error {
	debs := filepath.Join(a.root, "debs")
	if err := os.RemoveAll(debs); err != nil {
		return err
	}
	if err := os.MkdirAll(debs, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(debs)
	var download []string
	for _, n := range names {
		download = append(download, n+"/"+a.suite)
	}
	cmd := a.command("apt-get", append([]string{"-qq", "download"}, download...)...)
	cmd.Dir = debs
	if _, err := run(cmd); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(debs, "*.deb"))
	if err != nil {
		return err
	}
	if len(files) != len(names) {
		return fmt.Errorf("fetch packages %v: got %v", names, files)
	}
	for _, f := range files {
		if _, err := run(exec.Command("dpkg-deb", "-x", f, dir)); err != nil {
			return err
		}
	}
	return nil
}

// run returns what a command prints, and what it complains of as an error.
func run(cmd *exec.Cmd) (string, error) {
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("run %s: %w: %s", cmd.Args[0], err, bytes.TrimSpace(complaint.Bytes()))
	}
	return out.String(), nil
}
