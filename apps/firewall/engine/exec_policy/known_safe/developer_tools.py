"""Tools of developers and operators and what they may be given; see `rule.read_rules` for the notation."""

from typing import Final

_LOG: Final = (
    "* # -p -u -s -q -n= -i -E -F -P -g -c -m -L= -S= -G= -w -b -W -z -M? -C? -B? -U= -l? -R -a "
    "--patch --no-patch --raw --stat? --numstat --shortstat --dirstat? --summary --name-only --name-status --oneline "
    "--graph --all --branches? --tags? --remotes? --glob= --exclude= --decorate? --no-decorate --decorate-refs= "
    "--format= --pretty? --abbrev? --abbrev-commit --no-abbrev-commit --date= --since= --until= --after= --before= "
    "--author= --committer= --grep= --all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings "
    "--max-count= --skip= --merges --no-merges --first-parent --reverse --follow --full-history --simplify-merges "
    "--topo-order --date-order --author-date-order --left-right --cherry --cherry-pick --cherry-mark --boundary "
    "--color? --no-color --word-diff? --word-diff-regex= --color-words? --color-moved? --minimal --patience "
    "--histogram "
    "--diff-algorithm= --unified= --ignore-space-change --ignore-all-space --ignore-blank-lines "
    "--ignore-space-at-eol --find-renames? --find-copies? --no-renames --diff-filter= --pickaxe-regex --pickaxe-all "
    "--relative? --no-prefix --src-prefix= --dst-prefix= --full-index --binary --text --inter-hunk-context= "
    "--function-context --no-ext-diff --no-textconv --submodule? --ignore-submodules? --check --quiet --exit-code "
    "--source --notes? --no-notes --show-pulls --walk-reflogs --no-walk? --compact-summary"
)
_DIFF: Final = f"{_LOG} --cached --staged --merge-base --no-index"
_REPOSITORIES: Final = (
    "-q -v --quiet --verbose --no-tags --tags --prune --progress --no-progress --dry-run --depth= --all"
)

GIT: Final = {
    "git": "0 -C= --no-pager --no-optional-locks --literal-pathspecs --no-replace-objects --version -v -h",
    "git version": "0 --build-options",
    "git status": "* -s -b -v -u? -z --short --branch --show-stash --porcelain? --long --verbose --untracked-files? "
    "--ignored? --ignore-submodules? --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames",
    "git log": _LOG,
    "git show": _LOG,
    "git whatchanged": _LOG,
    "git diff": _DIFF,
    "git diff-tree": f"{_DIFF} -r -t --root --no-commit-id --stdin",
    "git diff-index": f"{_DIFF} -r",
    "git diff-files": _DIFF,
    "git range-diff": _LOG,
    "git shortlog": "* # -n -s -e -c --numbered --summary --email --group= --since= --until= --no-merges --all",
    "git blame": "* -b -L= -l -t -s -e -p -w -M? -C? -f -n --porcelain --line-porcelain --incremental --show-name "
    "--show-number --show-email --root --since= --date= --abbrev? --color-lines --ignore-rev=",
    "git grep": "* # -a -i -I -w -v -h -H -E -G -P -F -n -l -L -z -c -p -W -A= -B= -C= -e= -f= -q -r -o --text "
    "--ignore-case --word-regexp --invert-match --extended-regexp --basic-regexp --perl-regexp --fixed-strings "
    "--line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count "
    "--color? --no-color --break --heading --show-function --context= --after-context= --before-context= "
    "--function-context --and --or --not --all-match --quiet --cached --untracked --no-index --exclude-standard "
    "--no-exclude-standard --recurse-submodules --max-depth= --recursive --threads= --max-count= -m=",
    "git ls-files": "* -c -d -m -o -i -s -u -k -t -v -z -x= -X= --cached --deleted --modified --others --ignored "
    "--stage "
    "--unmerged --killed --exclude= --exclude-standard --exclude-from= --error-unmatch --full-name --directory "
    "--no-empty-directory --abbrev? --eol --deduplicate --format= --recurse-submodules",
    "git ls-tree": "* -d -r -t -l -z --long --name-only --name-status --object-only --abbrev? --full-name "
    "--full-tree --format=",
    "git cat-file": "* -t -s -e -p --batch-check? --batch? --batch-all-objects --unordered --buffer --follow-symlinks",
    "git rev-parse": "* -q --abbrev-ref? --short? --verify --show-toplevel --show-prefix --show-cdup --git-dir "
    "--absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository "
    "--is-shallow-repository --symbolic --symbolic-full-name --all --branches? --tags? --remotes? --quiet --sq --not",
    "git rev-list": "* # -n= -g --count --all --branches? --tags? --remotes? --max-count= --skip= --since= --until= "
    "--author= --grep= --merges --no-merges --first-parent --reverse --topo-order --date-order --left-right "
    "--objects "
    "--abbrev-commit --parents --children --format= --oneline --max-parents= --min-parents=",
    "git describe": "* --all --tags --long --always --abbrev= --match= --exclude= --dirty? --broken? --candidates= "
    "--exact-match --first-parent --contains",
    "git name-rev": "* --name-only --tags --all --always --refs= --no-undefined",
    "git merge-base": "* -a --all --is-ancestor --fork-point --octopus --independent",
    "git for-each-ref": "* --count= --sort= --format= --merged? --no-merged? --contains? --no-contains? --points-at= "
    "--exclude= --ignore-case --color?",
    "git show-ref": "* -s -d -q --head --heads --tags --branches --verify --hash? --abbrev? --dereference --quiet "
    "--exists",
    "git show-branch": "* -a -r --all --remotes --list --current --topo-order --color? --more=",
    "git symbolic-ref": "1 -q --short --quiet",
    "git branch": "0 -a -r -v -l --all --remotes --list --verbose --show-current --no-color --color? --column? "
    "--no-column "
    "--sort= --format= --contains? --no-contains? --merged? --no-merged? --points-at= --abbrev= --no-abbrev -i "
    "--ignore-case",
    "git tag": "0 -l -n? -i --list --sort= --format= --contains? --no-contains? --merged? --no-merged? --points-at= "
    "--column? --no-column --color? --ignore-case",
    "git reflog": "* # -n= --oneline --date= --all --format=",
    "git reflog show": _LOG,
    "git remote": "0 -v --verbose",
    "git remote get-url": "1 --push --all",
    "git config": "0 +-l +--list +--get= +--get-all= +--get-regexp= -z --show-origin --show-scope --name-only "
    "--local "
    "--global --system --worktree --null --type= --bool --int --includes --no-includes --default=",
    "git config list": "0 -z --show-origin --show-scope --name-only --local --global --system --null",
    "git config get": "1 -z --all --regexp --show-origin --show-scope --local --global --system --null --default= "
    "--type=",
    "git stash": "0 !-h",
    "git stash list": _LOG,
    "git stash show": _DIFF,
    "git worktree": "0",
    "git worktree list": "0 -v -z --verbose --porcelain",
    "git submodule": "0 !-h",
    "git submodule status": "* --cached --recursive --quiet",
    "git notes": "0",
    "git notes list": "*",
    "git notes show": "*",
    "git bisect": "0 !-h",
    "git bisect log": "0",
    "git check-ignore": "* -q -v -z -n --quiet --verbose --non-matching --no-index",
    "git check-attr": "* -a -z --all --cached",
    "git check-ref-format": "* --branch --allow-onelevel --normalize",
    "git count-objects": "0 -v -H --verbose --human-readable",
    "git verify-pack": "* -v -s --verbose --stat-only",
    "git ls-remote": "* -q --heads --tags --branches --refs --quiet --exit-code --get-url --symref --sort=",
    "git cherry": "* -v --abbrev?",
    "git patch-id": "0 --stable --unstable --verbatim",
    # Writes the repository, never a file that it is told: what is recorded there is what the work tree holds.
    "git add": "* -n -v -f -A -u -N --dry-run --verbose --force --all --no-all --update --intent-to-add --refresh "
    "--ignore-errors --ignore-missing --no-ignore-removal --chmod=",
    "git commit": "* -a -q -v -s -n -i -o +-m= +--message= +-F= +--file= +--no-edit +--dry-run --all --quiet "
    "--verbose --signoff "
    "--no-verify --amend --allow-empty --allow-empty-message --author= --date= --reset-author --no-gpg-sign --status "
    "--no-status --include --only --short --porcelain --branch --cleanup=strip|whitespace|verbatim|default",
    "git push": f"* -u -f -n -d {_REPOSITORIES} --force --force-with-lease? --set-upstream --delete --follow-tags "
    "--porcelain "
    "--no-verify --atomic --no-signed",
    "git fetch": f"* -p -a -t -n -f -k {_REPOSITORIES} --append --force --keep --prune-tags --unshallow "
    "--shallow-since= "
    "--no-recurse-submodules",
    "git pull": f"* -p -t {_REPOSITORIES} --ff-only --no-rebase --rebase --no-edit --no-recurse-submodules",
}
DEVELOPER_TOOLS: Final = {
    **GIT,
    # --- interpreters, builders and package managers: they run what lies in the folder ---
    **dict.fromkeys(
        [
            "ruby",
            "php",
            "julia",
            "deno",
            "bun",
            "cmake",
            "ninja",
            "gcc",
            "cc",
            "g++",
            "c++",
            "clang",
            "clang++",
            "javac",
            "npx",
            "pipx",
            "uv",
            "vim",
            "vi",
            "nvim",
            "view",
            "nano",
            "emacs",
            "ed",
            "ex",
            "rsync",
            "mysql",
            "mariadb",
            "mongosh",
            "pg_dump",
            "pg_restore",
            "mysqldump",
            "mysqladmin",
            "gdb",
            "lldb",
            "valgrind",
            "parallel",
            "docker-compose",
        ],
        "0 !--version",
    ),
    "python": "0 +-V +--version",
    "pypy": "0 +-V +--version",
    "node": "0 +-v +--version",
    "nodejs": "0 +-v +--version",
    "perl": "0 +-v +--version",
    "make": "0 +-v +--version",
    "gmake": "0 +-v +--version",
    "lua": "0 !-v",
    "expect": "0 !-v",
    "strace": "0 +-V +--version",
    "at": "0 +-V +-l",
    "logger": "0 +-V +--version",
    "java": "0 ~ !-version -Xmx=",
    "ssh": "0 !-V",
    "tmux": "0 !-V",
    "zip": "0 +-v +-h",
    "go": "0",
    "go version": "0",
    "npm": "0 -v --version -h",
    **{
        f"npm {verb}": "* -g -a -l --global --all --long --json --parseable --depth= --production --omit= --silent"
        for verb in [
            "ls",
            "list",
            "ll",
            "la",
            "view",
            "info",
            "show",
            "outdated",
            "search",
            "ping",
            "root",
            "prefix",
            "bin",
            "fund",
            "explain",
            "whoami",
        ]
    },
    "npm config": "0",
    "npm config get": "*",
    "npm config list": "0 -l --json",
    "pip": "0 -V --version -h",
    "pip list": "0 -o -u -e -l --outdated --uptodate --editable --local --user --format= --not-required "
    "--disable-pip-version-check",
    "pip show": "* -f -v --files --verbose",
    "pip freeze": "0 -l --local --user --all --exclude-editable --exclude=",
    "pip check": "0",
    "pip help": "*",
    "gem": "0 -v --version",
    "gem list": "* -l -a -d --local --all --details --versions",
    "gem environment": "*",
    # --- containers and clusters ---
    "docker": "0 -v --version",
    "podman": "0 -v --version",
    **{
        f"{program} {verb}": "* -a -q -l -s -f= -n= --all --quiet --no-trunc --size --filter= --format= --last= "
        "--latest "
        "--digests --no-stream --tail= --since= --until= --follow --timestamps -t --details --human"
        for program in ("docker", "podman")
        for verb in [
            "ps",
            "images",
            "logs",
            "inspect",
            "stats",
            "top",
            "port",
            "diff",
            "history",
            "version",
            "info",
            "events",
            "search",
        ]
    },
    "docker logs": "1 -f -t -n= --follow --timestamps --tail= --since= --until= --details",
    "podman logs": "1 -f -t -n= --follow --timestamps --tail= --since= --until=",
    "docker top": "1",
    "podman top": "1",
    **{
        f"{program} {kind} {verb}": "* -a -q -f= --all --quiet --filter= --format= --no-trunc --verbose"
        for program in ("docker", "podman")
        for kind in [
            "container",
            "image",
            "network",
            "volume",
            "system",
            "node",
            "service",
            "stack",
            "context",
            "secret",
        ]
        for verb in ("ls", "list", "inspect", "df", "ps")
    },
    "kubectl": "0 -n= --namespace= --context= -A --all-namespaces",
    **{
        f"kubectl {verb}": "* -n= -A -o= -l= -w -f= -R -c= -p -h --namespace= --all-namespaces --output= --selector= "
        "--field-selector= --show-labels --sort-by= --watch --no-headers --filename= --recursive --context= --tail= "
        "--since= "
        "--since-time= --follow --container= --previous --timestamps --all-containers --limit-bytes= --prefix "
        "--short "
        "--client --containers --ignore-not-found --chunk-size= --show-events --api-version= --api-group= "
        "--namespaced="
        for verb in ["get", "describe", "logs", "top", "version", "api-resources", "api-versions", "explain"]
    },
    "kubectl logs": "* # -n= -c= -p -f -l= --namespace= --tail= --since= --since-time= --follow --container= "
    "--previous "
    "--timestamps --all-containers --prefix --context= --selector= --limit-bytes=",
    "kubectl cluster-info": "0 --context=",
    "kubectl config": "0",
    "kubectl config view": "0 --minify --flatten -o= --output=",
    "kubectl config current-context": "0",
    "kubectl config get-contexts": "* -o= --no-headers --output=",
    "kubectl auth": "0",
    "kubectl auth can-i": "* -n= -A --list --all-namespaces --namespace= -q --quiet",
    "kubectl rollout": "0",
    "kubectl rollout status": "* -n= --namespace= --timeout= -w --watch",
    "kubectl rollout history": "* -n= --namespace= --revision=",
    "helm": "0",
    "helm version": "0 --short",
    **{
        f"helm {verb}": "* -n= -A -a -o= -q --namespace= --all-namespaces --output= --revision= --max= --short --all"
        for verb in ["list", "ls", "status", "history"]
    },
    "terraform": "0 -version --version",
    "terraform version": "0 ~ -json",
    "gh": "0 --version",
    **{
        f"gh {kind} {verb}": "* -L= -R= -s= -a= -A= -l= -S= -q= -t= -c --limit= --repo= --state= --assignee= "
        "--author= --label= "
        "--search= --json= --jq= --template= --comments --name-only --base= --head= --branch= --workflow= --user= "
        "--status="
        for kind in ["pr", "issue", "run", "repo", "release", "workflow", "label"]
        for verb in ("list", "view", "status", "diff", "checks")
    },
    "aws": "0 --version",
    "aws sts": "0",
    "aws sts get-caller-identity": "0 --output= --query= --region=",
    "aws s3": "0",
    "aws s3 ls": "* --recursive --human-readable --summarize --region=",
    # --- databases: SQL can run, write and load; only what is held to reading counts ---
    "sqlite3": "2 ~ !-safe !-readonly !-init=/dev/null -header -noheader -csv -json -line -list -column -table "
    "-markdown -box -html -ascii "
    "-tabs -batch -bail -separator= -newline= -nullvalue=",
    "psql": "0 +-V +--version",
    **{
        f"mysqladmin {verb}": "0"
        for verb in ["ping", "status", "version", "processlist", "variables", "extended-status"]
    },
    "pg_isready": "0 -d= -h= -p= -q -t= -U= --dbname= --host= --port= --quiet --timeout= --username= -V --version",
    "redis-cli": "0 +-v +--version +-h= +-p= +-n= --raw --no-raw --csv --json --no-auth-warning",
    **{
        f"redis-cli {verb}": "*"
        for verb in [
            "ping",
            "info",
            "get",
            "mget",
            "ttl",
            "pttl",
            "type",
            "exists",
            "strlen",
            "llen",
            "lrange",
            "lindex",
            "hget",
            "hmget",
            "hgetall",
            "hkeys",
            "hlen",
            "scard",
            "smembers",
            "sismember",
            "zcard",
            "zrange",
            "zscore",
            "dbsize",
            "scan",
            "hscan",
            "sscan",
            "zscan",
            "keys",
            "time",
        ]
        for verb in (verb, verb.upper())
    },
}
"""Also programs that are listed with their version alone: all else that they do is to run, to write or to load."""
