#!/bin/sh
# Run by the container of ClickHouse when its data folder is made.
set -eu
clickhouse-client --user "$CLICKHOUSE_USER" --password "$CLICKHOUSE_PASSWORD" \
  --param_password="$DATA_TEAM_PASSWORD" --multiquery < /data-team.sql
