import type { CreditGrant } from './grants.ts'

/*
 * The grants of a wallet are used in one order: by priority, then by expiry, then oldest first. All usage of the wallet, posted or
 * not, is a position on this line of credits. Usage is posted later than it happens. Usage that is not posted yet is *in flight*:
 * each grant records how much of it is in flight, as of the last update (`assignInFlight`). The rest of a grant is *free*.
 *
 * Amounts are 10^-6 credits.
 */

export type Burn = { readonly grantRef: string; readonly micros: bigint }

/**
 * Returns from which grants posted usage is debited: first from credits recorded as in flight, then from free credits. Throws if
 * the grants have less than that.
 */
export function allocateBurn(grants: readonly CreditGrant[], micros: bigint): Burn[] {
  const inFlight = allocateInOrder(grants, micros, ({ inFlightMicros }) => inFlightMicros)
  const free = allocateInOrder(grants, micros - sumOf(inFlight), freeMicros)
  const burns = new Map<string, bigint>()
  for (const { grantRef, micros: taken } of [...inFlight, ...free]) {
    burns.set(grantRef, (burns.get(grantRef) ?? 0n) + taken)
  }
  const missing = micros - sumOf([...inFlight, ...free])
  if (missing > 0n) {
    throw new Error(`the grants lack ${missing} millionths of a credit that were used`)
  }
  return inBurnOrder(grants)
    .filter(({ reference }) => burns.has(reference))
    .map(({ reference }) => ({ grantRef: reference, micros: burns.get(reference)! }))
}

/** Returns the grants after posted usage was debited, in each grant first from credits in flight. */
export function burnGrants(grants: readonly CreditGrant[], burns: readonly Burn[]): CreditGrant[] {
  const taken = new Map(burns.map(({ grantRef, micros }) => [grantRef, micros]))
  return grants.map((grant) => {
    const micros = taken.get(grant.reference) ?? 0n
    const inFlightMicros = grant.inFlightMicros > micros ? grant.inFlightMicros - micros : 0n
    return { ...grant, remainingMicros: grant.remainingMicros - micros, inFlightMicros }
  })
}

/**
 * Returns from which grants credits are removed other than by usage. Only free credits are removed, first from the grant
 * `firstRef` if given. Throws if fewer credits are free.
 */
export function allocateRemoval(
  grants: readonly CreditGrant[],
  micros: bigint,
  firstRef?: string,
): Burn[] {
  const first = grants.filter(({ reference }) => reference === firstRef)
  const others = grants.filter(({ reference }) => reference !== firstRef).toSorted(burnOrder)
  const burns = allocate([...first, ...others], micros, freeMicros)
  if (sumOf(burns) < micros) throw new Error('the grants have fewer free credits than are removed')
  return burns
}

/** Returns the grants after free credits were removed. */
export function removeFromGrants(
  grants: readonly CreditGrant[],
  burns: readonly Burn[],
): CreditGrant[] {
  return grants.map((grant) => {
    const own = burns.filter(({ grantRef }) => grantRef === grant.reference)
    return { ...grant, remainingMicros: grant.remainingMicros - sumOf(own) }
  })
}

/** Returns the grants after removed credits were put back. */
export function restoreToGrants(
  grants: readonly CreditGrant[],
  burns: readonly Burn[],
): CreditGrant[] {
  return removeFromGrants(
    grants,
    burns.map(({ grantRef, micros }) => ({ grantRef, micros: -micros })),
  )
}

/** Returns the credits recorded as in flight in all grants. */
export function inFlightOf(grants: readonly CreditGrant[]): bigint {
  return grants.reduce((sum, { inFlightMicros }) => sum + inFlightMicros, 0n)
}

/**
 * Records in which grants the given total of unposted usage is in flight. Credits already recorded stay where they are, so this
 * must be called before the order of the grants changes. If more was recorded than `micros`, the excess is removed from the last
 * grants in the order, because holds for records that were never written have been released.
 */
export function assignInFlight(grants: readonly CreditGrant[], micros: bigint): CreditGrant[] {
  const recorded = inFlightOf(grants)
  const more =
    micros >= recorded
      ? allocateInOrder(grants, micros - recorded, freeMicros)
      : deallocate(grants, recorded - micros)
  const moved = new Map(more.map((each) => [each.grantRef, each.micros]))
  return grants.map((grant) => {
    const inFlightMicros = grant.inFlightMicros + (moved.get(grant.reference) ?? 0n)
    return { ...grant, inFlightMicros }
  })
}

/**
 * Returns how much of a grant is free, and the position on the line at which the grant ends, if usage is posted up to
 * `postedMicros`.
 */
export function positionInOrder(
  grants: readonly CreditGrant[],
  grantRef: string,
  postedMicros: bigint,
): { readonly freeMicros: bigint; readonly endMicros: bigint } {
  let end = postedMicros + inFlightOf(grants)
  for (const grant of inBurnOrder(grants)) {
    end += freeMicros(grant)
    if (grant.reference === grantRef) return { freeMicros: freeMicros(grant), endMicros: end }
  }
  return { freeMicros: 0n, endMicros: end }
}

function freeMicros({ remainingMicros, inFlightMicros }: CreditGrant): bigint {
  return remainingMicros - inFlightMicros
}

function allocateInOrder(
  grants: readonly CreditGrant[],
  micros: bigint,
  amountOf: (grant: CreditGrant) => bigint,
): Burn[] {
  return allocate(inBurnOrder(grants), micros, amountOf)
}

function deallocate(grants: readonly CreditGrant[], micros: bigint): Burn[] {
  const newestFirst = inBurnOrder(grants).reverse()
  const back = allocate(newestFirst, micros, ({ inFlightMicros }) => inFlightMicros)
  return back.map(({ grantRef, micros: taken }) => ({ grantRef, micros: -taken }))
}

function allocate(
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

/** Returns the grants in the order in which usage takes their credits. */
export function inBurnOrder(grants: readonly CreditGrant[]): CreditGrant[] {
  return grants.toSorted(burnOrder)
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
