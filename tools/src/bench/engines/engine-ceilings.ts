import type { BenchEngines } from './bench-engines.ts'
import { measureClickHouse } from './measure-clickhouse.ts'
import { measureKafka } from './measure-kafka.ts'
import { measureRedis } from './measure-redis.ts'

/** What each engine does at most on this machine, driven by its own tool, with nothing of ours beside it. */
export type EngineCeilings = {
  /** Records of an event's size, acknowledged by all copies. */
  readonly kafkaRecordsPerSecond: number
  /** Scripts that read one hash, one at a time from each of as many clients as the limit checks have. */
  readonly redisCallsPerSecond: number
  /** Rows into a table like the one of usage, made by the engine itself. */
  readonly clickhouseRowsPerSecond: number
}

export async function measureEngineCeilings(
  engines: BenchEngines,
  records: number,
  say: (line: string) => void,
): Promise<EngineCeilings> {
  say('measuring Kafka, Redis and ClickHouse by themselves ...')
  return {
    kafkaRecordsPerSecond: await measureKafka(engines.ports, records, say),
    redisCallsPerSecond: await measureRedis(engines.ports.redis, records, say),
    clickhouseRowsPerSecond: await measureClickHouse(engines.environment, records),
  }
}
