import type { Increment } from '@tollgate/platform/hot-state/hot-state'
import { subjectKey } from '@tollgate/schemas/subject'
import { countsOf, type CountedUse, type MeterEvent } from '@tollgate/schemas/meter-event'
import type { EventRecord } from './decoded-batch.ts'
import { ExactSum } from './exact-sum.ts'
import { DebitFold } from './fold-debits.ts'
import { decideVerdict } from './verdict.ts'

export type Fold = {
  readonly increments: readonly Increment[]
  readonly countedTotal: number
  readonly notCountedTotal: number
  readonly duplicateTotal: number
}

type Cell = Omit<Increment, 'amount'> & { readonly sum: ExactSum }

/**
 * Sums the counted usage of a batch by subject, scope, series and second, so that the store gets one write per sum. Everything that
 * one event counts is in the same batch, and so in the same atomic step.
 */
export function foldIncrements(
  events: readonly EventRecord[],
  firstOffsets: ReadonlyMap<string, number>,
): Fold {
  const cells = new Map<string, Cell>()
  const debits = new DebitFold()
  let countedTotal = 0
  let duplicateTotal = 0
  for (const { offset, event } of events) {
    const first = event.idempotencyKey === null ? undefined : firstOffsets.get(event.id)
    const verdict = decideVerdict(offset, event, first)
    if (verdict.kind === 'counted') {
      countedTotal++
      addTo(cells, event)
      debits.add(event)
    } else if (verdict.kind === 'duplicate') {
      duplicateTotal++
    }
  }
  const usage = Array.from(cells.values(), ({ subject, scope, series, second, sum }) => ({
    subject,
    scope,
    series,
    second,
    amount: sum.total(),
  }))
  return {
    increments: [...usage, ...debits.increments()],
    countedTotal,
    notCountedTotal: events.length - countedTotal - duplicateTotal,
    duplicateTotal,
  }
}

function addTo(cells: Map<string, Cell>, event: MeterEvent): void {
  if (event.counts.length === 0 && event.meterName !== '') return addCount(cells, event, event)
  for (const count of countsOf(event)) addCount(cells, event, count)
}

function addCount(
  cells: Map<string, Cell>,
  event: MeterEvent,
  { meterName, value }: CountedUse,
): void {
  const subject = subjectKey(event.providerId, event.customerRef)
  const scope = event.productRef ?? ''
  const second = Math.floor(event.timestamp / 1000)
  // Lengths in front keep the keys distinct for any characters in the clients' texts.
  const key = `${second},${subject.length},${scope.length},${subject}${scope}${meterName}`
  let cell = cells.get(key)
  if (cell === undefined) {
    cell = { subject, scope, series: meterName, second, sum: new ExactSum() }
    cells.set(key, cell)
  }
  cell.sum.add(value)
}
