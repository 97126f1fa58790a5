import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { openKafkaEventLog } from '@tollgate/platform/event-log/kafka/kafka-event-log'
import { createLogger } from '@tollgate/platform/observability/logger'
import { javaArtifacts } from '../../engines/java-artifacts.ts'
import type { PortPlan } from '../../engines/port-plan.ts'
import { requireProgram } from '../../engines/programs.ts'
import { host } from '../../standalone/ports.ts'

const run = promisify(execFile)
/** What an event of the bodies that are posted here takes in the log. */
const recordBytes = 250
const topic = 'ceiling'
const partitions = 4
const deliveryTimeoutMs = 10_000
/** Not published for every version of the brokers; any that speaks to them will do. */
const toolsVersion = '4.3.0'

/**
 * Records per second of kafka-producer-perf-test, acknowledged by all copies, of which there are as many as of usage. In
 * a topic of its own, with as many partitions.
 */
export async function measureKafka(
  { kafka }: PortPlan,
  records: number,
  say: (line: string) => void,
): Promise<number> {
  const java = await requireProgram('java', say)
  const classPath = ['-Xmx256m', '-cp', await toolsClassPath(say)]
  const brokers = kafka.map(({ port }) => `${host}:${port}`)
  await makeTopic(brokers)
  const { stdout } = await run(java, [
    ...[...classPath, 'org.apache.kafka.tools.ProducerPerformance', '--topic', topic],
    ...['--num-records', String(records), '--record-size', String(recordBytes)],
    ...[
      '--throughput',
      '-1',
      '--producer-props',
      'acks=all',
      `bootstrap.servers=${brokers.join(',')}`,
    ],
  ])
  return readRecordsPerSecond(stdout)
}

/** As the topics of usage are made. */
async function makeTopic(brokers: readonly string[]): Promise<void> {
  const log = await openKafkaEventLog({
    connection: { brokers },
    namePrefix: '',
    topics: [topic],
    writer: {
      partitionCounts: { [topic]: partitions },
      replicationFactor: brokers.length,
      minInSyncReplicas: brokers.length > 1 ? 2 : 1,
      deliveryTimeoutMs,
    },
    groupTimeouts: { sessionTimeoutMs: deliveryTimeoutMs, rebalanceTimeoutMs: deliveryTimeoutMs },
    answerWithinMs: deliveryTimeoutMs,
    logger: createLogger('bench', 'silent'),
  })
  await log.close()
}

export function readRecordsPerSecond(output: string): number {
  const rates = [...output.matchAll(/, ([\d.]+) records\/sec/g)]
  const last = rates.at(-1)?.[1]
  if (last === undefined) throw new Error(`kafka-producer-perf-test printed no result:\n${output}`)
  return Number(last)
}

/** The brokers' jars, and one that they run without. */
async function toolsClassPath(say: (line: string) => void): Promise<string> {
  const { kafkaClassPath } = await javaArtifacts(say)
  const folder = join(dirname(dirname(kafkaClassPath)), 'kafka-tools')
  const jar = join(folder, `kafka-tools-${toolsVersion}.jar`)
  if (!existsSync(jar)) {
    await run(await requireProgram('mvn', say), [
      '--batch-mode',
      'org.apache.maven.plugins:maven-dependency-plugin:2.10:copy',
      `-Dartifact=org.apache.kafka:kafka-tools:${toolsVersion}`,
      `-DoutputDirectory=${folder}`,
    ])
  }
  return `${kafkaClassPath}:${jar}`
}
