# Debian packages, where they can be installed without asking. Sourced by other scripts.

can_apt() { [ "$(id -u)" = 0 ] && [ -e /etc/debian_version ] && command -v apt-get >/dev/null; }

# Installs packages quietly; says what failed if it does.
apt_install() {
    echo "installing Debian packages: $*"
    local log
    log=$(mktemp)
    export DEBIAN_FRONTEND=noninteractive
    if ! { apt-get install -y -qq --no-install-recommends "$@" ||
        { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"; }; } >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}
