# METADATA
# title: Kubernetes resource quantities, exactly
# description: |
#   parse(value) always answers {"valid": bool, "nano": integer, "digits": bool, "reason": string}: nano is the value in billionths,
#   an integer of any size, so equal quantities have equal numbers and no float is involved. Rules of the server
#   (apimachinery): finer than a billionth rounds away from zero, a value with a binary suffix is capped at 2^63-1,
#   a text without digits is read as 0 (digits is false: a slip). What is no quantity is not valid and has nano 0.
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
package lib.quantity

parse(value) := parse_text(value) if {
	is_string(value)
} else := parse_text(sprintf("%v", [value])) if {
	is_number(value)
} else := invalid("not a number or text")

# Billionths, or undefined when the value is no quantity.
nano(value) := q.nano if {
	q := parse(value)
	q.valid
}

# What a resource list stores: whole thousandths, rounded up. Undefined when the value is no quantity.
milli(value) := quotient_up(nano(value), 6)

# A quantity that bounds or asks for something: zero does neither, a limit of 0 is none. False when the value is no quantity.
positive(value) if {
	is_string(value)
	regex.match(`^[1-9][0-9]{0,9}([KMGTP]i|[kMGTPm])?$`, value)
} else if {
	is_number(value)
	value > 0
} else if {
	q := parse(value)
	q.valid
	q.nano > 0
} else := false

# A quantity that states a number, which may be zero.
stated(value) if {
	q := parse(value)
	q.valid
	q.digits
	q.nano >= 0
} else := false

# Two valid quantities that a resource list stores as the same value. False when either is no quantity.
same(a, b) if {
	a == b
	parse(a).valid
} else if {
	milli(a) == milli(b)
} else := false

# ---- parsing

parse_text(text) := whole(text) if {
	regex.match(`^[0-9]+([KMGTPE]i|[kMGTPEmun])?$`, text)
} else := general(parts) if {
	text != ""
	found := regex.find_all_string_submatch_n(`^([+-]?)([0-9]*)(?:\.([0-9]*))?([KMGTPE]i|[kMGTPEmun]|[eE][+-]?[0-9]+)?$`, text, 1)
	count(found) == 1
	parts := found[0]
	suffix_fits(parts[4], concat("", [parts[2], parts[3]]))
} else := invalid("not a quantity")

# The common form: digits and a suffix.
whole(text) := {"valid": true, "nano": capped(suffix, number * nanos[suffix]), "digits": true, "reason": ""} if {
	suffix := trim_left(text, "0123456789")
	number := integer(trim_suffix(text, suffix))
}

general(parts) := {"valid": true, "nano": nano, "digits": digits != "", "reason": ""} if {
	digits := concat("", [parts[2], parts[3]])
	suffix := parts[4]
	size := capped(suffix, scaled(integer(digits), count(parts[3]), suffix))
	nano := signed(parts[1], size)
}

invalid(reason) := {"valid": false, "nano": 0, "digits": false, "reason": reason}

# digits x suffix, in billionths, where the last `places` digits stand behind the point.
scaled(number, places, suffix) := quotient_up(number * nanos[suffix], places)

scaled(number, places, suffix) := quotient_up(number * power(exponent + 9), places) if {
	not nanos[suffix]
	exponent := to_number(trim_left(substring(suffix, 1, -1), "+"))
	exponent >= -9
}

scaled(number, places, suffix) := quotient_up(number, (places - exponent) - 9) if {
	not nanos[suffix]
	exponent := to_number(trim_left(substring(suffix, 1, -1), "+"))
	exponent < -9
}

power(n) := to_number(sprintf("1e%d", [n]))

# Rego numbers divide as floats; on decimal text the quotient by a power of ten is exact.
quotient_up(number, 0) := number

quotient_up(number, places) := quotient + rounding if {
	places > 0
	unit := power(places)
	rest := number % unit
	rounding := min([1, abs(rest)])
	text := sprintf("%d", [number - rest])
	quotient := integer(substring(text, 0, count(text) - places))
}

integer(digits) := to_number(trimmed) if {
	trimmed := trim_left(digits, "0")
	trimmed != ""
} else := 0

signed("-", size) := 0 - size

signed("+", size) := size

signed("", size) := size

# 2^63-1 of the unit, in billionths.
limit := 9223372036854775807000000000

capped(suffix, size) := limit if {
	endswith(suffix, "i")
	size > limit
} else := size

# A longer exponent would only build huge numbers. Without digits the server knows no value that small or that large.
suffix_fits(suffix, digits) if {
	digits != ""
	count(suffix) <= 5
}

suffix_fits(suffix, "") if {
	count(suffix) <= 5
	not suffix in ["Pi", "Ei"]
	not regex.match(`^[eE]-[0-9]{2,}$`, suffix)
}

nanos := {
	"": 1000000000,
	"n": 1,
	"u": 1000,
	"m": 1000000,
	"k": 1000000000000,
	"M": 1000000000000000,
	"G": 1000000000000000000,
	"T": 1000000000000000000000,
	"P": 1000000000000000000000000,
	"E": 1000000000000000000000000000,
	"Ki": 1024000000000,
	"Mi": 1048576000000000,
	"Gi": 1073741824000000000,
	"Ti": 1099511627776000000000,
	"Pi": 1125899906842624000000000,
	"Ei": 1152921504606846976000000000,
}
