"""The expressions of the masker. Each one looks at a text in time linear in its length.

Why they are linear: an expression starts at a literal or where a run of characters begins (a look-behind says so), and
what repeats without bound is one set of characters that the next part cannot take, or is cut at a bound.
"""

import re

# --- names and their values: matched on a lower-case copy of the same length ---
NAMED = re.compile(
    r"(?P<name>key(?:[ _-]?material)?|token|secret|password|passwd|passphrase"
    r"|(?<!by)(?<!com)(?<!tres)(?<!sur)(?<!over)(?<!under)(?<!en)pass|pwd|credentials?|authorization"
    r"|jwt|(?<=[_-])auth|cookies?)(?P<close>\\{0,4}[\"'`])?(?:\]|%5d)?\s*(?:=>|:=|={1,3}|:|%3[ad])\s*"
)
# Where a name may begin, by its first letter, which is found much faster than whole names.
NAMED_START = re.compile(r"[ktspcaj](?=ey|oken|ecret|ass|wd|redential|uth|wt|ookie)")
NAMED_NEEDS = ("key", "token", "secret", "pass", "pwd", "credential", "authorization", "jwt", "auth", "cookie")
OPTION = re.compile(r"(?<![a-z0-9_-])--?(?P<name>[a-z0-9][a-z0-9_.-]{0,80})[ \t]+(?=\S)")
OPTION_ENDINGS = (
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "-pass",
    "credential",
    "credentials",
    "pwd",
)
QUERY = re.compile(
    r"(?:[?&;]|\A|(?<=[\s\"'`])(?=[a-z]{1,20}=[^&\s]{0,512}&))"
    r"(?:session|sessionid|session_id|sid|code|signature|sig|hash|nonce|otp|pin|auth|access|state_token"
    r"|x-amz-signature|x-amz-credential|x-goog-signature)=(?P<secret>(?:[^&\s\"'<>]|[\"'](?=[a-z0-9]))+)"
)
QUERY_NEEDS = (
    *("session=", "sessionid=", "session_id=", "sid=", "code=", "signature=", "sig=", "hash=", "nonce=", "otp="),
    *("pin=", "auth=", "access=", "state_token=", "x-amz-credential="),
)
# A pair of an address or of a form: `?name=value`, `name=value&name=value`.
PAIR = re.compile(
    r"(?:[?&]|(?:\A|(?<=[\s:({\[,=\"'`]))(?=[a-z_][a-z0-9_.-]{0,80}=[^&\s<>]{0,512}&[a-z_]))"
    r"(?P<name>[a-z_][a-z0-9_.-]{0,80})=(?P<secret>[^&\s<>]+)"
)
PAIR_NAME = re.compile(
    r"(?:.*_)?token(?:_[a-f0-9]{16,})?|(?:aws_?)?secret_?access_?key|(?:x_)?api_?key|private_key|key"
    r"|(?:client_|app_)?secret|password|passwd|pass|auth|authorization|jwt|session|code|sig|signature"
    r"|x_amz_signature|(?:payment_)?credential|card_(?:number|cv[cv])|cv[cv]|security_code"
)
HEADER = re.compile(
    r"(?:authorization|cookie2?)\s*[:=]\s*(?P<value>(?:(?!\\[nr])[^\r\n\"'`]|(?:(?<=\\)[\"']|(?<=\w)')(?=\w))+)"
)
DIGEST = re.compile(r"authorization\s*[:=]\s*(?P<value>(?:digest|signature|hawk|aws4-hmac-sha256)\b[^\r\n]{1,4096})")
# A header whose credentials are pairs, whatever its scheme.
AUTH_PAIRS = re.compile(
    r"authorization[\"']?\s*[:=]\s*[\"']?[\w-]{1,40}[ \t]+(?P<value>[^\s\"'=;]{1,80}=(?!=)[^\r\n;]{1,4096})"
)
SCHEME = re.compile(r"(?:bearer|basic|bot|digest|token|negotiate|apikey|hawk)[ \t]+(?=\S)")
BEARER = re.compile(r"bearer\s+(?P<secret>[^\s\"'`<>,;]{18,})")
BASIC = re.compile(r"(?<![a-z0-9])basic[ \t]+(?P<secret>[a-z0-9+/_-]{16,}={0,2})")
ELEMENT = re.compile(r"(?:key|token|secret|password|passwd|passphrase|credential)>(?P<secret>[^<\r\n]+)(?P<end></)?")
CARD_FIELD = re.compile(
    r"(?:card[ _-]?(?:number|num|no|code)|cc[ _-]?(?:number|num|no)|(?<![a-z])pan"
    r"|cv[cv]2?|(?<![a-z])csc|security[ _-]?code)"
    r"\\{0,4}[\"'`]?(?:\]|%5d)?\s*[:=]\s*\\{0,4}[\"'`]?(?P<secret>[0-9](?:[ -]?[0-9]){2,18})"
)
# Fields that hold nothing but the secret: whatever stands behind their names, or behind such an option.
CARD_NAME = re.compile(
    r"(?:(?<!dis)(?<!post)(?<!score)(?<!wild)card[_-]?(?:number|cv[cv])|cv[cv]2?|security[_-]?code)"
    r"(?P<joint>(?P<close>\\{0,4}[\"'`])?(?:\]|%5d)?\s*(?:=>|:=|={1,3}|:|%3[ad])\s*|[ \t]+(?=\S))"
)
CARD_NAME_NEEDS = ("cvc", "cvv", "card", "security")
CARD_FIELD_VALUE = re.compile(r"[:=]\s*[\\\"'`]{0,5}[0-9]")
CARD_FIELD_NEEDS = ("card", "cc", "pan", "cvc", "cvv", "csc", "security")

# --- a value after its name: quoted in one of four ways, or a run without space, with quotes inside of words ---
VALUE = re.compile(
    r"\\{1,8}\"(?P<a>(?:(?!\\{1,8}\")[^\n])*)|\\{1,8}'(?P<b>(?:(?!\\{1,8}')[^\n])*)"
    r"|\"\"(?P<f>\w[^\s\"']*)|\"(?P<c>(?:[^\"\\\n]|\\[\s\S])*)|'(?P<d>(?:[^'\\\n]|\\[\s\S])*)|`(?P<e>[^`\n]+)`"
    r"|(?P<bare>[^\s\"']+(?:(?:(?<=\\)[\"']|(?<=\w)')(?=\w)[^\s\"']+)*)"
)
VALUE_BEGINS = re.compile(r"[\"']?(?P<word>[^\s\"'\\]+)(?=\\)")
BARE_IN_JSON = re.compile(r"[^\s,}\]\"'{\[(]+")
NO_SECRETS_IN_JSON = frozenset({"null", "true", "false", "none", "undefined"})

# --- addresses ---
URL_PASSWORD = re.compile(
    r"://[^\s:/@\"'`<>]{0,256}+:(?![0-9]{1,5}(?:[/?#]|\Z))"
    r"(?P<secret>[^\s@\"'`<>]{1,512}+(?:@[^\s@/?#\"'`<>]{1,256}+){0,8})@"
)
URL_USER = re.compile(r"://(?P<secret>[^\s:/@\"'`<>]{20,512}+)@")
WEBHOOK = re.compile(
    r"(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/"
    r"|discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/"
    r"|webhook\.office\.com/webhookb2/"
    r"|hooks\.zapier\.com/hooks/(?:catch|standard)/"
    r"|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/(?:v2/)?hook/"
    r"|maker\.ifttt\.com/trigger/[^\s/]{1,80}/(?:json/)?with/key/"
    r"|hook\.[a-z0-9]{2,5}\.(?:make|integromat)\.com/|hooks\.airtable\.com/workflows/v1/genericwebhook/"
    r"|webhook\.site/(?=[0-9a-f]{8}-)|/webhook(?:-test)?/(?=[0-9a-f]{8}-)"
    r"|/hooks/(?=[a-z0-9]{26}(?![a-z0-9]))"
    r"|qyapi\.weixin\.qq\.com/cgi-bin/webhook/|chat\.googleapis\.com/v1/spaces/(?=[^\s?]{1,200}\?))[^\s\"'`<>]{1,512}",
    re.IGNORECASE,
)
ADDRESS_BEFORE = re.compile(r"(?:https?://)?[A-Za-z0-9.:-]{0,80}\Z")
WEBHOOK_NEEDS = ("hook", "maker.ifttt.com", "chat.googleapis.com")

# --- names of which a part says it: behind a joint, or alone ---
SUFFIXED = re.compile(
    r"(?:(?<=[a-z0-9][_-])|(?<![a-z0-9_-])(?=pin|psk|pw=))(?P<name>pat|pin|psk|pw)(?:[ _-]?(?:code|number))?"
    r"(?:\\{0,4}[\"'`])?\s{0,4}[:=]\s{0,4}(?:\\{0,4}[\"'`])?(?P<secret>[^\s\"'`,;}\\]{2,512})"
)
SUFFIXED_NEEDS = (
    "pat=",
    "pat:",
    'pat"',
    "pat'",
    "pat ",
    "pin=",
    "pin:",
    'pin"',
    "pin'",
    "pin ",
    "pin-",
    "pin_",
    "pincode",
    "psk",
    "pw",
)
# --- said in a sentence: `the password is …` ---
SAID = re.compile(
    r"(?P<name>password|passphrase|passcode|passwd"
    r"|(?<![a-z])(?:pin|otp|token|api[ -]?key|secret(?: key)?|login code|verification code|code))"
    r"(?:[ ](?:for|of|to)[ ][\w.@-]{1,40})?"
    r"(?:[ ](?:is|was|will be|changed to|set to)[ :]|[ ]=[ ]|:)[ ]{0,4}[\"'`]?(?P<secret>[^\s\"'`]{4,256})"
)
SAID_NEEDS = (
    "password",
    "passphrase",
    "passcode",
    "passwd",
    "pin ",
    "pin:",
    "otp ",
    "otp:",
    "token ",
    "key ",
    "key:",
    "secret ",
    "code ",
)
PHRASE = re.compile(
    r"(?:(?:seed|recovery|secret|backup|wallet)[ _-]?phrase|seed[ _-]?words|mnemonic(?:[ _-]phrase)?|助记词|助記詞)"
    r"[\"'`]?\s{0,4}(?:is\s)?[:=：]?\s{0,4}[\"'`]?(?P<secret>[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){3,23})"
)
PHRASE_NEEDS = ("phrase", "seed", "mnemonic", "助记词", "助記詞")
INTEGRITY = re.compile(r"sha(?:1|256|384|512)-")

# --- tokens that their own look gives away; searched inside runs of such characters ---
RUN = re.compile(r"[A-Za-z0-9_.~+/=-]{10,}")
_W = r"[A-Za-z0-9_-]"
_A = r"[A-Za-z0-9]"
VENDOR_TOKENS: tuple[str, ...] = (
    rf"sk-{_W}{{8,}}",  # OpenAI and its likes
    rf"[spr]k_(?:live|test|prod)_{_A}{{8,}}{_W}*",  # Stripe
    rf"sk_{_A}{{24,}}{_W}*",
    rf"whsec_{_W}{{10,}}",
    rf"gh[a-z]_{_A}{{10,}}{_W}*",  # GitHub
    rf"github_pat_{_W}{{10,}}",
    rf"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-{_W}{{10,}}",  # GitLab
    rf"xox[a-z](?:\.[a-z]{{3,8}})?-{_W}{{6,}}",  # Slack
    rf"xapp-{_W}{{6,}}",
    rf"xwfp-{_W}{{6,}}",
    rf"gsk_{_W}{{8,}}",  # Groq
    rf"AIza{_W}{{16,}}",  # Google
    r"ya29\.[A-Za-z0-9_.-]{8,}",
    rf"GOCSPX-{_W}{{8,}}",
    r"1//0[A-Za-z0-9_./+=-]{10,}",
    rf"1//{_W}{{20,}}",
    rf"pplx-{_W}{{8,}}",  # Perplexity
    rf"npm_{_A}{{10,}}{_W}*",
    rf"hf_{_A}{{10,}}{_W}*",  # Hugging Face
    rf"api_org_{_A}{{10,}}{_W}*",
    rf"r8_{_A}{{10,}}{_W}*",  # Replicate
    rf"xai-{_W}{{10,}}",
    rf"SG\.{_W}{{8,}}\.{_W}{{8,}}",  # SendGrid
    rf"pypi-{_W}{{10,}}",
    rf"do[opr]_v1_{_W}{{10,}}",  # DigitalOcean
    r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{10,}",  # Doppler
    rf"dckr_[a-z]{{3}}_{_W}{{10,}}",  # Docker
    rf"d(?:api|ose|keysa){_A}{{16,}}{_W}*",  # Databricks
    rf"dd[a-z]{{1,4}}_{_A}{{10,}}{_W}*",  # Datadog
    rf"gl(?:c|sa)_{_A}[A-Za-z0-9_+/=-]{{10,}}",  # Grafana
    r"eyJrIjoi[A-Za-z0-9+/=_-]{16,}",
    rf"nf[a-z]_{_W}{{10,}}",  # Netlify
    r"AT(?:ATT|CTT|BB|SS)[A-Za-z0-9_=-]{10,}",  # Atlassian
    rf"HRKU-{_W}{{10,}}",  # Heroku
    rf"pat-(?:na|eu|ap)[0-9]-{_W}{{8,}}",  # HubSpot
    rf"fo1_{_W}{{8,}}",  # Fly
    r"fm[12][a-z]?_[A-Za-z0-9+/=_-]{10,}",
    rf"shp(?:at|ca|pa|ss|tka)_{_A}{{10,}}{_W}*",  # Shopify
    rf"sq0[a-z]{{3}}-{_W}{{10,}}",  # Square
    rf"lin_(?:api|oauth)_{_A}{{10,}}{_W}*",  # Linear
    rf"(?:ntn|secret)_{_A}{{20,}}{_W}*",  # Notion
    rf"fig[dorp]_{_W}{{10,}}",  # Figma
    r"(?:SK|AC)[0-9a-f]{32}",  # Twilio
    rf"xkeysib-{_W}{{16,}}",
    rf"NRAK-{_A}{{10,}}{_W}*",  # New Relic
    rf"NR(?:II|JS|RA)-{_W}{{10,}}",
    rf"sntry[su]_{_A}[A-Za-z0-9_+/=-]{{10,}}",  # Sentry
    rf"pul-{_A}{{20,}}{_W}*",  # Pulumi
    rf"{_A}{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{20,}}",  # Terraform
    rf"hv[sbr]\.{_W}{{10,}}",  # Vault
    r"AGE-SECRET-KEY-1[A-Z0-9]{10,}",
    rf"sb[a-z]?_(?:secret_|publishable_)?{_A}{{16,}}{_W}*",  # Supabase
    rf"pscale_[a-z]{{2,6}}_{_W}{{10,}}",  # PlanetScale
    rf"rubygems_{_A}{{10,}}{_W}*",
    rf"PMAK-{_W}{{10,}}",  # Postman
    rf"tvly-{_W}{{8,}}",
    rf"fw_{_A}{{16,}}{_W}*",
    rf"tgp_v1_{_W}{{10,}}",
    rf"lsv2_[a-z]{{2}}_{_W}{{10,}}",
    rf"nvapi-{_W}{{10,}}",
    rf"vc[a-z]_{_A}{{16,}}{_W}*",  # Vercel
    rf"bk[a-z]{{2}}_{_A}{{10,}}{_W}*",
    rf"CCIPAT_{_W}{{10,}}",
    r"key-[0-9a-f]{24,}",
    rf"oca_{_A}{{10,}}_{_A}{{16,}}{_W}*",  # our own
    rf"LTAI{_A}{{10,}}{_W}*",
    r"(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|APKA)[A-Z0-9]{12,}",  # AWS
    rf"A[KS]IA{_A}{{16,}}",
    rf"AKID{_A}{{10,}}{_W}*",  # Tencent
    rf"bb_live_{_W}{{10,}}",  # Browserbase
    rf"gAAAA{_W}{{20,}}=*",  # Fernet
    rf"GR1348941{_W}{{20,}}",
    r"_gitlab_session=[A-Za-z0-9._-]{20,}",
    rf"CFPAT-{_W}{{40,}}",  # Contentful
    r"BBDC-[A-Za-z0-9+/_-]{40,}",
    rf"apify_api_{_W}{{20,}}",
    rf"fio-u-{_W}{{40,}}",  # Frame.io
    rf"(?:retaindb|mem0)_{_A}{{10,}}{_W}*",
    rf"fpk_{_A}{{30,}}{_W}*",  # Fireworks
    rf"fw-{_A}{{30,}}{_W}*",
    # Short beginnings that words have, too: only with a digit or a capital letter.
    rf"(?:fal|exa|syt|brv|(?<!_)am|(?<!_)sk)_(?=[a-z_-]{{0,64}}[A-Z0-9]){_W}{{10,}}",
    rf"(?:hsk|(?<!_)fc)-(?=[a-z]{{0,64}}[A-Z0-9]){_A}{{10,}}{_W}*",
    r"EAA[A-Za-z0-9]{30,}",  # Meta
    rf"[A-Za-z0-9_-]{{23,28}}\.{_W}{{6,7}}\.{_W}{{27,}}",  # Discord
)


def _by_first_letter(forms: tuple[str, ...]) -> str:
    """Join forms so that one letter is tried once for all that begin with it."""
    letters = dict.fromkeys(form[0] for form in forms if form[0].isalnum() and form[1].isalnum())
    groups = [[form for form in forms if form[0] == letter and form[1].isalnum()] for letter in letters]
    others = [form for form in forms if not (form[0].isalnum() and form[1].isalnum())]
    return "|".join([*(f"{group[0][0]}(?:{'|'.join(form[1:] for form in group)})" for group in groups), *others])


VENDOR = re.compile(rf"(?<![A-Za-z0-9])(?:{_by_first_letter(VENDOR_TOKENS)})")
AWS_SECRET_LETTERS = 40
AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+=]{40}(?![A-Za-z0-9/+=])")
# The second part is optional here and required by the caller: a part that fails would be read again from each `eyJ`.
JSON_WEB_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{4,}(?P<more>\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3})?"
)
BOT_TOKEN_TAIL = re.compile(r":[A-Za-z0-9_-]{20,}")  # Telegram: digits stand before the colon
# What stands before it is looked at after two digits: an expression that starts with digits is searched for fast.
CARD = re.compile(
    r"[2-6](?:(?<=[245])[0-9]|(?<=3)[47]|(?<=6)[05])(?<![0-9A-Za-z.-][0-9]{2})[0-9](?:[ -]?[0-9]){11,13}(?![0-9A-Za-z])"
)

PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
