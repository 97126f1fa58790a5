import type { PaymentIntent } from './payment-intent.ts'
import { isFinal } from './transitions.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/**
 * When the processor is asked again, should no webhook come first; null where nothing more can come of it. Seldom for
 * what has been waiting long.
 */
export function nextLookAt(intent: PaymentIntent, now: Date): Date | null {
  if (isFinal(intent.status)) {
    if (intent.refundWanted) return now
    if (!intent.settlementWanted) return null
    return new Date(now.getTime() + pauseMs(intent.succeededAt ?? intent.createdAt, now))
  }
  // What the bank is at is not to be withdrawn as a rule, and takes days.
  if (intent.cancelWanted && intent.status !== 'processing') {
    const { nextLookAt: due } = intent
    // Whoever withdraws it is about to come: what a webhook tells meanwhile does not put that off.
    return due !== null && due <= now ? due : new Date(now.getTime() + minuteMs)
  }
  const atMs = now.getTime() + pauseMs(intent.createdAt, now)
  const { expiresAt } = intent
  // Its time is up in between: then it is withdrawn.
  return expiresAt > now && expiresAt.getTime() < atMs ? expiresAt : new Date(atMs)
}

function pauseMs(since: Date, now: Date): number {
  const ageMs = now.getTime() - since.getTime()
  if (ageMs < hourMs) return minuteMs
  if (ageMs < dayMs) return 10 * minuteMs
  return ageMs < 7 * dayMs ? hourMs : dayMs
}
