import { amountBytes, readAmount, writeAmount } from './amount-format.ts'

/*
 * One value holds all windows of a (subject, scope, series): per window the length of its id (u16), the id, the amount counted with
 * the scope itself and the amount counted without a scope. The two are separate because a window that is withdrawn and published
 * again must count each slot without a scope once.
 */
export type WindowAmounts = {
  scoped: bigint
  unscoped: bigint
}

export type Counter = Map<string, WindowAmounts>

/**
 * Returns the id under which the previous amount of a window is kept while the window is counted again. No window has such an id.
 */
export function asideId(windowId: string): string {
  return `\0${windowId}`
}

export function isAside(id: string): boolean {
  return id.startsWith('\0')
}

export function decodeCounter(bytes: Buffer | undefined): Counter {
  const counter: Counter = new Map()
  if (bytes === undefined) return counter
  for (let at = 0; at < bytes.length;) {
    const idEnd = at + 2 + bytes.readUInt16LE(at)
    counter.set(bytes.toString('utf8', at + 2, idEnd), {
      scoped: readAmount(bytes, idEnd),
      unscoped: readAmount(bytes, idEnd + amountBytes),
    })
    at = idEnd + 2 * amountBytes
  }
  return counter
}

export function encodeCounter(counter: Counter): Buffer {
  const parts: Buffer[] = []
  for (const [id, { scoped, unscoped }] of counter) {
    const idBytes = Buffer.from(id, 'utf8')
    const part = Buffer.allocUnsafe(2 + idBytes.length + 2 * amountBytes)
    part.writeUInt16LE(idBytes.length, 0)
    part.set(idBytes, 2)
    writeAmount(part, 2 + idBytes.length, scoped)
    writeAmount(part, 2 + idBytes.length + amountBytes, unscoped)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

export function windowAmounts(counter: Counter, id: string): WindowAmounts {
  let amounts = counter.get(id)
  if (amounts === undefined) {
    amounts = { scoped: 0n, unscoped: 0n }
    counter.set(id, amounts)
  }
  return amounts
}
