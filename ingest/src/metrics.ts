import type { LeaseCounts } from '@tollgate/platform/event-log/note-lease/lease-counts'
import { Counter, Gauge, Histogram, type Registry } from '@tollgate/platform/observability/metrics'
import type { UnknownNameCounts } from './http/unknown-in-call.ts'

/**
 * Counts on the request path. They are plain numbers, because a labelled counter of the metrics library costs as much as parsing a
 * small body. The metrics are computed from them when they are scraped.
 */
export class IngestCounts {
  accepted = 0
  duplicates = 0
  /** Records with an idempotency key that were appended although their marks could not be read. */
  unreadMarks = 0
  /** Ranges of the log whose keys could not be read at the start. */
  unreadKeyRanges = 0
  /** Usage calls whose response says nothing about debits, because the entitlements could not be read. */
  unreadDebits = 0
  /** Reads of a provider's meters that failed, so that older ones decided what events count. */
  oldMeters = 0
  /** Calls of models whose cost is recorded as unpriced. Repeated requests count again. */
  unpricedCalls = 0
  limitsAllowed = 0
  limitsDenied = 0
  limitsForwarded = 0
  /** Limit checks that waited for the counters projection. */
  projectionWaits = 0
  /** Limit checks that added the tail of the log to the counters. */
  tailFallbacks = 0
  /** Limit checks that the control plane answered, because the counters lagged too far behind or could not be read. */
  readonly limitFallbacks = { behind: 0, unreadable: 0 }
  /** Requests with X-Forwarded-For from a peer that is not a trusted proxy. */
  forwardedIgnored = 0
  /** Names in requests that the operation does not know. */
  readonly unknownNames: UnknownNameCounts = {
    field: { warned: 0, refused: 0 },
    parameter: { warned: 0, refused: 0 },
  }
  readonly refused = new Map<number, number>()
  /** Requests for automatic top-ups that started no charge, by the control plane's reason. */
  readonly rechargeRefusals = new Map<string, number>()
  readonly #appendSeconds: Histogram

  constructor(appendSeconds: Histogram) {
    this.#appendSeconds = appendSeconds
  }

  countRefused(status: number): void {
    this.refused.set(status, (this.refused.get(status) ?? 0) + 1)
  }

  observeAppend(durationMs: number): void {
    this.#appendSeconds.observe(durationMs / 1000)
  }
}

export type Gauges = {
  readonly appendsInFlight: () => number
  readonly appendBytesInFlight: () => number
  readonly recentKeys: () => number
  readonly tailBytes: () => number
}

export function createIngestCounts(registry: Registry): IngestCounts {
  const appendSeconds = new Histogram({
    name: 'tollgate_ingest_append_seconds',
    help: 'Seconds from handing records to the event log until they are durable',
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [registry],
  })
  const counts = new IngestCounts(appendSeconds)
  const count = (name: string, help: string, read: () => number): void => {
    new Counter({
      name: `tollgate_ingest_${name}_total`,
      help,
      registers: [registry],
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  }
  count('events_accepted', 'Usage records that were acknowledged as new', () => counts.accepted)
  count(
    'events_duplicate',
    'Usage records whose idempotency key was already used',
    () => counts.duplicates,
  )
  count(
    'marks_unread',
    'Usage records with an idempotency key that were appended although their deduplication marks could not be read',
    () => counts.unreadMarks,
  )
  count(
    'recent_keys_unread',
    'Ranges of the event log whose idempotency keys could not be read at the start',
    () => counts.unreadKeyRanges,
  )
  count(
    'debits_unread',
    'Usage calls whose response says nothing about debits, because the entitlements could not be read',
    () => counts.unreadDebits,
  )
  count(
    'meters_old',
    'Failed reads of the meters of a provider, after which events were counted by the last known meters',
    () => counts.oldMeters,
  )
  count(
    'unpriced_model_calls',
    'Calls of language models that were counted without a cost, because neither the price list nor an own price has the model',
    () => counts.unpricedCalls,
  )
  count(
    'projection_waits',
    'Limit checks that waited for the counters projection',
    () => counts.projectionWaits,
  )
  count(
    'forwarded_ignored',
    'Requests with X-Forwarded-For from a peer that is not a trusted proxy',
    () => counts.forwardedIgnored,
  )
  count(
    'tail_fallbacks',
    'Limit checks that added the newest records of the event log to the counters',
    () => counts.tailFallbacks,
  )
  countByLabel(registry, counts)
  return counts
}

function countByLabel(registry: Registry, counts: IngestCounts): void {
  new Counter({
    name: 'tollgate_ingest_limit_checks_total',
    help: 'Limit checks, by result',
    labelNames: ['result'],
    registers: [registry],
    collect() {
      this.reset()
      this.inc({ result: 'allowed' }, counts.limitsAllowed)
      this.inc({ result: 'denied' }, counts.limitsDenied)
      this.inc({ result: 'forwarded' }, counts.limitsForwarded)
    },
  })
  new Counter({
    name: 'tollgate_ingest_limit_fallbacks_total',
    help: 'Limit checks that the control plane answered instead, by the problem with the counters',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [reason, times] of Object.entries(counts.limitFallbacks)) {
        this.inc({ reason }, times)
      }
    },
  })
  new Counter({
    name: 'tollgate_ingest_recharge_refusals_total',
    help: 'Requests for automatic top-ups that started no charge, by reason',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [reason, times] of counts.rechargeRefusals) this.inc({ reason }, times)
    },
  })
  new Counter({
    name: 'tollgate_ingest_unknown_names_total',
    help: 'Unknown fields and parameters in requests to hot routes, by outcome',
    labelNames: ['kind', 'outcome'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [kind, outcomes] of Object.entries(counts.unknownNames)) {
        for (const [outcome, times] of Object.entries(outcomes)) this.inc({ kind, outcome }, times)
      }
    },
  })
  new Counter({
    name: 'tollgate_ingest_refused_total',
    help: 'Requests to hot routes that were refused, by HTTP status',
    labelNames: ['status'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [status, times] of counts.refused) this.inc({ status }, times)
    },
  })
}

/** Registers the counts of the note lease. */
export function countNoteLease(registry: Registry, counts: LeaseCounts): void {
  new Counter({
    name: 'tollgate_ingest_heads_total',
    help: 'Heads of partitions that limit checks needed, by where they were read',
    labelNames: ['source'],
    registers: [registry],
    collect() {
      this.reset()
      this.inc({ source: 'notes' }, counts.trusted)
      this.inc({ source: 'log' }, counts.asked)
    },
  })
  new Counter({
    name: 'tollgate_ingest_acknowledgements_held_total',
    help: 'Commits to the event log whose acknowledgement waited because limit checks might have missed their records',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(counts.held)
    },
  })
}

export function registerGauges(registry: Registry, gauges: Gauges): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name: `tollgate_ingest_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  }
  gauge(
    'appends_in_flight',
    'Records that are being appended to the event log',
    gauges.appendsInFlight,
  )
  gauge(
    'append_bytes_in_flight',
    'Bytes that are being appended to the event log',
    gauges.appendBytesInFlight,
  )
  gauge(
    'recent_keys',
    'Usage records with an idempotency key whose deduplication mark is not set yet',
    gauges.recentKeys,
  )
  gauge(
    'tail_bytes',
    'Bytes of memory for the sums of the newest records of the event log, which the counters have not applied yet',
    gauges.tailBytes,
  )
}

/** Creates the metrics of the verification of old segments of the embedded log. */
export function createScrubMetrics(registry: Registry): {
  readonly onScrubbed: (bytes: number) => void
  readonly onDamaged: (segments: number) => void
} {
  const scrubbed = new Counter({
    name: 'tollgate_log_scrubbed_bytes_total',
    help: 'Bytes of old segments of the event log whose checksums were verified',
    registers: [registry],
  })
  const damaged = new Gauge({
    name: 'tollgate_log_damaged_segments',
    help: 'Old segments of the event log that cannot be read, as of the last verification',
    registers: [registry],
  })
  return {
    onScrubbed: (bytes) => scrubbed.inc(bytes),
    onDamaged: (segments) => damaged.set(segments),
  }
}
