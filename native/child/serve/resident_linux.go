package serve

import (
	"os"
	"strconv"
	"strings"
)

var pageSize = int64(os.Getpagesize())

// residentBytes is this process's resident memory, or 0 when the kernel does not say.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * pageSize
}
