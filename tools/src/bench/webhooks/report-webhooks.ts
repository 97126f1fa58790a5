import { makeTemporaryFolder } from '@tollgate/deploy/standalone/temporary-folder'
import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import { measureWebhooks, type WebhookOptions, type WebhookResult } from './measure-webhooks.ts'
import { startRig } from './rig.ts'

/** Measures on a temporary PostgreSQL and prints the results. */
export async function reportWebhooks(
  options: WebhookOptions,
  print: (line: string) => void,
): Promise<void> {
  const folder = await makeTemporaryFolder('bench-webhooks')
  const rig = await startRig(folder.path)
  try {
    print(`\n${webhooksText(await measureWebhooks(rig, options, print))}`)
  } finally {
    await rig.stop()
    await folder.remove()
  }
}

function webhooksText(result: WebhookResult): string {
  const { latency, ceilingPerSecond, throughput, fairness, kills } = result
  return [
    `Commit to receiver, idle, ${latency.events} events: p50 ${latency.p50Ms.toFixed(1)} ms, p99 ${latency.p99Ms.toFixed(1)} ms`,
    '',
    `One process that only signs and sends: ${formatCount(Math.round(ceilingPerSecond))} per second`,
    '',
    formatTable(
      ['dispatchers', 'deliveries', 'per second', 'ratio', 'duplicates'],
      throughput.map(({ dispatchers, deliveries, perSecond, duplicates }) => [
        String(dispatchers),
        formatCount(deliveries),
        formatCount(Math.round(perSecond)),
        (perSecond / ceilingPerSecond).toFixed(2),
        formatCount(duplicates),
      ]),
    ),
    '',
    `${fairness.endpoints} healthy endpoints, commit to receiver: p99 ${fairness.p99AloneMs.toFixed(1)} ms alone, ` +
      `${fairness.p99BesideMs.toFixed(1)} ms (${(fairness.p99BesideMs / fairness.p99AloneMs).toFixed(2)} times) next to one that never answers and has ${formatCount(fairness.queuedForHanging)} queued ` +
      `(${fairness.sentToHanging} requests were sent to it)`,
    '',
    `${kills.kills} dispatchers killed and ${kills.restarts} restart of the database: ${formatCount(kills.deliveries)} deliveries, ` +
      `${kills.lost} lost, ${kills.duplicates} sent more than once`,
  ].join('\n')
}
