"""Names of secrets in other languages than English, as fields and as words of a text.

A blank in a name stands for a blank, a hyphen, an underscore or nothing: `mot de passe`, `mot_de_passe`, `motdepasse`.
"""

import re
from typing import Final

# Each ends a name: `Datenbankpasswort`, `数据库密码`.
NAMES: Final[dict[str, tuple[str, ...]]] = {
    "Chinese": (
        *("密码", "密碼", "口令", "密钥", "密鑰", "秘钥", "金鑰", "私钥", "私鑰", "令牌", "權杖", "验证码", "驗證碼"),
        *("助记词", "助記詞", "通行码"),
    ),
    "Japanese": (
        *("パスワード", "暗証番号", "秘密鍵", "トークン", "合言葉", "認証コード", "確認コード", "シークレット"),
        *("アクセスキー", "apiキー", "パスフレーズ"),
    ),
    "Korean": (
        *("비밀번호", "암호", "패스워드", "토큰", "비밀키", "비밀 키", "개인키", "개인 키", "인증번호", "시크릿"),
        *("api키", "api 키", "액세스 키"),
    ),
    "German": (
        *("passwort", "passwörter", "kennwort", "geheimzahl", "geheimnis", "zugangscode", "sicherheitscode"),
        *("zugangsschlüssel", "api schlüssel", "geheimer schlüssel", "privater schlüssel", "losungswort"),
    ),
    "French": (
        *("mot de passe", "mots de passe", "clé secrète", "cle secrete", "clé privée", "clé d'api", "clé api"),
        *("clé d'accès", "jeton d'accès", "jeton secret", "code secret", "phrase secrète", "code pin"),
    ),
    "Spanish": (
        *("contraseña", "contrasena", "contrasenya", "clave secreta", "clave de acceso", "clave privada", "clave api"),
        *("clave de api", "código de acceso", "código de seguridad", "frase de contraseña", "clave pin"),
    ),
    "Russian": (
        *(
            "пароль",
            "токен",
            "секретный ключ",
            "ключ доступа",
            "закрытый ключ",
            "приватный ключ",
            "ключ api",
            "api ключ",
        ),
        *("кодовое слово", "пин код", "пинкод", "секрет", "код подтверждения"),
    ),
    "Portuguese": (
        *("palavra passe", "palavra chave secreta", "chave secreta", "chave de acesso", "chave privada", "chave api"),
        *("chave de api", "código de segurança", "código de acesso"),
    ),
    "Italian": (
        "parola d'ordine",
        "chiave segreta",
        "chiave privata",
        "chiave api",
        "codice segreto",
        "codice di accesso",
    ),
    "Dutch": ("wachtwoord", "toegangscode", "geheime sleutel", "api sleutel", "pincode"),
    "Polish": ("hasło", "tajny klucz", "klucz api", "klucz prywatny"),
    "Turkish": ("şifre", "şifresi", "gizli anahtar", "api anahtarı"),
    "Scandinavian": ("lösenord", "adgangskode", "passord", "kodeord", "hemlig nyckel", "salasana"),
    "others": (
        *("jelszó", "пароля", "ключ доступу", "κωδικός πρόσβασης", "סיסמה", "סיסמא", "كلمة المرور", "كلمة السر"),
        *("رمز عبور", "गुप्त शब्द", "पासवर्ड", "รหัสผ่าน", "mật khẩu", "kata sandi", "lozinka"),
    ),
}
# Short words that end other words: nothing may stand before them.
WHOLE: Final = ("senha", "mdp", "sifre", "heslo", "parola", "hasło", "parolă")

_BLANK = r"[ _-]?"
_COMPACT = re.compile(r"[\W_]+")


def _written(name: str) -> str:
    return re.escape(name).replace("\\ ", _BLANK).replace("'", "['’_]?")


def _alternatives(names: list[str]) -> str:
    return "|".join(_written(name) for name in sorted(names, key=len, reverse=True))


_ALL: Final = [name for names in NAMES.values() for name in names]
_COPULAS: Final = "is|ist|lautet|est|es|é|è|jest|är|er|adalah"
_JOINT: Final = (
    r"(?P<close>\\{0,4}[\"'`])?\s{0,8}"
    rf"(?:=>|:=|={{1,3}}|[:：＝]|(?P<says>(?:{_COPULAS})(?=[\s:])|是|为|為|は|이|은|는|가)\s{{0,8}}[:：]?)\s{{0,8}}"
)
_WHOLE: Final = rf"(?<![^\W\d_])(?:{_alternatives(list(WHOLE))})"
ASCII_NEEDS: Final = tuple(
    sorted({min(name.split(" "), key=lambda part: (-len(part), part)) for name in (*_ALL, *WHOLE) if name.isascii()})
)
NAMED: Final = re.compile(rf"(?:{_alternatives(_ALL)}|{_WHOLE}){_JOINT}")
COMPACT_ENDINGS: Final = tuple(sorted({_COMPACT.sub("", name) for name in _ALL}))
COMPACT_WHOLE: Final = frozenset(WHOLE)


def may_name(low: str, text: str) -> bool:
    """Say whether a text may hold one of the names: far cheaper than the expression that then looks."""
    if not text.isascii():
        return True
    for word in ASCII_NEEDS:  # noqa: SIM110 - `any` over a generator takes three times as long
        if word in low:
            return True
    return False


def is_secret_name(name: str) -> bool:
    """Say whether a field's name, in small letters, is one of the names or ends in one."""
    plain = _COMPACT.sub("", name)
    return plain in COMPACT_WHOLE or plain.endswith(COMPACT_ENDINGS)
