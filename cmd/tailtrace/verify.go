package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/tailtrace/tailtrace/correlate/report"
	"github.com/tailtrace/tailtrace/correlate/rows"
	"github.com/tailtrace/tailtrace/correlate/stats"
	"github.com/tailtrace/tailtrace/correlate/stats/recheck"
	"github.com/tailtrace/tailtrace/correlate/verify"
)

func runVerify(s streams, args []string) error {
	f := newFlags(s, "verify", "REPORT.json [--events FILE] [--rows FILE ...]",
		`Recomputes every number of a report that explain --json or stats --json wrote, from the files that it is of, and
names the first that differs (exit code 3). The files may have moved: they are known by their SHA-256.`)
	events := f.String("events", "", "the recording that the report is of")
	rowFiles := f.StringArray("rows", nil, "client rows that the report is of; may be repeated")
	if err := parse(f, args); err != nil {
		return err
	}
	path, err := oneFile(f)
	if err != nil {
		return err
	}
	doc, err := openReport(path)
	if err != nil {
		return err
	}
	d, err := verifyReport(doc, *events, *rowFiles)
	if err != nil {
		return err
	}
	if d != nil {
		return checkError(fmt.Errorf("%s does not hold: %s", path, d), differenceHint(d))
	}
	n, err := recheck.Numbers(doc.Text)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s holds: recomputed %d numbers, all agree\n", path, n)
	return nil
}

func differenceHint(d *recheck.Difference) string {
	if d.IsDigest() {
		return "the report is of another file than the one given; nothing else was compared"
	}
	return "the report was changed after it was made, or another version of tailtrace made it"
}

func openReport(path string) (*report.Document, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open report: %w", err)
	}
	doc, err := readDocument(path)
	if doc == nil && err == nil {
		return nil, withHint(fmt.Errorf("read report: %s is not one", path), "a report is what explain --json or stats --json writes")
	}
	return doc, err
}

func verifyReport(doc *report.Document, events string, rowFiles []string) (*recheck.Difference, error) {
	switch {
	case len(rowFiles) != len(doc.Rows):
		return nil, usageError(fmt.Sprintf("the report is of %d rows files, and %d are given", len(doc.Rows), len(rowFiles)), "give each with --rows")
	case doc.Explain != nil && events == "":
		return nil, usageError("the report is of a recording, and none is given", "give it with --events")
	}
	order, files, err := claimedOrder(doc, rowFiles)
	if err != nil {
		return nil, err
	}
	if doc.Explain == nil {
		if d := verify.Files(doc, report.File{}, files); d != nil {
			return d, nil
		}
		return verifyStats(doc, order)
	}
	rec, err := openRecording(events)
	if err != nil {
		return nil, err
	}
	defer rec.Close()
	digest, err := rec.digest()
	if err != nil {
		return nil, err
	}
	if d := verify.Files(doc, digest, files); d != nil {
		return d, nil
	}
	sets, err := readClaimedRows(doc, order)
	if err != nil {
		return nil, err
	}
	return verify.Explain(doc, rec.open, sets)
}

// claimedOrder puts paths into the report's order by their digests. One that
// the report does not know takes the first free place.
func claimedOrder(doc *report.Document, paths []string) (order []string, files []report.File, err error) {
	order, files = make([]string, len(doc.Rows)), make([]report.File, len(doc.Rows))
	var strangers []report.File
	for _, path := range paths {
		d, err := digestFile(path)
		if err != nil {
			return nil, nil, err
		}
		at := slices.IndexFunc(doc.Rows, func(claim report.File) bool { return claim.SHA256 == d.SHA256 })
		if at < 0 || order[at] != "" {
			strangers = append(strangers, d)
			continue
		}
		order[at], files[at] = path, d
	}
	for i := range order {
		if order[i] == "" {
			order[i], files[i] = strangers[0].File, strangers[0]
			strangers = strangers[1:]
		}
	}
	return order, files, nil
}

func digestFile(path string) (report.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return report.File{}, fmt.Errorf("open rows: %w", err)
	}
	defer f.Close()
	return digest(path, f)
}

// readClaimedRows reads files under the report's names, which messages and runs
// have from them.
func readClaimedRows(doc *report.Document, order []string) (sets []*rows.Set, err error) {
	for i, path := range order {
		s, _, err := readRowsFile(path, doc.Rows[i].File)
		if err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	return sets, nil
}

func verifyStats(doc *report.Document, order []string) (*recheck.Difference, error) {
	if doc.Stats.Tail.Count > 0 { // histograms know of no tail
		sets, err := readClaimedRows(doc, order)
		if err != nil {
			return nil, err
		}
		return verify.Stats(doc, sets)
	}
	in, err := readSamples(order)
	if err != nil {
		return nil, err
	}
	logs := map[string]*stats.HistogramLog{}
	for i, claim := range doc.Rows {
		logs[claim.File] = in.logs[order[i]]
	}
	return verify.Logs(doc, logs)
}
