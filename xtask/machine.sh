# What `run` and `test` share: what the machine must have, and how PostgreSQL runs as an ordinary user.
# Sourced with the repository as the working directory.

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
fail() { printf 'error: %s\n' "$1" >&2; shift; for line in "$@"; do printf '       %s\n' "$line" >&2; done; exit 1; }

if [ "$(id -u)" = 0 ]; then as_root() { "$@"; }; else as_root() { sudo "$@"; }; fi

# In the environment, so that no configuration of cargo's puts the programs elsewhere.
export CARGO_TARGET_DIR
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}")

# need_cargo: a cargo that is new enough.
need_cargo() {
    local wanted have
    wanted=$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' Cargo.toml)
    if ! command -v cargo >/dev/null; then
        [ "$(id -u)" != 0 ] || [ -z "${SUDO_USER:-}" ] ||
            fail "root has no cargo" "run this without sudo: it asks for root's rights where it needs them"
        [ ! -x ~/.cargo/bin/cargo ] || fail "cargo is not on the PATH" "run . ~/.cargo/env, then this again"
        fail "cargo is not installed" "get it from https://rustup.rs (minimum: Rust $wanted), then run this again"
    fi
    have=$(cargo --version | cut -d' ' -f2)
    [ "$(printf '%s\n%s\n' "$wanted" "${have%%-*}" | sort -V | head -n1)" = "$wanted" ] ||
        fail "cargo is $have, and this project needs $wanted" "update it with: rustup update stable"
}

# need_packages NAME...: installs with apt what is not installed yet.
need_packages() {
    local missing=() name
    for name in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null ||
        fail "these packages are missing: ${missing[*]}" "this script installs them with apt-get, which this machine does not have"
    [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
        fail "these packages are missing: ${missing[*]}" "install them, or run this as root or as a user with sudo"
    say "Installing ${missing[*]}"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# What building the extension takes; pgrx generates its bindings with libclang.
need_postgres() {
    local build_tools=(libclang-dev clang build-essential pkg-config)
    if [ -z "${PG_CONFIG:-}" ]; then
        need_packages postgresql-15 postgresql-server-dev-15 "${build_tools[@]}"
        PG_CONFIG=/usr/lib/postgresql/15/bin/pg_config
    elif command -v apt-get >/dev/null; then
        need_packages "${build_tools[@]}"
    fi
    [ -x "$PG_CONFIG" ] || fail "PG_CONFIG=$PG_CONFIG cannot be run"
    PG_BIN=$("$PG_CONFIG" --bindir)
    export PG_CONFIG PG_BIN PGRX_PG_CONFIG_PATH="$PG_CONFIG"
}

# need_install_rights: whether the extension can be put into that PostgreSQL is known before the build.
need_install_rights() {
    INSTALL_AS=as_root
    if [ -w "$("$PG_CONFIG" --pkglibdir)" ] && [ -w "$("$PG_CONFIG" --sharedir)/extension" ]; then INSTALL_AS=env; fi
    [ $INSTALL_AS = env ] || command -v sudo >/dev/null ||
        fail "$(id -un) cannot write $("$PG_CONFIG" --pkglibdir), where the extension goes" "run this as root or as a user with sudo"
}

# install_extension PROFILE [OPTION...]: what target/PROFILE holds.
install_extension() {
    local profile=$1
    shift
    $INSTALL_AS "$CARGO_TARGET_DIR/$profile/xtask" install --no-build --pg-config "$PG_CONFIG" "$@"
}

# The user PostgreSQL runs as: it refuses root.
if [ "$(id -u)" = 0 ]; then
    PG_OS_USER=postgres
    # RUST_BACKTRACE must not reach the server: each error would carry a backtrace then.
    # From /, for it may not be able to enter this directory. Paths among the arguments are absolute.
    as_postgres() { (cd / && exec setpriv --reuid=postgres --regid=postgres --init-groups --reset-env -- "$@"); }
else
    PG_OS_USER=$(id -un)
    as_postgres() { env -u RUST_BACKTRACE "$@"; }
fi
