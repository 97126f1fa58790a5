import type { PaymentIntent } from './payment-intent.ts'
import { isFinal } from './transitions.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/**
 * Returns when to check the payment at the processor again if no webhook arrives first; null if nothing can change any more. The
 * pause grows with the age of the payment.
 */
export function nextPollAt(intent: PaymentIntent, now: Date): Date | null {
  if (isFinal(intent.status)) {
    if (intent.refundWanted) return now
    if (!intent.settlementWanted) return null
    return new Date(now.getTime() + pauseMs(intent.succeededAt ?? intent.createdAt, now))
  }
  // A payment that the bank is processing can usually not be canceled, and processing takes days.
  if (intent.cancelWanted && intent.status !== 'processing') {
    const { nextLookAt: due } = intent
    // The cancellation is due. A webhook that arrives before it must not postpone it.
    return due !== null && due <= now ? due : new Date(now.getTime() + minuteMs)
  }
  const atMs = now.getTime() + pauseMs(intent.createdAt, now)
  const { expiresAt } = intent
  // The payment expires before the next regular check, and it is canceled at that moment.
  return expiresAt > now && expiresAt.getTime() < atMs ? expiresAt : new Date(atMs)
}

function pauseMs(since: Date, now: Date): number {
  const ageMs = now.getTime() - since.getTime()
  if (ageMs < hourMs) return minuteMs
  if (ageMs < dayMs) return 10 * minuteMs
  return ageMs < 7 * dayMs ? hourMs : dayMs
}
