import { bucketFormName } from '../buckets.ts'
import type { EntryAddress } from '../hot-state.ts'
import {
  checkReserveBatch,
  checkReserveRequest,
  expiredPerStepMax,
  partsFirst,
  type BatchMode,
  type ExtendOutcome,
  type FurtherCap,
  type HeldBySeries,
  type PlaceName,
  type PlaceRequest,
  type ReservationExtension,
  type ReserveOutcome,
  type ReserveRequest,
  type SettledReservation,
  type SettlementElsewhere,
  type Taken,
  type UsedPart,
} from '../reservations.ts'
import { joinAmount } from './amount-format.ts'
import { packMarkIds } from './batch-format.ts'
import { namePart } from './hot-names.ts'
import { MsgpackWriter } from './msgpack-writer.ts'
import { reserveBatchScript, reserveScript } from './scripts/reserve.ts'
import {
  extendReservationScript,
  releaseReservationScript,
  settleElsewhereScript,
} from './scripts/reservations.ts'
import type { Script } from './scripts/script.ts'

type RunAt = (
  at: { readonly space: string; readonly partition: number },
  script: Script,
  args: readonly (string | Buffer)[],
) => Promise<unknown>

type ReserveAnswer =
  | readonly ['behind' | 'again']
  | readonly ['admitted' | 'denied' | 'full', readonly TakenAmounts[], string, string]

type ExtendAnswer = readonly ['gone' | 'too-long' | 'extended', string]

/** The amounts at a place under its cap, and then under each further cap. */
type TakenAmounts = readonly [readonly string[], ...(readonly string[])[]]

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
      const outcome = outcomeOf(request, answer as ReserveAnswer)
      if (outcome !== 'again') return outcome
    }
  }

  async reserveBatch(
    requests: readonly ReserveRequest[],
    mode: BatchMode,
  ): Promise<readonly ReserveOutcome[] | 'behind'> {
    checkReserveBatch(requests)
    const { at } = requests[0]!
    const ofRequest = (request: ReserveRequest): (string | Buffer)[] => {
      return [request.together === undefined ? '1' : '2', ...argumentsOf(request)]
    }
    const args = [mode, ...requests.flatMap(ofRequest)]
    for (;;) {
      const answers = (await this.#run(at, reserveBatchScript, args)) as ReserveAnswer[]
      const outcomes = answers.map((answer, index) => outcomeOf(requests[index]!, answer))
      if (outcomes.some((outcome) => outcome === 'again')) continue
      const decided = outcomes as ReserveOutcome[]
      return decided.some(({ kind }) => kind === 'behind') ? 'behind' : decided
    }
  }

  async extend(extension: ReservationExtension): Promise<ExtendOutcome> {
    const { at, reservationId, ttlMs, lifetimeMsMax, together } = extension
    const places = together === undefined ? [at] : [at, together]
    const limits = [reservationId, `${ttlMs}`, `${lifetimeMsMax}`]
    const args = [...limits, ...places.map(placeName)]
    const [kind, expiry] = (await this.#run(at, extendReservationScript, args)) as ExtendAnswer
    switch (kind) {
      case 'gone':
        return { kind }
      case 'too-long':
        return { kind, latestMs: Number(expiry) }
      case 'extended':
        return { kind, expiresAtMs: Number(expiry) }
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

/**
 * Encodes settled reservations: [subject and scope, id, how it ends, subject and scope, ..]. How it ends is 'f' to forget it, '' to
 * remember it as used, or a part: [units on every series, {series: units}, offset, subject and scope of the second place].
 */
export function packSettled(settled: readonly SettledReservation[]): Buffer {
  const writer = new MsgpackWriter()
  writer.array(3 * settled.length)
  for (const each of partsFirst(settled)) {
    writer.text(placeName(each))
    writer.text(each.reservationId)
    if (each.part === undefined) writer.text(each.isForgotten === true ? 'f' : '')
    else packPart(writer, each.part)
  }
  return writer.finish()
}

function packPart(writer: MsgpackWriter, { onEvery, bySeries, offset, together }: UsedPart): void {
  writer.array(4)
  writer.text(onEvery.toString())
  writer.map(bySeries.size)
  for (const [series, units] of bySeries) {
    writer.text(namePart(series))
    writer.text(units.toString())
  }
  writer.number(offset)
  writer.text(placeName(together))
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
    namePart(series),
    request.windowId,
    packTexts(countersOf(request, series)),
    elsewhere.appliedOffsets.size === 0
      ? ''
      : packTexts([...elsewhere.appliedOffsets].flatMap((pair) => pair.map(String))),
    request.document ?? '',
    request.takes,
    request.isReservedFirst ? 'first' : '',
    request.replaces ?? '',
    request.keepsRest === true ? 'rest' : '',
    request.bySeries === undefined ? '' : packBySeries(request, request.bySeries),
  ]
}

function countersOf({ subjects, at: { scope } }: PlaceRequest, series: string): string[] {
  return subjects.map((subject) => placeName({ subject, scope }) + namePart(series))
}

/**
 * Encodes the series of a reservation and its further caps: [the text of the reservation (scripts/kept-reservations.ts), {series:
 * units}, [[series, room left by the cap after usage elsewhere, 'window' or 'buckets', window or form, first bucket, names of the
 * counters], ..]].
 */
function packBySeries(request: PlaceRequest, { furtherUnits, furtherCaps }: HeldBySeries): Buffer {
  const held = [...new Map([[request.series, request.units], ...furtherUnits])]
  const writer = new MsgpackWriter()
  writer.array(3)
  writer.text(held.map(([series, units]) => ` ${units}@${namePart(series)}`).join(''))
  writer.map(held.length)
  for (const [series, units] of held) {
    writer.text(namePart(series))
    writer.text(units.toString())
  }
  writer.array(furtherCaps.length)
  for (const cap of furtherCaps) packCap(writer, request, cap)
  return writer.finish()
}

function packCap(
  writer: MsgpackWriter,
  request: PlaceRequest,
  { series, cap, within, elsewhere }: FurtherCap,
): void {
  writer.array(6)
  writer.text(namePart(series))
  writer.text((cap - elsewhere).toString())
  writer.text('windowId' in within ? 'window' : 'buckets')
  writer.text('windowId' in within ? within.windowId : bucketFormName(within.form))
  writer.number('windowId' in within ? 0 : within.fromBucket)
  writeTexts(writer, countersOf(request, series))
}

function packTexts(texts: readonly string[]): Buffer {
  const writer = new MsgpackWriter()
  writeTexts(writer, texts)
  return writer.finish()
}

function writeTexts(writer: MsgpackWriter, texts: readonly string[]): void {
  writer.array(texts.length)
  for (const text of texts) writer.text(text)
}

function outcomeOf(request: ReserveRequest, answer: ReserveAnswer): ReserveOutcome | 'again' {
  if (answer[0] === 'behind') return { kind: 'behind' }
  if (answer[0] === 'again') return 'again'
  const [kind, amounts, units, expiry] = answer
  switch (kind) {
    case 'admitted': {
      const reservation = { units: BigInt(units), expiresAtMs: Number(expiry) }
      return { kind, ...reservation, ...takenAtPlaces(request, amounts) }
    }
    case 'denied':
      return { kind, ...takenAtPlaces(request, amounts) }
    case 'full':
      return { kind }
  }
}

function takenAtPlaces(request: ReserveRequest, [first, second]: readonly TakenAmounts[]) {
  const taken = { taken: takenAtPlace(request, first!) }
  const { together } = request
  if (second === undefined || together === undefined) return taken
  return { ...taken, takenTogether: takenAtPlace(together, second) }
}

function takenAtPlace({ bySeries }: PlaceRequest, [own, ...further]: TakenAmounts): Taken {
  return { ...takenOf(own), ...(bySeries && { further: further.map(takenOf) }) }
}

/**
 * Decodes amounts: units of 1 and of 2^62 alternate. The last two amounts are those reserved on every series and on this one.
 */
export function takenOf(amounts: readonly string[]): Taken {
  const sums: bigint[] = []
  for (let at = 0; at < amounts.length; at += 2) {
    sums.push(joinAmount(amounts[at]!, amounts[at + 1]!))
  }
  const reserved = sums.pop()! + sums.pop()!
  return { used: sums.reduce((sum, amount) => sum + amount, 0n), reserved }
}

export function placeName({ subject, scope }: PlaceName): string {
  return namePart(subject) + namePart(scope)
}
