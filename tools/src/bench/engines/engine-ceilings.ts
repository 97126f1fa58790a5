import type { BenchEngines } from './bench-engines.ts'
import { measureClickHouse } from './measure-clickhouse.ts'
import { measureKafka } from './measure-kafka.ts'
import { measureRedis } from './measure-redis.ts'

/** Maximum rate of each engine on this machine, measured with the engine's own tool and without Tollgate's services. */
export type EngineCeilings = {
  /** Records of the size of an event, acknowledged by all replicas. */
  readonly kafkaRecordsPerSecond: number
  /** Calls of a script that reads one hash. There are as many clients as in the limit check load, and each has 1 call in flight. */
  readonly redisCallsPerSecond: number
  /** Rows inserted into a table like that of usage. ClickHouse generates the rows itself. */
  readonly clickhouseRowsPerSecond: number
}

export async function measureEngineCeilings(
  engines: BenchEngines,
  records: number,
  print: (line: string) => void,
): Promise<EngineCeilings> {
  print('measuring Kafka, Redis and ClickHouse alone ...')
  return {
    kafkaRecordsPerSecond: await measureKafka(engines.ports, records, print),
    redisCallsPerSecond: await measureRedis(engines.ports.redis, records, print),
    clickhouseRowsPerSecond: await measureClickHouse(engines.environment, records),
  }
}
