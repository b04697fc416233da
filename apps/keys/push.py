"""The key by which push services know this installation: derived, so that it needs no file of its own."""

import hashlib
import hmac
from base64 import urlsafe_b64encode

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from apps.keys.installation import signing_key

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551  # of P-256: FIPS 186-5, D.1.2.3


def push_key() -> ec.EllipticCurvePrivateKey:
    """Give the P-256 key that signs for push services. Source: RFC 8292."""
    digest = hmac.digest(signing_key().private_bytes_raw(), b"openclaw-admin web push", hashlib.sha512)
    return ec.derive_private_key(int.from_bytes(digest) % (ORDER - 1) + 1, ec.SECP256R1())


def push_public_key() -> str:
    """Give the public key as browsers and push services take it: the point in URL-safe Base64."""
    point = push_key().public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return urlsafe_b64encode(point).rstrip(b"=").decode()
