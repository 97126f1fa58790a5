import type { Increment } from '@tollgate/platform/hot-state/hot-state'
import { subjectKey } from '@tollgate/schemas/subject'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
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
  const places: Places = new Map()
  const debits = new DebitFold()
  let countedTotal = 0
  let duplicateTotal = 0
  for (const { offset, event } of events) {
    const first = event.idempotencyKey === null ? undefined : firstOffsets.get(event.id)
    const verdict = decideVerdict(offset, event, first)
    if (verdict.kind === 'counted') {
      countedTotal++
      addTo(cells, places, event)
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

/**
 * The cells of the counts of events with the same subject, scope and second, in the order of the counts. Events of one type count on
 * the same meters, so one key finds all their cells.
 */
type Places = Map<string, (Cell | undefined)[]>

function addTo(cells: Map<string, Cell>, places: Places, event: MeterEvent): void {
  const { counts, meterName } = event
  if (meterName !== '') cellOf(cells, event, meterName).sum.add(event.value)
  if (counts.length === 0) return
  const { providerId, customerRef, productRef } = event
  const second = Math.floor(event.timestamp / 1000)
  const place = `${second},${providerId.length},${customerRef.length},${providerId}${customerRef}${productRef ?? ''}`
  let known = places.get(place)
  if (known === undefined) places.set(place, (known = []))
  for (const [index, count] of counts.entries()) {
    let cell = known[index]
    if (cell?.series !== count.meterName) {
      known[index] = cell = cellOf(cells, event, count.meterName)
    }
    cell.sum.add(count.value)
  }
}

function cellOf(cells: Map<string, Cell>, event: MeterEvent, series: string): Cell {
  const subject = subjectKey(event.providerId, event.customerRef)
  const scope = event.productRef ?? ''
  const second = Math.floor(event.timestamp / 1000)
  // Lengths in front keep the keys distinct for any characters in the clients' texts.
  const key = `${second},${subject.length},${scope.length},${subject}${scope}${series}`
  let cell = cells.get(key)
  if (cell === undefined) {
    cell = { subject, scope, series, second, sum: new ExactSum() }
    cells.set(key, cell)
  }
  return cell
}
