import type { EmailOutcome } from '@tollgate/domain/emails/email'
import type { HandOver } from './judge-hand-over.ts'

/**
 * Returns what becomes of an email after an attempt, or undefined if another claim decides. `attemptsBefore` is the number of
 * earlier attempts. With n delays there are n + 1 attempts.
 */
export function decideOutcome(
  handOver: HandOver,
  attemptsBefore: number,
  delaysSeconds: readonly number[],
  now: Date,
): EmailOutcome | undefined {
  switch (handOver.kind) {
    case 'accepted':
      return { kind: 'sent', answer: handOver.answer }
    case 'refused': {
      const { what, isBounce, answer } = handOver
      if (what === 'message') return { kind: 'failed', reason: 'message-refused', answer }
      return { kind: 'failed', reason: isBounce ? 'address-refused' : 'bad-address', answer }
    }
    case 'unknown':
      return { kind: 'unknown', reason: handOver.reason }
    case 'stopped':
      return undefined
    case 'deferred': {
      const { reason, answer } = handOver
      const delaySeconds = delaysSeconds[attemptsBefore]
      if (delaySeconds === undefined) return { kind: 'failed', reason: 'attempts', answer }
      const dueAt = new Date(now.getTime() + delaySeconds * 1_000)
      return { kind: 'pending', reason, answer, dueAt }
    }
  }
}
