import type { Environment } from '@tollgate/schemas/environment'
import type { WebhookDispatcherConfig } from '../config.ts'
import type { Verdict } from '../domain/judge-attempt.ts'
import type { DispatchMetrics } from '../metrics.ts'
import type { Parts } from '../open-parts.ts'
import { claimDeliveries, type ClaimedDelivery } from '../postgres/claim-deliveries.ts'
import { promoteSecret } from '../postgres/promote-secret.ts'
import { recordOutcomes, type DisabledEndpoint } from '../postgres/record-outcomes.ts'
import { Dispatcher } from './dispatcher.ts'
import { Housekeeping } from './housekeeping.ts'
import { Recorder } from './recorder.ts'
import { sendDelivery, type Sent } from './send.ts'
import { traceDispatch } from './trace-dispatch.ts'

export type DispatchedEnvironment = {
  readonly inFlight: number
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Call when deliveries were queued. */
  readonly wake: () => void
  /** Call when endpoints were enabled, disabled or deleted. */
  readonly syncEndpoints: () => void
}

/** Opens the dispatcher of one environment. The environments share no capacity, so slow receivers of one do not delay the other. */
export function openDispatchedEnvironment(
  space: Environment,
  config: WebhookDispatcherConfig,
  parts: Parts,
  metrics: DispatchMetrics,
): DispatchedEnvironment {
  const { random, tracing, secrets } = parts
  const outbound = parts.outbound.of(space)
  const sql = parts.database.in(space)
  const logger = parts.logger.child({ space })
  const now = (): Date => new Date(parts.clock.now())
  const housekeeping = new Housekeeping({
    sql,
    now,
    logger,
    config,
    onSynced: () => dispatcher.wake(),
  })

  const recorder = new Recorder({
    record: (outcomes, health) => recordOutcomes(sql, outcomes, health, now()),
    onRecorded: reportDisabled,
    onRefused: ({ deliveryRef }) => {
      metrics.refused.inc({ space })
      logger.error({ delivery: deliveryRef }, 'attempt stored without its refused response')
    },
    logger,
    retryPauseMs: config.retryPauseMs,
  })

  function reportDisabled(disabled: readonly DisabledEndpoint[]): void {
    for (const { reference, reason } of disabled) {
      metrics.disabled.inc({ space, reason })
      logger.warn({ endpoint: reference, reason }, 'webhook endpoint disabled')
    }
    if (disabled.length > 0) housekeeping.syncSoon()
  }

  const sendParts = {
    post: outbound.post.bind(outbound),
    secrets,
    now,
  }
  const { retryDelaysSeconds: delaysSeconds, retryJitterPercent: jitterPercent } = config
  const dispatcher = new Dispatcher({
    ...traceDispatch(tracing, space, {
      claim: (claim) => claimDeliveries(sql, claim),
      send: (delivery) => sendDelivery(sendParts, delivery),
    }),
    promote: ({ providerId, endpointRef }, secretRef) =>
      promoteSecret(sql, providerId, endpointRef, secretRef),
    recorder,
    onAttempted: (...attempted) => countAttempt(metrics, space, ...attempted),
    now,
    random,
    logger,
    limits: { ...config, retrySchedule: { delaysSeconds, jitterPercent } },
  })

  return {
    get inFlight() {
      return dispatcher.inFlight
    },
    start: async () => {
      await housekeeping.start()
      dispatcher.start()
    },
    stop: async () => {
      await Promise.all([dispatcher.stop(), housekeeping.stop()])
    },
    wake: () => dispatcher.wake(),
    syncEndpoints: () => housekeeping.syncSoon(),
  }
}

function countAttempt(
  metrics: DispatchMetrics,
  space: Environment,
  { turn, createdAt, body }: ClaimedDelivery,
  { attempts }: Sent,
  verdict: Verdict,
): void {
  if (body === null) metrics.unsendable.inc({ space })
  metrics.attempts.inc({ space, turn, outcome: verdict.kind })
  for (const { durationMs } of attempts) {
    metrics.attemptSeconds.observe({ space }, durationMs / 1_000)
  }
  if (turn === 'retry') return
  const waitedMs = attempts[0].startedAt.getTime() - createdAt.getTime()
  metrics.firstAttemptSeconds.observe({ space }, Math.max(0, waitedMs / 1_000))
}
