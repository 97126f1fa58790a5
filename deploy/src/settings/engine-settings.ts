import { integerSetting, textSetting } from '@tollgate/platform/config/settings'

const port = (variable: string, what: string, defaultPort: number) =>
  // The ports that the servers of an engine use among each other are 100 higher, so 65,000 is the maximum.
  integerSetting(variable, what, defaultPort, { min: 1_024, max: 65_000 })

/** Settings of `npm run engines:up`, `engines:status` and `engines:down`. */
export const engineSettings = {
  root: textSetting(
    'TOLLGATE_ENGINES_DIR',
    'Folder for the data and logs of the engines; created if missing',
    '.tollgate-engines',
  ),
  kafkaPort: port(
    'TOLLGATE_ENGINES_KAFKA_PORT',
    'Port of the first Kafka broker on loopback; further brokers use the next ports, controllers the ports 100 higher',
    19_092,
  ),
  schemaRegistryPort: port(
    'TOLLGATE_ENGINES_SCHEMA_REGISTRY_PORT',
    'Port of the schema registry on loopback',
    18_081,
  ),
  redisPort: port('TOLLGATE_ENGINES_REDIS_PORT', 'Port of Redis on loopback', 16_379),
  redisClusterPort: port(
    'TOLLGATE_ENGINES_REDIS_CLUSTER_PORT',
    'Port of the first Redis Cluster node on loopback; further nodes use the next ports, their bus the ports 100 higher',
    17_001,
  ),
  postgresPort: port('TOLLGATE_ENGINES_POSTGRES_PORT', 'Port of PostgreSQL on loopback', 15_432),
  clickhousePort: port(
    'TOLLGATE_ENGINES_CLICKHOUSE_PORT',
    'Port of the ClickHouse gateway on loopback',
    18_123,
  ),
  natsPort: port('TOLLGATE_ENGINES_NATS_PORT', 'Port of the NATS server on loopback', 14_222),
}
