#!/usr/bin/env bash
# Makes .venv with everything that running and testing need: the locked releases, each checked by its hash, and this
# project itself, editable. Needs Python 3.11 or newer; on Debian as root, a missing one is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/apt.sh

find_python() {
    local candidate
    for candidate in ${PYTHON:-} python3.11 python3 python3.12 python3.13 python3.14; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
}

python=$(find_python)
if [ -z "$python" ] && can_apt; then
    apt_install python3 python3-venv
    python=$(find_python)
fi
if [ -z "$python" ]; then
    echo "setup: Python 3.11 or newer is needed; install it, or name one: make setup PYTHON=/path/to/python3" >&2
    exit 1
fi

can_venv() { "$python" -c 'import ensurepip, venv' 2>/dev/null; }
if ! can_venv && can_apt; then
    apt_install python3-venv
fi
if ! can_venv; then
    echo "setup: $python has no venv module; on Debian: sudo apt-get install python3-venv" >&2
    exit 1
fi

if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    echo "setup: making .venv with $python"
    rm -rf .venv
    "$python" -m venv .venv
fi
echo "setup: installing what requirements.lock names"
pip="env PIP_DISABLE_PIP_VERSION_CHECK=1 .venv/bin/python -m pip install -qq --root-user-action=ignore"
$pip --require-hashes -r requirements.lock
$pip --no-deps --no-build-isolation -e .
echo "setup: done"
