export const engineNames = [
  'kafka',
  'schema-registry',
  'redis',
  'redis-cluster',
  'postgres',
  'clickhouse',
  'nats',
] as const

export type EngineName = (typeof engineNames)[number]
