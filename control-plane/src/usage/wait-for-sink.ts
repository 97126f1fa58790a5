import { setTimeout as sleep } from 'node:timers/promises'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'

const pollIntervalMs = 20

/**
 * Waits until the usage store holds what the log held when this was called: whoever asks after an acknowledgement
 * finds the usage. False when that takes longer than `waitMs`.
 */
export async function waitForSink(
  log: EventLog,
  topic: string,
  partitions: readonly number[],
  waitMs: number,
): Promise<boolean> {
  const deadlineMs = performance.now() + waitMs
  let waiting = await Promise.all(
    partitions.map(async (partition) => ({ partition, head: await log.head(topic, partition) })),
  )
  for (;;) {
    const positions = await Promise.all(
      waiting.map(({ partition }) => log.position(sinkGroup, topic, partition)),
    )
    waiting = waiting.filter(({ head }, index) => (positions[index]?.offset ?? 0) < head)
    if (waiting.length === 0) return true
    if (performance.now() >= deadlineMs) return false
    await sleep(pollIntervalMs)
  }
}
