# METADATA
# title: Facts of signatures, for tests
package lib.signature_facts

digest := "sha256:abababababababababababababababababababababababababababababababab"

identity := {
	"subject": "https://github.com/acme/app/.github/workflows/release.yml@refs/tags/v1",
	"issuer": "https://token.actions.githubusercontent.com",
	"claims": {},
	"key_name": null,
	"key": {"algorithm": "ecdsa-secp256r1", "sha256": "cd"},
}

root := {
	"source": "file",
	"path": "trusted_root.json",
	"sha256": "ef",
	"expected_sha256": null,
	"fetched": "2026-01-01",
	"age_days": 10,
	"max_age_days": 180,
	"status": "fresh",
}

checked(status, code) := {"status": status, "code": code, "message": sprintf("it is %s", [code])}

bundle(status, code, valid) := document("SignatureBundle", object.union(checked(status, code), {
	"signature_valid": valid,
	"form": {"version": "0.3", "material": "certificate", "content": "message", "time": "log", "media_type": ""},
	"identity": identity,
	"signers": ["release"],
	"policy": "ours",
	"signed": [digest],
	"artifact": {"status": "matched", "name": "model.bin"},
	"root": root,
}))

good_bundle := bundle("verified", "verified", true)

signed_artifact(status, code) := document("SignedArtifact", object.union(checked(status, code), {
	"digest": digest,
	"policy": "ours",
	"threshold": 1,
	"signatures": [],
	"root": null,
}))

image(status, code, required, signatures) := document("ImageSignatures", object.union(checked(status, code), {
	"digest": digest,
	"image_id": null,
	"names": ["registry.example.test/app:v1"],
	"required": required,
	"policy": "ours",
	"signatures": signatures,
	"attestations": [],
	"root": null,
}))

expected_checks := {"source": "expected", "ref": "expected", "workflow": "not_configured", "build_type": "not_configured", "parameters": "expected"}

provenance(status, changes) := document("Provenance", object.union(
	object.union(checked(status, status), {
		"supported": true,
		"version": "v1",
		"builder_id": "https://ci.example.test/builder",
		"level": 2,
		"level_reason": "assessed_builder",
		"source": {"uri": "https://github.com/acme/app", "ref": "refs/tags/v1", "commit": "c0ffee"},
		"workflow": "release.yml",
		"build_type": "https://ci.example.test/type",
		"external_parameters": [],
		"complete": true,
		"checks": expected_checks,
	}),
	changes,
))

document(kind, spec) := {
	"apiVersion": "artifacts.fleetaudit.dev/v1",
	"kind": kind,
	"metadata": {"name": "model.bin.sigstore.json"},
	"spec": spec,
}

# Every one of them says that something is not known.
undecided(violations) if {
	count(violations) > 0
	every v in violations {
		v.undecided == true
	}
} else := false

# Some say that something is wrong, and none that it is not known.
decided(violations) if {
	count(violations) > 0
	every v in violations {
		not v.undecided
	}
} else := false
