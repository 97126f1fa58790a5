import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from '../load/statistics.ts'
import { createTollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { connectionsWithinLimit, crowdText, startCrowd } from './crowd/crowd.ts'
import { failureProblems, startHealthyClients } from './healthy-clients.ts'
import { watchServices } from './service-watch.ts'
import { waitUntilStored } from './stored-records.ts'
import type { Check } from './verdict.ts'

export type EndlessOptions = { readonly connections: number; readonly seconds: number }

const openTimeoutMs = 60_000
const answerTimeoutMs = 60_000
const customerRef = 'beside_endless_bodies'

/** Sends endless bodies and headers on many connections at once, while healthy clients continue. */
export function checkEndless(options: EndlessOptions): Check {
  return async (instance, print) => {
    const { baseUrl, liveKey: key } = instance.credentials
    const connections = await connectionsWithinLimit(options.connections)
    const healthy = startHealthyClients({
      baseUrl,
      key,
      call: (http) => http.send('POST', '/v1/sdk/usages', { customerRef }),
    })
    const crowd = startCrowd('endless', baseUrl, connections, key)
    const progress = (): string =>
      `${crowd.stats().open} endless connections, ${gigabytes(crowd.stats().sentBytes)} sent`
    const watch = await watchServices(instance, progress, print)
    await crowd.waitUntil(({ mostOpen }) => mostOpen >= connections, openTimeoutMs)
    const { mostOpen } = crowd.stats()
    await sleep(options.seconds * 1000)
    // On a busy machine, the first body takes longer to reach the limit.
    await crowd.waitUntil(({ statuses }) => statuses['413'] !== undefined, answerTimeoutMs)
    const stats = await crowd.end()
    const results = healthy.take()
    const problems = [...(await watch.end()), ...failureProblems(results, 'beside endless bodies')]
    const answered = await healthy.stop()
    if (mostOpen < connections)
      problems.push(`only ${mostOpen} of ${connections} connections were opened`)
    if (stats.statuses['413'] === undefined) problems.push('no endless body was answered with 413')

    const client = createTollgateClient({ baseUrl, key, connectionsMax: 2, timeoutMs: 30_000 })
    const stored = await waitUntilStored(client, answered, [customerRef]).finally(() =>
      client.close(),
    )
    if (stored !== answered) {
      problems.push(`${answered} healthy records were acknowledged, ${stored} are stored`)
    }
    return {
      lines: [
        ...(connections < options.connections
          ? [`Only ${connections} connections: open files are limited.`]
          : []),
        `${gigabytes(stats.sentBytes)} sent; ${crowdText(stats)}`,
        `${watch.memoryText('ingest')}; ${watch.memoryText('control-plane')}`,
        `${answered} healthy calls answered beside them, p99 ${quantile(results.latenciesMs, 0.99).toFixed(1)} ms`,
      ],
      problems,
    }
  }
}

function gigabytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GB`
}
