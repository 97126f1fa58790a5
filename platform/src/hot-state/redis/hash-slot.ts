/** Number of hash slots of a Redis Cluster. Each key belongs to one slot, and each slot to one master. */
export const slotsTotal = 16_384

/** Returns the slot of a key as Redis Cluster computes it: the CRC16 of the text in the first braces, or of the whole key. */
export function slotOf(key: string): number {
  const open = key.indexOf('{')
  const close = open < 0 ? -1 : key.indexOf('}', open + 1)
  const hashed = close > open + 1 ? key.slice(open + 1, close) : key
  return crc16(Buffer.from(hashed, 'utf8')) % slotsTotal
}

/** CRC-16/XMODEM. */
function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) {
      crc = ((crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021) & 0xffff
    }
  }
  return crc
}
