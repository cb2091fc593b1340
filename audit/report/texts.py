"""Words of the reports through gettext: English in the code, other languages in ``reports/locale``."""

from __future__ import annotations

import gettext

from audit.errors import UsageError
from audit.resources import content_dir

DOMAIN = "fleetaudit"
DEFAULT_LANGUAGE = "en"


class Texts:
    """One language's words.

    Args:
        language: ``en``, or the name of a folder under ``reports/locale``.

    Raises:
        UsageError: no catalogue for that language.
    """

    def __init__(self, language: str = DEFAULT_LANGUAGE) -> None:
        self.language = language
        self._catalogue: gettext.NullTranslations = gettext.NullTranslations()
        if language == DEFAULT_LANGUAGE:
            return
        locale = content_dir("reports") / "locale"
        try:
            self._catalogue = gettext.translation(DOMAIN, locale, languages=[language.replace("-", "_")])
        except OSError as error:
            raise UsageError(
                f"no report texts in language {language!r}", suggestion="use en or zh-CN"
            ) from error

    @property
    def native(self) -> gettext.NullTranslations:
        """The catalogue itself, for Jinja's i18n extension."""
        return self._catalogue

    def gettext(self, message: str) -> str:
        """The message in this language."""
        return self._catalogue.gettext(message)

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        """The form for `number`, which the caller fills in."""
        return self._catalogue.ngettext(singular, plural, number)
