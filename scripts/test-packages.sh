#!/usr/bin/env bash
# Programs that some tests need and that no wheel brings. On Debian as root they are installed; elsewhere they are
# named, and the tests that need them are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/apt.sh

missing=()
if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && ! command -v initdb >/dev/null; then
    missing+=(postgresql)
fi
command -v chromium >/dev/null || missing+=(chromium)
command -v chromedriver >/dev/null || missing+=(chromium-driver)
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)
command -v promtool >/dev/null || missing+=(prometheus)

if [ ${#missing[@]} -gt 0 ]; then
    if can_apt; then
        apt_install "${missing[@]}"
    else
        echo "missing: ${missing[*]}; the tests that need them are skipped (sudo apt-get install ${missing[*]})"
    fi
fi
