package lib.image_test

import data.lib.image

hex := "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

sha := concat(":", ["sha256", hex])

# reference: [registry, repository, tag, digest]
table := {
	"busybox": ["docker.io", "library/busybox", "latest", null],
	"busybox:1.36": ["docker.io", "library/busybox", "1.36", null],
	"busybox:8080": ["docker.io", "library/busybox", "8080", null],
	"index.docker.io/busybox": ["docker.io", "library/busybox", "latest", null],
	"docker.io/team/app:x": ["docker.io", "team/app", "x", null],
	"team/app": ["docker.io", "team/app", "latest", null],
	"quay.io/team/deep/app:v1": ["quay.io", "team/deep/app", "v1", null],
	"host.test:8443/app": ["host.test:8443", "app", "latest", null],
	"localhost/app:1": ["localhost", "app", "1", null],
	"localhost:5000/app": ["localhost:5000", "app", "latest", null],
	"CAPS/app": ["CAPS", "app", "latest", null],
	"[fd00::1]:5000/app:1": ["[fd00::1]:5000", "app", "1", null],
	"a_b/c__d/e-f:1": ["docker.io", "a_b/c__d/e-f", "1", null],
}

test_table if {
	every text, parts in table {
		image.parse(text) == {
			"valid": true,
			"registry": parts[0],
			"repository": parts[1],
			"tag": parts[2],
			"digest": parts[3],
			"reason": "",
		}
	}
}

test_digest if {
	alone := image.parse(concat("@", ["team/app", sha]))
	[alone.tag, alone.digest] == [null, sha]
	both := image.parse(concat("@", ["host.test:5000/team/app:1.2", sha]))
	[both.registry, both.repository, both.tag, both.digest] == ["host.test:5000", "team/app", "1.2", sha]
}

test_invalid if {
	long := concat("", ["a" | some _ in numbers.range(1, 256)])
	every value in [
		"", "UP", "team/UP:1", "app:", "app:-x", "app@sha256:short", "app@md5:0123456789abcdef0123456789abcdef", "app@",
		"/app", "app/", "a//b", "app:1:2", "http://host.test/app", " app", "a..b", hex, long, "é",
		concat("", ["app@sha256:", upper(hex)]), null, 5, true, [], {},
	] {
		parsed := image.parse(value)
		parsed.valid == false
		parsed.reason != ""
		[parsed.registry, parsed.repository, parsed.tag, parsed.digest] == ["", "", "", ""]
	}
}

test_reasons if {
	image.parse(null).reason == "missing"
	image.parse("").reason == "missing"
	image.parse(5).reason == "not text"
	every text in ["$(IMAGE)", "${IMAGE}:1", "{{ .Values.image }}"] {
		image.parse(text).reason == "template that nothing has filled in"
	}
	image.parse("app:").reason == "not a valid image reference"
}

test_a_bare_id_is_no_reference_but_a_tagged_one_is if {
	image.parse(hex).valid == false
	image.parse(concat(":", [hex, "1"])).valid
}
