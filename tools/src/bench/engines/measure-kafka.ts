import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { javaArtifacts } from '../../engines/java-artifacts.ts'
import type { PortPlan } from '../../engines/port-plan.ts'
import { requireProgram } from '../../engines/programs.ts'
import { host } from '@tollgate/deploy/standalone/ports'
import { openOurLog } from '../kafka-clients/our-log.ts'

const run = promisify(execFile)
/** Topic in which Kafka and its clients are measured: as many partitions as for usage, and records of the size of an event. */
export const measuredTopic = { topic: 'ceiling', partitions: 4, recordBytes: 250 } as const
/** Not every version of the brokers has a published version of this tool. Any version that is compatible with the brokers works. */
const toolsVersion = '4.3.0'

/**
 * Returns the records per second of kafka-producer-perf-test, acknowledged by all replicas. The topic has as many replicas as that
 * of usage.
 */
export async function measureKafka(
  { kafka }: PortPlan,
  records: number,
  print: (line: string) => void,
): Promise<number> {
  const java = await requireProgram('java', print)
  const classPath = ['-Xmx256m', '-cp', await toolsClassPath(print)]
  const brokers = brokerAddresses(kafka)
  const { topic, partitions, recordBytes } = measuredTopic
  // kafka-producer-perf-test does not create topics.
  const log = await openOurLog(brokers, topic, partitions)
  await log.close()
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

export function brokerAddresses(kafka: PortPlan['kafka']): string[] {
  return kafka.map(({ port }) => `${host}:${port}`)
}

export function readRecordsPerSecond(output: string): number {
  const rates = [...output.matchAll(/, ([\d.]+) records\/sec/g)]
  const last = rates.at(-1)?.[1]
  if (last === undefined) throw new Error(`kafka-producer-perf-test printed no result:\n${output}`)
  return Number(last)
}

/** Returns the class path: the jars of the brokers, and the jar of the tool. */
async function toolsClassPath(print: (line: string) => void): Promise<string> {
  const { kafkaClassPath } = await javaArtifacts(print)
  const folder = join(dirname(dirname(kafkaClassPath)), 'kafka-tools')
  const jar = join(folder, `kafka-tools-${toolsVersion}.jar`)
  if (!existsSync(jar)) {
    await run(await requireProgram('mvn', print), [
      '--batch-mode',
      'org.apache.maven.plugins:maven-dependency-plugin:2.10:copy',
      `-Dartifact=org.apache.kafka:kafka-tools:${toolsVersion}`,
      `-DoutputDirectory=${folder}`,
    ])
  }
  return `${kafkaClassPath}:${jar}`
}
