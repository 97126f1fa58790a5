import { expect, it } from 'vitest'
import type { SettledReservation } from '@tollgate/platform/hot-state/reservations'
import { walletScope, walletSubject } from '@tollgate/schemas/hot-state/wallets'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { meterEvent } from '../../test/meter-event.ts'
import { settledReservations } from './settled-reservations.ts'

const partitionCount = 8
const subject = subjectKey('prov_1', 'cus_a')
const partition = partitionOf(subject, partitionCount)
const countedIn = (partition + 1) % partitionCount
const reservation = (number: number) => `rsv_${number}.cus_a.prd_a`

const settled = (...events: Partial<MeterEvent>[]) =>
  settledReservations(
    events.map((each, offset) => ({ offset, event: meterEvent(each) })),
    new Map([['usage_known', 0]]),
    countedIn,
    partitionCount,
  )

const unitsOf = (all: readonly SettledReservation[]) =>
  all.filter(({ scope }) => scope !== walletScope)

it('finds the units and credits of a reservation, whatever customer reference its usage names', () => {
  const kept = (number: number) => [
    { subject, scope: 'prd_a', reservationId: reservation(number) },
    {
      subject: walletSubject('prov_1', 'cus_a'),
      scope: walletScope,
      reservationId: reservation(number),
      isForgotten: true,
    },
  ]
  const found = settled(
    { customerRef: 'cus_a', reservationId: reservation(1) },
    { customerRef: 'user-1', productRef: null, reservationId: reservation(2) },
    { reservationId: null },
  )
  expect([...found]).toEqual([[partition, [...kept(1), ...kept(2)]]])
})

it('separates reservations by partition, and uses the provider of the event', () => {
  const customers = Array.from({ length: 20 }, (_, number) => `cus_${number}`)
  const found = settled(
    ...customers.map((each) => ({ providerId: 'prov_2', reservationId: `rsv_1.${each}.prd_a` })),
  )
  for (const [number, ofPartition] of found) {
    for (const each of unitsOf(ofPartition)) {
      expect(partitionOf(each.subject, partitionCount)).toBe(number)
    }
  }
  const subjects = unitsOf([...found.values()].flat()).map((each) => each.subject)
  expect(new Set(subjects)).toEqual(new Set(customers.map((each) => subjectKey('prov_2', each))))
})

it('ends the reservation of a failed call, and none for a duplicate or for a text that is not a reservation', () => {
  const known = { id: 'usage_known', idempotencyKey: 'k' }
  const found = settled(
    { ...known, outcome: 'fail', reservationId: reservation(1) },
    { ...known, reservationId: reservation(2) },
    { reservationId: 'rsv_without a place' },
  )
  expect(new Set([...found.values()].flat().map((each) => each.reservationId))).toEqual(
    new Set([reservation(1)]),
  )
})

it('ends the hold of credits in the partition of the record, even for a duplicate', () => {
  const held = (reservationId: string) => ({
    subject: walletSubject('prov_1', 'cus_1'),
    scope: walletScope,
    reservationId,
    isForgotten: true,
  })
  const found = settled(
    { id: 'usage_free', debit: null },
    { id: 'usage_paid', debit: '5' },
    { id: 'usage_known', idempotencyKey: 'known', debit: '7' },
  )
  expect([...found]).toEqual([[countedIn, [held('usage_paid'), held('usage_known')]]])
})

it('reduces a reservation by what a call counts that is not its last one', () => {
  const part = (number: number) => `+${reservation(number)}`
  const counts = [
    { meterName: 'tokens', value: 7_000_000, text: null },
    { meterName: 'tools', value: 2_000_000, text: null },
  ]
  const found = settled(
    { meterName: 'requests', value: 3_000_000, reservationId: part(1) },
    { meterName: '', counts, reservationId: part(2) },
    { outcome: 'fail', reservationId: part(3) },
    { id: 'usage_known', idempotencyKey: 'k' },
    { id: 'usage_known', idempotencyKey: 'k', reservationId: part(4) },
    { reservationId: '+no reservation' },
  )
  const wallet = { subject: walletSubject('prov_1', 'cus_a'), scope: walletScope }
  const used = (number: number, offset: number, onEvery: bigint, bySeries: [string, bigint][]) => {
    const place = { subject, scope: 'prd_a', reservationId: reservation(number) }
    return { ...place, part: { onEvery, bySeries: new Map(bySeries), offset, together: wallet } }
  }
  expect([...found]).toEqual([
    [
      partition,
      [
        used(1, 0, 3_000_000n, [['requests', 3_000_000n]]),
        used(2, 1, 0n, [
          ['tokens', 7_000_000n],
          ['tools', 2_000_000n],
        ]),
      ],
    ],
  ])
})
