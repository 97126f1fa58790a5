import type { ReserveOutcome, ReserveRequest } from '@tollgate/platform/hot-state/reservations'

/** A request to hot state and how its outcome is answered, or why none is made. */
export type PreparedHold<Reserved, Reading> =
  | {
      readonly kind: 'prepared'
      readonly request: ReserveRequest
      readonly readings: readonly Reading[]
      readonly decide: (outcome: Exclude<ReserveOutcome, { kind: 'behind' }>) => Reserved
    }
  /** Hot state needs not be asked. */
  | { readonly kind: 'decided'; readonly reserved: Reserved }
  /** The readings come too early to decide. */
  | { readonly kind: 'late'; readonly readings: readonly Reading[] }

/**
 * Prepares a call that is refused before hot state is asked. If it has an idempotency key, hot state is asked nevertheless: the key
 * may have a reservation that was made before, and the caller needs that one to use or release it. Nothing new is held.
 */
export async function prepareRefused<Reserved, Reading>(
  idempotencyKey: string | undefined,
  refused: Reserved,
  prepare: () => Promise<PreparedHold<Reserved, Reading>>,
): Promise<PreparedHold<Reserved, Reading>> {
  if (!idempotencyKey) return { kind: 'decided', reserved: refused }
  const prepared = await prepare()
  if (prepared.kind === 'decided') return { kind: 'decided', reserved: refused }
  if (prepared.kind === 'late') return prepared
  const { request, decide } = prepared
  return {
    ...prepared,
    request: { ...request, reservationsMax: 0 },
    decide: (outcome) => (outcome.kind === 'admitted' ? decide(outcome) : refused),
  }
}
