import { amountBytes, readAmount, writeAmount } from './amount-format.ts'

/*
 * Slots are kept by the minute: one value holds, for each second that has an amount, the second's place in the
 * minute (u8) and the amount. So a busy subject costs one key a minute, and a value never exceeds 1020 bytes.
 */
export const secondsPerSlotKey = 60
const slotBytes = 1 + amountBytes

export type SlotMinute = Map<number, bigint>

export function minuteOf(second: number): number {
  return Math.floor(second / secondsPerSlotKey)
}

export function dayOfMinute(minute: number): number {
  return Math.floor(minute / (24 * 60))
}

export function decodeSlots(bytes: Buffer | undefined, minute: number): SlotMinute {
  const slots: SlotMinute = new Map()
  if (bytes === undefined) return slots
  for (let at = 0; at < bytes.length; at += slotBytes) {
    slots.set(minute * secondsPerSlotKey + bytes[at]!, readAmount(bytes, at + 1))
  }
  return slots
}

export function encodeSlots(slots: SlotMinute, minute: number): Buffer {
  const bytes = Buffer.allocUnsafe(slots.size * slotBytes)
  let at = 0
  for (const [second, amount] of slots) {
    bytes[at] = second - minute * secondsPerSlotKey
    writeAmount(bytes, at + 1, amount)
    at += slotBytes
  }
  return bytes
}
