"""MASKS: takes secrets out of texts and JSON values before they are stored, logged or shown. Standard library only,
but for the word list of wallets.

Adding a program's options is a line in `programs`, a language a line in `languages`, a form a rule in `formats`.

- `mask_text`, `mask_value`: the masked copy, and notes of what was masked (place, rule, length, keyed short hash).
- `is_plain_value`, `is_plain_json`: whether `mask_value` would leave a value as it is, told quickly.
- `MaskOptions`: the mode and the patterns of an installation. `is_secret_name`: whether a field holds a secret.

A mask is `[masked 26 characters, 1f2e3d4c]`. Nothing of the secret stays, and the hash is keyed: it tells two secrets
apart, but without the key nobody can try short ones until the hash fits. Masking a masked text changes nothing.
"""

from apps.firewall.redaction.masks import MaskNote, MaskOptions, mask_of
from apps.firewall.redaction.names import is_secret_name
from apps.firewall.redaction.plain import is_plain_json, is_plain_value
from apps.firewall.redaction.text import MaskedText, mask_text
from apps.firewall.redaction.values import MaskedValue, mask_value

__all__ = [
    "MaskNote",
    "MaskOptions",
    "MaskedText",
    "MaskedValue",
    "is_plain_json",
    "is_plain_value",
    "is_secret_name",
    "mask_of",
    "mask_text",
    "mask_value",
]
