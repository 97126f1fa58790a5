#!/bin/sh
# The ClickHouse container runs this when it creates its data folder.
set -eu
clickhouse-client --user "$CLICKHOUSE_USER" --password "$CLICKHOUSE_PASSWORD" \
  --param_password="$DATA_TEAM_PASSWORD" --multiquery < /data-team.sql
