#!/bin/sh
# Writes the secrets of deploy/compose.yaml into deploy/secrets/, and keeps those that already exist. Only you can open the folder; the
# users of the containers, into which the files are mounted, can read the files.
set -eu
folder="$(dirname "$0")/../secrets"
mkdir -p "$folder"
chmod 0700 "$folder"
cd "$folder"

create() {
  [ -e "$1" ] || printf '%s' "$2" > "$1"
  chmod 0644 "$1"
}
random() {
  od -An -N32 -tx1 /dev/urandom | tr -d ' \n'
}

create postgres_password "$(random)"
create migration_url "postgres://influencer_sync:$(random)@postgres:5432/influencer_sync"
create database_url "postgres://influencer_sync_app:$(random)@postgres:5432/influencer_sync"
create customer_hash_key "$(random)"
create api_key ''
create aws_credentials ''
[ -s api_key ] || echo "Put the key of the service into $folder/api_key."
