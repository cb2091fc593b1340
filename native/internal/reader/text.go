// Package reader turns files into Kubernetes objects the way Kubernetes does, and takes secrets out before anything
// leaves the process.
package reader

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// Codes of problems and notices. They are part of the protocol.
const (
	codeInvalidYAML     = "invalid_yaml"
	codeInvalidUTF8     = "invalid_utf8"
	codeTooLarge        = "too_large"
	codeAliasBomb       = "alias_bomb"
	codeRecursiveAlias  = "recursive_alias"
	codeTooDeep         = "too_deep"
	codeNotJSON         = "not_json_representable"
	codeTemplateMarkup  = "template_markup"
	codeHiddenDocument  = "hidden_document"
	codeDuplicateInList = "duplicate_key_in_list"
	codeReaderFailed    = "reader_failed"

	noticeEmpty       = "empty_document"
	noticeEmptyList   = "empty_list"
	noticeNotMapping  = "not_a_mapping"
	noticeNotObject   = "not_an_object"
	noticeItemNoThing = "list_item_not_object"
)

var errUTF16 = errors.New("the UTF-16 text is broken")
var errUTF32 = errors.New("UTF-32 text is not read")

// plainText decodes a file to UTF-8 without a byte order mark. UTF-8 itself is checked per document.
func plainText(data []byte) (string, error) {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe, 0, 0}), bytes.HasPrefix(data, []byte{0, 0, 0xfe, 0xff}):
		return "", errUTF32
	case bytes.HasPrefix(data, []byte{0xef, 0xbb, 0xbf}):
		return string(data[3:]), nil
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		return fromUTF16(data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return fromUTF16(data[2:], binary.BigEndian)
	case len(data) >= 4 && data[0] != 0 && data[1] == 0 && data[2] != 0 && data[3] == 0:
		return fromUTF16(data, binary.LittleEndian)
	case len(data) >= 4 && data[0] == 0 && data[1] != 0 && data[2] == 0 && data[3] != 0:
		return fromUTF16(data, binary.BigEndian)
	default:
		return string(data), nil
	}
}

func fromUTF16(data []byte, order binary.ByteOrder) (string, error) {
	if len(data)%2 != 0 {
		return "", errUTF16
	}
	text := make([]byte, 0, len(data))
	for i := 0; i < len(data); i += 2 {
		r := rune(order.Uint16(data[i:]))
		if utf16.IsSurrogate(r) {
			if i+4 > len(data) {
				return "", errUTF16
			}
			i += 2
			if r = utf16.DecodeRune(r, rune(order.Uint16(data[i:]))); r == utf8.RuneError {
				return "", errUTF16
			}
		}
		text = utf8.AppendRune(text, r)
	}
	return string(text), nil
}
