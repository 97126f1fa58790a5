import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import type { ClientRates } from './measure-clients.ts'

const header = [
  'Kafka client, acks=all',
  'appenders',
  'appends/s',
  'ratio',
  'p99 ms',
  'CPU us each',
  'reads/s',
]

/**
 * Returns the report next to the rate of Kafka's own tool. That tool does not wait for answers, so it shows the maximum of the
 * brokers.
 */
export function clientsText(clients: readonly ClientRates[], ceilingPerSecond: number): string {
  const rows = clients.flatMap(({ name, appends, readsPerSecond }) =>
    [...appends].map(([appenders, { perSecond, p99Ms, processorUs }], index) => [
      name,
      String(appenders),
      formatRate(perSecond),
      (perSecond / ceilingPerSecond).toFixed(2),
      p99Ms.toFixed(2),
      processorUs.toFixed(1),
      index > 0 || readsPerSecond === undefined ? '' : formatRate(readsPerSecond),
    ]),
  )
  const ceiling = ['kafka-producer-perf-test', '', formatRate(ceilingPerSecond), '1.00']
  return formatTable(header, [...rows, ceiling])
}

function formatRate(perSecond: number): string {
  return formatCount(Math.round(perSecond))
}
