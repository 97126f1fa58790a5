import { Counter, Gauge, Histogram, type Registry } from '@tollgate/platform/observability/metrics'
import type { UnknownNameCounts } from './http/unknown-in-call.ts'

/**
 * What the request path counts. Plain numbers, because a labelled counter of the metrics library costs as much as
 * parsing a small body; they are read when somebody asks for the metrics.
 */
export class IngestCounts {
  accepted = 0
  duplicates = 0
  /** Keyed records whose marks could not be read, and which were appended all the same. */
  unreadMarks = 0
  /** Stretches of the log whose keys could not be read at the start. */
  unreadKeyStretches = 0
  /** Usage calls that were answered without a word on debits, because the entries could not be read. */
  unreadDebits = 0
  limitsAllowed = 0
  limitsDenied = 0
  limitsForwarded = 0
  /** Limit checks that had to wait for the counters projection. */
  projectionWaits = 0
  /** Limit checks that added the log's tail to the counters. */
  tailFallbacks = 0
  /** Limit checks that the control plane was asked for, because the counters were too far behind or not to be read. */
  readonly limitFallbacks = { behind: 0, unreadable: 0 }
  /** Requests with X-Forwarded-For from a peer that is no trusted proxy. */
  forwardedIgnored = 0
  /** Names in requests that the operation does not know. */
  readonly unknownNames: UnknownNameCounts = {
    field: { warned: 0, refused: 0 },
    parameter: { warned: 0, refused: 0 },
  }
  readonly refused = new Map<number, number>()
  /** Calls for automatic top-ups that began none, by the control plane's reason. */
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
    help: 'From handing records to the log until they are durable',
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
  count('events_accepted', 'Usage records acknowledged as new', () => counts.accepted)
  count('events_duplicate', 'Usage records known by their key', () => counts.duplicates)
  count('marks_unread', 'Keyed records appended without knowing', () => counts.unreadMarks)
  count(
    'recent_keys_unread',
    'Parts of the log whose keys could not be read at the start',
    () => counts.unreadKeyStretches,
  )
  count('debits_unread', 'Usage calls without a word on debits', () => counts.unreadDebits)
  count('projection_waits', 'Limit checks that waited', () => counts.projectionWaits)
  count(
    'forwarded_ignored',
    'Requests with X-Forwarded-For from a peer that is no trusted proxy',
    () => counts.forwardedIgnored,
  )
  count('tail_fallbacks', 'Limit checks that added the tail of the log', () => counts.tailFallbacks)
  countByLabel(registry, counts)
  return counts
}

function countByLabel(registry: Registry, counts: IngestCounts): void {
  new Counter({
    name: 'tollgate_ingest_limit_checks_total',
    help: 'Limit checks by how they ended',
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
    help: 'Limit checks that the control plane was asked for instead, by what was wrong with the counters',
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
    help: 'Calls for automatic top-ups that began none, by the reason',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [reason, times] of counts.rechargeRefusals) this.inc({ reason }, times)
    },
  })
  new Counter({
    name: 'tollgate_ingest_unknown_names_total',
    help: 'Fields and parameters of hot routes that are unknown, by what the client got',
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
    help: 'Requests to hot routes that were refused, by status',
    labelNames: ['status'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [status, times] of counts.refused) this.inc({ status }, times)
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
  gauge('appends_in_flight', 'Records on their way to the log', gauges.appendsInFlight)
  gauge('append_bytes_in_flight', 'Bytes on their way to the log', gauges.appendBytesInFlight)
  gauge('recent_keys', 'Keyed records without a mark so far', gauges.recentKeys)
  gauge('tail_bytes', 'Memory for the sums of the log beyond the counters', gauges.tailBytes)
}

/** Of the embedded log's old segments. */
export function createScrubMetrics(registry: Registry): {
  readonly onScrubbed: (bytes: number) => void
  readonly onDamaged: (segments: number) => void
} {
  const scrubbed = new Counter({
    name: 'tollgate_log_scrubbed_bytes_total',
    help: 'Bytes of old segments whose sums were checked',
    registers: [registry],
  })
  const damaged = new Gauge({
    name: 'tollgate_log_damaged_segments',
    help: 'Old segments of the log that cannot be read, as of the last pass',
    registers: [registry],
  })
  return {
    onScrubbed: (bytes) => scrubbed.inc(bytes),
    onDamaged: (segments) => damaged.set(segments),
  }
}
