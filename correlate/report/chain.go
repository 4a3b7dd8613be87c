package report

import (
	"fmt"
	"strings"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate"
)

// isChain: evidence of what a thread did that a request waited for.
func isChain(e *correlate.Evidence) bool {
	return e.What == correlate.EvidenceHolderWas || e.What == correlate.EvidenceWakerWas
}

// chainPhrase leaves out the name of the thread that was named last.
func chainPhrase(e *correlate.Evidence, named int32) string {
	text := "which was"
	if e.Tid != named {
		text = "meanwhile " + who(e) + " was"
	}
	text += fmt.Sprintf(" %s for %s", Printable(e.Context), Duration(e.NS))
	if e.Request != "" {
		text += " in request " + Printable(e.Request)
	}
	if e.Step != "" {
		text += ", step " + Printable(e.Step)
	}
	if calls := callsText(e.Calls); calls != "" {
		text += ", at " + calls
	}
	return text
}

// maxCalls is how many of a stack's calls a line has; the JSON has all.
const maxCalls = 4

// callsText shows the innermost calls, "..." where some are missing.
func callsText(calls []string) string {
	var text []string
	for _, c := range calls {
		switch {
		case len(text) == maxCalls:
			return strings.Join(text, " < ")
		case c == eventfile.FrameCut || c == eventfile.FrameDeep:
		case c == eventfile.FrameMissing:
			text = append(text, "...")
		default:
			text = append(text, Printable(c))
		}
	}
	return strings.Join(text, " < ")
}
