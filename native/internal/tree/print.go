package tree

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// Append prints v canonically: keys sorted, no white space, only what JSON demands escaped. Equal values give equal
// bytes.
func Append(b []byte, v *Value) []byte {
	switch v.Kind {
	case Bool:
		if v.Truth {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	case Number:
		return append(b, v.Text...)
	case String:
		return AppendString(b, v.Text)
	case Array:
		b = append(b, '[')
		for i := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = Append(b, &v.Items[i])
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for i := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendString(b, v.Members[i].Key)
			b = append(b, ':')
			b = Append(b, &v.Members[i].Value)
		}
		return append(b, '}')
	default:
		return append(b, "null"...)
	}
}

// AppendString prints a JSON string. Bytes that are no UTF-8 become the replacement character.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
			b = append(append(b, s[start:i]...), "\ufffd"...)
			i++
			start = i
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}
