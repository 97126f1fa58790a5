import type { EntryAddress } from '../hot-state.ts'
import {
  checkReserveRequest,
  expiredPerStepMax,
  type PlaceName,
  type PlaceRequest,
  type ReserveOutcome,
  type ReserveRequest,
  type SettledReservation,
  type SettlementElsewhere,
  type Taken,
} from '../reservations.ts'
import { joinAmount } from './amount-format.ts'
import { packMarkIds } from './batch-format.ts'
import { namePart } from './hot-names.ts'
import { MsgpackWriter } from './msgpack-writer.ts'
import {
  releaseReservationScript,
  reserveScript,
  settleElsewhereScript,
} from './scripts/reservations.ts'
import type { Script } from './scripts/script.ts'

type RunAt = (
  at: { readonly space: string; readonly partition: number },
  script: Script,
  args: readonly (string | Buffer)[],
) => Promise<unknown>

type ReserveAnswer =
  | readonly ['behind']
  | readonly [
      'again' | 'admitted' | 'denied' | 'full',
      readonly (readonly string[])[],
      string,
      string,
    ]

/** Reservations on Redis. Their expiry uses the clock of Redis. */
export class RedisReservations {
  readonly #run: RunAt

  constructor(run: RunAt) {
    this.#run = run
  }

  async reserve(request: ReserveRequest): Promise<ReserveOutcome> {
    checkReserveRequest(request)
    for (;;) {
      const answer = await this.#run(request.at, reserveScript, argumentsOf(request))
      const outcome = outcomeOf(answer as ReserveAnswer)
      if (outcome !== 'again') return outcome
    }
  }

  async release(at: EntryAddress, reservationId: string, together?: PlaceName): Promise<boolean> {
    const places = together === undefined ? [at] : [at, together]
    const names = places.map(placeName)
    return (await this.#run(at, releaseReservationScript, [reservationId, ...names])) === 1
  }

  async settle({ settled, countedIn, ...at }: SettlementElsewhere): Promise<void> {
    const { partition, nextOffset } = countedIn
    await this.#run(at, settleElsewhereScript, [
      packSettled(settled),
      `${partition}`,
      `${nextOffset}`,
    ])
  }
}

/** Encodes settled reservations: [subject and scope, id, 'f' to forget it or '', subject and scope, ..]. */
export function packSettled(settled: readonly SettledReservation[]): Buffer {
  const writer = new MsgpackWriter()
  writer.array(3 * settled.length)
  for (const each of settled) {
    writer.text(placeName(each))
    writer.text(each.reservationId)
    writer.text(each.isForgotten === true ? 'f' : '')
  }
  return writer.finish()
}

function argumentsOf(request: ReserveRequest): (string | Buffer)[] {
  const { reservationId, together } = request
  const places = together === undefined ? [request] : [request, together]
  const asksFirst = places.some(({ isReservedFirst }) => isReservedFirst)
  return [
    reservationId,
    `${request.ttlMs}`,
    `${expiredPerStepMax}`,
    packMarkIds(asksFirst ? [reservationId] : []),
    ...places.flatMap(placeArgumentsOf),
  ]
}

function placeArgumentsOf(request: PlaceRequest): (string | Buffer)[] {
  const { at, cap, elsewhere, series } = request
  return [
    placeName(at),
    request.units.toString(),
    cap === null ? '' : (cap - elsewhere.amount).toString(),
    `${request.minOffset}`,
    `${request.reservationsMax}`,
    request.windowId,
    packTexts(
      request.subjects.map((subject) => placeName({ subject, scope: at.scope }) + namePart(series)),
    ),
    packTexts([...elsewhere.appliedOffsets].flatMap((pair) => pair.map(String))),
    request.document ?? '',
    request.takes,
    request.isReservedFirst ? 'first' : '',
    request.replaces ?? '',
  ]
}

function packTexts(texts: readonly string[]): Buffer {
  const writer = new MsgpackWriter()
  writer.array(texts.length)
  for (const text of texts) writer.text(text)
  return writer.finish()
}

function outcomeOf(answer: ReserveAnswer): ReserveOutcome | 'again' {
  if (answer[0] === 'behind') return { kind: 'behind' }
  const [kind, amounts, units, expiry] = answer
  switch (kind) {
    case 'admitted': {
      const reservation = { units: BigInt(units), expiresAtMs: Number(expiry) }
      return { kind, ...reservation, ...takenAtPlaces(amounts) }
    }
    case 'denied':
      return { kind, ...takenAtPlaces(amounts) }
    case 'full':
      return { kind }
    case 'again':
      return kind
  }
}

function takenAtPlaces([first, second]: readonly (readonly string[])[]) {
  const taken = { taken: takenOf(first!) }
  return second === undefined ? taken : { ...taken, takenTogether: takenOf(second) }
}

/** Decodes amounts: units of 1 and of 2^62 alternate, and the last amount is the reserved one. */
export function takenOf(amounts: readonly string[]): Taken {
  const sums: bigint[] = []
  for (let at = 0; at < amounts.length; at += 2) {
    sums.push(joinAmount(amounts[at]!, amounts[at + 1]!))
  }
  const reserved = sums.pop()!
  return { used: sums.reduce((sum, amount) => sum + amount, 0n), reserved }
}

export function placeName({ subject, scope }: PlaceName): string {
  return namePart(subject) + namePart(scope)
}
