"""Where programs take secrets on their command lines: one line a program, and the forms of their arguments.

Adding a program is adding a line to `PROGRAMS`. A form says which part of an argument is the secret.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

Form = Callable[[str], int | None]
"""Where the secret begins in an argument; None: there is none in it."""


def whole(argument: str) -> int | None:
    return 0 if argument else None


def after(mark: str) -> Form:
    """Make the form of `name:secret`: everything after the first mark."""

    def begin(argument: str) -> int | None:
        at = argument.find(mark)
        return at + len(mark) if 0 <= at < len(argument) - len(mark) else None

    return begin


def after_pass(argument: str) -> int | None:
    """`pass:secret`, not `env:NAME`, `file:path`, `fd:3` or `stdin`."""
    return 5 if argument.startswith("pass:") and len(argument) > 5 else None


def login_at_database(argument: str) -> int | None:
    """`user/secret@database`."""
    at = argument.find("/")
    return at + 1 if at > 0 and not argument.startswith(("/", "-", "@")) else None


def named_password(argument: str) -> int | None:
    """`user=anna,password=secret` of mount."""
    match = re.search(r"(?:^|,)(?:password|pass|password2)=", argument)
    return match.end() if match else None


def cookie(argument: str) -> int | None:
    """`name=secret`; without the sign it is a file."""
    return after("=")(argument)


def secret_setting(argument: str) -> int | None:
    """`name=secret`, `name:secret`: the name says that it is one."""
    match = re.match(
        r"[A-Za-z0-9_./:-]*?(?:token|auth|password|secret|pass|pwd)[A-Za-z0-9_]*[=:]", argument, re.IGNORECASE
    )
    return match.end() if match else None


@dataclass(frozen=True, slots=True)
class Program:
    """How one program takes secrets.

    Args:
        options: forms by option; its argument is the next word, `--option=…`, or what follows a short option at once.
        attached: short options whose secret follows at once only: `-psecret`; alone they ask.
        operands: `(words before, which operand after them, form)`: `add_user anna SECRET` is `("add_user", 2, whole)`;
            an empty first part counts from the program itself.
    """

    options: dict[str, Form]
    attached: tuple[str, ...] = ()
    operands: tuple[tuple[str, int, Form], ...] = ()
    is_spelled: bool = False
    """Whether its options are words behind one hyphen, `-kfile`, so that nothing follows an option at once."""
    switches: str = ""
    """Letters of short options without an argument, which may stand before one that takes the secret: `-rP secret`."""

    def switches_hold(self, letters: str) -> bool:
        """Say whether these letters are all switches."""
        return all(letter in self.switches for letter in letters)


COLON: Final = after(":")
EQUALS: Final = after("=")
PERCENT: Final = after("%")


def _program(
    *operands: tuple[str, int, Form],
    attached: tuple[str, ...] = (),
    switches: str = "",
    is_spelled: bool = False,
    **forms: tuple[str, Form],
) -> Program:
    options = {option: form for written, form in forms.values() for option in written.split()}
    return Program(options, attached, operands, is_spelled, switches)


_MYSQL: Final = _program(attached=("-p",))
_LOGIN: Final = _program(a=("-p --password", whole), b=("--creds --src-creds --dest-creds", COLON))
_ZIP7: Final = _program(attached=("-p",))
_RAR: Final = _program(attached=("-p", "-hp"))
_LDAP: Final = _program(a=("-w -s", whole))
_SMB: Final = _program(a=("-U --user", PERCENT), b=("--password", whole))
_MONGO: Final = _program(a=("-p --password", whole))
_MOSQUITTO: Final = _program(a=("-P --pw", whole))
_HTTPIE: Final = _program(a=("-a --auth", COLON))
_KEYTOOL: Final = _program(a=("-storepass -keypass -srcstorepass -deststorepass -srckeypass -destkeypass -new", whole))
_SNMP: Final = _program(a=("-c -A -X", whole))
_RDP: Final = _program(a=("-p", whole), attached=("/p:", "/gp:"))
_PDF: Final = _program(a=("-upw -opw", whole))
_LOGIN_COMMAND: Final = ("login", 1, whole)

PROGRAMS: Final[dict[str, Program]] = {
    "7z": _ZIP7,
    "7za": _ZIP7,
    "7zr": _ZIP7,
    "7zz": _ZIP7,
    "ab": _program(a=("-A -P", COLON)),
    "ansible": _program(a=("-e --extra-vars", secret_setting)),
    "ansible-playbook": _program(a=("-e --extra-vars", secret_setting)),
    "apksigner": _program(a=("--ks-pass --key-pass", after_pass)),
    "aws": _program(("aws_secret_access_key", 1, whole), ("aws_session_token", 1, whole)),
    "az": _program(a=("-p --password --account-key --sas-token --client-secret", whole)),
    "bcp": _program(a=("-P", whole)),
    "buildah": _LOGIN,
    "bw": _program(("unlock", 1, whole), ("login", 2, whole)),
    "cargo": _program(_LOGIN_COMMAND, a=("--token", whole)),
    "clickhouse-client": _program(a=("--password", whole)),
    "cloudflared": _program(a=("--token", whole)),
    "cqlsh": _program(a=("-p --password", whole)),
    "crane": _LOGIN,
    "curl": _program(
        a=("-u --user -U --proxy-user -E --cert --proxy-cert", COLON),
        b=("--oauth2-bearer --pass --proxy-pass --tlspassword --proxy-tlspassword", whole),
        c=("-b --cookie", cookie),
        switches="sSfLvikIgGjJnNqRaB0123456#",
    ),
    "cypher-shell": _program(a=("-p --password", whole)),
    "docker": _LOGIN,
    "dotnet": _program(("set", 2, whole), a=("-k --api-key", whole)),
    "etcdctl": _program(a=("--user", COLON), b=("--password", whole)),
    "gh": _program(a=("-b --body", whole)),
    "glab": _program(a=("-t --token -v --value", whole)),
    "gpg": _program(a=("--passphrase", whole)),
    "gpg2": _program(a=("--passphrase", whole)),
    "helm": _LOGIN,
    "heroku": _program(("config:set", 1, EQUALS), ("config:set", 2, EQUALS), ("config:set", 3, EQUALS)),
    "htpasswd": _program(),  # see `_htpasswd`
    "http": _HTTPIE,
    "https": _HTTPIE,
    "influx": _program(a=("-password --password -p -token --token -t", whole)),
    "ipmitool": _program(a=("-P -k -K", whole)),
    "jarsigner": _KEYTOOL,
    "kadmin": _program(a=("-w -pw", whole)),
    "keytool": _KEYTOOL,
    "kubectl": _program(a=("--token --password --docker-password", whole), b=("--from-literal", EQUALS)),
    "ldapadd": _LDAP,
    "ldapdelete": _LDAP,
    "ldapmodify": _LDAP,
    "ldappasswd": _LDAP,
    "ldapsearch": _program(a=("-w", whole)),
    "ldapwhoami": _program(a=("-w", whole)),
    "lftp": _program(a=("-u --user", after(",")), b=("--password", whole)),
    "mariadb": _MYSQL,
    "mariadb-dump": _MYSQL,
    "mc": _program(("alias set", 3, whole), ("alias set", 4, whole)),
    "mongo": _MONGO,
    "mongodump": _MONGO,
    "mongoexport": _MONGO,
    "mongoimport": _MONGO,
    "mongorestore": _MONGO,
    "mongosh": _MONGO,
    "mosquitto_pub": _MOSQUITTO,
    "mosquitto_sub": _MOSQUITTO,
    "mount": _program(a=("-o --options", named_password)),
    "mysql": _MYSQL,
    "mysqladmin": _MYSQL,
    "mysqldump": _MYSQL,
    "mysqlimport": _MYSQL,
    "net": _program(attached=("/savecred:",)),  # see `_net_use`
    "ngrok": _program(("authtoken", 1, whole), ("add-authtoken", 1, whole), a=("--authtoken", whole)),
    "nmcli": _program(("password", 1, whole), ("wifi-sec.psk", 1, whole), ("802-11-wireless-security.psk", 1, whole)),
    "npm": _program(("config set", 1, secret_setting), ("set", 1, secret_setting), a=("--otp", whole)),
    "nuget": _program(a=("-ApiKey -Password", whole)),
    "oc": _program(a=("-p --password --token", whole), b=("--from-literal", EQUALS)),
    "op": _program(("create", 1, secret_setting), ("create", 2, secret_setting), a=("--session", whole)),
    "openssl": _program(
        ("passwd", 1, whole),
        a=("-k -K -psk", whole),
        b=("-pass -passin -passout", after_pass),
        is_spelled=True,
    ),
    "pdfimages": _PDF,
    "pdftk": _program(("input_pw", 1, whole), ("owner_pw", 1, whole), ("user_pw", 1, whole)),
    "pdftoppm": _PDF,
    "pdftotext": _PDF,
    "podman": _LOGIN,
    "poetry": _program(a=("-p --password", whole)),  # see `_poetry`
    "pulumi": _program(("--secret", 2, whole)),
    "qpdf": _program(("--encrypt", 1, whole), ("--encrypt", 2, whole), a=("--password", whole)),
    "rabbitmqadmin": _program(a=("-p --password", whole)),
    "rabbitmqctl": _program(("add_user", 2, whole), ("change_password", 2, whole), ("authenticate_user", 2, whole)),
    "rar": _RAR,
    "rclone": _program(("obscure", 1, whole)),
    "rdesktop": _RDP,
    "redis-cli": _program(a=("-a --pass", whole)),
    "redis-server": _program(a=("--requirepass --masterauth", whole)),
    "rpcclient": _SMB,
    "security": _program(a=("-w -p", whole)),
    "skopeo": _LOGIN,
    "smbclient": _SMB,
    "smbmap": _program(a=("-p", whole)),
    "snmpget": _SNMP,
    "snmpset": _SNMP,
    "snmpwalk": _SNMP,
    "snowsql": _program(a=("--private-key-passphrase", whole)),
    "sqlcmd": _program(a=("-P", whole)),
    "sqlplus": _program(("", 1, login_at_database)),
    "ssh-keygen": _program(a=("-N -P", whole)),
    "sshpass": _program(a=("-p", whole)),
    "svn": _program(a=("--password", whole)),
    "swaks": _program(a=("--auth-password -ap", whole)),
    "sendemail": _program(a=("-xp", whole)),
    "tailscale": _program(a=("--authkey --auth-key", whole)),
    "terraform": _program(a=("-var", secret_setting)),
    "tofu": _program(a=("-var", secret_setting)),
    "tsql": _program(a=("-P", whole)),
    "twine": _program(a=("-p --password", whole)),
    "unrar": _RAR,
    "unzip": _program(a=("-P", whole), switches="oqxnjCLUa"),
    "useradd": _program(a=("-p --password", whole)),
    "usermod": _program(a=("-p --password", whole)),
    "vault": _program(
        _LOGIN_COMMAND,
        *(("kv put", place, EQUALS) for place in range(2, 6)),
        *(("write", place, EQUALS) for place in range(2, 6)),
    ),
    "wget": _program(a=("--password --http-password --ftp-password --proxy-password", whole)),
    "wpa_passphrase": _program(("", 2, whole)),
    "xfreerdp": _RDP,
    "xh": _HTTPIE,
    "zip": _program(a=("-P --password", whole), switches="rqjlyomTuv0123456789"),
}
# Options of these subcommands alone: `docker run -p` is a port, `gh pr create -b` a text.
ONLY_WITH: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("docker", "-p"): ("login",),
    ("podman", "-p"): ("login",),
    ("helm", "-p"): ("login",),
    ("oc", "-p"): ("login",),
    ("crane", "-p"): ("login",),
    ("skopeo", "-p"): ("login",),
    ("buildah", "-p"): ("login",),
    ("az", "-p"): ("login", "acr"),
    ("gh", "-b"): ("secret",),
    ("gh", "--body"): ("secret",),
    ("glab", "-t"): ("auth",),
    ("glab", "-v"): ("variable",),
    ("dotnet", "-k"): ("nuget",),
    ("openssl", "-k"): ("enc", "cms", "smime"),
    ("openssl", "-K"): ("enc",),
    ("security", "-w"): ("add-generic-password", "add-internet-password"),
    ("security", "-p"): ("unlock-keychain", "create-keychain", "set-keychain-password", "import"),
    ("poetry", "-p"): ("publish",),
    ("influx", "-p"): ("setup", "user"),
}
# Words that a text of commands holds; `http` begins addresses, too.
_BEGIN_ADDRESSES: Final = ("http", "https")
NAMES: Final = frozenset(PROGRAMS) - frozenset(_BEGIN_ADDRESSES)
NEEDS: Final = tuple(f"{name} " for name in _BEGIN_ADDRESSES)
