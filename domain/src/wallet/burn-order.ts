import type { CreditGrant } from './grants.ts'

/*
 * A wallet's grants stand in one line, in the order in which they are used: by priority, then what expires first, then the
 * oldest. All that usage ever took, posted or not, is how far along the line the wallet has come. Usage is posted later
 * than it happens; what it has taken by now is *in flight*, and of each grant it is kept how much of it that is, from
 * when it was last said (`sayInFlight`). The rest of a grant is *free*.
 *
 * Amounts are 10^-6 credits.
 */

export type Burn = { readonly grantRef: string; readonly micros: bigint }

/**
 * From which grants posted usage is taken: first where it was said to be in flight, then from what is free. Throws where
 * the grants hold less.
 */
export function allocateBurn(grants: readonly CreditGrant[], micros: bigint): Burn[] {
  const inFlight = takeInOrder(grants, micros, ({ inFlightMicros }) => inFlightMicros)
  const free = takeInOrder(grants, micros - sumOf(inFlight), freeMicros)
  const burns = new Map<string, bigint>()
  for (const { grantRef, micros: taken } of [...inFlight, ...free]) {
    burns.set(grantRef, (burns.get(grantRef) ?? 0n) + taken)
  }
  const missing = micros - sumOf([...inFlight, ...free])
  if (missing > 0n) {
    throw new Error(`grants hold ${missing} millionths of a credit less than were used`)
  }
  return grants
    .toSorted(burnOrder)
    .filter(({ reference }) => burns.has(reference))
    .map(({ reference }) => ({ grantRef: reference, micros: burns.get(reference)! }))
}

/** What is left once usage was taken out: of each grant first what was in flight. */
export function burn(grants: readonly CreditGrant[], burns: readonly Burn[]): CreditGrant[] {
  const taken = new Map(burns.map(({ grantRef, micros }) => [grantRef, micros]))
  return grants.map((grant) => {
    const micros = taken.get(grant.reference) ?? 0n
    const inFlightMicros = grant.inFlightMicros > micros ? grant.inFlightMicros - micros : 0n
    return { ...grant, remainingMicros: grant.remainingMicros - micros, inFlightMicros }
  })
}

/**
 * From which grants credits are taken otherwise than by usage: from what is free, of one grant before all others if so
 * told. Throws where less is free.
 */
export function allocateRemoval(
  grants: readonly CreditGrant[],
  micros: bigint,
  firstRef?: string,
): Burn[] {
  const first = grants.filter(({ reference }) => reference === firstRef)
  const others = grants.filter(({ reference }) => reference !== firstRef).toSorted(burnOrder)
  const burns = takeFrom([...first, ...others], micros, freeMicros)
  if (sumOf(burns) < micros) throw new Error('less is free in the grants than is taken out')
  return burns
}

/** What is left once that was taken out of what is free. */
export function remove(grants: readonly CreditGrant[], burns: readonly Burn[]): CreditGrant[] {
  return grants.map((grant) => {
    const own = burns.filter(({ grantRef }) => grantRef === grant.reference)
    return { ...grant, remainingMicros: grant.remainingMicros - sumOf(own) }
  })
}

/** The other way round. */
export function putBack(grants: readonly CreditGrant[], burns: readonly Burn[]): CreditGrant[] {
  return remove(
    grants,
    burns.map(({ grantRef, micros }) => ({ grantRef, micros: -micros })),
  )
}

/** What is said to be in flight. */
export function inFlightOf(grants: readonly CreditGrant[]): bigint {
  return grants.reduce((sum, { inFlightMicros }) => sum + inFlightMicros, 0n)
}

/**
 * Says of which grants usage has taken so much in all that is not posted yet. What was said before stays said, so call it
 * before anything changes the line. Where it was too much the newest of it goes: credits that were held for a record that
 * never came have come back.
 */
export function sayInFlight(grants: readonly CreditGrant[], micros: bigint): CreditGrant[] {
  const said = inFlightOf(grants)
  const more =
    micros >= said
      ? takeInOrder(grants, micros - said, freeMicros)
      : takeBack(grants, said - micros)
  const moved = new Map(more.map((each) => [each.grantRef, each.micros]))
  return grants.map((grant) => {
    const inFlightMicros = grant.inFlightMicros + (moved.get(grant.reference) ?? 0n)
    return { ...grant, inFlightMicros }
  })
}

/** What of a grant is free, and where on the line that ends, when so much of the line is posted. */
export function placeOnLine(
  grants: readonly CreditGrant[],
  grantRef: string,
  postedMicros: bigint,
): { readonly freeMicros: bigint; readonly endMicros: bigint } {
  let end = postedMicros + inFlightOf(grants)
  for (const grant of grants.toSorted(burnOrder)) {
    end += freeMicros(grant)
    if (grant.reference === grantRef) return { freeMicros: freeMicros(grant), endMicros: end }
  }
  return { freeMicros: 0n, endMicros: end }
}

function freeMicros({ remainingMicros, inFlightMicros }: CreditGrant): bigint {
  return remainingMicros - inFlightMicros
}

function takeInOrder(
  grants: readonly CreditGrant[],
  micros: bigint,
  amountOf: (grant: CreditGrant) => bigint,
): Burn[] {
  return takeFrom(grants.toSorted(burnOrder), micros, amountOf)
}

function takeBack(grants: readonly CreditGrant[], micros: bigint): Burn[] {
  const newestFirst = grants.toSorted(burnOrder).reverse()
  const back = takeFrom(newestFirst, micros, ({ inFlightMicros }) => inFlightMicros)
  return back.map(({ grantRef, micros: taken }) => ({ grantRef, micros: -taken }))
}

function takeFrom(
  grants: readonly CreditGrant[],
  micros: bigint,
  amountOf: (grant: CreditGrant) => bigint,
): Burn[] {
  const burns: Burn[] = []
  let left = micros
  for (const grant of grants) {
    const amount = amountOf(grant)
    const taken = amount < left ? amount : left
    if (taken > 0n) burns.push({ grantRef: grant.reference, micros: taken })
    left -= taken
  }
  return burns
}

function sumOf(burns: readonly Burn[]): bigint {
  return burns.reduce((sum, { micros }) => sum + micros, 0n)
}

function burnOrder(one: CreditGrant, other: CreditGrant): number {
  return (
    one.priority - other.priority ||
    compare(expiryMs(one), expiryMs(other)) ||
    one.createdAt.getTime() - other.createdAt.getTime() ||
    compare(one.reference, other.reference)
  )
}

function expiryMs({ expiresAt }: CreditGrant): number {
  return expiresAt?.getTime() ?? Infinity
}

function compare<Value extends number | string>(one: Value, other: Value): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
