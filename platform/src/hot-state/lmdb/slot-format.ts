import { amountBytes, readAmount, writeAmount } from './amount-format.ts'

/*
 * Slots are stored per minute: one value holds, for each second with an amount, the second within the minute (u8) and the amount.
 * So a busy subject needs one key per minute, and a value has at most 1020 bytes.
 */
export const secondsPerSlotKey = 60
const slotBytes = 1 + amountBytes

export function minuteOf(second: number): number {
  return Math.floor(second / secondsPerSlotKey)
}

export const minutesPerDay = 24 * 60

export function dayOfMinute(minute: number): number {
  return Math.floor(minute / minutesPerDay)
}

/** Adds an amount, in place if the second already has one. Returns the bytes to store. */
export function addToSlots(slots: Buffer, second: number, amount: bigint): Buffer {
  const place = second - minuteOf(second) * secondsPerSlotKey
  for (let at = 0; at < slots.length; at += slotBytes) {
    if (slots[at] !== place) continue
    writeAmount(slots, at + 1, readAmount(slots, at + 1) + amount)
    return slots
  }
  const longer = Buffer.allocUnsafe(slots.length + slotBytes)
  longer.set(slots)
  longer[slots.length] = place
  writeAmount(longer, slots.length + 1, amount)
  return longer
}

export type Slot = { readonly second: number; readonly amount: bigint }

export function decodeSlots(slots: Buffer, minute: number): Slot[] {
  const decoded: Slot[] = []
  for (let at = 0; at < slots.length; at += slotBytes) {
    const second = minute * secondsPerSlotKey + slots[at]!
    decoded.push({ second, amount: readAmount(slots, at + 1) })
  }
  return decoded
}

export function encodeSlots(slots: readonly Slot[]): Buffer {
  return slots.reduce<Buffer>(
    (bytes, { second, amount }) => addToSlots(bytes, second, amount),
    Buffer.alloc(0),
  )
}
