-- Creates a user that can read all usage and change nothing. Run it once as a user with access management:
--   clickhouse-client --multiquery --param_password='…' < deploy/clickhouse/data-team.sql
-- On a cluster, add ON CLUSTER after the name in each statement, unless users are replicated.

-- With readonly = 2, clients may change settings such as formats and time zones, within the limits set here.
CREATE SETTINGS PROFILE IF NOT EXISTS data_team SETTINGS
    readonly = 2,
    max_execution_time = 300 MAX 900,
    max_memory_usage = 8000000000 MAX 16000000000,
    max_threads = 4 MAX 8;

CREATE ROLE IF NOT EXISTS data_team SETTINGS PROFILE 'data_team';

GRANT SELECT ON live.* TO data_team;

GRANT SELECT ON sandbox.* TO data_team;

CREATE USER IF NOT EXISTS data_team IDENTIFIED BY {password:String} DEFAULT ROLE data_team;
