package reader

import (
	"strings"

	"fleetaudit.dev/native/internal/tree"
)

// chunk is the text of one document.
type chunk struct {
	text   string
	line   int // of its first character, from 1
	number int // of the document, from 1
	isJSON bool
	hidden bool // Kubernetes stops reading before it
}

// split cuts a file into documents as Kubernetes' own reader does: a line of three dashes separates when only blanks or a
// comment follow. Text before the first separator that is only blanks, comments or directives is no document of its
// own. JSON documents may also follow each other without a separator.
func split(text string) []chunk {
	var chunks []chunk
	add := func(part string, line int) {
		for _, piece := range jsonPieces(part, line) {
			if !piece.isJSON {
				chunks = append(chunks, hiddenPieces(piece)...)
			} else {
				chunks = append(chunks, piece)
			}
		}
	}
	start, startLine, line := 0, 1, 1
	separated := false
	for at := 0; at < len(text); line++ {
		end := strings.IndexByte(text[at:], '\n')
		next := len(text)
		if end >= 0 {
			next = at + end + 1
		}
		if isSeparator(text[at:next]) {
			part := text[start:at]
			switch {
			case separated || !onlyPreamble(part):
				add(part, startLine)
				start, startLine = next, line+1
			case !strings.Contains(part, "%"):
				start, startLine = next, line+1
			} // directives stay with the document that they are about
			separated = true
		}
		at = next
	}
	rest := text[start:]
	if separated && isBlank(rest) {
		return numbered(chunks) // a separator at the very end opens no document
	}
	if len(chunks) > 0 || separated || !isBlank(rest) {
		add(rest, startLine)
	}
	return numbered(chunks)
}

func numbered(chunks []chunk) []chunk {
	for i := range chunks {
		chunks[i].number = i + 1
	}
	return chunks
}

func isSeparator(line string) bool {
	if !strings.HasPrefix(line, "---") {
		return false
	}
	rest := strings.TrimSpace(line[3:])
	return rest == "" || rest[0] == '#'
}

// onlyPreamble says whether text holds nothing but blank lines, comments and directives.
func onlyPreamble(text string) bool {
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if trimmed != "" && trimmed[0] != '#' && line[0] != '%' {
			return false
		}
	}
	return true
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// isEmptyDocument says whether a document holds nothing but blank lines and comments.
func isEmptyDocument(text string) bool {
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if trimmed != "" && trimmed[0] != '#' && !isSeparator(line) && trimmed != "..." {
			return false
		}
	}
	return true
}

// jsonPieces cuts concatenated JSON documents apart. Text that does not start like JSON, or is none after all, comes
// back whole.
func jsonPieces(text string, line int) []chunk {
	whole := []chunk{{text: text, line: line}}
	var pieces []chunk
	for at := 0; ; {
		s := tree.Scanner{Text: text, Pos: at}
		s.Space()
		if !startsLikeJSON(text[s.Pos:]) || text[s.Pos] == '[' {
			if s.Pos == len(text) && len(pieces) > 0 {
				return pieces
			}
			break
		}
		end, ok := s.Skip()
		if !ok {
			break
		}
		pieces = append(pieces, chunk{text: text[at:end], line: line + strings.Count(text[:at], "\n"), isJSON: true})
		at = end
	}
	if len(pieces) == 0 {
		return whole
	}
	done := 0
	for _, piece := range pieces {
		done += len(piece.text)
	}
	if onlyPreamble(text[done:]) {
		return pieces
	}
	return append(pieces, chunk{text: text[done:], line: line + strings.Count(text[:done], "\n"), hidden: true, isJSON: true})
}

// hiddenPieces finds documents that YAML sees and Kubernetes does not: after a line of three dashes with text behind
// it, or after three dots, its reader stops listening until the next plain separator.
func hiddenPieces(whole chunk) []chunk {
	if !strings.Contains(whole.text, "\n---") && !strings.Contains(whole.text, "\n...") {
		return []chunk{whole}
	}
	at, line := 0, whole.line
	for text := range strings.Lines(whole.text) {
		marker := strings.HasPrefix(text, "---") && len(text) > 3 && (text[3] == ' ' || text[3] == '\t') && !isSeparator(text)
		dots := strings.HasPrefix(text, "...") && strings.TrimSpace(text) == "..."
		if at > 0 && (marker || dots) && !onlyPreamble(whole.text[:at]) {
			rest := whole.text[at:]
			if dots {
				rest = rest[len(text):]
				line++
			}
			if isEmptyDocument(rest) {
				break
			}
			first := whole
			first.text = whole.text[:at]
			return []chunk{first, {text: rest, line: line, hidden: true}}
		}
		at += len(text)
		line++
	}
	return []chunk{whole}
}

// contentLine is the line of a document's first content.
func contentLine(c chunk) int {
	line := c.line
	for text := range strings.Lines(c.text) {
		trimmed := strings.TrimSpace(text)
		if trimmed != "" && trimmed[0] != '#' && text[0] != '%' && !isSeparator(text) {
			return line
		}
		line++
	}
	return c.line
}
