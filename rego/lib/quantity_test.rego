package lib.quantity_test

import data.lib.quantity

nanos := {
	"1": 1000000000,
	"0": 0,
	"007": 7000000000,
	"250m": 250000000,
	"0.25": 250000000,
	".25": 250000000,
	"3.": 3000000000,
	"+3": 3000000000,
	"-1.5": -1500000000,
	"7n": 7,
	"7u": 7000,
	"0.1n": 1,
	"2k": 2000000000000,
	"3M": 3000000000000000,
	"4G": 4000000000000000000,
	"1T": 1000000000000000000000,
	"1P": 1000000000000000000000000,
	"1E": 1000000000000000000000000000,
	"1Ki": 1024000000000,
	"1Mi": 1048576000000000,
	"0.5Gi": 536870912000000000,
	"1.2Gi": 1288490188800000000,
	"1288490188800m": 1288490188800000000,
	"1Ti": 1099511627776000000000,
	"1Pi": 1125899906842624000000000,
	"7Ei": 8070450532247928832000000000,
	"8Ei": 9223372036854775807000000000,
	"123456789Ei": 9223372036854775807000000000,
	"2e3": 2000000000000,
	"2E-3": 2000000,
	"1e-12": 1,
	"1e20": 100000000000000000000000000000,
	"99999999999999999999": 99999999999999999999000000000,
	"1.1111111111": 1111111112,
}

test_exact_values if {
	every text, value in nanos {
		quantity.parse(text) == {"valid": true, "nano": value, "digits": true, "reason": ""}
	}
}

test_numbers if {
	quantity.nano(2) == 2000000000
	quantity.nano(0.1) == 100000000
	quantity.nano(1e3) == 1000000000000
}

test_no_digits_is_zero_and_a_slip if {
	every text in ["Gi", ".", "m", "-", "+", ".k", "e3"] {
		quantity.parse(text) == {"valid": true, "nano": 0, "digits": false, "reason": ""}
	}
}

test_not_quantities if {
	every value in [
		"", "1K", "1gi", "1 Gi", "1GB", "1e", "0x10", "1_000", "1,5", "NaN", "inf", "1..2", "--1", "1mi", "Ei", "Pi", "e-10",
		"1e99999", null, true, [], {}, ["1"],
	] {
		quantity.parse(value).valid == false
		quantity.parse(value).nano == 0
	}
}

test_sameness_as_stored if {
	quantity.same("1024Mi", "1Gi")
	quantity.same("0.1", "100m")
	quantity.same("2n", "3u")
	quantity.same(1, "1")
	quantity.same("1Gi", "1G") == false
	quantity.same("x", "x") == false
	quantity.same(null, null) == false
	quantity.same("1", null) == false
}

test_milli_rounds_up if {
	quantity.milli("1n") == 1
	quantity.milli("1500u") == 2
	quantity.milli("3") == 3000
}

test_positive if {
	every value in ["1", "100m", "1Gi", ".5", "1e3", "1n", "+2", "8Ei", 1, 0.1, 1e30] {
		quantity.positive(value)
		quantity.stated(value)
	}
	every value in ["0", "00", "0.0", "0Gi", 0, 0.0] {
		not quantity.positive(value)
		quantity.stated(value)
	}
	every value in ["", "Gi", ".", "-1", -1, "lots", "1GB", "1 ", null, true, [], {}, ["1"]] {
		not quantity.positive(value)
		not quantity.stated(value)
	}
}
