import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../observability/logger.ts'
import type { HealthCheck } from '../../service/health.ts'
import type { Service } from '../../service/service.ts'
import { readDurable, verifySegment, type SegmentReport } from './verify-segment.ts'

export type LogScrubberOptions = {
  readonly folder: string
  /** Bytes of the log read per second. */
  readonly bytesPerSecond: number
  /** Milliseconds from the end of one pass to the start of the next. */
  readonly restMs: number
  readonly logger: Logger
  readonly onScrubbed: (bytes: number) => void
  readonly onDamaged: (segments: number) => void
}

/**
 * Continuously reads all segments except the one being written, and verifies their checksums. So damage on disk is found while
 * ClickHouse still has the affected records. The segment being written was verified when the log was opened.
 */
export function createLogScrubber(
  options: LogScrubberOptions,
): Service & { readonly health: HealthCheck } {
  const stopping = new AbortController()
  let damaged: readonly SegmentReport[] = []
  let running: Promise<void> | undefined
  const pause = async (ms: number): Promise<void> => {
    // The sleep rejects only on abort, and the loop checks the signal next.
    await sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined)
  }
  const pace = async (bytes: number): Promise<void> => {
    options.onScrubbed(bytes)
    await pause((bytes * 1_000) / options.bytesPerSecond)
  }
  const pass = async (): Promise<void> => {
    const { oldestSegment, segment } = readDurable(options.folder)
    const found: SegmentReport[] = []
    for (let number = oldestSegment; number < segment && !stopping.signal.aborted; number += 1) {
      const report = await verifyIfKept(options.folder, number, pace)
      if (report === undefined || report.state === 'whole') continue
      found.push(report)
      options.logger.error(
        { path: report.path, reason: report.reason },
        'a segment of the log is damaged: see "A damaged log" in docs/operations.md',
      )
    }
    if (stopping.signal.aborted) return
    damaged = found
    options.onDamaged(found.length)
  }
  const runForever = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await pass().catch((error: unknown) =>
        options.logger.warn(
          { err: error },
          'could not verify the log; retrying with the next pass',
        ),
      )
      await pause(options.restMs)
    }
  }
  return {
    start: async () => {
      running ??= runForever()
    },
    stop: async () => {
      stopping.abort()
      await running
    },
    health: {
      name: 'log-segments',
      onlyDegrades: true,
      check: async () => {
        if (damaged.length === 0) return
        throw new Error(damaged.map(({ path, reason }) => `${path}: ${reason}`).join('; '))
      },
    },
  }
}

/** Returns undefined if the segment no longer belongs to the log. */
async function verifyIfKept(
  folder: string,
  number: number,
  pace: (bytes: number) => Promise<void>,
): Promise<SegmentReport | undefined> {
  const isTrimmed = (): boolean => readDurable(folder).oldestSegment > number
  try {
    const report = await verifySegment(folder, number, readDurable(folder), pace)
    return report.state !== 'whole' && isTrimmed() ? undefined : report
  } catch (error) {
    if (isTrimmed()) return undefined
    throw error
  }
}
