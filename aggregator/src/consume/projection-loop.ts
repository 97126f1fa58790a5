import { setTimeout as sleep } from 'node:timers/promises'
import { GroupFencedError, type EventLog } from '@tollgate/platform/event-log/event-log'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Service } from '@tollgate/platform/service/service'
import { UsageStoreUnavailableError } from '@tollgate/platform/usage-store/usage-store'
import type { Turnstile } from './turnstile.ts'

/** One projection of one log partition. It keeps its own position and is never stepped twice at a time. */
export interface Projection {
  /** The next offset to process, as last known; undefined until it has been loaded. */
  readonly position: number | undefined
  /** Processes at most one batch. */
  step(): Promise<Step>
  /** Forgets what it knows of its position: the next step asks the store that owns it. */
  forgetPosition(): void
}

export type Step =
  | { readonly kind: 'moved' }
  /** Nothing to do until the log grows. */
  | { readonly kind: 'idle' }
  /** Something to do, but not yet. */
  | { readonly kind: 'wait'; readonly waitMs: number }
  /** Another process works on this partition. */
  | { readonly kind: 'fenced' }

export type LoopParts = {
  readonly projection: Projection
  readonly log: EventLog
  readonly topic: string
  readonly partition: number
  readonly turnstile: Turnstile
  readonly logger: Logger
  readonly onFailure: (kind: 'failed' | 'fenced') => void
}

/** A wake-up can be missed at most this long; it also bounds how long a stop waits for a quiet log. */
const idleWaitMs = 1_000
const backoffMinMs = 100
const backoffMaxMs = 5_000

/**
 * Steps a projection for as long as the service runs. Every failure is treated like a crash: forget the position,
 * wait a little longer than last time, begin again from what is durable. It never gives up and never skips.
 */
export function createProjectionLoop(parts: LoopParts): Service {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  return {
    start: async () => {
      running ??= runLoop(parts, stopping.signal)
    },
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

async function runLoop(parts: LoopParts, signal: AbortSignal): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    const step = await stepSafely(parts)
    if (step.kind === 'failed' || step.kind === 'fenced') {
      parts.onFailure(step.kind)
      parts.projection.forgetPosition()
      await pause(Math.min(backoffMaxMs, backoffMinMs * 2 ** failures++), signal)
      continue
    }
    failures = 0
    if (step.kind === 'wait') await pause(step.waitMs, signal)
    if (step.kind === 'idle') await waitForAppend(parts, signal)
  }
}

async function stepSafely(parts: LoopParts): Promise<Step | { readonly kind: 'failed' }> {
  try {
    return await parts.turnstile.run(() => parts.projection.step())
  } catch (error) {
    if (error instanceof GroupFencedError) return { kind: 'fenced' }
    logFailure(parts.logger, error)
    return { kind: 'failed' }
  }
}

/** A store that is away is expected to come back: one line without a stack for each attempt. */
function logFailure(logger: Logger, error: unknown): void {
  if (error instanceof UsageStoreUnavailableError) {
    logger.warn({ reason: error.message.slice(0, 300) }, 'store is away, batch will be tried again')
  } else {
    logger.error({ err: error }, 'batch failed, will be tried again')
  }
}

async function pause(waitMs: number, signal: AbortSignal): Promise<void> {
  // The only rejection is the abort, and the loop looks at the signal next.
  await sleep(waitMs, undefined, { signal }).catch(() => undefined)
}

async function waitForAppend(
  { log, topic, partition, projection }: LoopParts,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return
  let onAbort = (): void => undefined
  const aborted = new Promise<void>((resolve) => {
    onAbort = resolve
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    const appended = log.waitForAppend(topic, idleWaitMs)
    // Asked after the wait began, so that a record which came in between is not left lying for a whole wait.
    if ((await log.head(topic, partition)) !== projection.position) {
      appended.catch(() => undefined)
      return
    }
    await Promise.race([appended, aborted])
  } catch {
    // The log may be closing under us; the next step meets the same trouble and reports it.
    await pause(backoffMinMs, signal)
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
