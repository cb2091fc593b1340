"""The process that lets spdx-tools validate: documents in JSON form come in, messages go out, each with its length in front."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any


def messages_of(plain: dict[str, Any]) -> list[str]:
    """What spdx-tools says about a document."""
    from spdx_tools.spdx.parser.error import SPDXParsingError
    from spdx_tools.spdx.parser.jsonlikedict.json_like_dict_parser import JsonLikeDictParser
    from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

    parser: Any = JsonLikeDictParser
    try:
        document = parser().parse(plain)
    except SPDXParsingError as error:
        return [str(message) for message in error.messages]
    except Exception as error:  # noqa: BLE001  # anybody's document; what it trips over is an answer
        return [f"spdx-tools can't parse it: {type(error).__name__}"]
    return [
        f"{one.context.spdx_id or 'document'}: {one.validation_message}"
        for one in validate_full_spdx_document(document)
    ]


def main() -> None:
    """Answer until the input ends."""
    _limit(int(sys.argv[1]))
    logging.disable(logging.CRITICAL)
    while len(head := sys.stdin.buffer.read(8)) == 8:
        plain = json.loads(sys.stdin.buffer.read(int.from_bytes(head, "big")))
        answer = json.dumps(messages_of(plain)).encode()
        sys.stdout.buffer.write(len(answer).to_bytes(8, "big") + answer)
        sys.stdout.buffer.flush()


def _limit(memory: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


if __name__ == "__main__":
    main()
