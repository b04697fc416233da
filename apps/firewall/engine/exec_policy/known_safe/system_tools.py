"""Programs of the system and what they may be given; see `rule.read_rules` for the notation.

Only what neither runs another program, nor writes a file, nor loads code stands here. What is missing waits, so an
option that is left out costs a question, and one that is wrongly here costs a machine.
"""

from typing import Final

SYSTEM_TOOLS: Final = {
    # --- files that are read ---
    "cat": "* -A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank "
    "--show-tabs --show-nonprinting --version --help",
    "tac": "* -b -r -s= --before --regex --separator= --version --help",
    "rev": "* -V -h --version --help",
    "nl": "* -b= -d= -f= -h= -i= -l= -n= -p -s= -v= -w= --version --help",
    "head": "* # -n= -c= -q -v -z --lines= --bytes= --quiet --silent --verbose --zero-terminated --version --help",
    "tail": "* # -n= -c= -f -F -q -v -z -s= --lines= --bytes= --follow? --retry --pid= --quiet --silent --verbose "
    "--sleep-interval= --zero-terminated --version --help",
    "wc": "* -c -m -l -L -w --bytes --chars --lines --max-line-length --words --total= --version --help",
    "ls": "* -a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -I= -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -T= -u -U "
    "-v -w= -x -X -Z -1 --all --almost-all --author --block-size= --color? --directory --escape --file-type "
    "--format= --full-time --group-directories-first --human-readable --si --hide= --hyperlink? --indicator-style= "
    "--inode --ignore= --dereference --numeric-uid-gid --literal --no-group --quote-name --quoting-style= "
    "--recursive "
    "--reverse --size --sort= --time= --time-style= --width= --context --classify? --version --help",
    "dir": "* -a -A -d -h -i -l -n -r -R -s -S -t -1 --all --color? --version --help",
    "vdir": "* -a -A -d -h -i -l -n -r -R -s -S -t -1 --all --color? --version --help",
    "stat": "* -L -f -c= -t -x --dereference --file-system --format= --printf= --terse --version --help",
    "file": "* -b -i -k -L -h -N -n -p -r -s -v -0 -F= -P= --brief --mime --mime-type --mime-encoding --keep-going "
    "--dereference --no-dereference --separator= --version --help --extension",
    "readlink": "* -f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing "
    "--no-newline "
    "--version --help",
    "realpath": "* -e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --relative-to= "
    "--relative-base= --strip --no-symlinks --version --help",
    "basename": "* -a -s= -z --multiple --suffix= --zero --version --help",
    "dirname": "* -z --zero --version --help",
    "cd": "1 -L -P -e",
    "pwd": "0 -L -P --version --help",
    "du": "* -a -A -b -B= -c -d= -D -h -H -k -l -L -m -P -S -s -t= -x -X= --all --apparent-size --block-size= "
    "--bytes "
    "--total --max-depth= --human-readable --inodes --si --summarize --threshold= --time? --exclude= "
    "--one-file-system --version --help",
    "df": "* -a -B= -h -H -i -k -l -P -t= -T -x= -m --all --block-size= --human-readable --si --inodes --local "
    "--output? --portability --total --type= --print-type --exclude-type= --version --help",
    "tree": "* -a -d -f -i -l -x -L= -P= -I= -p -u -g -s -h -D -F -q -N -v -t -c -U -r -J -X -C -n "
    "--noreport --gitignore --dirsfirst --du --si --prune --filelimit= --charset= --version --help",
    "find": "* ~ -H -L -P -name= -iname= -path= -ipath= -wholename= -regex= -iregex= -regextype= -type= -xtype= "
    "-size= "
    "-mtime= -mmin= -atime= -amin= -ctime= -cmin= -newer= -anewer= -cnewer= -newermt= -perm= -user= -group= -uid= "
    "-gid= "
    "-nouser -nogroup -maxdepth= -mindepth= -depth -d -xdev -mount -empty -readable -writable -executable -links= "
    "-inum= -samefile= -lname= -ilname= -prune -print -print0 -printf= -ls -quit -follow -daystart -noleaf -not -and "
    "-or -a -o -true -false -O0 -O1 -O2 -O3 -version -help --version --help",
    "locate": "* -A -b -c -e -i -l= -n= -q -r= -w -0 --all --basename --count --existing --ignore-case --limit= "
    "--regexp= --regex --null --version --help",
    "which": "* -a -s --all",
    "whereis": "* -b -m -s -u -l -g",
    "cmp": "* -b -i= -l -n= -s --print-bytes --ignore-initial= --verbose --bytes= --quiet --silent --version --help",
    "diff": "* # -q -s -c -C= -u -U= -e -n -y -W= -p -F= -t -T -r -N -x= -X= -S= -i -E -Z -b -w -B -I= -a -d "
    "--normal --brief --report-identical-files --context? --unified? --ed --rcs --side-by-side --width= "
    "--left-column --suppress-common-lines --show-c-function --show-function-line= --label= --expand-tabs "
    "--recursive --no-dereference --new-file --unidirectional-new-file --ignore-file-name-case --exclude= "
    "--exclude-from= --starting-file= --from-file= --to-file= --ignore-case --ignore-tab-expansion "
    "--ignore-trailing-space --ignore-space-change --ignore-all-space --ignore-blank-lines "
    "--ignore-matching-lines= --text --strip-trailing-cr --minimal --speed-large-files --color? --version --help",
    "diff3": "3 -A -e -E -m -x -X -3 -T -a -L= --show-all --ed --show-overlap --merge --text --label= --version --help",
    "sdiff": "2 -i -E -Z -b -W -B -a -d -l -s -t -w= --ignore-case --left-column --suppress-common-lines --width= "
    "--text --minimal --version --help",
    "comm": "2 -1 -2 -3 -z --check-order --nocheck-order --output-delimiter= --total --zero-terminated --version "
    "--help",
    "join": "2 -a= -e= -i -j= -o= -t= -v= -1= -2= -z --check-order --nocheck-order --header --ignore-case --version "
    "--help",
    "paste": "* -d= -s -z --delimiters= --serial --zero-terminated --version --help",
    "cut": "* -b= -c= -d= -f= -n -s -z --bytes= --characters= --delimiter= --fields= --complement --only-delimited "
    "--output-delimiter= --zero-terminated --version --help",
    "tr": "2 -c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1 --version --help",
    "uniq": "1 -c -d -D -f= -i -s= -u -w= -z --count --repeated --all-repeated? --skip-fields= --group? "
    "--ignore-case "
    "--skip-chars= --unique --check-chars= --zero-terminated --version --help",
    "sort": "* -b -d -f -g -i -M -h -n -R -r -V -c -C -k= -m -s -t= -u -z --ignore-leading-blanks --dictionary-order "
    "--ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort "
    "--random-sort --reverse --sort= --version-sort --check? --key= --merge --parallel= --stable --field-separator= "
    "--unique --zero-terminated --version --help",
    "tsort": "1 --version --help",
    "shuf": "* -e -i= -n= -r -z --echo --input-range= --head-count= --repeat --zero-terminated --version --help",
    "seq": "3 # -f= -s= -w --format= --separator= --equal-width --version --help",
    "fold": "* -b -s -w= --bytes --spaces --width= --version --help",
    "fmt": "* # -c -s -t -u -w= -g= -p= --width= --goal= --version --help",
    "pr": "* # -a -c -d -D= -e? -f -F -h= -i? -J -l= -m -n? -N= -o= -r -s? -S? -t -T -v -w= -W= --version --help",
    "expand": "* -i -t= --initial --tabs= --version --help",
    "unexpand": "* -a -t= --all --first-only --tabs= --version --help",
    "column": "* -c= -t -s= -o= -n -N= -R= -x -J --table --separator= --output-separator= --json --table-columns= "
    "-V -h",
    "od": "* -A= -j= -N= -S? -t= -v -w? -a -b -c -d -f -i -l -o -s -x --address-radix= --skip-bytes= --read-bytes= "
    "--format= --output-duplicates --version --help",
    "hexdump": "* -b -c -C -d -n= -o -s= -v -x -V -h --canonical --length= --skip=",
    "hd": "* -n= -s= -v",
    "xxd": "1 -a -b -c= -C -d -e -E -g= -i -l= -o= -p -ps -s= -u -v",
    "strings": "* # -a -f -n= -t= -e= -o -s= -w --all --bytes= --radix= --encoding= --version --help",
    "cksum": "* -a= -l= --algorithm= --untagged --tag --version --help",
    "sum": "* -r -s --version --help",
    "md5sum": "* -b -c -t -z -w --check --tag --quiet --status --strict --ignore-missing --warn --version --help",
    **dict.fromkeys(
        ["sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"],
        "* -b -c -t -z -w --check --tag --quiet --status --strict --ignore-missing --warn --version --help",
    ),
    **dict.fromkeys(("egrep", "fgrep"), "* # -c -e= -E -F -h -H -i -l -n -o -q -v -w -x --version --help"),
    "base64": "1 -d -D -i -w= --decode --ignore-garbage --wrap= --version --help",
    "base32": "1 -d -i -w= --decode --ignore-garbage --wrap= --version --help",
    "basenc": "1 -d -i -w= --base64 --base64url --base32 --base16 --decode --wrap= --version --help",
    "iconv": "* -f= -t= -c -l -s --from-code= --to-code= --list --silent --version --help",
    "numfmt": "* --from= --to= --suffix= --padding= --field= --format= --header? --grouping --delimiter= -d= --version",
    "factor": "* --version --help",
    "expr": "@",
    "cal": "3 -1 -3 -y -m -s -j",
    # --- text that is searched ---
    "grep": "* # -A= -B= -C= -E -F -G -H -I -L -P -R -T -U -V -Z -a -b -c -d= -D= -e= -f= -h -i -l -m= -n -o -q -r "
    "-s "
    "-u -v -w -x -y -z --after-context= --before-context= --context= --extended-regexp --fixed-strings "
    "--basic-regexp "
    "--perl-regexp --regexp= --file= --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp "
    "--count --color? --colour? --files-without-match --files-with-matches --max-count= --only-matching --quiet "
    "--silent --no-messages --byte-offset --with-filename --no-filename --label= --line-number --initial-tab --null "
    "--text --binary-files= --devices= --directories= --exclude= --exclude-from= --exclude-dir= --include= "
    "--recursive --dereference-recursive --line-buffered --null-data --version --help",
    "rg": "* # -A= -B= -C= -E= -F -H -I -L -M= -N -P -S -T= -U -V -a -c -d= -e= -f= -g= -h -i -j= -l -m= -n -o -p "
    "-q -r= "
    "-s -t= -u -v -w -x -0 --after-context= --before-context= --context= --regexp= --fixed-strings --with-filename "
    "--no-filename --follow --max-columns= --no-line-number --pcre2 --smart-case --type-not= --multiline --text "
    "--count --count-matches --max-depth= --file= --glob= --iglob= --ignore-case --threads= --files-with-matches "
    "--files-without-match --max-count= --line-number --only-matching --quiet --replace= --case-sensitive --type= "
    "--type-list --unrestricted --invert-match --word-regexp --line-regexp --hidden --no-hidden --no-ignore "
    "--no-ignore-vcs --files --json --sort= --sortr= --stats --color= --colors= --heading --no-heading --column "
    "--trim --null --vimgrep --no-config --no-messages --passthru --version --help",
    "sed": "* -n -e= -E -r -s -u -z --quiet --silent --expression= --regexp-extended --separate --unbuffered "
    "--null-data --posix --sandbox --debug --version --help",
    "jq": "* -c -r -j -a -s -S -C -M -e -n -R -V -h --compact-output --raw-output --join-output --raw-output0 "
    "--ascii-output --slurp --sort-keys --color-output --monochrome-output --exit-status --null-input --raw-input "
    "--tab --indent= --unbuffered --stream --stream-errors --seq --args --jsonargs --version --help",
    "yq": "* -r -j -n -o= -p= -P -C -M -e -N --output-format= --input-format= --prettyPrint --colors --no-colors "
    "--null-input --exit-status --no-doc --unwrapScalar --version --help -V -h",
    "xmllint": "* --noout --format --nonet --version --huge --nowarning",
    # --- archives: only what lists them, or writes to the output ---
    "tar": "* ^ +-t +--list -f= -v -z -j -J -Z -a -R -k -O -p -P -C= -n -i -S --file= --verbose --gzip --gunzip "
    "--bzip2 --xz --zstd --lzma --exclude= --wildcards --no-recursion --directory= --full-time --utc --numeric-owner "
    "--block-number --strip-components= --force-local --ignore-zeros --sparse --version --help",
    "gzip": "* +-c +-l +-t +--stdout +--to-stdout +--list +--test +--version +--help +-V +-h -d -k -f -n -N -q -v "
    "-1 -2 "
    "-3 -4 -5 -6 -7 -8 -9 --decompress --keep --force --quiet --verbose --fast --best",
    "gunzip": "* +-c +-l +-t +--stdout +--to-stdout +--list +--test +--version +--help -k -f -n -q -v --keep --quiet",
    "zcat": "* -f -h -l -q -t -v --version --help",
    # The last of `-d`, `-l` and `-t` says what these three do: with `-d` among them only `-c` keeps them from writing.
    "bzip2": "* +-c +--stdout +--version +--help -d -k -f -q -v -s -1 -9 --decompress --keep --quiet",
    "bzcat": "* -s -v -q",
    "xz": "* +-c +--stdout +--version +--help -d -k -f -q -v -0 -1 -6 -9 -e -T= --decompress "
    "--keep --quiet --verbose --threads=",
    "xzcat": "* -q -v --version",
    "zstd": "* +-c +--stdout +--version +--help -d -k -f -q -v --decompress",
    "zstdcat": "* -q -v",
    "zipinfo": "* -1 -2 -s -m -l -v -h -t -z -M -T",
    "unzip": "* +-l +-t +-v +-p +-c +-z -q -x -C -j -n -P= -L -M",
    "ar": "* ^ +-t +-p -v",
    # --- the system, read ---
    "ps": "* -a -A -d -e -f -F -H -j -l -L -m -M -N -o= -O= -p= -q= -s -t= -T -u= -U= -g= -G= -C= -w -y -Z -c "
    "--cols= "
    "--cumulative --forest --format= --no-headers --headers --pid= --ppid= --rows= --sort= --user= --User= --version "
    "--help? --no-heading --width=",
    "pgrep": "* -a -c -d= -f -F= -g= -G= -i -l -n -o -P= -s= -t= -u= -U= -v -w -x --count --full --list-name "
    "--list-full "
    "--newest --oldest --parent= --euid= --exact --version --help",
    "pidof": "* -c -n -q -s -x -o= -S=",
    "pstree": "* -a -A -c -g -G -h -H= -l -n -p -s -S -t -T -u -U -V -Z",
    "top": "0 !-b -n= -p= -d= -u= -U= -o= -w= -c -i -H -1 -E= -e= -s -S -v -h",
    "free": "0 -b -k -m -g -h -l -t -w -L -s= -c= --bytes --kilo --mega --giga --human --lohi --total --wide --si "
    "--seconds= --count= --version --help",
    "vmstat": "2 -a -f -m -n -s -d -D -p= -S= -t -w -V",
    "iostat": "* -c -d -h -k -m -N -p? -t -x -y -z -V",
    "mpstat": "* -A -P= -u -V",
    "uptime": "0 -p -s -r -V -h --pretty --since --version --help",
    "w": "* -h -f -s -o -i -V --no-header --short --version --help",
    "who": "* -a -b -d -H -l -m -p -q -r -s -t -T -u --all --boot --count --heading --version --help",
    "users": "1 --version --help",
    "last": "* # -a -d -F -f= -i -n= -p= -R -s= -t= -w -x --version --help",
    "whoami": "0 --version --help",
    "id": "* -a -g -G -n -r -u -z -Z --group --groups --name --real --user --zero --version --help",
    "groups": "* --version --help",
    "tty": "0 -s --silent --quiet --version --help",
    "uname": "0 -a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --kernel-version "
    "--machine "
    "--processor --hardware-platform --operating-system --version --help",
    "arch": "0 --version --help",
    "nproc": "0 --all --ignore= --version --help",
    "lscpu": "0 -a -b -c -e? -p? -J -x --all --online --extended? --parse? --json -V -h",
    "lsblk": "* -a -b -d -D -e= -f -i -I= -J -l -m -n -o= -O -p -P -r -s -S -t -x= --json --output= --list -V -h",
    "lsof": "* -n -P -i? -p= -u= -t -a -c= -l -U -d= -v -h",
    "lspci": "0 -v -n -k -m -t -s= -d=",
    "lsusb": "0 -v -t -s= -d= -V",
    "lsmod": "0",
    "hostname": "0 -a -A -d -f -i -I -s -y -V -h --fqdn --short --long --ip-address --all-ip-addresses --all-fqdns "
    "--domain --alias --version --help",
    "date": "1 -u -R -I? -d= -r= --utc --universal --rfc-email --rfc-3339= --iso-8601? --date= --reference= --debug "
    "--version --help",
    "timedatectl": "0 --version",
    "timedatectl status": "0 --no-pager",
    "timedatectl show": "0 -p= -a --property= --all --value",
    "getent": "* -i -s= -V",
    "getconf": "2 -a",
    "locale": "* -a -m -k -c --all-locales --charmaps",
    "printenv": "* -0 --null --version --help",
    "echo": "@",
    "printf": "*",
    "yes": "* --version --help",
    "sleep": "* --version --help",
    "true": "@",
    "false": "@",
    "test": "@",
    "[": "@",
    "ldconfig": "0 !-p -N -X -v",
    "mount": "0 -l -t= -V -h --version",
    "findmnt": "* -a -A -c -D -e -f -F= -i -J -l -m -n -o= -O= -P -r -R -s -S= -t= -T= -u -U -v -V -h",
    "blkid": "* -o= -s= -t= -L= -U= -p -i -k -l",
    "ss": "* -a -l -n -o -e -m -p -i -s -t -u -w -x -r -4 -6 -0 -H -O -b -f= --all --listening --numeric --processes "
    "--tcp --udp --unix --summary --no-header -V -h",
    "netstat": "* -a -l -n -o -e -p -r -i -s -t -u -w -x -g -c -W -4 -6 --all --listening --numeric --program "
    "--route "
    "--tcp --udp --unix --statistics -V -h",
    "ip": "0 ~ -V -4 -6 -o -s -d -h -j -p -br -c? --brief --json",
    "ip addr": "0",
    "ip addr show": "*",
    "ip a": "0",
    "ip route": "0",
    "ip route show": "*",
    "ip route get": "*",
    "ip link": "0",
    "ip link show": "*",
    "ip neigh": "0",
    "ip neigh show": "*",
    "ping": "1 # -c= -i= -W= -w= -s= -t= -I= -n -q -4 -6 -D -O -a -A -v -V -h",
    "dig": "* ~ # -t= -p= -x= -4 -6 -c= -q= -b= -v -h",
    "host": "3 -a -t= -v -4 -6 -W= -R= -r -T -C -l -V",
    "nslookup": "2 ~ -type=A -type=AAAA -type=MX -type=NS -type=TXT -type=SOA -type=ANY -timeout=5 -version",
    "traceroute": "2 -4 -6 -n -m= -q= -w= -p= -f= -I -T -U -V",
    "whois": "* -h= -p= -H -v",
    "journalctl": "* # -a -b? -k -e -f -n? -o= -p= -q -r -S= -t= -u= -U= -x -g= -D= -N -F= -m -l -h --all --boot? "
    "--dmesg "
    "--follow --lines? --output= --output-fields= --priority= --quiet --reverse --since= --until= --identifier= "
    "--unit= "
    "--user-unit= --catalog --grep= --case-sensitive? --no-pager --no-hostname --no-tail --no-full --utc --system "
    "--user --list-boots --disk-usage --verify --directory= --file= --root= --fields --field= --facility= --cursor= "
    "--after-cursor= --show-cursor --header --version --help",
    "dmesg": "0 -T -H -e -k -u -l= -f= -L? -r -t -x -w -W -P --ctime --human --level= --facility= --follow --nopager "
    "--time-format= --version --help -V -h --color?",
    "systemctl": "* --version --help -h --no-pager --user --system --failed -a -l -q --all --full --quiet --type= "
    "--state= -t= --no-legend",
    **{
        f"systemctl {verb}": "* --no-pager --no-legend --user --system -a -l -q -n= -o= -p= -t= --all --full --quiet "
        "--lines= --output= --property= --type= --state= --value --plain --recursive --reverse --failed "
        "--with-dependencies"
        for verb in [
            "status",
            "show",
            "cat",
            "is-active",
            "is-enabled",
            "is-failed",
            "is-system-running",
            "list-units",
            "list-unit-files",
            "list-timers",
            "list-sockets",
            "list-dependencies",
            "list-jobs",
            "list-machines",
            "get-default",
            "show-environment",
        ]
    },
    "loginctl": "0 --no-pager --version",
    "loginctl list-sessions": "0 --no-pager --no-legend",
    "loginctl list-users": "0 --no-pager --no-legend",
    "hostnamectl": "0 --no-pager --version",
    "hostnamectl status": "0 --no-pager",
    "crontab": "0 !-l -u=",
    "dpkg": "* +-l +-L +-s +-S +-p +--list +--listfiles +--status +--search +--print-architecture +--version +-V "
    "+--verify "
    "--no-pager",
    "dpkg-query": "* +-l +-L +-s +-S +-W +-p +--list +--listfiles +--status +--search +--show +--version -f= "
    "--showformat= --no-pager",
    "apt": "0 -v --version",
    "apt list": "* --installed --upgradable --all-versions -a",
    "apt show": "* -a --all-versions",
    "apt search": "* -n -f --names-only --full",
    "apt-cache": "0 -v --version",
    **{
        f"apt-cache {verb}": "* -n -a --names-only --installed"
        for verb in ["policy", "show", "search", "depends", "rdepends"]
    },
    "rpm": "* !-q -a -i -l -f -s -R -p --all --info --list --file --whatprovides= --qf= --queryformat= --version",
    # --- pages ---
    "less": "* # -a -B -c -C -d -e -E -f -F -g -G -h= -i -I -J -L -m -M -n -N -p= -q -Q -r -R -s -S -u -U -V -w -W "
    "-x= -X -z= "
    "--chop-long-lines --quit-at-eof --quit-if-one-screen --ignore-case --line-numbers --LINE-NUMBERS --no-init "
    "--raw-control-chars --RAW-CONTROL-CHARS --squeeze-blank-lines --version --help",
    "more": "* # -d -l -e -f -p -c -s -u -n= -V -h",
    "man": "* -k -f -w -a --whatis --apropos --where --path --all --version --help -V",
    "apropos": "* -e -r -w -a -l -s= --exact --version --help",
    "whatis": "* -r -w -l -s= --version --help",
    # --- folders, which hold nothing yet ---
    "mkdir": "* -p -v -m= --parents --verbose --mode= --version --help",
    "rmdir": "* -p -v --parents --verbose --ignore-fail-on-non-empty --version --help",
    # --- the network, read ---
    "curl": "* # -s -S -f -L -I -i -v -k -g -G -N -q -0 -4 -6 -A= -b= -d= -e= -H= -m= -r= -u= -x= -X= -w= -y= -Y= "
    "-z= -F= "
    "-o=/dev/null|- -V -h? --silent --show-error --fail --fail-with-body --location --head --include --verbose "
    "--insecure --globoff --get --no-buffer --disable --http1.0 --http1.1 --http2 --http3 --ipv4 --ipv6 "
    "--user-agent= "
    "--cookie= --data= --data-raw= --data-ascii= --data-binary= --data-urlencode= --json= --url-query= --form= "
    "--form-string= --referer= --header= --max-time= --connect-timeout= --range= --user= --oauth2-bearer= --request= "
    "--write-out= --time-cond= --output=/dev/null|- --compressed --retry= --retry-delay= --retry-max-time= "
    "--retry-connrefused --retry-all-errors --max-redirs= --limit-rate= --max-filesize= --location-trusted "
    "--noproxy= "
    "--resolve= --connect-to= --cacert= --capath= --tlsv1.2 --tlsv1.3 --no-progress-meter --url= --version --help? "
    "--path-as-is --interface= --raw --proto= --proto-default= --ssl-reqd",
    "wget": "* +--spider +--version +-V +--help +-O=- +--output-document=- -q -S -v -nv -T= -t= -U= -4 -6 --quiet "
    "--server-response --verbose --no-verbose --timeout= --tries= --user-agent= --header= --no-check-certificate "
    "--max-redirect= --inet4-only --inet6-only --no-proxy --method= --body-data= --post-data= --no-hsts --no-config",
    "openssl": "0",
    "openssl version": "0 ~ -a -v -b -o -f -p -d",
    "openssl dgst": "* ~ -sha1 -sha256 -sha384 -sha512 -md5 -r -hex -c",
    "openssl x509": "0 ~ !-noout -in= -inform= -text -subject -issuer -dates -startdate -enddate -fingerprint "
    "-serial "
    "-sha256 -sha1 -hash -purpose -pubkey -checkend= -ext= -email -nameopt=",
}
