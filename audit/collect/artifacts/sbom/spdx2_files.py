"""Files of SPDX 2 packages, and the verification code made of their checksums."""

from __future__ import annotations

import hashlib
from typing import Any

from audit.collect.artifacts.sbom.document import Document, mapping, mappings, texts
from audit.collect.artifacts.sbom.references import digest_fits


def check_files(document: Document, packages: list[dict[str, Any]], files: list[dict[str, Any]]) -> None:
    """Note what is wrong with verification codes and the checksums of files."""
    sums: dict[str, tuple[str, str]] = {}
    for file in files:
        id_ = str(file.get("SPDXID", ""))
        sha1 = _sha1(document, file, id_)
        sums[id_] = (str(file.get("fileName", "")), sha1)
    held: dict[str, list[str]] = {}
    if sums:
        for start, end in document.edges:
            if end in sums:
                held.setdefault(start, []).append(end)
    for package in packages:
        _check_code(document, package, held.get(str(package.get("SPDXID")), []), sums)


def _sha1(document: Document, file: dict[str, Any], id_: str) -> str:
    found = ""
    for checksum in mappings(file.get("checksums")):
        name, value = str(checksum.get("algorithm")), str(checksum.get("checksumValue", ""))
        if not digest_fits(name, value):
            document.structure.add("bad_checksum", "a checksum has not the length of its algorithm", id_)
        elif name == "SHA1":
            found = value.lower()
    if not found:
        document.structure.add("no_file_sha1", "a file has no SHA1, which SPDX 2 asks for", id_)
    return found


def _sha1_of(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _check_code(
    document: Document, package: dict[str, Any], held: list[str], sums: dict[str, tuple[str, str]]
) -> None:
    found, id_ = document.structure, str(package.get("SPDXID", ""))
    code = mapping(package.get("packageVerificationCode"))
    value = str(code.get("packageVerificationCodeValue", "")).lower()
    if package.get("filesAnalyzed") is False:
        if value:
            found.add(
                "verification_code_unexpected", "a verification code, though no files were analysed", id_
            )
        if held or package.get("hasFiles"):
            found.add("files_unexpected", "files of a package whose files were not analysed", id_)
        return
    if not value:
        if held:
            found.add("verification_code_missing", "analysed files, and no verification code", id_)
        return
    if not digest_fits("SHA1", value):
        found.add("bad_verification_code", "a verification code is no SHA1", id_)
        return
    left_out = {name.removeprefix("./") for name in texts(code.get("packageVerificationCodeExcludedFiles"))}
    counted = [sums[one] for one in dict.fromkeys(held) if sums[one][0].removeprefix("./") not in left_out]
    if counted and all(sha1 for _, sha1 in counted):
        joined = "".join(sorted(sha1 for _, sha1 in counted))
        # One wide-spread generator hashes capitals, against the letter of the standard; the files are bound all the same.
        if value not in {_sha1_of(joined), _sha1_of(joined.upper())}:
            found.add(
                "verification_code_mismatch", "the verification code is not that of the files listed", id_
            )
