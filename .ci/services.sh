# Private PostgreSQL and Redis for the tests; sourced after lib.sh by a script that calls stop_services when it ends.
# Sets postgres_url and redis_url. Both listen on loopback, on free ports, with their data under $work.

postgres_bin() {
    local found
    found="$(find /usr/lib/postgresql -maxdepth 3 -name initdb 2>/dev/null | sort -V | tail -n 1)"
    [ -n "$found" ] || found="$(command -v initdb || true)"
    [ -z "$found" ] || dirname "$found"
}

need_services() {
    local names=()
    [ -n "$(postgres_bin)" ] || names+=(postgresql)
    command -v redis-server >/dev/null || names+=(redis-server)
    [ ${#names[@]} -eq 0 ] || install_packages "${names[@]}"
}

# PostgreSQL refuses to run as root.
as_database_user() {
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && runuser -u "$database_user" -- "$@")
    else
        "$@"
    fi
}

start_postgres() {
    local bin port secret attempt
    bin="$(postgres_bin)"
    database_user="$(id -un postgres 2>/dev/null || echo nobody)"
    database_dir="$(mktemp -d "${TMPDIR:-/tmp}/felix-postgres.XXXXXX")"
    secret="$(head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n')"
    printf '%s\n' "$secret" >"$database_dir/secret"
    [ "$(id -u)" -ne 0 ] || chown -R "$database_user" "$database_dir"
    as_database_user "$bin/initdb" --pgdata="$database_dir/data" --username=felix --encoding=UTF8 \
        --locale=C --auth=scram-sha-256 --pwfile="$database_dir/secret" --no-sync >/dev/null
    for attempt in 1 2 3; do
        port="$(free_port)"
        if as_database_user "$bin/pg_ctl" --pgdata="$database_dir/data" --log="$database_dir/log" -w -t 60 \
            -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=$database_dir" \
            -o "-c fsync=off -c full_page_writes=off -c max_connections=200" start >/dev/null; then
            postgres_url="postgres://felix:$secret@127.0.0.1:$port/postgres"
            return
        fi
    done
    say "PostgreSQL did not start:"
    cat "$database_dir/log" >&2
    exit 1
}

start_redis() {
    local port attempt
    for attempt in 1 2 3; do
        port="$(free_port)"
        redis-server --bind 127.0.0.1 --port "$port" --save '' --appendonly no --dir "$work" \
            >"$work/redis.log" 2>&1 </dev/null &
        redis_pid=$!
        if answers "$port" "$redis_pid"; then
            redis_url="redis://127.0.0.1:$port/0"
            return
        fi
    done
    say "Redis did not start:"
    cat "$work/redis.log" >&2
    exit 1
}

answers() {
    local try
    for try in $(seq 100); do
        kill -0 "$2" 2>/dev/null || return 1
        (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return 0
        sleep 0.1
    done
    return 1
}

stop_services() {
    if [ -n "${redis_pid:-}" ]; then
        kill "$redis_pid" 2>/dev/null || true
        wait "$redis_pid" 2>/dev/null || true
    fi
    if [ -n "${database_dir:-}" ]; then
        as_database_user "$(postgres_bin)/pg_ctl" --pgdata="$database_dir/data" -m immediate -w stop \
            >/dev/null 2>&1 || true
        rm -rf "$database_dir"
    fi
}
