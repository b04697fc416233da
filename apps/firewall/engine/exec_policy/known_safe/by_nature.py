"""Programs that run what they are given, whatever option it stands behind: no list admits them by their name alone.

What a few of them may be given all the same, such as `--version`, stands in the tables of known-safe arguments.
"""

from typing import Final

from apps.firewall.engine.exec_policy.hardened import INTERPRETERS
from apps.firewall.engine.exec_policy.line import names
from apps.firewall.engine.exec_policy.programs import BUILTINS_THAT_RUN, CODE_LETTERS, SHELLS, WRAPPERS

RUN_BY_NATURE: Final = (
    SHELLS
    | WRAPPERS
    | BUILTINS_THAT_RUN
    | (INTERPRETERS - names("find sed gsed jq"))
    | (frozenset(CODE_LETTERS) - names("sqlite psql mysql"))
    | names(
        # what starts another program
        "run-parts prlimit ssh-agent choom uclampset coresched aa-exec capsh chronic ifne pee mispipe vipe zrun ts "
        "daemon "
        "daemonize dtach abduco nq tsp start-stop-daemon dbus-run-session dbus-launch xdg-open open gio gapplication "
        "ld.so ld-linux ldd rlwrap socat nc ncat netcat telnet inetd xinetd logrotate anacron cron crontab at batch "
        "fcron "
        "incrond watchman fswatch reflex nodemon pm2 supervisord supervisorctl runit s6-svscan hyperfine perf "
        "bpftrace "
        "stap ltrace-pin dtrace uftrace rr gprofng heaptrack scriptlive fakechroot schroot systemd-nspawn distrobox "
        "toolbox flatpak snap newgrp login agetty sulogin wall logsave setlock softlimit chpst envdir envuidgid "
        "with-contenv direnv mise asdf nvm rbenv pyenv volta corepack just task invoke fab doit "
        # debuggers, editors, pagers with macros, screens
        "lldb pdb cgdb ddd radare2 r2 rizin vi vim nvim view vimdiff rvim gvim nano pico emacs emacsclient ed ex "
        "red joe mg "
        "micro kak helix hx code mc ranger nnn lf tmux screen zellij byobu mutt neomutt mail mailx elinks lynx w3m "
        "links "
        # builders, package managers, runners of tests
        "cargo rustc rustup go gofmt make gmake bmake cmake ctest ninja meson scons bazel buck mvn gradle ant sbt "
        "lein mill "
        "dotnet msbuild nuget gcc cc g++ c++ clang clang++ tcc as ld collect2 javac java kotlinc swift zig nim "
        "crystal "
        "npm npx pnpm yarn bunx pip pipx uv uvx poetry pipenv pdm hatch conda mamba gem bundle bundler rake "
        "composer mix "
        "cabal stack opam luarocks cpan cpanm pytest py.test tox nox mypy pylint flake8 black ruff isort pre-commit "
        "eslint "
        "prettier tsc ts-node tsx jest vitest mocha vite webpack rollup gulp grunt playwright cypress apt-get "
        "dpkg-reconfigure "
        "update-alternatives debconf debuild rpmbuild brew port pacman dnf yum zypper apk nix nix-shell nix-build "
        "guix "
        # other machines, containers, clusters
        "ssh scp sftp rsync rsh rlogin mosh sshpass ssh-keygen ssh-add ansible ansible-playbook salt puppet chef "
        "vagrant packer "
        "terraform tofu pulumi docker-compose nerdctl crictl buildah skopeo minikube kind k3s oc gcloud az flyctl "
        "heroku "
        # databases and other languages that hold a shell
        "psql mysql mariadb sqlite sqlite3 sqlplus isql mongo mongosh duckdb clickhouse-client pg_restore pgbench "
        "tclsh wish m4 bc dc gnuplot octave maxima gp R latex pdflatex xelatex lualatex tex groff troff gs "
        "ghostscript "
        "convert magick ffmpeg git-shell zip split csplit gpg gpg2 openvpn tcpdump tshark wireshark nmap "
        "iptables-restore "
        "busybox toybox coreutils ipython jupyter bpython irb pry jshell sbcl clisp swipl ocaml racket janet fennel "
        "cscript wscript mshta rundll32 osascript automator shortcuts"
    )
)
