import type { PaymentProcessor } from '@tollgate/platform/payments/payment-processor'
import type { PaymentJobParts } from '../settlement/process-inbox.ts'
import type { Compared, OwnRow } from './compare-payments.ts'
import type { Tally } from './finding.ts'
import { idsChangedRecently, inBatches, reapplyObject } from './processor-objects.ts'
import { findOwnRows, listOwnRows } from './own-rows.ts'
import { processorSides, type Owner, type Side, type IdentifiedObject } from './processor-sides.ts'
import { isInScope, type Scope } from './scope.ts'

/** Time span whose object ids are held in memory at once. */
const sliceMs = 6 * 3_600_000

/**
 * Compares payments, refunds, disputes and payouts with the processor. The processor's state of each difference is applied again,
 * as after a webhook, and the difference is reported, repaired or not. Objects that changed at the processor within the grace time
 * are left to their webhooks. Throws PaymentProcessorUnavailableError.
 */
export async function reconcileProcessor(
  parts: PaymentJobParts,
  scope: Scope,
  tally: Tally,
): Promise<void> {
  const processor = parts.processors.of(scope.environment)
  if (processor === undefined) return
  const run = { parts, processor, scope, tally }
  const sides = await processorSides(parts, processor, scope.environment)
  for (const slice of slicesOf(scope)) {
    scope.stopping?.throwIfAborted()
    await reconcileSlice(run, sides.payment, slice)
    await reconcileSlice(run, sides.refund, slice)
    await reconcileSlice(run, sides.dispute, slice)
    if (sides.payout !== undefined) await reconcileSlice(run, sides.payout, slice)
  }
}

type Run = {
  readonly parts: PaymentJobParts
  readonly processor: PaymentProcessor
  readonly scope: Scope
  readonly tally: Tally
}

type Slice = { readonly from: Date; readonly to: Date }

/** An object with a difference at the first comparison. */
type Suspect = { readonly id: string; readonly owner: string | null; readonly seen: Compared }

function* slicesOf({ from, to }: Scope): Iterable<Slice> {
  for (let startMs = from.getTime(); startMs < to.getTime(); startMs += sliceMs) {
    const endMs = Math.min(startMs + sliceMs, to.getTime())
    yield { from: new Date(startMs), to: new Date(endMs) }
  }
}

async function reconcileSlice<Theirs extends IdentifiedObject>(
  run: Run,
  side: Side<Theirs>,
  slice: Slice,
): Promise<void> {
  const { parts, scope, tally } = run
  const sql = parts.everyone.in(scope.environment)
  const seenIds = new Set<string>()
  const suspects: Suspect[] = []
  const compareObject = (owner: Owner, ours: OwnRow | undefined, theirs: Theirs | undefined) => {
    const id = theirs?.id ?? ours!.processorId
    seenIds.add(id)
    const found = ours?.providerId ?? owner
    if (found === undefined || (found !== null && !isInScope(scope, found))) return
    if (found !== null) tally.compared(found, side.comparedKind)
    const seen = side.compare(ours, theirs)
    if (seen !== undefined) suspects.push({ id, owner: found, seen })
  }
  const created = { createdFrom: slice.from, createdTo: new Date(slice.to.getTime() - 1_000) }
  for await (const objects of inBatches(side.list(created))) {
    const owners = await side.ownersOf(objects)
    const ids = objects.map(({ id }) => id)
    const own = await findOwnRows(sql, side.kind, ids)
    for (const [at, each] of objects.entries()) compareObject(owners[at], own.get(each.id), each)
  }
  // The processor's creation time may be in another slice, so these objects are retrieved one by one.
  for (const ours of await listOwnRows(sql, side.kind, slice)) {
    if (seenIds.has(ours.processorId) || !isInScope(scope, ours.providerId)) continue
    compareObject(undefined, ours, await side.retrieve(ours.processorId))
  }
  if (suspects.length > 0) await recheckSuspects(run, side, suspects)
}

async function recheckSuspects<Theirs extends IdentifiedObject>(
  { parts, processor, scope, tally }: Run,
  side: Side<Theirs>,
  suspects: readonly Suspect[],
): Promise<void> {
  const changing = await idsChangedRecently(processor, parts.now(), scope.graceMs)
  for (const { id, owner, seen } of suspects.filter((each) => !changing.has(each.id))) {
    await reapplyObject(parts, scope, side.kind, id)
    const own = await findOwnRows(parts.everyone.in(scope.environment), side.kind, [id])
    const ours = own.get(id)
    const theirs = await side.retrieve(id)
    const still = side.compare(ours, theirs)
    const { difference, ours: ourText, theirs: theirText } = still ?? seen
    tally.found({
      providerId: ours?.providerId ?? owner ?? undefined,
      kind: side.comparedKind,
      difference,
      reference: ours?.reference ?? id,
      ours: ourText,
      theirs: theirText,
      since: theirs?.createdAt ?? ours?.updatedAt ?? scope.from,
      isRepaired: still === undefined,
    })
  }
}
