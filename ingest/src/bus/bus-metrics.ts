import { Counter, Gauge, type Registry } from '@tollgate/platform/observability/metrics'
import type { BadItemReason } from './bus-message.ts'

export type MessageEnd = 'acknowledged' | 'undecodable' | 'retried' | 'dropped'

/** Counts of messages and items of the bus, from which the metrics are read. */
export class BusCounts {
  readonly messages: Record<MessageEnd, number> = {
    acknowledged: 0,
    undecodable: 0,
    retried: 0,
    dropped: 0,
  }
  readonly items = { recorded: 0, duplicate: 0 }
  readonly badItems = new Map<BadItemReason, number>()
  /** Messages that the stream has not delivered yet, as reported with the last delivered message. */
  backlog = 0

  countBad(reason: BadItemReason): void {
    this.badItems.set(reason, (this.badItems.get(reason) ?? 0) + 1)
  }
}

export type BusGauges = {
  readonly isConnected: () => boolean
  readonly messagesInFlight: () => number
  readonly bytesInFlight: () => number
}

export function registerBusMetrics(registry: Registry, counts: BusCounts, gauges: BusGauges): void {
  const counter = (
    name: string,
    help: string,
    label: string,
    read: () => Iterable<[string, number]>,
  ) =>
    new Counter({
      name: `tollgate_bus_${name}_total`,
      help,
      labelNames: [label],
      registers: [registry],
      collect() {
        this.reset()
        for (const [value, times] of read()) this.inc({ [label]: value }, times)
      },
    })
  counter('messages', 'Messages of the message bus, by outcome', 'outcome', () =>
    Object.entries(counts.messages),
  )
  counter(
    'items',
    'Usage items of bus messages that are in the event log, by outcome',
    'outcome',
    () => Object.entries(counts.items),
  )
  counter(
    'bad_items',
    'Usage items of bus messages that were dropped, by reason',
    'reason',
    () => counts.badItems,
  )
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `tollgate_bus_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  gauge('connected', '1 while this process consumes messages of the bus, otherwise 0', () =>
    gauges.isConnected() ? 1 : 0,
  )
  gauge(
    'messages_in_flight',
    'Bus messages that this process has received and not finished',
    gauges.messagesInFlight,
  )
  gauge(
    'bytes_in_flight',
    'Bytes of the bus messages that this process has received and not finished',
    gauges.bytesInFlight,
  )
  gauge('backlog', 'Messages of the stream that are not delivered yet', () => counts.backlog)
}
