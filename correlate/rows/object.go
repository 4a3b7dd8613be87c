package rows

import (
	"bytes"
	"encoding/json"
)

// eachField calls f with the name and the JSON text of each member of object,
// which must be valid JSON and an object. It allocates only for names with
// escapes; f must not keep its arguments.
func eachField(object []byte, f func(name, value []byte)) {
	at := 1
	for {
		at += skipSpace(object[at:])
		switch object[at] {
		case '}':
			return
		case ',':
			at++
			continue
		}
		n := valueLen(object[at:])
		name := unquote(object[at : at+n])
		at += n
		at += skipSpace(object[at:]) + 1 // the colon
		at += skipSpace(object[at:])
		n = valueLen(object[at:])
		f(name, object[at:at+n])
		at += n
	}
}

func skipSpace(b []byte) int {
	for i, c := range b {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return i
		}
	}
	return len(b)
}

// valueLen is the length of the valid JSON value that b begins with.
func valueLen(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			i += stringLen(b[i:]) - 1
		case c == '{' || c == '[':
			depth++
			continue
		case (c == '}' || c == ']') && depth > 0:
			depth--
		case depth == 0: // a number or a word
			end := bytes.IndexAny(b[i:], ",}] \t\r\n")
			if end < 0 {
				end = len(b) - i
			}
			i += end - 1
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(b)
}

// stringLen is the length of the JSON string that b begins with.
func stringLen(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// unquote is the text of a JSON string; other values are returned as written.
func unquote(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return value
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1]
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return value
	}
	return []byte(text)
}

// truth reads a flag: true or 1. Other numbers are no flags: a "timeout" of 30
// is a limit in some unit.
func truth(value []byte) bool {
	text := string(unquote(value))
	return text == "true" || text == "1"
}

// withoutNaN replaces the NaN and Infinity that Python's json module writes,
// and JSON does not have, by null.
func withoutNaN(line []byte) []byte {
	var out []byte
	for i := 0; i < len(line); {
		n := 1
		switch {
		case line[i] == '"':
			n = stringLen(line[i:])
			out = append(out, line[i:i+n]...)
		case bytes.HasPrefix(line[i:], []byte("NaN")):
			n = len("NaN")
			out = append(out, "null"...)
		case bytes.HasPrefix(line[i:], []byte("Infinity")):
			n = len("Infinity")
			out = append(bytes.TrimSuffix(out, []byte("-")), "null"...)
		default:
			out = append(out, line[i])
		}
		i += n
	}
	return out
}
