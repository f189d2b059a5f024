# Shared by the scripts of this folder; sourced, not run. Exit code 3: something is missing here.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
python="$root/.venv/bin/python"

say() { printf '%s\n' "$*" >&2; }

missing() {
    say "Missing: $1"
    say "Install it with: $2"
    exit 3
}

# Debian packages by name; nothing else of the machine is touched.
install_packages() {
    local as_root=()
    if ! command -v apt-get >/dev/null; then
        missing "$*" "the package manager of this system"
    fi
    if [ "$(id -u)" -ne 0 ]; then
        sudo -n true 2>/dev/null || missing "$*" "sudo apt-get install --no-install-recommends $*"
        as_root=(sudo -n)
    fi
    say "Installing $* with apt-get"
    "${as_root[@]}" apt-get -q -o DPkg::Lock::Timeout=120 update >&2 </dev/null || true
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 \
        install --no-install-recommends "$@" >&2 </dev/null ||
        missing "$*" "apt-get install --no-install-recommends $*"
}

free_port() {
    "$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
