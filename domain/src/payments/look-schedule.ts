import type { PaymentIntent } from './payment-intent.ts'
import { isFinal } from './transitions.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/**
 * When the processor is asked again, should no webhook come first; null where nothing more can come of it. Seldom for
 * what has been waiting long.
 */
export function nextLookAt(intent: PaymentIntent, now: Date): Date | null {
  if (isFinal(intent.status)) return intent.refundWanted ? now : null
  if (intent.cancelWanted) return new Date(now.getTime() + minuteMs)
  const ageMs = now.getTime() - intent.createdAt.getTime()
  const pauseMs = ageMs < hourMs ? minuteMs : ageMs < 24 * hourMs ? 10 * minuteMs : hourMs
  const atMs = now.getTime() + pauseMs
  const { expiresAt } = intent
  // Its time is up in between: then it is withdrawn.
  return expiresAt > now && expiresAt.getTime() < atMs ? expiresAt : new Date(atMs)
}
